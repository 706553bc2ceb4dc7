/**
 * Replay of several configurations in one pass over a tape, each under one fill model. Jobs are plain data, so that any
 * thread can run them.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  fillModel,
  latencyOf,
  ownFillModel,
  reportOf,
  rowsOfTape,
  RowWindow,
  runSideBySide,
  travel,
  windowOfLevels,
  type FillModelFile,
  type ReplayDeskOptions,
  type ExternalReferenceOptions,
  type LatencySpec,
  type MarketRows,
  type ModelName,
  type ElsewhereExchangeOptions,
  type ReplayOptions,
  type ReplayReport,
  type SideBySideOptions,
} from '../../index.ts';
import type { Config } from '../../../src/config.ts';
import { randomOf, type Instrument } from '../../../src/core/index.ts';
import { fittedModel, type FillModel, type WeightedHypothesis } from '../../../src/fills/index.ts';
import {
  openStoredTape,
  type DayScans,
  type Gap,
  type RecordedBests,
  type StoredTapeOptions,
  type Tape,
} from '../../../src/tape/index.ts';
import { withRecordedSource } from './recordedReference.ts';
import { StrategyFileError } from '../../../strategies/index.ts';
import { engineOf, hedgePlanOf } from '../../../src/wiring/bot.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { elsewhereTermsOf, withoutElsewhere } from '../../../src/wiring/elsewhereHedging.ts';
import { openCsv, type CsvOutput, type CsvPaths } from './csvFiles.ts';

export type Latencies = {
  readonly orders: LatencySpec;
  readonly cancels: LatencySpec;
  readonly answers: LatencySpec;
  readonly feed: LatencySpec;
  /** Latency of notices of the bot's fills; if omitted, the latency of answers applies. */
  readonly fills?: LatencySpec;
};

/** Number of the run in the order ids of a replay. */
export const RUN = 1;

/** Inputs of one run except the rows; plain data, so that a job can be sent to another thread. */
export type ModelJob = {
  readonly model: ModelName | 'fitted' | FillModelFile;
  /** Hypotheses of the model `fitted`; if absent, the model works like `expected`. */
  readonly fitted?: readonly WeightedHypothesis[];
  readonly config: Config;
  readonly instrument: Instrument;
  readonly gaps: readonly Gap[];
  readonly from: number;
  readonly to: number;
  readonly seed: number;
  readonly latencies: Latencies;
  readonly fees: ReplayOptions['fees'];
  readonly balances: ReplayOptions['balances'];
  readonly csv: CsvPaths | null;
  /** Reference price from other recordings; if omitted, there is no reference. */
  readonly elsewhere?: ExternalReferenceOptions | undefined;
  /** Recordings of the books for hedges over third currencies. */
  readonly routes?: readonly RecordedBests[];
  /** Other exchange with hedges; if omitted, the bot does not hedge there. */
  readonly otherExchange?: ElsewhereExchangeOptions | undefined;
};

/** Rows in memory, or a stored tape that is read in a sliding window. */
export type RowSource =
  | { readonly kind: 'memory'; readonly rows: MarketRows }
  | {
      readonly kind: 'stored';
      readonly dir: string;
      readonly options: StoredTapeOptions;
      readonly scans: DayScans;
      readonly count: number;
    };

/**
 * Maximum number of rows that are decoded once into memory for several runs, at 29 bytes per row. If a stored tape has
 * more rows, each run reads the tape.
 */
const ROWS_KEPT = 4_000_000;

/**
 * Returns the source of rows for `jobs`, which must have equal feed latency and seed. For several jobs, decodes a
 * stored tape of at most `ROWS_KEPT` rows into memory. `sources`: number of tapes in memory, which share this maximum.
 */
export function sourceFor(
  jobs: readonly Pick<ModelJob, 'latencies' | 'seed'>[],
  source: RowSource,
  sources = 1,
): RowSource {
  const [first, second] = jobs;
  if (source.kind === 'memory' || source.count > ROWS_KEPT / sources || first === undefined || second === undefined)
    return source;
  return { kind: 'memory', rows: windowOf(source, first).whole() };
}

/** Returns the rows of a source, or a sliding window over them. */
export const openRows = (source: RowSource, job: Pick<ModelJob, 'latencies' | 'seed'>): MarketRows | RowWindow =>
  source.kind === 'memory' ? source.rows : windowOf(source, job);

const windowOf = (
  { dir, options, scans }: Extract<RowSource, { kind: 'stored' }>,
  { latencies, seed }: Pick<ModelJob, 'latencies' | 'seed'>,
): RowWindow => windowOfLevels(openStoredTape(dir, options, scans), feedTravel(latencies, seed));

/** Whether two jobs receive the same rows at the same times, so that one pass over the rows can serve both. */
export const haveSameFeed = (
  a: Pick<ModelJob, 'latencies' | 'seed'>,
  b: Pick<ModelJob, 'latencies' | 'seed'>,
): boolean => a.seed === b.seed && isDeepStrictEqual(a.latencies.feed, b.latencies.feed);

