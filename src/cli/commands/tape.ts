/** Commands on recordings: backtest, calibrate, tape, export. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Command } from 'commander';
import { recordFlow } from '../../../backtest/index.ts';
import { backtest, modelsOf, rowKindOf, withoutSeries, withVenueFees } from '../../app/backtest/backtest.ts';
import type { VenueFees } from '../../app/backtest/backtest.ts';
import type { StoredTapeOptions } from '../../tape/index.ts';
import { calibrate } from '../../app/backtest/calibrate.ts';
import { describeBacktest } from '../../app/backtest/describe.ts';
import { latenciesOf, latencyText } from '../../app/backtest/latencies.ts';
import {
  cadenceFlag,
  driftNumber,
  feesFlag,
  recordedTime,
  seedNumber,
  sessionHours,
  several,
  sweepFlag,
  tapeBook,
  threadNumber,
  tradedTime,
  venueFees,
} from '../terminal/flags.ts';
import { withProgress } from '../../app/messages/progress.ts';
import { progressBar } from '../terminal/progressBar.ts';
import { writeReport, reportFiles } from '../../app/backtest/reportFiles.ts';
import { chosen, chosenStored, referenceTapes, tapeOf } from './source.ts';
import { version } from '../terminal/version.ts';
import { exportLedger } from '../../app/inspect/exportLedger.ts';
import { UsageError } from '../../app/wiring/usageError.ts';
import { realClock } from '../../live/realClock.ts';
import { folderOf } from './ledger.ts';
import { exportStored, lookAtTape } from '../../app/tapes/storedTape.ts';
import { print, writeOutput } from '../terminal/output.ts';

type BacktestFlags = {
  readonly config?: string;
  readonly tape?: string;
  readonly flowSeconds: number;
  readonly flowDrift: number;
  readonly book?: string;
  readonly seed?: number;
  readonly models: string;
  readonly from?: string;
  readonly reference: readonly string[];
  readonly venueFees?: VenueFees;
  readonly latencyMs: string;
  readonly cancelLatencyMs?: string;
  readonly feedLatencyMs: string;
  readonly fillLatencyMs?: string;
  readonly latencySweep?: readonly number[] | true;
  readonly since?: number;
  readonly until?: number;
  readonly session?: string;
  readonly threads?: number;
  readonly out?: string;
  readonly json: boolean;
};

type CalibrateFlags = {
  readonly tape?: string;
  readonly book?: string;
  readonly session?: string;
  readonly flowSeconds: number;
  readonly seed: number;
  readonly fees?: readonly number[];
  readonly cadenceMs: number;
  readonly latencyMs: string;
  readonly feedLatencyMs: string;
  readonly json: boolean;
  readonly reference: readonly string[];
  readonly referenceAge: number;
  readonly out?: string;
};

/** Default latencies of a sweep, in ms. */
const SWEEP = [0, 25, 100, 500, 2_000];

/**
 * Adds the four commands; --from and --to of the last two become ms since 1970. An unreadable recording is a
 * `UsageError`.
 */
export function addTapeCommands(program: Command): void {
  addBacktest(program);
  addCalibrate(program);
  addStored(program);
}

