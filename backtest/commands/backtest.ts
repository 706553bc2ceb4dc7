/** Commands that replay and measure one recording: backtest, calibrate. */
import { readRegularFile, TEXT_FILE } from '../../src/guard/index.ts';
import { Option, type Command } from 'commander';
import { textOfError } from '../../src/core/index.ts';
import { fillModelIn, StrategyFileError, strategyFileOf } from '../../strategies/index.ts';
import { recordFlow, type FillModelFile } from '../index.ts';
import {
  backtest,
  modelsOf,
  rowKindOf,
  withoutSeries,
  withVenueFees,
  type VenueFees,
} from '../app/backtest/backtest.ts';
import { calibrate } from '../app/calibrate/calibrate.ts';
import { endByFaults } from './faults.ts';
import { calibrateFills } from './ownFills.ts';
import { describeBacktest } from '../app/backtest/backtestText.ts';
import { latenciesOf, latencyText } from '../app/backtest/latencyFlags.ts';
import { seedNumber, sessionHours, several, tapeBook, threadNumber } from '../../src/cli/terminal/flags.ts';
import { refuseGiven } from '../../src/cli/terminal/givenFlags.ts';
import {
  cadenceFlag,
  driftNumber,
  feesFlag,
  HEDGE_FLAGS,
  hedgeCostFlags,
  hedgeFlags,
  sweepFlag,
  tradedTime,
  venueFees,
  type HedgeFlags,
} from './flags.ts';
import { withProgress } from '../../src/messages/progress.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { writeReport, reportFiles } from '../app/backtest/reportFiles.ts';
import { configuredTapes, selectedInputs, tapeOf } from '../../src/cli/commands/source.ts';
import { chosenStored, hedgeVenueOf, referenceTapes, tapesIn } from './recordings.ts';
import { endWithParent } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';
import type { Config } from '../../src/config.ts';
import { readConfig, readTradedConfig, type StrategyApproval } from '../../src/wiring/configFile.ts';
import { backtestSeveralBooks } from '../app/severalBooks/severalBooksBacktest.ts';
import { severalBooksFiles, writeSeveralBooks } from '../app/severalBooks/severalBooksFiles.ts';
import { describeSeveralBooks } from '../app/severalBooks/severalBooksText.ts';
import { readFittedFile, type FittedFile } from '../../src/wiring/fitted/fittedFile.ts';
import { writeOut } from '../../src/wiring/outFiles.ts';
import { readGivenFile, UsageError } from '../../src/wiring/usageError.ts';
import { print, writeOutput } from '../../src/cli/terminal/output.ts';

type BacktestFlags = HedgeFlags & {
  readonly config?: string;
  readonly tape: readonly string[];
  readonly alone: boolean;
  readonly flowSeconds: number;
  readonly flowDrift: number;
  readonly book?: string;
  readonly seed?: number;
  readonly models: string;
  readonly fitted?: string;
  readonly fillModel?: string;
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
  readonly strategyFiles: boolean;
  readonly json: boolean;
};

