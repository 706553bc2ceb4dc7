/** Backtest command: replays one tape with the configured bot under each fill model, and writes one report. */
import {
  hashOver,
  mainOf,
  MODEL_NAMES,
  recordFlow,
  sweptLatency,
  type BacktestReport,
  type FillModelFile,
  hedgeTapeReport,
  type HedgeTape,
  type ModelName,
  type ReplayOptions,
  type ReplayReport,
} from '../../index.ts';
import { embeddedFeesOf, marketModelOf, type Config } from '../../../src/config.ts';
import { moneyOf, textOfMoney, type Instrument, type Money, textOfError } from '../../../src/core/index.ts';
import { feesOf } from '../../../src/sandbox/index.ts';
import { gapsWithin, type DataFlaw, type Tape } from '../../../src/tape/index.ts';
import type { Latencies, ModelJob } from './backtestModel.ts';
import { runModels } from './backtestThreads.ts';
import type { FittedFile } from '../../../src/wiring/fitted/fittedFile.ts';
import { withoutElsewhere } from '../../../src/wiring/elsewhereHedging.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { withRequests, type LatencyFlags } from './latencyFlags.ts';
import { hedgeTapeProblem, refuseHedgeTape, requireBothAccounts, withHedgeTape } from './hedgedElsewhere.ts';
import { notSimulated } from './notSimulated.ts';
import { missingReference, recordedElsewhere } from './recordedReference.ts';
import { recordedRoutes, untestedRoutes, type ReferenceTapes } from './hedgeRoutes.ts';
import { cutAt, gapsOf, marketOf, noOverlapReason, spanOf, type OpenedTape, type TradedTime } from './market.ts';
import type { ReportFiles } from './reportFiles.ts';
import { withProgress, type OnShare, type Progress } from '../../../src/messages/progress.ts';

export type BacktestOptions = {
  readonly config: Config;
  /** Text of the configuration, for the report. `version` is the version of Puntas. */
  readonly configText: string;
  readonly version: string;
  /** Recording to replay; if `null`, the backtest first records the simulated market of the configuration. */
  readonly tape: Tape | OpenedTape | null;
  /** Seed of the simulated market and of random latencies. */
  readonly seed: number;
  /** Length of the simulated market, in seconds. */
  readonly flowSeconds: number;
  /** Trend of the simulated market, in bps per hour. */
  readonly flowDrift: number;
  readonly models: readonly ModelName[];
  /** Parameters of the model `fitted`, which is run after the others. */
  readonly fitted?: FittedFile;
  /** Fill model file, which is run last. */
  readonly fillModel?: FillModelFile;
  /** Rows that define the book if a recording has both levels and single orders. Default: levels. */
  readonly from?: 'levels' | 'orders';
  /** Recordings of the books that the configured reference and hedge routes use. */
  readonly reference?: ReferenceTapes;
  /** Recording of the other exchange, on which the bot hedges; absent if the bot does not hedge there. */
  readonly hedge?: HedgeTape | null;
  readonly latencies: Latencies;
  /** Latency flags as the operator entered them, for the report. */
  readonly latencyText: LatencyFlags;
  /** Request latencies in ms, ascending, for additional runs of the main model. */
  readonly latencySweep?: readonly number[];
  /** Start and end of trading; rows before the start only build the book, and rows after the end are ignored. */
  readonly time?: TradedTime;
  /** Maximum number of parallel threads; models beyond that number wait. */
  readonly threads: number;
  /** CSV files of fills, orders and hedges; `null` if none are written. */
  readonly files: ReportFiles | null;
  readonly progress: Progress;
};