function addBacktest(program: Command): void {
  sessionHours(tradedTime(venueFees(tapeBook(program.command('backtest')))))
    .description('trade a recorded market with the very engine and strategy that run, under several fill models')
    .option('-c, --config <file>', 'YAML file; without it the one that comes with Puntas')
    .option('--tape <dir>', 'the recording; without it the seeded flow is recorded first')
    .option('--flow-seconds <n>', 'length of that flow', seedNumber, 3_600)
    .option('--flow-drift <bps>', 'trend of that flow, in bps an hour', driftNumber, 0)
    .option('--seed <n>', 'seed of that flow', seedNumber)
    .option('--models <names>', 'fill models, separated by commas', 'pessimistic,expected,optimistic')
    .option('--from <rows>', 'levels or orders: which rows tell the book where a recording has both')
    .addOption(
      new Option(
        '--reference <book=dir>',
        'a recording of a book that the configured reference or a route of hedges goes through, once for each of them',
      )
        .argParser(several)
        .default([], 'none'),
    )
    .option(
      '--latency-ms <spec>',
      'time to the exchange, and the same back: 25, exponential:LEAST,MEAN, lognormal:MEDIAN,SIGMA, a CSV file of sent,answered, or the state directory of a run',
      '25',
    )
    .option('--cancel-latency-ms <spec>', 'the same of cancels, where it differs')
    .option('--feed-latency-ms <spec>', 'least time from the exchange to us', '0')
    .option('--fill-latency-ms <spec>', 'time from a fill of ours to our hearing of it; without it that of an answer')
    .option(
      '--latency-sweep [ms]',
      `the same run at several latencies of requests too, separated by commas; without them ${SWEEP.join(',')}`,
      sweepFlag,
    )
    .option('--threads <n>', 'fill models that run at once; without it all of them', threadNumber)
    .option('--out <path>', 'NAME.html or a folder: the report as a page and as JSON, every fill and order as CSV')
    .option('--json', 'print the report as one JSON object', false)
    .action(async (options: BacktestFlags) => {
      const { config, file, tape } = await chosenTape(options);
      const files = options.out === undefined ? null : reportFiles(options.out);
      const report = await backtest({
        config: withVenueFees(config, options.venueFees),
        configText: readRegularFile(file, TEXT_FILE),
        version: version(),
        tape,
        seed: options.seed ?? (config.exchange.kind === 'embedded' ? config.exchange.seed : 1),
        flowSeconds: options.flowSeconds,
        flowDrift: options.flowDrift,
        models: modelsOf(options.models),
        ...(options.from === undefined ? {} : { from: rowKindOf(options.from) }),
        reference: await referenceTapes(options.reference),
        latencies: latenciesOf(options),
        latencyText: latencyText(options),
        ...(options.latencySweep !== undefined && {
          latencySweep: options.latencySweep === true ? SWEEP : options.latencySweep,
        }),
        time: options,
        threads: options.threads ?? Infinity,
        files,
        progress: progressBar(),
      });
      if (files) writeReport(files, report);
      const page = files ? `\nreport: ${files.page}` : '';
      print(options.json ? JSON.stringify(withoutSeries(report)) : `${describeBacktest(report)}${page}`);
    });
}

function addCalibrate(program: Command): void {
  sessionHours(program.command('calibrate'))
    .description(
      'measure a recording: volatility, arrivals, what fills are worth by distance, and whether it pays to quote',
    )
    .option('--tape <dir>', 'the recording; without it the seeded flow is recorded first')
    .option('--book <book>', 'which book, where the recording has several; of the flow btc_mxn without it')
    .option('--flow-seconds <n>', 'length of that flow', seedNumber, 21_600)
    .option('--seed <n>', 'seed of that flow', seedNumber, 1)
    .option(
      '--fees <bps>',
      'maker fees to judge by, separated by commas; without it of the first and last tier',
      feesFlag,
    )
    .option('--cadence-ms <n>', 'how often orders are pegged anew', cadenceFlag, 1_000)
    .option('--latency-ms <spec>', 'as of puntas backtest', '25')
    .option('--feed-latency-ms <spec>', 'least time from the exchange to us', '0')
    .addOption(
      new Option(
        '--reference <book=dir>',
        'a recording of the same time of a book that leads to ours, or of ours elsewhere: what it foretells; once for each of a chain, in its order',
      )
        .argParser(several)
        .default([], 'none'),
    )
    .option('--reference-age <seconds>', 'how old the reference is when it is quoted on', seedNumber, 1)
    .option('--json', 'print it as one JSON object', false)
    .option('--out <file>', 'write there instead of to stdout')
    .action(async ({ tape, book, session, flowSeconds, seed, out, ...flags }: CalibrateFlags) => {
      const { fees, cadenceMs, json, reference, referenceAge, ...latency } = flags;
      if (session !== undefined && tape === undefined) throw new UsageError(SESSION_ALONE);
      const progress = progressBar();
      const market =
        tape === undefined
          ? await withProgress(progress, 'recording the flow', on =>
              recordFlow(book ?? 'btc_mxn', seed, flowSeconds, 0, on),
            )
          : await tapeOf(tape, book, session);
      const latencies = latenciesOf(latency);
      const elsewhere = reference.length === 0 ? null : { tapes: await referenceTapes(reference), ageS: referenceAge };
      const asked = { cadenceMs, latencies, seed, json, feesBps: fees ?? null };
      const text = await calibrate(market, progress, asked, elsewhere);
      if (out === undefined) writeOutput(text);
      else writeFileSync(out, text);
    });
}

