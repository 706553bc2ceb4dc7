/** The commands on recordings: backtest, calibrate, tape, export. */
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

/** Latencies of a sweep, in ms. */
const SWEEP = [0, 25, 100, 500, 2_000];

/** `backtest`, `calibrate`, `tape` and `export`; --from and --to of the last two become ms since 1970. A recording that cannot be read is `UsageError`. */
export function addTapeCommands(program: Command): void {
  addBacktest(program);
  addCalibrate(program);
  addStored(program);
}

function addBacktest(program: Command): void {
  sessionHours(tradedTime(venueFees(tapeBook(program.command('backtest')))))
    .description('replay a recorded market through the live engine')
    .option('-c, --config <file>', 'configuration (default: the embedded exchange)')
    .option('--tape <dir>', 'recording (default: record the built-in market first)')
    .option('--flow-seconds <n>', 'seconds of the built-in market to record', seedNumber, 3_600)
    .option('--flow-drift <bps>', 'trend of the built-in market (bps per hour)', driftNumber, 0)
    .option('--seed <n>', 'random seed', seedNumber)
    .option('--models <names>', 'fill models, comma-separated', 'pessimistic,expected,optimistic')
    .option('--from <rows>', 'book rows to use if the recording has both: levels or orders')
    .addOption(
      new Option('--reference <book=dir>', 'recording of a reference or hedge-route book (repeatable)')
        .argParser(several)
        .default([], 'none'),
    )
    .option(
      '--latency-ms <spec>',
      'request latency each way (ms): 25, exponential:MIN,MEAN, lognormal:MEDIAN,SIGMA, a CSV file, or a state directory',
      '25',
    )
    .option('--cancel-latency-ms <spec>', 'latency of cancels, if different')
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .option('--fill-latency-ms <spec>', 'delay of fill notices (default: that of an answer)')
    .option('--latency-sweep [ms]', `repeat at these request latencies (default: ${SWEEP.join(',')})`, sweepFlag)
    .option('--threads <n>', 'parallel runs (default: all fill models)', threadNumber)
    .option('--out <path>', 'write NAME.html, or a folder: page, JSON, and CSV of fills and orders')
    .option('--json', 'print one JSON object', false)
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
    .description('measure a recording: volatility, arrivals, and where quoting pays')
    .option('--tape <dir>', 'recording (default: record the built-in market first)')
    .option('--book <book>', 'book to use if the recording has several')
    .option('--flow-seconds <n>', 'seconds of the built-in market to record', seedNumber, 21_600)
    .option('--seed <n>', 'random seed', seedNumber, 1)
    .option('--fees <bps>', 'maker fees (bps), comma-separated (default: first and last tier)', feesFlag)
    .option('--cadence-ms <n>', 'requote interval (ms)', cadenceFlag, 1_000)
    .option('--latency-ms <spec>', 'request latency (see puntas backtest)', '25')
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .addOption(
      new Option('--reference <book=dir>', 'recording of a leading book or market (repeatable, in chain order)')
        .argParser(several)
        .default([], 'none'),
    )
    .option('--reference-age <seconds>', 'age of the reference when used (seconds)', seedNumber, 1)
    .option('--json', 'print one JSON object', false)
    .option('--out <file>', 'output file (default: stdout)')
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
  stored(program.command('tape').description('show the contents of a tape and check it for damage'))
    .argument('<dir>', 'folder of the tape')
    .option('--json', 'print one JSON object', false)
    .action(async (dir: string, { json, ...flags }: StoredFlags & { readonly json: boolean }) => {
      print(await lookAtTape(dir, storedOptions(flags), json, progressBar()));
    });

  stored(program.command('export'))
    .description("export a tape, or a bot's fills or ledger, as Parquet or CSV")
    .usage('(--tape DIR | -c FILE --rows fills | --state DIR --rows ledger) --out FILE [options]')
    .option('--tape <dir>', 'folder of the tape')
    .option('-c, --config <file>', 'configuration of the bot')
    .option('--state <dir>', 'state directory (default: the one in the configuration)')
    .addOption(new Option('--rows <which>', 'rows of a state: fills or ledger').choices(ROWS))
    .requiredOption('--out <file>', 'output file: .parquet or .csv')
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
    .option('--book <book>', 'book to use if the recording has several')
    .option('--from <time>', 'first time, like 2026-11-21 or 2026-11-21T12:00:00Z', recordedTime)
    .option('--to <time>', 'last time', recordedTime)
    .option('--skip-damaged', 'turn damaged blocks into gaps instead of failing', false);

const storedOptions = ({ book, from, to, skipDamaged }: StoredFlags): StoredTapeOptions => ({
  ...(book === undefined ? {} : { book }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
  damaged: skipDamaged ? 'skip' : 'refuse',
});

/** A stored tape is opened, not read: it slides past. */
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
