/** The commands that replay and measure one recording: backtest, calibrate. */
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

/** `backtest` and `calibrate`. A recording that cannot be read is `UsageError`. */
export function addBacktestCommands(program: Command): void {
  addBacktest(program);
  addCalibrate(program);
}

function addBacktest(program: Command): void {
  sessionHours(tradedTime(venueFees(tapeBook(program.command('backtest')))))
    .description('run the live engine and strategy on a recorded market, under several fill models')
    .option('-c, --config <file>', 'YAML file (default: the one shipped with Puntas)')
    .option('--tape <dir>', 'recording (default: one of the seeded flow)')
    .option('--flow-seconds <n>', 'length of the flow (s)', seedNumber, 3_600)
    .option('--flow-drift <bps>', 'trend of the flow (bps per hour)', driftNumber, 0)
    .option('--seed <n>', 'seed of the flow', seedNumber)
    .option('--models <names>', 'fill models, comma-separated', 'pessimistic,expected,optimistic')
    .option('--from <rows>', 'rows that build the book if a recording has both: levels or orders')
    .addOption(
      new Option('--reference <book=dir>', 'recording of a book that the reference or a hedge route needs; repeatable')
        .argParser(several)
        .default([], 'none'),
    )
    .option(
      '--latency-ms <spec>',
      'latency of requests each way (ms): 25, exponential:LEAST,MEAN, lognormal:MEDIAN,SIGMA, a CSV file of sent,answered, or the state directory of a run',
      '25',
    )
    .option('--cancel-latency-ms <spec>', 'latency of cancels, if different (same forms)')
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .option('--fill-latency-ms <spec>', 'delay of fill notices (ms) (default: that of an answer)')
    .option(
      '--latency-sweep [ms]',
      `also run at several request latencies, comma-separated (default: ${SWEEP.join(',')})`,
      sweepFlag,
    )
    .option('--threads <n>', 'fill models that run in parallel (default: all)', threadNumber)
    .option('--out <path>', 'NAME.html or a folder for the report as page and JSON, and fills and orders as CSV')
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
    .description('measure volatility, arrivals and fills of a recording, and whether quoting pays')
    .option('--tape <dir>', 'recording (default: one of the seeded flow)')
    .option('--book <book>', 'book, if the recording has several (default for the flow: btc_mxn)')
    .option('--flow-seconds <n>', 'length of the flow (s)', seedNumber, 21_600)
    .option('--seed <n>', 'seed of the flow', seedNumber, 1)
    .option('--fees <bps>', 'maker fees to assume, comma-separated (default: first and last tier)', feesFlag)
    .option('--cadence-ms <n>', 'interval at which orders are repriced (ms)', cadenceFlag, 1_000)
    .option('--latency-ms <spec>', 'latency, as in puntas backtest', '25')
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .addOption(
      new Option(
        '--reference <book=dir>',
        'recording of a leading book at the same time, to measure its prediction; repeatable for a chain, in order',
      )
        .argParser(several)
        .default([], 'none'),
    )
    .option('--reference-age <seconds>', 'age of the reference when it is used (s)', seedNumber, 1)
    .option('--json', 'print one JSON object', false)
    .option('--out <file>', 'file to write instead of stdout')
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

const SESSION_ALONE = '--session needs a recording; pass it with --tape (the built-in market never closes)';
