/** Result of a backtest as numbers and text for JSON. */
import {
  approximately,
  money,
  textOfMoney,
  type Instrument,
  type MarkoutCurve,
  type Money,
  type Side,
  type Snapshot,
} from '../../src/core/index.ts';
import type { DataFlaw, Gap, WideHours } from '../../src/tape/index.ts';
import type { Missing } from '../collect/missingQuotes.ts';
import type { Collected, LevelOrders } from '../collect/collect.ts';
import type { Durations } from '../collect/distributions.ts';
import { short, shortOrNull } from '../../src/pages/index.ts';
import type { HedgeTape } from '../hedged/hedgedBook.ts';
import { headlineOf, type AccountTotal, type Headline } from './headline.ts';
import { daysOf, partsOf, periodsOf, type Parts, type Period } from './periods.ts';
import { seriesOf, type Series } from './series.ts';
import type { HedgedElsewhere } from '../replay/hedging.ts';
import type { ReplayResult } from '../replay/replay.ts';

/** Report of one backtest. Equal tapes, configurations, seeds and options give equal reports, except `made`. */
export type BacktestReport = {
  readonly book: string;
  readonly strategy: string;
  /**
   * Base currency (`major`) and quote currency (`minor`). Amounts and positions are in the base currency; money without
   * a stated currency is in the quote currency.
   */
  readonly major: string;
  readonly minor: string;
  readonly tape: {
    readonly source: string;
    readonly hash: string;
    readonly dirt: readonly DataFlaw[];
    readonly gaps: readonly Gap[];
  };
  /** Recordings of other books that the reference or hedge routes used; absent if there are none. */
  readonly reference?: readonly { readonly book: string; readonly source: string }[];
  /** Warning that the configured reference has no recordings. */
  readonly noReference?: string;
  /** Hedge routes and sections of the configuration that are not simulated, one sentence each. */
  readonly noRoutes?: readonly string[];
  /** Latency of requests and market data, as the operator entered it: in ms, or the source of the values. */
  readonly latencyMs: string;
  /** Latency of cancels; if absent, the latency of requests applies. */
  readonly cancelLatencyMs?: string;
  readonly feedLatencyMs: string;
  /** Latency of notices of the bot's fills; if absent, the latency of answers applies. */
  readonly fillLatencyMs?: string;
  /** Start of the rows that built the book before trading; absent if trading started with the recording. */
  readonly warmUpFrom?: string;
  /** Seed of the seeded flow; `null` if a tape was replayed. */
  readonly seed: number | null;
  /** Text of the configuration file. */
  readonly config: string;
  readonly made: { readonly puntas: string; readonly node: string };
  readonly models: readonly ReplayReport[];
  /**
   * Parameter file of the model `fitted`: its SHA-256 hash, and the reason why the model works like `expected` (`null`
   * if it does not). Absent without this model.
   */
  readonly fitted?: { readonly hash: string; readonly fallback: string | null };
  /** Fill model file and the SHA-256 hash of its text; absent without such a file. */
  readonly fillModel?: { readonly file: string; readonly sha256: string };
  /** Recording on which the bot hedged; absent if there was none. */
  readonly hedge?: HedgeTapeReport;
  /** Runs with other request latencies, shortest first; absent without a latency sweep. */
  readonly latencySweep?: readonly SweptLatency[];
  /** Hash over the hashes of all models. */
  readonly hash: string;
};

/** Recording of the other exchange on which a bot hedged, with its taker fee and its latency each way. */
export type HedgeTapeReport = Omit<HedgeTape, 'tape'>;

/** Run of `model` with another latency of requests and answers: `latencyMs`, constant and each way. */
export type SweptLatency = { readonly latencyMs: number } & Pick<
  ReplayReport,
  | 'model'
  | 'fills'
  | 'volume'
  | 'pnl'
  | 'profitBps'
  | 'net60s'
  | 'drawdown'
  | 'uptime'
  | 'refusedPostOnly'
  | 'haltedBecause'
  | 'hash'
>;

/**
 * Report of one run. Money is decimal text, in the quote currency unless the name states another unit. Fees paid are
 * negative. Parts of a sum add up exactly.
 */
