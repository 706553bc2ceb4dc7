/**
 * Exact profit of a book by UTC hour or day, from ledger entries: trades, fees and conversions, valued at the last
 * fill. Ledger entries survive restarts.
 */
import { midPriceOf } from '../../messages/shownProfit.ts';
import {
  money,
  moneyOf,
  multiplyMoneyFloor,
  type Cause,
  type LedgerEntry,
  type Millis,
  type Money,
  type ProfitSinceOpening,
} from '../../core/index.ts';
import { isBroughtForward } from '../../live/state/ledgerEntries.ts';

export type BookNames = { readonly book: string; readonly major: string; readonly minor: string };

/** Trade in the ledger. `book` and `price` are `null` if an older Puntas wrote the entry. */
export type BookedTrade = {
  readonly trade: string;
  readonly order: string;
  readonly book: string | null;
  /** Price as text from the exchange. */
  readonly price: string | null;
  /** Role of the fill; `null` if an older Puntas did not store it. */
  readonly role: 'maker' | 'taker' | null;
  /** Client order id; `null` if an older Puntas did not store it, or if the order is not the bot's. */
  readonly clientOrderId: string | null;
  /** Quote level of the order; `null` in the same cases as `clientOrderId`. */
  readonly level: string | null;
};

/** Returns the trade of an entry; `null` if the entry is not a trade. */
export function bookedTrade({ source, why }: Pick<LedgerEntry, 'source' | 'why'>): BookedTrade | null {
  const [kind, trade, order] = source.split(' ');
  if (kind !== 'trade' || trade === undefined) return null;
  const told = TRADE.exec(why ?? '');
  return {
    ...{ trade, order: order ?? '', book: told?.[1] ?? null, price: told?.[2] ?? null },
    ...{ role: (told?.[3] ?? null) as BookedTrade['role'], clientOrderId: told?.[4] ?? null, level: told?.[5] ?? null },
  };
}

/** Format in which `Bookings` writes a trade. */
const TRADE = /^(\S{1,40}) at (\d{1,40}(?:\.\d{1,40})?)(?: as (maker|taker))?(?: of (\S{1,40}))?(?: level (\d{1,4}))?$/;

/** Profit of one hour or day, in the quote currency. The net profit is `trading + fees + hedging`. */
export type ProfitSums = {
  fills: number;
  /** Value of all trades. */
  volume: Money;
  /** Gain from trades, plus the change in value of the inventory. */
  trading: Money;
  fees: Money;
  /** Gain of conversions relative to the price at which inventory is valued. */
  hedging: Money;
  /**
   * Price at which the inventory is valued: the price of the last fill up to the end of the period; `null` before the
   * first fill.
   */
  mark: { readonly price: Money; readonly at: Millis } | null;
};

/** Whether an entry is the opening or the sum of older entries. Such an entry belongs to no day. */
export const isOpeningEntry = (entry: LedgerEntry): boolean => entry.source === 'opening' || isBroughtForward(entry);

/**
 * Sorts by time; entries of equal time keep their order. The opening stays first, even if a transfer that was listed
 * late has an earlier time.
 */
export function sortedByTime(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const [first] = entries;
  if (first === undefined) return [];
  const least = isOpeningEntry(first) ? first.at : -Infinity;
  return entries.map(entry => (entry.at < least ? { ...entry, at: least } : entry)).sort((a, b) => a.at - b.at);
}

/**
 * Whether an entry belongs to the book. A trade belongs only to its own book. A conversion or rebate belongs to the
 * book if it changed a currency of the book.
 */
export function isOfBook(entry: LedgerEntry, { book, major, minor }: BookNames): boolean {
  if (isOpeningEntry(entry)) return false;
  const trade = bookedTrade(entry);
  const isOurs = (currency: string): boolean => currency === major || currency === minor;
  if (trade === null)
    return entry.changes.some(
      ({ cause, currency }) => (cause === 'conversions' || cause === 'fees') && isOurs(currency),
    );
  if (trade.book !== null) return trade.book === book;
  const moved = entry.changes.filter(({ cause }) => cause === 'trades');
  return moved.length === 2 && moved.every(({ currency }) => isOurs(currency));
}

/**
 * Returns the profit of each hour or day by its start time, oldest first, without periods that have no entry. Inventory
 * counts from the first entry. The sum of all periods exactly equals the ledger's trades, fees and conversions; amounts
 * in the base currency are valued at the last fill price. A fee in the base currency is valued at the price of its fill
 * and is no longer part of the inventory.
 */