/** Runs the backtest. Throws `UsageError` for errors that the operator can fix. */
export async function backtest(options: BacktestOptions): Promise<BacktestReport> {
  const { models, seed, latencies, latencyText, threads, files } = options;
  const { progress } = options;
  const hedge = options.hedge ?? null;
  const config = hedge === null ? withoutElsewhere(options.config) : options.config;
  const unsimulated = notSimulated(options.config, hedge !== null);
  const unfit = hedge && hedgeTapeProblem(config, hedge);
  refuseHedgeTape(unfit);
  const { since, until } = options.time ?? {};
  const whole =
    options.tape ?? (await withProgress(progress, 'recording the flow', onShare => flowOf(options, onShare)));
  const problem = noOverlapReason(spanOf(whole), options.time ?? {});
  if (problem !== null) throw new UsageError(problem);
  const given = cutAt(whole, until);
  const { instrument, source, flaws } = 'options' in given ? given.tape : given;
  if (instrument.symbol !== config.book)
    throw new UsageError(
      `the tape has the book ${instrument.symbol}, but the configuration trades ${config.book}; pass a tape of ${config.book}`,
    );
  const { rows, firstTicks, span: recorded, hash } = marketOf(given, options);
  const to = Math.min(until ?? Infinity, spanOf(whole).to);
  const span = { from: Math.max(since ?? recorded.from, recorded.from), to };
  const gaps = gapsOf(given).filter(gap => gap.to > span.from);
  const account = simulatedAccountOf(config, instrument, firstTicks);
  const passed = options.reference ?? new Map<string, Tape>();
  const reference = hedge === null ? passed : withHedgeTape(config, passed, hedge);
  const elsewhere = recordedElsewhere(config, reference, span) ?? undefined;
  const noReference = missingReference(config, reference);
  const routes = recordedRoutes(config, reference, span);
  const untested = untestedRoutes(config, routes);
  const both = hedge && requireBothAccounts(config, account.balances, hedge, span, elsewhere);
  const shared = { config, instrument, gaps, ...span, seed, ...account, ...both, elsewhere, routes };
  const used = new Set([
    ...(elsewhere?.mids ?? []).map(({ book }) => book),
    ...routes.map(({ instrument: { symbol } }) => symbol),
  ]);
  const others = [...reference].flatMap(([book, { source: from }]) => (used.has(book) ? [{ book, source: from }] : []));
  const { fitted, fillModel } = options;
  const all = [...models, ...(fitted === undefined ? [] : (['fitted'] as const)), ...(fillModel ? [fillModel] : [])];
  const jobs = all.map((model): ModelJob => {
    const csv = files?.csv(typeof model === 'string' ? model : model.name, config.hedge !== undefined) ?? null;
    const isFit = model === 'fitted' && fitted?.fallback === null;
    return { ...shared, model, latencies, csv, ...(isFit && { fitted: fitted.hypotheses }) };
  });
  const sweep = sweepJobs(options, shared);
  const atOnce = sweep.length > 0 && threads === Infinity ? jobs.length : threads;
  const results = await withProgress(
    progress,
    config.book,
    onShare => runModels([...jobs, ...sweep.map(({ job }) => job)], rows, atOnce, onShare),
    'file' in config.strategy ? `look for a loop without an end in ${config.strategy.file}` : undefined,
  );
  const reports = results.slice(0, jobs.length);
  return {
    book: config.book,
    strategy: config.strategy.name,
    major: instrument.major,
    minor: instrument.minor,
    tape: {
      ...{ source, hash, dirt: [...flaws, ...replayedFlaws(reports), ...untested] },
      gaps: gapsWithin(gaps, span.from, span.to),
    },
    ...(others.length > 0 && { reference: others }),
    ...(hedge !== null && { hedge: hedgeTapeReport(hedge) }),
    ...(noReference !== null && { noReference }),
    ...(untested.length + unsimulated.length > 0 && {
      noRoutes: [...untested.map(({ done }) => done), ...unsimulated],
    }),
    ...latencyText,
    ...(span.from > recorded.from && { warmUpFrom: new Date(recorded.from).toISOString() }),
    seed: options.tape === null ? seed : null,
    config: options.configText,
    made: { puntas: options.version, node: process.versions.node },
    models: reports,
    ...(fitted !== undefined && { fitted: { hash: fitted.hash, fallback: fitted.fallback } }),
    ...(fillModel !== undefined && { fillModel: { file: fillModel.file, sha256: fillModel.sha256 } }),
    ...(sweep.length > 0 && { latencySweep: sweep.map(({ ms }, i) => sweptLatency(ms, results[jobs.length + i]!)) }),
    hash: hashOver(reports.map(report => report.hash)),
  };
}

/**
 * Returns the data flaws that only a replay of the recording finds. They do not depend on the fill model, so the first
 * report is enough.
 */