export type ReplayReport = Headline & {
  readonly model: string;
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  readonly events: number;
  readonly decisions: number;
  readonly orders: Readonly<Record<'placed' | 'canceled' | 'filled' | 'refused' | 'unknown', number>>;
  readonly fills: number;
  readonly volume: { readonly major: string; readonly minor: string };
  /** Profit at the exchange's mid price and clock. `hedging` is the result of hedges against the mid price. */
  readonly pnl: Parts;
  /** Profit in bps of the traded value; `null` without trades. `feesBps` are the fees in bps of the traded value. */
  readonly profitBps: number | null;
  readonly feesBps: number | null;
  /** Maximum fall of the profit below its previous peak, and the time of that fall. */
  readonly drawdown: { readonly most: string; readonly at: string | null };
  /**
   * Annualized Sharpe ratio of the gains per minute; `null` for fewer than `RATIO_DAYS` days, or if all gains are
   * equal. `sortino` is the Sortino ratio, `null` also without a loss.
   */
  readonly sharpe: number | null;
  readonly sortino: number | null;
  /** Amount of the base currency beyond the target at the end. */
  readonly inventory: string;
  readonly holdings: Readonly<Record<string, string>>;
  /** Totals of the hedges; `null` without a hedger. */
  readonly hedges: HedgeReport | null;
  /**
   * Time-weighted mean and maximum size of the position, unsigned, and the time in bars by position. The centers of the
   * bars are `width` apart.
   */
  readonly position: {
    readonly meanSize: number;
    readonly mostSize: number;
    readonly width: number;
    readonly values: readonly number[];
    readonly seconds: readonly number[];
  };
  /** Share of the samples, one per second, with a resting bid, a resting ask, or both at the exchange. */
  readonly uptime: Readonly<Record<'bid' | 'ask' | 'both', number>>;
  /** Reasons for missing quotes with their durations, longest first. */
  readonly missing: readonly Missing[];
  readonly days: readonly Period[];
  readonly hours: readonly Period[];
  /** Time-weighted mean spread of the market, and of the bot's quotes; `null` if no sample had both sides. */
  readonly spreadBps: { readonly market: number | null; readonly ours: number | null };
  /** Hours of the day whose spread is far wider than in the other hours; absent if there are none. */
  readonly wideHours?: WideHours;
  readonly requests: ReplayResult['requests'] & { readonly mostPerMinute: number; readonly allowedPerMinute: number };
  readonly refusedPostOnly: number;
  readonly markouts: readonly MarkoutCurve[];
  /** Statistics of the orders that rested, by side and level. */
  readonly levels: readonly LevelReport[];
  /**
   * Distribution of the times from the arrival in the book to the first execution: `share[i]` of the filled orders
   * waited at most `seconds[i]`.
   */
  readonly waits: Waits & { readonly seconds: readonly number[]; readonly share: readonly number[] };
  /**
   * Flaws of the recording. `ghosts`: number of stale levels that were removed because executions passed them.
   * `crossedSeconds`: time with the best bid above the best ask.
   */
  readonly recorded: { readonly ghosts: number; readonly crossedSeconds: number };
  readonly haltedBecause: string | null;
  /** First error or invalid quote of a strategy file; absent if there was none. */
  readonly strategyFault?: string;
  readonly left: number;
  readonly hash: string;
  readonly series: Series;
};

/**
 * Totals of the executed hedges; `begun` and `notDone` also count hedges that were not executed. `cost` is against the
 * mid price at the execution, including taker fees.
 */
export type HedgeReport = {
  readonly requests: number;
  readonly begun: number;
  readonly completed: number;
  readonly volume: { readonly major: string; readonly minor: string };
  readonly cost: string;
  readonly costBps: number | null;
  readonly notDone: readonly { readonly reason: string; readonly hedges: number }[];
  /** Hedges on the other exchange; absent if the run had none. */
  readonly elsewhere?: ElsewhereReport;
};

/**
 * Hedges on the other exchange. `volume`, fees and holdings are in the currencies of its book. Hedge debt at the end is in
 * the base currency, drift in the quote currency there; their values are in the quote currency of the bot's book, `null`
 * if the rate is unknown.
 */