export function profitBy(
  period: 'hour' | 'day',
  entries: readonly LedgerEntry[],
  names: BookNames,
  until: Millis,
): ReadonlyMap<Millis, Readonly<ProfitSums>> {
  const periodMs = PERIOD_MS[period];
  const periods = new Map<Millis, ProfitSums>();
  const { major, minor } = names;
  let mark: ProfitSums['mark'] = null;
  let [held, worth] = [0n, 0n];
  for (const entry of sortedByTime(entries)) {
    const { at, changes } = entry;
    if (at > until) break;
    if (!isOfBook(entry, names)) continue;
    const sums = found(periods, Math.floor(at / periodMs) * periodMs);
    const of = (cause: Cause, currency: string): bigint =>
      changes.reduce((sum, one) => (one.cause === cause && one.currency === currency ? sum + one.amount : sum), 0n);
    /**
     * Adds `more` to the base holdings and returns the change of their value. Only the total value is rounded, not each
     * change.
     */
    const hold = (more: bigint): bigint => {
      held += more;
      const before = worth;
      worth = mark === null ? 0n : multiplyMoneyFloor(money(held), mark.price);
      return worth - before;
    };
    const trade = bookedTrade(entry);
    const [bought, paid] = [of('trades', major), of('trades', minor)];
    const [converted, cost] = [of('conversions', major), of('conversions', minor)];
    const price: Money | null =
      trade === null ? (mark === null ? rateOf(converted, cost) : null) : priceOf(trade.price, bought, paid);
    if (price !== null) mark = { price, at };
    sums.trading = money(sums.trading + hold(0n) + paid + hold(bought));
    sums.fees = money(sums.fees + of('fees', minor) + hold(of('fees', major)));
    sums.hedging = money(sums.hedging + cost + hold(converted));
    sums.volume = money(sums.volume + (paid < 0n ? -paid : paid));
    if (trade !== null) sums.fills++;
    sums.mark = mark;
  }
  return periods;
}

/** Sums of one hour or day, and the kind of price that values its inventory. */
export type EarnedSums = Readonly<ProfitSums> & {
  readonly marked: 'middle' | 'last fill' | null;
  /** Parts of `trading`; `null` if the mid price was not recorded. */
  readonly spread: Money | null;
  readonly inventoryGain: Money | null;
};

/**
 * Returns the profit of each hour or day by its start time, oldest first. The profit of a period is the change of the
 * profit since the opening, valued at the recorded mid price. Periods before the first of the `moments` are from an
 * older Puntas and use `byFills`. The first recorded period includes the difference between the two valuations, so that
 * the sum is the profit since the opening. Fills and volume are from the ledger. `moments` are in order of time.
 */
export function earnedBy(
  period: 'hour' | 'day',
  byFills: ReadonlyMap<Millis, Readonly<ProfitSums>>,
  moments: readonly ProfitSinceOpening[],
  until: Millis,
): ReadonlyMap<Millis, EarnedSums> {
  const ends = new Map<Millis, ProfitSinceOpening>();
  for (const moment of moments)
    if (moment.at !== null && moment.at <= until) ends.set(startOf(period, moment.at), moment);
  const firstRecorded = Math.min(...ends.keys(), Infinity);
  const periods = new Map<Millis, EarnedSums>();
  const none = money(0n);
  let before: Parts = { trading: none, fees: none, hedging: none, spread: none };
  let mark: ProfitSums['mark'] = null;
  for (const from of [...new Set([...byFills.keys(), ...ends.keys()])].sort((a, b) => a - b)) {
    const sums: Readonly<ProfitSums> = byFills.get(from) ?? {
      fills: 0,
      volume: none,
      trading: none,
      fees: none,
      hedging: none,
      mark,
    };
    const end = ends.get(from);
    const isRecorded = from >= firstRecorded;
    const after = !isRecorded ? added(before, { ...sums, spread: none }) : end === undefined ? before : partsOf(end);
    if (!isRecorded) mark = sums.mark;
    else if (end?.twiceMid) mark = { price: midPriceOf(end.twiceMid), at: end.at ?? from };
    const change = less(after, before);
    periods.set(from, {
      ...{ ...sums, trading: change.trading, fees: change.fees, hedging: change.hedging, mark },
      marked: mark === null ? null : isRecorded ? 'middle' : 'last fill',
      spread: isRecorded ? change.spread : null,
      inventoryGain: isRecorded ? money(change.trading - change.spread) : null,
    });
    before = after;
  }
  return periods;
}

type Parts = Readonly<Record<'trading' | 'fees' | 'hedging' | 'spread', Money>>;

/** Returns the parts of a profit. Trading is the captured spread plus the gain or loss of inventory. */
const partsOf = ({ profit: { spread, inventory, fees, hedging } }: ProfitSinceOpening): Parts => ({
  ...{ trading: money(spread + inventory), fees, hedging, spread },
});
const added = (a: Parts, b: Parts): Parts => ({
  trading: money(a.trading + b.trading),
  fees: money(a.fees + b.fees),
  hedging: money(a.hedging + b.hedging),
  spread: money(a.spread + b.spread),
});
const less = (a: Parts, b: Parts): Parts => ({
  trading: money(a.trading - b.trading),
  fees: money(a.fees - b.fees),
  hedging: money(a.hedging - b.hedging),
  spread: money(a.spread - b.spread),
});

const startOf = (period: 'hour' | 'day', at: Millis): Millis => Math.floor(at / PERIOD_MS[period]) * PERIOD_MS[period];

const PERIOD_MS = { hour: 3_600_000, day: 86_400_000 };

const priceOf = (told: string | null, major: bigint, minor: bigint): Money | null =>
  told === null ? rateOf(major, minor) : moneyOf(told);

/** Returns the price paid in quote per base currency, to 18 places; `null` if either amount is zero. */
function rateOf(major: bigint, minor: bigint): Money | null {
  const rate = major === 0n ? 0n : -(minor * 10n ** 18n) / major;
  return rate > 0n ? money(rate) : null;
}

function found(of: Map<Millis, ProfitSums>, from: Millis): ProfitSums {
  const none = money(0n);
  const sums = of.get(from) ?? { fills: 0, volume: none, trading: none, fees: none, hedging: none, mark: null };
  of.set(from, sums);
  return sums;
}