export function replayedFlaws([report]: readonly ReplayReport[]): readonly DataFlaw[] {
  const { ghosts, crossedSeconds } = report?.recorded ?? { ghosts: 0, crossedSeconds: 0 };
  return [
    {
      what: 'price levels that remained in the recorded book after trades at prices beyond them',
      count: ghosts,
      done: 'removed until the next recorded change of the level',
    },
    {
      what: 'seconds with the best bid above the best ask',
      count: Math.round(crossedSeconds),
      done: 'older levels that a new level crosses are ignored',
    },
  ].filter(({ count }) => count > 0);
}

/** Returns the report without its time series and hourly results, short enough for a terminal or a pipe. */
export function withoutSeries(report: BacktestReport): object {
  return { ...report, models: report.models.map(({ series: _, hours: __, ...rest }) => rest) };
}

/** Returns the jobs of the latency sweep: the main model, once per request latency. */
function sweepJobs(
  { models, latencies, latencySweep = [] }: BacktestOptions,
  shared: Omit<ModelJob, 'model' | 'latencies' | 'csv'>,
): readonly { readonly ms: number; readonly job: ModelJob }[] {
  const main = mainOf(models.map(model => ({ model })));
  if (main === null) return [];
  return latencySweep.map(ms => ({
    ms,
    job: { ...shared, model: main.model, latencies: withRequests(latencies, ms), csv: null },
  }));
}

/** Parses the names in --models. */
export function modelsOf(text: string): readonly ModelName[] {
  return text.split(',').map(name => {
    const found = MODEL_NAMES.find(known => known === name);
    if (!found)
      throw new UsageError(`--models: expected fill models (${MODEL_NAMES.join(', ')}), found ${JSON.stringify(name)}`);
    return found;
  });
}

/** Parses the name in --from. */
export function rowKindOf(text: string): 'levels' | 'orders' {
  if (text === 'levels' || text === 'orders') return text;
  throw new UsageError(`--from: expected levels or orders, found ${JSON.stringify(text)}`);
}

function flowOf({ config, seed, flowSeconds, flowDrift }: BacktestOptions, onShare: OnShare): Tape {
  try {
    return recordFlow(config.book, seed, flowSeconds, flowDrift, onShare, marketModelOf(config.exchange));
  } catch (error) {
    throw new UsageError(`${textOfError(error)}; pass a recording with --tape DIR instead`);
  }
}

/**
 * Returns the fees that the configuration sets for its backtests or its embedded exchange, as one tier for any volume;
 * `null` if it sets no fees. `traded`: symbol of the book to which `exchange.fees` applies.
 */
export function ownFees({ backtest, exchange, book }: Config, traded = book): ReplayOptions['fees'] | null {
  const fees = backtest.fees ?? embeddedFeesOf(exchange, traded, book);
  return fees === undefined ? null : { tiers: [{ volume: ANY_VOLUME, ...fees }], volume30d: '0' };
}

/** Maker and taker fee of another exchange, as fractions in decimal text. */
export type VenueFees = { readonly maker: string; readonly taker: string };

/** Returns the configuration with `fees` for its backtests; unchanged if `fees` is undefined. */
export const withVenueFees = (config: Config, fees: VenueFees | undefined): Config =>
  fees === undefined ? config : { ...config, backtest: { ...config.backtest, fees } };

/** Upper bound of the only fee tier: more than any trader's monthly volume. */
export const ANY_VOLUME = '999999999999999';

/**
 * Returns the fees and balances of the simulated account. For the embedded exchange, fees and balances are those of its
 * configuration. For a remote exchange, the 30-day volume is 0, and the balances cover the position limit; the base
 * currency begins at its target, if there is one.
 */
export function simulatedAccountOf(config: Config, instrument: Instrument, firstTicks: number, traded = config.book) {
  const { exchange, limits, inventory } = config;
  const own = ownFees(config, traded);
  const { tiers } = feesOf(instrument.minor);
  if (exchange.kind === 'embedded')
    return { fees: own ?? { tiers, volume30d: exchange.volume30d }, balances: exchange.balances };
  const positionMax = moneyOf(limits.positionMax);
  const major = inventory.target === undefined ? 2n * positionMax : moneyOf(inventory.target);
  const minor = (2n * positionMax * BigInt(firstTicks) * instrument.tickMoney) / 10n ** 18n;
  const text = (sum: bigint): string => textOfMoney(sum as Money);
  return {
    fees: own ?? { tiers, volume30d: '0' },
    balances: { [instrument.major]: text(major), [instrument.minor]: text(minor) },
  };
}