/**
 * Runs jobs that can share a feed in one pass over the rows. Reports are in job order, and equal to those of separate
 * runs. `onProgress` receives the index of a job and the completed share of that job, 0 to 1. Rejects with `UsageError`
 * if a CSV file cannot be written or a fill model file fails, and with other errors for rows that cannot be replayed.
 */
export async function runJobs(
  jobs: readonly ModelJob[],
  source: RowSource,
  onProgress: (job: number, share: number) => void,
): Promise<readonly ReplayReport[]> {
  const [first] = jobs;
  if (first === undefined) return [];
  const given = openRows(source, first);
  const rows = given instanceof RowWindow ? given.rows : given;
  const files: (CsvOutput | null)[] = [];
  try {
    for (const { csv } of jobs) files.push(csv && openCsv(csv));
    const results = await runSideBySide(
      given,
      jobs.map((job, i) => ({
        ...replayOf(job, rows),
        ...(files[i] && { sink: files[i].sink }),
        onProgress: share => onProgress(i, share),
      })),
    );
    for (const file of files) file?.finish();
    return results.map((result, i) => reportOf(jobs[i]!.instrument, result));
  } catch (error) {
    for (const file of files) file?.discard();
    throw error instanceof StrategyFileError ? new UsageError(error.message) : error;
  }
}

function modelOfJob({ model, fitted, instrument, seed }: ModelJob, rows: MarketRows): FillModel {
  if (typeof model === 'object') {
    const random = randomOf(seed ^ 0x0e);
    return ownFillModel(model, instrument, () => random.next());
  }
  if (model !== 'fitted') return fillModel(model, rows);
  if (fitted === undefined) return { ...fillModel('expected', rows), name: model };
  const random = randomOf(seed ^ 0x0f);
  return fittedModel(fitted, () => random.next());
}

/** Returns the options of the replay of a job over its rows. */
export function replayOf(job: ModelJob, rows: MarketRows): SideBySideOptions {
  const { instrument, latencies, seed } = job;
  const { otherExchange: exchange } = job;
  // Without a recording of the other exchange, a replay has no account there.
  const config = exchange === undefined ? withoutElsewhere(job.config) : job.config;
  const place = exchange && elsewhereTermsOf(config);
  const draws = (salt: number, spec: LatencySpec) => travel(spec, randomOf(seed ^ salt));
  const setup = hedgePlanOf(config);
  return {
    ...job,
    model: modelOfJob(job, rows),
    latency: latencyOf(draws(0x0d, latencies.orders), draws(0xa5, latencies.answers), draws(0xca, latencies.cancels)),
    ...(latencies.fills && { fillNotice: draws(0xf1, latencies.fills) }),
    decideEveryMs: config.timing.decideEveryMs,
    privatePollMs: config.timing.privatePollMs,
    privatePerMinute: config.exchange.budgets.privatePerMinute,
    engine: (rates, onNews) => engineOf(withRecordedSource(config), { instrument, ...rates }, RUN, onNews),
    followsTier: config.nextTierCounts,
    hedge: setup && {
      setup,
      desk: { ...simulatedDeskOf(config, seed ^ 0xde), beside: job.routes ?? [] },
      orders: { instance: config.instance, run: RUN },
      ...(place && exchange && { place: { ...place, exchange } }),
    },
  };
}

/**
 * Returns the options of the simulated conversion desk. RFQ and conversions have the same latency and the same
 * execution delays.
 */
export function simulatedDeskOf({ backtest: { desk }, exchange }: Config, seed: number): ReplayDeskOptions {
  const { spreadBps, paddingBps, lifeMs, refillMs, delayMinMs, delayMaxMs, failedShare, ...others } = desk;
  const { capacity, latencyMs, refusedShare, lostShare } = others;
  return {
    switches: {
      rfqSpreadPips: spreadBps,
      conversionPaddingPips: paddingBps,
      rfqQuoteLifeMs: lifeMs,
      quoteLifeMs: lifeMs,
      rfqRefillMs: refillMs,
      rfqDelayMinMs: delayMinMs,
      rfqDelayMaxMs: delayMaxMs,
      conversionQueueMs: delayMaxMs,
      rfqFailurePips: Math.round(failedShare * 10_000),
    },
    ...(capacity !== undefined && { capacity }),
    ...(latencyMs !== undefined && { latencyMs }),
    timeoutMs: exchange.requestTimeoutMs,
    refusedShare,
    lostShare,
    seed,
  };
}

/**
 * Returns the delay of market data from the exchange to the bot, in ms, as a function of the send time. The random
 * draws are the same for every model and thread. Throws a RangeError for an invalid latency.
 */
export const feedTravel = ({ feed }: Latencies, seed: number) => travel(feed, randomOf(seed ^ 0xfe));

/**
 * Converts a tape to rows in memory. `from` selects the rows that define the book; if omitted, levels, or orders if
 * there are no levels. Throws a RangeError on a tape of best prices without amounts.
 */
export function rowsInMemory(
  tape: Tape,
  { latencies, seed }: Pick<ModelJob, 'latencies' | 'seed'>,
  from?: 'levels' | 'orders',
): MarketRows {
  return rowsOfTape(tape, { feed: feedTravel(latencies, seed), ...(from && { from }) });
}
