/** Headline numbers of a report: profit with its uncertainty, volume and orders, and the gain of holding. */
import { approximately, type Instrument, type MarkoutCurve } from '../../src/core/index.ts';
import { AFTER_SECONDS, type Collected, type SeriesName } from '../collect/collect.ts';
import { paceOf, type Pace } from '../exchange/fees.ts';
import type { ReplayResult } from '../replay/replay.ts';
import { short, shortOrNull } from '../../src/pages/index.ts';
import { cutUp, intervalOf, stretchesIn, type Interval, type Stretches } from './interval.ts';
import type { Series } from './series.ts';

const DAY = 86_400;

/**
 * Splits a run of `seconds` into time blocks. A fill without a known mid price 60 s later counts with the mean of the
 * other fills.
 */
export function stretchesOf(
  { series, profit, hedgesAfterMinute = 0 }: Pick<Collected, 'series' | 'profit'> & Partial<Collected>,
  net60s: { readonly total: number } | null,
  seconds: number,
): Stretches {
  const count = stretchesIn(seconds);
  const cut = (name: SeriesName, keep: 'sum' | 'last'): number[] => cutUp(series.column(name), keep, count);
  const [kept, fees, hedged] = [cut('kept60', 'sum'), cut('fees', 'last'), cut('hedged60', 'sum')];
  const sumOf = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0);
  const [all, allHedged] = [sumOf(kept), sumOf(hedged)];
  const ofFills = net60s === null ? 0 : net60s.total - approximately(profit.fees) - hedgesAfterMinute;
  const scale = net60s === null || all === 0 ? 0 : ofFills / all;
  const hedgeScale = net60s === null || allHedged === 0 ? 0 : hedgesAfterMinute / allHedged;
  return {
    seconds: count > 0 ? seconds / count : seconds,
    net: cut('profit', 'last').map(short),
    after60: kept.map((x, i) => short(scale * x + fees[i]! + hedgeScale * hedged[i]!)),
  };
}

/**
 * Returns the profit as if each fill had been closed at the mid price 60 s later. The profit is the mean markout minus
 * the fee, times the traded value (E8), plus the value of hedges on the other exchange at that time (`hedges`). Excludes
 * other hedges and later gains of the inventory. Returns `null` without a known markout.
 */
export function netAfterMinute(
  markouts: readonly MarkoutCurve[],
  feesBps: number | null,
  traded: number,
  hedges = 0,
): { readonly total: number; readonly fills: number } | null {
  const all = markouts.find(({ side, level }) => side === null && level === null);
  const at = all?.seconds.indexOf(AFTER_SECONDS) ?? -1;
  const mean = all?.bps[at] ?? null;
  if (mean === null || feesBps === null) return null;
  return { total: short(((mean - feesBps) * traded) / 10_000 + hedges), fills: all?.fills[at] ?? 0 };
}

/** Headline numbers of a run, approximate; `null` if unknown. */
export type Headline = {
  readonly netInterval: Interval | null;
  readonly net60s: (NonNullable<ReturnType<typeof netAfterMinute>> & { readonly interval: Interval | null }) | null;
  readonly stretches: Stretches;
  /** Volume of all books of the account, scaled to 30 days in the quote currency, and the maker fee of its tier. */
  readonly pace: Pace;
  readonly fillsPerDay: number | null;
  /** Number of placements and cancels per fill. */
  readonly orderToTrade: number | null;
  /**
   * Balances at the start, as decimal text. `value` is their value at the first known mid price, in the quote currency.
   * `returnPct` is the profit in percent of `value`. Both are `null` if several books share the balances.
   */
  readonly capital: {
    readonly major: string;
    readonly minor: string;
    readonly value: number | null;
    readonly returnPct: number | null;
  };
  /**
   * Gain, without fees, of buying `amount` at the first known mid price and holding it until the last known mid price.
   * `amount` is the largest position of the run.
   */
  readonly hold: { readonly amount: number; readonly total: number | null };
};

/** Approximate value traded by an account of several books, in the quote currency of one of them. */
export type AccountTotal = { readonly traded: number };

/** Returns the headline numbers. `columns` are the columns of the run's series. */
export function headlineOf(
  { major, minor }: Instrument,
  { from, to, volume, snapshot, collected, requests, opening, feeTiers }: ReplayResult,
  columns: Series['columns'],
  account: AccountTotal | null = null,
): Headline {
  const { fills } = snapshot.booked;
  const seconds = (to - from) / 1000;
  const traded = Number(volume.minor);
  const total = approximately(collected.profit.total);
  const feesBps = traded > 0 ? (-approximately(collected.profit.fees) / traded) * 10_000 : null;
  const known = columns.middle.filter(value => value !== null);
  const [first = null, last = null] = [known[0], known.at(-1)];
  const capital = { major: opening[major] ?? '0', minor: opening[minor] ?? '0' };
  const value = first === null || account !== null ? null : Number(capital.minor) + Number(capital.major) * first;
  const most = [...columns.positionLeast, ...columns.positionMost].reduce<number>(
    (size, held) => Math.max(size, Math.abs(held ?? 0)),
    0,
  );
  const net60s = netAfterMinute(collected.markouts, feesBps, traded, collected.hedgesAfterMinute);
  const stretches = stretchesOf(collected, net60s, seconds);
  return {
    netInterval: fills === 0 ? null : intervalOf(stretches.net),
    net60s: net60s && { ...net60s, interval: intervalOf(stretches.after60) },
    stretches,
    pace: paceOf(account?.traded ?? traded, seconds, feeTiers),
    fillsPerDay: shortOrNull(seconds > 0 ? (fills * DAY) / seconds : null),
    orderToTrade: shortOrNull(fills > 0 ? (requests.placed + requests.canceled) / fills : null),
    capital: {
      ...capital,
      value: shortOrNull(value),
      returnPct: shortOrNull(value !== null && value > 0 ? (100 * total) / value : null),
    },
    hold: { amount: most, total: shortOrNull(first === null || last === null ? null : most * (last - first)) },
  };
}
