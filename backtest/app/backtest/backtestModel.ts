/** Configurations, each under one fill model, side by side over one tape: the same work in this thread and in others, from plain data. */
import { isDeepStrictEqual } from 'node:util';
import {
  fillModel,
  latencyOf,
  reportOf,
  rowsOfTape,
  RowWindow,
  runSideBySide,
  travel,
  windowOfLevels,
} from '../../index.ts';
import type {
  ReplayDeskOptions,
  ExternalReferenceOptions,
  LatencySpec,
  MarketRows,
  ModelName,
  ReplayOptions,
  ReplayReport,
  SideBySideOptions,
} from '../../index.ts';
import type { Config } from '../../../src/config.ts';
import { randomOf } from '../../../src/core/index.ts';
import type { Instrument } from '../../../src/core/index.ts';
import { openStoredTape } from '../../../src/tape/index.ts';
import type { Gap, RecordedBests, StoredTapeOptions, Tape } from '../../../src/tape/index.ts';
import { engineOf, hedgePlanOf } from '../../../src/wiring/bot.ts';
import { openCsv } from './csvFiles.ts';
import type { CsvPaths } from './csvFiles.ts';

export type Latencies = {
  readonly orders: LatencySpec;
  readonly cancels: LatencySpec;
  readonly answers: LatencySpec;
  readonly feed: LatencySpec;
  /** Of notices of own fills; absent: as answers. */
  readonly fills?: LatencySpec;
};

const RUN = 1;

/** Everything but the rows; plain data, so that it can be handed to another thread. */
export type ModelJob = {
  readonly model: ModelName;
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
  /** What other recordings say our price was; absent: there is no reference. */
  readonly elsewhere?: ExternalReferenceOptions | undefined;
  /** Recordings of the books that hedges over third currencies go through. */
  readonly routes?: readonly RecordedBests[];
};

/** Rows in memory, or where so many are stored: then they are read while they slide past. */
export type RowSource =
  | { readonly kind: 'memory'; readonly rows: MarketRows }
  | { readonly kind: 'stored'; readonly dir: string; readonly options: StoredTapeOptions; readonly count: number };

/** So many rows of a stored tape are decoded once for several runs, and kept while they last: 29 bytes each. More slide past every run. */
const ROWS_KEPT = 4_000_000;

/** The source for all of these jobs, which differ in neither the feed's latency nor the seed. */
export function sourceFor(jobs: readonly Pick<ModelJob, 'latencies' | 'seed'>[], source: RowSource): RowSource {
  const [first, second] = jobs;
  if (source.kind === 'memory' || source.count > ROWS_KEPT || first === undefined || second === undefined)
    return source;
  return { kind: 'memory', rows: windowOf(source, first).whole() };
}

const windowOf = (
  { dir, options }: Extract<RowSource, { kind: 'stored' }>,
  { latencies, seed }: Pick<ModelJob, 'latencies' | 'seed'>,
): RowWindow => windowOfLevels(openStoredTape(dir, options), feedTravel(latencies, seed));

/** Whether two jobs hear of the same rows at the same times: then they can be run side by side, over one decoding of them. */
export const hearTheSame = (
  a: Pick<ModelJob, 'latencies' | 'seed'>,
  b: Pick<ModelJob, 'latencies' | 'seed'>,
): boolean => a.seed === b.seed && isDeepStrictEqual(a.latencies.feed, b.latencies.feed);

/**
 * Jobs that hear the same, side by side; reports in their order, each as of a run alone. `onProgress` gets the share of a job that is behind, 0 to 1.
 * Rejects: `UsageError` when a CSV file cannot be written, plain errors on rows that cannot be replayed.
 */
export async function runJobs(
  jobs: readonly ModelJob[],
  source: RowSource,
  onProgress: (job: number, share: number) => void,
): Promise<readonly ReplayReport[]> {
  const [first] = jobs;
  if (first === undefined) return [];
  const given = source.kind === 'memory' ? source.rows : windowOf(source, first);
  const rows = given instanceof RowWindow ? given.rows : given;
  const files = jobs.map(({ csv }) => csv && openCsv(csv));
  const results = await runSideBySide(
    given,
    jobs.map((job, i) => ({
      ...replayOf(job, rows),
      ...(files[i] && { sink: files[i].sink }),
      onProgress: share => onProgress(i, share),
    })),
  );
  for (const file of files) file?.close();
  return results.map((result, i) => reportOf(jobs[i]!.instrument, result));
}

function replayOf(job: ModelJob, rows: MarketRows): SideBySideOptions {
  const { model, config, instrument, latencies, seed } = job;
  const draws = (salt: number, spec: LatencySpec) => travel(spec, randomOf(seed ^ salt));
  const setup = hedgePlanOf(config);
  return {
    ...job,
    model: fillModel(model, rows),
    latency: latencyOf(draws(0x0d, latencies.orders), draws(0xa5, latencies.answers), draws(0xca, latencies.cancels)),
    ...(latencies.fills && { fillNotice: draws(0xf1, latencies.fills) }),
    decideEveryMs: config.timing.decideEveryMs,
    privatePollMs: config.timing.privatePollMs,
    privatePerMinute: config.exchange.budgets.privatePerMinute,
    engine: (rates, onNews) => engineOf(config, { instrument, ...rates }, RUN, onNews),
    followsTier: config.nextTierCounts,
    hedge: setup && {
      setup,
      desk: { ...simulatedDeskOf(config, seed ^ 0xde), beside: job.routes ?? [] },
      orderPrefix: `${config.instance}-${RUN}-t`,
    },
  };
}

/** The desk of the configuration. One way of both interfaces is as long, and both let a conversion wait as long. */
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

/** From the exchange to us, in ms. The same draws for every model and thread. Throws a RangeError on what is no latency. */
export const feedTravel = ({ feed }: Latencies, seed: number) => travel(feed, randomOf(seed ^ 0xfe));

/**
 * `from`: rows that tell the book; without it levels, or orders where there are none. Throws a RangeError on a tape of best prices without amounts.
 */
export function rowsInMemory(
  tape: Tape,
  { latencies, seed }: Pick<ModelJob, 'latencies' | 'seed'>,
  from?: 'levels' | 'orders',
): MarketRows {
  return rowsOfTape(tape, { feed: feedTravel(latencies, seed), ...(from && { from }) });
}
