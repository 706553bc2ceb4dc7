/** Commands that replay and measure one recording: backtest, calibrate. */
import { readRegularFile, TEXT_FILE } from '../../src/guard/index.ts';
import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Command } from 'commander';
import { recordFlow } from '../index.ts';
import { backtest, modelsOf, rowKindOf, withoutSeries, withVenueFees } from '../app/backtest/backtest.ts';
import type { VenueFees } from '../app/backtest/backtest.ts';
import { calibrate } from '../app/calibrate/calibrate.ts';
import { describeBacktest } from '../app/backtest/describe.ts';
import { latenciesOf, latencyText } from '../app/backtest/latencies.ts';
import { seedNumber, sessionHours, several, tapeBook, threadNumber } from '../../src/cli/terminal/flags.ts';
import { cadenceFlag, driftNumber, feesFlag, sweepFlag, tradedTime, venueFees } from './flags.ts';
import { withProgress } from '../../src/messages/progress.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { writeReport, reportFiles } from '../app/backtest/reportFiles.ts';
import { chosen, tapeOf } from '../../src/cli/commands/source.ts';
import { chosenStored, referenceTapes } from './recordings.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { print, writeOutput } from '../../src/cli/terminal/output.ts';

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

/** Adds `backtest` and `calibrate`. An unreadable recording is a `UsageError`. */
export function addBacktestCommands(program: Command): void {
  addBacktest(program);
  addCalibrate(program);
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

/** Opens a stored tape without loading it: the replay reads it in a sliding window. */
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
