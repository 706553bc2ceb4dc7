/** Result of a backtest as plain numbers and text for JSON, with its fills and orders as CSV lines. */
import {
  approximately,
  money,
  textOfMoney,
  type Instrument,
  type MarkoutCurve,
  type Money,
  type Side,
} from '../../src/core/index.ts';
import type { DataFlaw, Gap, WideHours } from '../../src/tape/index.ts';
import type { Missing } from '../collect/missingQuotes.ts';
import type { Collected, LevelOrders } from '../collect/collect.ts';
import type { Durations } from '../collect/distributions.ts';
import type { ReplayedHedge } from '../replay/hedging.ts';
import { short, shortOrNull } from '../../src/pages/index.ts';
import { headlineOf, type Headline } from './headline.ts';
import { daysOf, partsOf, periodsOf, type Parts, type Period } from './periods.ts';
import { seriesOf, type Series } from './series.ts';
import type { FillRow, OrderRow, ReplayResult } from '../replay/replay.ts';

/** Report of one command run. Equal for equal tape, configuration, seed and options, except `made`. */
export type BacktestReport = {
  readonly book: string;
  readonly strategy: string;
  /**
   * Currencies: amounts and positions are in the base currency (`major`), money without a stated currency is in the
   * quote currency (`minor`).
   */
  readonly major: string;
  readonly minor: string;
  readonly tape: {
    readonly source: string;
    readonly hash: string;
    readonly dirt: readonly DataFlaw[];
    readonly gaps: readonly Gap[];
  };
  /** Recordings behind the reference price; absent if there were none. */
  readonly reference?: readonly { readonly book: string; readonly source: string }[];
  /** Warning that the configured reference price was not given. */
  readonly noReference?: string;
  /** Hedge routes without recordings, one sentence each. */
  readonly noRoutes?: readonly string[];
  /** As requested: ms, or their source. */
  readonly latencyMs: string;
  readonly feedLatencyMs: string;
  /** Latency of notices of the bot's fills; if absent, that of answers. */
  readonly fillLatencyMs?: string;
  /** Start of the rows that built the book before trading; absent if trading started with the recording. */
  readonly warmUpFrom?: string;
  /** Seed of the recorded flow if there was no tape; otherwise `null`. */
  readonly seed: number | null;
  /** Text of the configuration file. */
  readonly config: string;
  readonly made: { readonly puntas: string; readonly node: string };
  readonly models: readonly ReplayReport[];
  /** Runs with other request latencies, shortest first; absent if not requested. */
  readonly latencySweep?: readonly SweptLatency[];
  /** Hash of every fill, order and final number of every model. */
  readonly hash: string;
};

/** Run with this constant latency of requests and answers, in ms each way, otherwise like that of `model`. */
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
 * Report of one run. Money is decimal text, in the quote currency unless the name says otherwise; paid fees are
 * negative. Parts add up to the total.
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
  /** Profit at the exchange's mid price and time. Hedging is the result of conversions against it. */
  readonly pnl: Parts;
  /** Profit and fees relative to the traded value; `null` without trades. */
  readonly profitBps: number | null;
  readonly feesBps: number | null;
  /** Maximum fall of the profit from its previous peak, and its time. */
  readonly drawdown: { readonly most: string; readonly at: string | null };
  /** Ratio of gains per minute, annualized; `null` with fewer than `RATIO_DAYS` days or without deviation. */
  readonly sharpe: number | null;
  readonly sortino: number | null;
  /** Base currency held beyond the target at the end. */
  readonly inventory: string;
  readonly holdings: Readonly<Record<string, string>>;
  /** Conversions; `null` without a hedger. */
  readonly hedges: HedgeReport | null;
  /** Time-weighted mean and maximum size, unsigned, and bars of time by position, whose centers are `width` apart. */
  readonly position: {
    readonly meanSize: number;
    readonly mostSize: number;
    readonly width: number;
    readonly values: readonly number[];
    readonly seconds: readonly number[];
  };
  /** Shares of samples, one per second, with resting quotes at the exchange. */
  readonly uptime: Readonly<Record<'bid' | 'ask' | 'both', number>>;
  /** Reasons for missing quotes with durations, longest first. */
  readonly missing: readonly Missing[];
  readonly days: readonly Period[];
  readonly hours: readonly Period[];
  /** Time-weighted means of the best ask minus the best bid; `null` if both never existed. */
  readonly spreadBps: { readonly market: number | null; readonly ours: number | null };
  /** Hours of the day with a spread far beyond that of the others; absent if there are none. */
  readonly wideHours?: WideHours;
  readonly requests: ReplayResult['requests'] & { readonly mostPerMinute: number; readonly allowedPerMinute: number };
  readonly refusedPostOnly: number;
  readonly markouts: readonly MarkoutCurve[];
  /** Orders that rested, by side and level. */
  readonly levels: readonly LevelReport[];
  /**
   * Distribution of times from resting to the first execution: the share of filled orders that waited at most this
   * time.
   */
  readonly waits: Waits & { readonly seconds: readonly number[]; readonly share: readonly number[] };
  /**
   * Flaws of the recording: stale levels removed because executions passed them, and time with its best bid above its
   * best ask.
   */
  readonly recorded: { readonly ghosts: number; readonly crossedSeconds: number };
  readonly haltedBecause: string | null;
  readonly left: number;
  readonly hash: string;
  readonly series: Series;
};