function addStored(program: Command): void {
  stored(program.command('tape').description('what a stored tape holds; reads all of it, so that damage is found'))
    .argument('<dir>', 'folder of the tape')
    .option('--json', 'print it as one JSON object', false)
    .action(async (dir: string, { json, ...flags }: StoredFlags & { readonly json: boolean }) => {
      print(await lookAtTape(dir, storedOptions(flags), json, progressBar()));
    });

  stored(program.command('export'))
    .description("write a stored tape, or a bot's fills or ledger, for other programs, with exact decimals")
    .usage('(--tape DIR | -c FILE --rows fills | --state DIR --rows ledger) --out FILE [options]')
    .option('--tape <dir>', 'folder of the tape')
    .option('-c, --config <file>', 'YAML file of the bot whose state is meant')
    .option('--state <dir>', 'state directory of a bot, instead of the one in the configuration')
    .addOption(new Option('--rows <which>', 'of a state: every fill, or every entry of the ledger').choices(ROWS))
    .requiredOption('--out <file>', 'a name that ends in .parquet or .csv')
    .action(async ({ tape, config, state, rows, out, ...flags }: ExportFlags) => {
      if (tape === undefined) {
        if (rows === undefined) throw new UsageError('--rows: say fills or ledger, or name a tape with --tape');
        const where = { ...(config === undefined ? {} : { config }), ...(state === undefined ? {} : { state }) };
        print(await exportLedger(folderOf(where), { ...storedOptions(flags), rows }, out, realClock()));
      } else if (config !== undefined || state !== undefined || rows !== undefined)
        throw new UsageError('--tape: a tape, or the state of a bot, not both');
      else print(await exportStored(tape, storedOptions(flags), out, progressBar()));
    });
}

const ROWS = ['fills', 'ledger'] as const;

type ExportFlags = StoredFlags & {
  readonly tape?: string;
  readonly config?: string;
  readonly state?: string;
  readonly rows?: (typeof ROWS)[number];
  readonly out: string;
};

type StoredFlags = {
  readonly book?: string;
  readonly from?: number;
  readonly to?: number;
  readonly skipDamaged: boolean;
};

const stored = (command: Command): Command =>
  command
    .option('--book <book>', 'which book, where there are several')
    .option('--from <time>', 'rows from this time on, like 2026-11-21 or 2026-11-21T12:00:00Z', recordedTime)
    .option('--to <time>', 'rows up to this time', recordedTime)
    .option('--skip-damaged', 'leave damaged blocks out and make gaps of them, instead of refusing', false);

const storedOptions = ({ book, from, to, skipDamaged }: StoredFlags): StoredTapeOptions => ({
  ...(book === undefined ? {} : { book }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
  damaged: skipDamaged ? 'skip' : 'refuse',
});

/** A stored tape is opened rather than read, because it is streamed. */
async function chosenTape({ config, tape, book, session }: BacktestFlags) {
  if (session !== undefined && tape === undefined) throw new UsageError(SESSION_ALONE);
  const stored = chosenStored(tape, config, book, session);
  return (
    stored ??
    (await chosen({
      ...(config === undefined ? {} : { config }),
      ...(tape === undefined ? {} : { tape }),
      ...(book === undefined ? {} : { book }),
      ...(session === undefined ? {} : { session }),
      speed: 1,
      isBacktest: true,
    }))
  );
}

const SESSION_ALONE = '--session is for a recording: name it with --tape; the built-in market never closes';