export type ElsewhereReport = {
  readonly exchange: string;
  readonly hedges: number;
  readonly executions: number;
  readonly volume: { readonly major: string; readonly minor: string };
  readonly fees: Readonly<Record<string, string>>;
  readonly holdings: Readonly<Record<string, string>>;
  readonly debt: string;
  readonly debtValue: string;
  readonly drift: string;
  readonly driftValue: string | null;
};

export type Waits = { readonly medianSeconds: number | null; readonly p90Seconds: number | null };

/**
 * Statistics of one level and side. `fillRatio`: share of orders with an execution. `volumeRatio`: filled share of the
 * displayed amount. `ahead`: mean amount ahead in the queue on arrival; `null` if unknown.
 */
export type LevelReport = {
  readonly side: Side;
  readonly level: number;
  readonly orders: number;
  readonly touched: number;
  readonly filled: number;
  readonly fillRatio: number;
  readonly volumeRatio: number;
  readonly ahead: number | null;
  readonly queued: Waits;
  readonly unfilled: Waits;
};

/** Returns a run of a latency sweep, with only the fields that the sweep reports. */
export const sweptLatency = (
  latencyMs: number,
  {
    model,
    fills,
    volume,
    pnl,
    profitBps,
    net60s,
    drawdown,
    uptime,
    refusedPostOnly,
    haltedBecause,
    hash,
  }: ReplayReport,
): SweptLatency => ({
  ...{ latencyMs, model, fills, volume, pnl, profitBps, net60s, drawdown },
  ...{ uptime, refusedPostOnly, haltedBecause, hash },
});

/**
 * Builds a report. Money becomes exact decimal text, numbers have nine significant digits, and uptimes have four
 * decimals. `instrument` must be the instrument of the run, because its tick and lot convert prices and amounts to
 * currency. `account`: traded value of the account, if several books share the account.
 */
export function reportOf(
  instrument: Instrument,
  result: ReplayResult,
  account: AccountTotal | null = null,
): ReplayReport {
  const { snapshot, collected } = result;
  const { counts } = snapshot;
  const { profit } = collected;
  const both = (key: keyof typeof counts.buy): number => counts.buy[key] + counts.sell[key];
  const share = (x: number): number => Number(x.toFixed(4));
  const traded = Number(result.volume.minor);
  const overTraded = (part: Money): number | null =>
    traded > 0 ? short((approximately(part) / traded) * 10_000) : null;
  const lot = approximately(instrument.lotMoney);
  const bars = collected.positionTime.bars();
  const series = seriesOf(instrument, result.from, collected);
  const { major, minor } = instrument;
  return {
    model: result.model,
    from: new Date(result.from).toISOString(),
    to: new Date(result.to).toISOString(),
    seconds: (result.to - result.from) / 1000,
    events: result.events,
    decisions: result.decisions,
    orders: {
      placed: both('placed'),
      canceled: both('canceled'),
      filled: both('filled'),
      refused: both('refused'),
      unknown: both('unknown'),
    },
    fills: snapshot.booked.fills,
    volume: result.volume,
    pnl: partsOf(profit),
    profitBps: overTraded(profit.total),
    feesBps: overTraded(money(-profit.fees)),
    ...headlineOf(instrument, result, series.columns, account),
    drawdown: {
      most: textOfMoney(collected.drawdown.most),
      at: collected.drawdown.at === null ? null : new Date(collected.drawdown.at).toISOString(),
    },
    sharpe: shortOrNull(collected.returns.sharpe()),
    sortino: shortOrNull(collected.returns.sortino()),
    inventory: textOfMoney(collected.position),
    holdings: Object.fromEntries(
      [major, minor].map(name => [name, textOfMoney(snapshot.booked.holdings.get(name) ?? money(0n))]),
    ),
    hedges: hedgesOf(result),
    position: {
      meanSize: short(collected.positionMeanLots * lot),
      mostSize: short(mostSizeOf(collected)),
      width: short(bars.width * lot),
      values: bars.values.map(lots => short(lots * lot)),
      seconds: bars.times.map(ms => ms / 1000),
    },
    uptime: { bid: share(collected.quoted.bid), ask: share(collected.quoted.ask), both: share(collected.quoted.both) },
    missing: collected.missing,
    days: periodsOf(daysOf(collected.hours)),
    hours: periodsOf(collected.hours),
    spreadBps: {
      market: shortOrNull(collected.spreads.marketBps),
      ours: shortOrNull(collected.spreads.oursBps),
    },
    ...(collected.wideHours !== null && { wideHours: collected.wideHours }),
    requests: {
      ...result.requests,
      mostPerMinute: collected.requestsMost,
      allowedPerMinute: collected.requestsAllowed,
    },
    refusedPostOnly: result.refusedPostOnly,
    markouts: collected.markouts.map(curve => ({
      ...curve,
      bps: curve.bps.map(shortOrNull),
      errorBps: curve.errorBps.map(shortOrNull),
    })),
    levels: collected.levels.map(level => levelOf(level, lot)),
    waits: { ...waitsOf(collected.queued), ...curveOf(collected.queued) },
    recorded: { ghosts: result.recorded.ghosts, crossedSeconds: result.recorded.crossedMs / 1000 },
    haltedBecause: result.haltedBecause,
    ...(result.strategyFault !== null && { strategyFault: result.strategyFault }),
    left: result.left,
    hash: result.hash,
    series,
  };
}