/**
 * Totals of executed hedges; `begun` and `notDone` count all. `cost` is against the mid price at that time, including
 * taker fees.
 */
export type HedgeReport = {
  readonly requests: number;
  readonly begun: number;
  readonly completed: number;
  readonly volume: { readonly major: string; readonly minor: string };
  readonly cost: string;
  readonly costBps: number | null;
  readonly notDone: readonly { readonly reason: string; readonly hedges: number }[];
};

export type Waits = { readonly medianSeconds: number | null; readonly p90Seconds: number | null };

/**
 * `fillRatio`: share of orders with an execution. `volumeRatio`: filled share of the displayed amount. `ahead`: mean
 * amount ahead on arrival, `null` if not recorded.
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

/** Extracts the fields of a run for a latency sweep. */
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
 * Builds a report. Money becomes exact decimal text, numbers have nine digits, uptimes four decimals. `instrument` must
 * be that of the run, because its tick and lot convert prices and amounts to currency.
 */
export function reportOf(instrument: Instrument, result: ReplayResult): ReplayReport {
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
    ...headlineOf(instrument, result, series.columns),
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
    left: result.left,
    hash: result.hash,
    series,
  };
}

function hedgesOf({ hedged }: ReplayResult): HedgeReport | null {
  if (hedged === null) return null;
  const { requests, begun, completed, major, minor, cost, reasons } = hedged;
  const traded = approximately(minor);
  return {
    requests,
    begun,
    completed,
    volume: { major: textOfMoney(major), minor: textOfMoney(minor) },
    cost: textOfMoney(cost),
    costBps: traded > 0 ? short((approximately(cost) / traded) * 10_000) : null,
    notDone: reasons,
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

export const FILLS_HEADER =
  'tid,order_id,level,at,heard_at,side,price,amount,value,fee,fee_currency,mid_ticks,held_since_start';
/**
 * Formats a fill in the order of `FILLS_HEADER`, without a line end. Times in epoch ms, money and amounts as decimal
 * text; empty for an unknown mid price.
 */
export const fillLine = (f: FillRow): string =>
  [
    f.tid,
    f.orderId,
    f.level,
    f.at,
    f.heardAt,
    f.side,
    f.price,
    f.amount,
    f.value,
    f.fee,
    f.feeCurrency,
    f.midTicks,
    f.held,
  ].join(',');

export const ORDERS_HEADER = 'order_id,side,price,amount,filled,placed_at,ended_at,ending';
/**
 * Formats an order in the order of `ORDERS_HEADER`, without a line end. Times in epoch ms, prices and amounts as
 * decimal text.
 */
export const orderLine = (o: OrderRow): string =>
  [o.orderId, o.side, o.price, o.amount, o.filled, o.placedAt, o.endedAt, o.ending].join(',');

export const HEDGES_HEADER =
  'hedge_id,at,state,wanted,way,gave,gave_currency,got,got_currency,weighed_bps,accepted_at,executed_at,cost,heard_at,why,weighed';
/**
 * Formats a hedge in the order of `HEDGES_HEADER`, without a line end. Times in epoch ms, amounts as decimal text;
 * empty for `null`, sentences in quotes.
 */
export const hedgeLine = (h: ReplayedHedge): string =>
  [
    h.id,
    h.at,
    h.state,
    h.wanted,
    h.way,
    h.gave,
    h.gaveCurrency,
    h.got,
    h.gotCurrency,
    h.weighedBps,
    h.acceptedAt,
    h.executedAt,
    h.cost,
    h.heardAt,
    h.why && quoted(h.why),
    quoted(h.weighed),
  ]
    .map(cell => cell ?? '')
    .join(',');
/** Quotes a sentence, which may contain commas. */
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