type CalibrateFlags = HedgeFlags & {
  readonly tape?: string;
  readonly fills?: string;
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

/** Request latencies that a sweep tests by default, in ms. */
const SWEEP = [0, 25, 100, 500, 2_000];

/** Adds the commands `backtest` and `calibrate`. Both reject with `UsageError` for an unreadable recording. */
export function addBacktestCommands(program: Command): void {
  addBacktest(program);
  addCalibrate(program);
}

function addBacktest(program: Command): void {
  hedgeFlags(sessionHours(tradedTime(venueFees(tapeBook(program.command('backtest'))))))
    .description('replay a recorded market through the live engine')
    .option('-c, --config <file>', 'configuration (default: the embedded exchange)')
    .addOption(
      new Option('--tape <dir>', 'recording (repeatable, for several books; default: record the built-in market first)')
        .argParser(several)
        .default([], 'none'),
    )
    .addOption(flowSeconds(3_600))
    .addOption(
      new Option('--flow-drift <bps>', 'trend of the built-in market (bps per hour)')
        .argParser(driftNumber)
        .default(0)
        .conflicts('tape'),
    )
    .option('--seed <n>', 'random seed', seedNumber)
    .option('--models <names>', 'fill models, comma-separated', 'pessimistic,expected,optimistic')
    .option('--fitted <file>', 'also run the fill model of puntas calibrate --fills')
    .option('--fill-model <file>', 'also run the fill model in a file')
    .option('--from <rows>', 'replay levels or orders, if the recording has both')
    .addOption(
      new Option('--reference <book=dir>', 'recording of a reference or hedge-route book (repeatable)')
        .argParser(several)
        .default([], 'none'),
    )
    .option(
      '--latency-ms <spec>',
      'latency each way (ms): 25, exponential:MIN,MEAN, lognormal:MEDIAN,SIGMA, CSV file, or state directory',
      '25',
    )
    .addOption(
      new Option('--cancel-latency-ms <spec>', 'latency of cancels (default: --latency-ms)').conflicts('latencySweep'),
    )
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .option('--fill-latency-ms <spec>', 'delay of fill notices (default: --latency-ms)')
    .option(
      '--latency-sweep [ms]',
      `repeat the backtest at these request latencies (ms; without a value: ${SWEEP.join(',')})`,
      sweepFlag,
    )
    .option('--alone', 'several books: repeat the run with each book alone, with even shares', false)
    .option('--threads <n>', 'number of parallel runs (default: one per fill model)', threadNumber)
    .option('--out <path>', 'write NAME.html, or a folder with HTML, JSON and CSV')
    .option('--no-strategy-files', 'refuse strategy and fill model files')
    .option('--json', 'print one JSON object', false)
    .action(async (options: BacktestFlags, self: Command) => {
      const several = severalBooksConfigOf(options);
      if (several !== null) return backtestBooks(several, options, self);
      refuseGiven(self, ['alone'], 'no effect with one book; pass a configuration with the key books');
      const { config, file, tape } = await chosenTape(options);
      if (tape !== null)
        refuseGiven(
          self,
          ['flowSeconds', 'flowDrift'],
          `no effect, because ${file} names a recording in exchange.market; remove the flags, or exchange.market`,
        );
      const hedge = await hedgeVenueOf(options, self, options.session);
      if (hedge !== null && tape === null) throw new UsageError(HEDGE_ALONE);
      const files = options.out === undefined ? null : reportFiles(options.out);
      const job: Parameters<typeof backtest>[0] = {
        config: withVenueFees(config, options.venueFees),
        configText: readRegularFile(file, TEXT_FILE),
        version: version(),
        tape,
        seed: options.seed ?? (config.exchange.kind === 'embedded' ? config.exchange.seed : 1),
        flowSeconds: options.flowSeconds,
        flowDrift: options.flowDrift,
        models: modelsOf(options.models),
        ...(options.fitted !== undefined && { fitted: fittedFlag(options.fitted, config.book) }),
        ...(options.fillModel !== undefined && { fillModel: fillModelFlag(options.fillModel, options.strategyFiles) }),
        ...(options.from === undefined ? {} : { from: rowKindOf(options.from) }),
        reference: await referenceTapes(options.reference),
        hedge,
        latencies: latenciesOf(options),
        latencyText: latencyText(options),
        ...(options.latencySweep !== undefined && {
          latencySweep: options.latencySweep === true ? SWEEP : options.latencySweep,
        }),
        time: options,
        threads: options.threads ?? Infinity,
        files,
        progress: progressBar(),
      };
      endWithParent();
      const report = await backtest(job);
      if (files) writeReport(files, report);
      const page = files ? `\nreport: ${files.page}` : '';
      print(options.json ? JSON.stringify(withoutSeries(report)) : `${describeBacktest(report)}${page}`);
      endByFaults(report.models);
    });
}

/** Returns the configuration, with its strategy files, if it has several books; `null` otherwise. */
function severalBooksConfigOf({ config: path, venueFees: fees, strategyFiles }: BacktestFlags): Config | null {
  if (path === undefined || readConfig(path).books === undefined) return null;
  return withVenueFees(readTradedConfig(path, strategyFiles ? undefined : refuseAll), fees);
}

/** Flags that a backtest of several books does not support. */
const ONE_BOOK_FLAGS = [
  ...['book', 'flowDrift', 'fitted', 'fillModel', 'reference', 'latencySweep', 'threads'],
  ...HEDGE_FLAGS,
];

async function backtestBooks(config: Config, options: BacktestFlags, self: Command): Promise<void> {
  refuseGiven(self, ONE_BOOK_FLAGS, 'not supported with several books; pass a configuration with the key book');
  const { session, out } = options;
  if (session !== undefined && options.tape.length === 0) throw new UsageError(SESSION_ALONE);
  const tapes = options.tape.length > 0 ? await tapesIn(config, options.tape, session) : await configuredTapes(config);
  const files = out === undefined ? null : severalBooksFiles(out);
  endWithParent();
  const report = await backtestSeveralBooks({
    config,
    configText: readRegularFile(options.config!, TEXT_FILE),
    version: version(),
    tapes: tapes.length > 0 ? tapes : null,
    seed: options.seed ?? (config.exchange.kind === 'embedded' ? config.exchange.seed : 1),
    flowSeconds: options.flowSeconds,
    models: modelsOf(options.models),
    ...(options.from === undefined ? {} : { from: rowKindOf(options.from) }),
    latencies: latenciesOf(options),
    latencyText: latencyText(options),
    time: options,
    alone: options.alone,
    files: files?.of ?? null,
    progress: progressBar(),
  });
  if (files) writeSeveralBooks(files, report);
  const page = files ? `\nreport: ${files.all.page}` : '';
  print(
    options.json
      ? JSON.stringify({ ...report, books: report.books.map(withoutSeries) })
      : `${describeSeveralBooks(report)}${page}`,
  );
  endByFaults(report.books.flatMap(({ models }) => models));
}

/** Reads the parameter file of --fitted. Throws `UsageError` if the parameters cannot be used for the book. */
function fittedFlag(file: string, book: string): FittedFile {
  const found = readFittedFile(file, book);
  if (typeof found === 'string') throw new UsageError(`--fitted: ${found}`);
  return found;
}

/**
 * Reads the file of --fill-model. `isAllowed`: whether the command may run code of the user.
 * @throws UsageError if the file cannot be read or run, or is not a fill model.
 */
function fillModelFlag(file: string, isAllowed: boolean): FillModelFile {
  if (!isAllowed)
    throw new UsageError(
      `--fill-model: ${file} is code, which a backtest with --no-strategy-files does not run; remove one of the flags`,
    );
  const code = readGivenFile(file, TEXT_FILE, 'pass a readable file with --fill-model');
  try {
    fillModelIn(file, code);
    return strategyFileOf(file, code);
  } catch (error) {
    throw new UsageError(
      `--fill-model: ${error instanceof StrategyFileError ? error.message : `${file}: ${textOfError(error)}`}`,
    );
  }
}

/** Returns the option for the length of the built-in market; the option cannot be combined with a recording. */
const flowSeconds = (byDefault: number): Option =>
  new Option('--flow-seconds <n>', 'seconds of the built-in market to record')
    .argParser(seedNumber)
    .default(byDefault)
    .conflicts('tape');

function addCalibrate(program: Command): void {
  hedgeCostFlags(sessionHours(program.command('calibrate')))
    .description('measure volatility, arrivals and profit of quoting on a recording')
    .option('--tape <dir>', 'recording (default: record the built-in market first)')
    .option('--book <book>', 'book to use if the recording has several')
    .addOption(
      new Option('--fills <dir>', 'state directory of a bot: fit a fill model to its fills instead').conflicts([
        ...[
          'tape',
          'flowSeconds',
          'session',
          ...HEDGE_FLAGS,
          'hedgeBack',
          'fees',
          'cadenceMs',
          'latencyMs',
          'feedLatencyMs',
        ],
        ...['reference', 'referenceAge'],
      ]),
    )
    .addOption(flowSeconds(21_600))
    .option('--seed <n>', 'random seed', seedNumber, 1)
    .option('--fees <bps>', 'maker fees (bps), comma-separated (default: first and last tier)', feesFlag)
    .option('--cadence-ms <n>', 'requote interval (ms)', cadenceFlag, 1_000)
    .option('--latency-ms <spec>', 'request latency (see puntas backtest)', '25')
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .addOption(
      new Option('--reference <book=dir>', 'recording of a reference book (repeatable: from base to quote currency)')
        .argParser(several)
        .default([], 'none'),
    )
    .option('--reference-age <seconds>', 'assumed age of the reference price (s)', seedNumber, 1)
    .option('--json', 'print one JSON object', false)
    .option('--out <file>', 'output file (default: stdout); with --fills: NAME.html and NAME.json')
    .action(async ({ tape, fills, book, session, flowSeconds, seed, out, ...flags }: CalibrateFlags, self: Command) => {
      if (fills !== undefined) {
        await calibrateFills({ dir: fills, book, seed, out, json: flags.json });
        return;
      }
      const { fees, cadenceMs, json, reference, referenceAge, ...latency } = flags;
      if (reference.length === 0) refuseGiven(self, ['referenceAge'], 'no effect without --reference');
      const hedge = await hedgeVenueOf(flags, self, session);
      if (hedge !== null && tape === undefined) throw new UsageError(HEDGE_ALONE);
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
      const text = await calibrate(market, progress, asked, elsewhere, hedge);
      if (out === undefined) writeOutput(text);
      else writeOut(out, () => text);
    });
}

/** Opens the tape that the flags name. A stored tape is not loaded, because the replay reads it in a sliding window. */
async function chosenTape({ config, tape: [tape, second], book, session, strategyFiles }: BacktestFlags) {
  if (second !== undefined)
    throw new UsageError(
      `--tape: expected one recording for one book, found ${tape} and ${second}; pass one, or a configuration with the key books`,
    );
  if (session !== undefined && tape === undefined) throw new UsageError(SESSION_ALONE);
  const assertApproved = strategyFiles ? undefined : refuseAll;
  const stored = chosenStored(tape, config, book, session, assertApproved);
  if (stored !== null) return stored;
  const { tapes, ...chosen } = await selectedInputs(
    {
      ...(config === undefined ? {} : { config }),
      ...(tape === undefined ? {} : { tape }),
      ...(book === undefined ? {} : { book }),
      ...(session === undefined ? {} : { session }),
      speed: 1,
      isBacktest: true,
    },
    true,
    assertApproved,
  );
  return { ...chosen, tape: tapes[0] ?? null };
}

const refuseAll: StrategyApproval = ({ file }) => {
  throw new UsageError(`${file}: a strategy file is code, which a backtest with --no-strategy-files does not run`);
};

const HEDGE_ALONE =
  '--hedge-tape needs a recording of the quoted book for the same hours; pass that recording with --tape';
const SESSION_ALONE = '--session needs a recording; pass the recording with --tape (the built-in market never closes)';