function hedgesOf({ hedged, snapshot }: ReplayResult): HedgeReport | null {
  if (hedged === null) return null;
  const { requests, begun, completed, major, minor, cost, reasons } = hedged;
  const elsewhere = elsewhereOf(hedged.elsewhere, snapshot.elsewhere);
  const traded = approximately(minor);
  return {
    requests,
    begun,
    completed,
    volume: { major: textOfMoney(major), minor: textOfMoney(minor) },
    cost: textOfMoney(cost),
    costBps: traded > 0 ? short((approximately(cost) / traded) * 10_000) : null,
    notDone: reasons,
    ...(elsewhere !== null && { elsewhere }),
  };
}

function elsewhereOf(of: HedgedElsewhere | null, figures: Snapshot['elsewhere']): ElsewhereReport | null {
  if (of === null || figures === null) return null;
  const { name, hedges, executions, traded, fees, holdings } = of;
  const texts = (sums: ReadonlyMap<string, Money>) =>
    Object.fromEntries([...sums].map(([currency, sum]) => [currency, textOfMoney(sum)]));
  return {
    ...{ exchange: name, hedges, executions, fees: texts(fees), holdings: texts(holdings) },
    volume: { major: textOfMoney(traded.major), minor: textOfMoney(traded.minor) },
    ...{ debt: textOfMoney(figures.debt), debtValue: textOfMoney(figures.debtValue) },
    ...{ drift: textOfMoney(figures.drift), driftValue: figures.driftValue && textOfMoney(figures.driftValue) },
  };
}

const mostSizeOf = ({ series }: Collected): number =>
  [...series.column('positionLeast'), ...series.column('positionMost')].reduce(
    (most, held) => Math.max(most, Math.abs(held) || 0),
    0,
  );

function levelOf(level: LevelOrders, lot: number): LevelReport {
  const { side, rested, restedLots, filledLots, touched, filled, aheadLots, queued, unfilled } = level;
  return {
    side,
    level: level.level,
    orders: rested,
    touched,
    filled,
    fillRatio: short(touched / rested),
    volumeRatio: short(filledLots / restedLots),
    ahead: aheadLots === null ? null : short(aheadLots * lot),
    queued: waitsOf(queued),
    unfilled: waitsOf(unfilled),
  };
}

function waitsOf(durations: Durations): Waits {
  const seconds = (ms: number | null): number | null => (ms === null ? null : short(ms / 1000));
  return { medianSeconds: seconds(durations.quantile(0.5)), p90Seconds: seconds(durations.quantile(0.9)) };
}

function curveOf(durations: Durations): { readonly seconds: readonly number[]; readonly share: readonly number[] } {
  const { ms, share } = durations.curve();
  return { seconds: ms.map(x => short(x / 1000)), share: share.map(short) };
}
