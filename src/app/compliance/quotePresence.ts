/** Time with quotes of a minimum size within a maximum spread, by UTC day, in whole milliseconds. */
import {
  DAY_MS,
  amountCeil,
  isInBook,
  moneyOf,
  quotingRefusal,
  remaining,
  type DecimalText,
  type BookEngine,
  type Instrument,
  type Millis,
  type Order,
  type Price,
  type Side,
} from '../../core/index.ts';
import { dayStart } from '../../messages/timeText.ts';

/** Terms of a market-making agreement. */
export type PresenceTerms = {
  /** Maximum distance of ask and bid in basis points of their mean; `null` for any distance. */
  readonly spreadMaxBps: DecimalText | null;
  /** Minimum amount of a side, in base currency; `null` for any amount. */
  readonly sizeMin: DecimalText | null;
};

/** State of the bot's quotes at one time, compared with the terms. */
export type QuotePresence = {
  /** Whether the bids have the minimum amount. */
  readonly bid: boolean;
  /** Whether the asks have the minimum amount. */
  readonly ask: boolean;
  /** Reason why the bot did not quote both sides within the terms; `null` if both sides were within the terms. */
  readonly absence: string | null;
  /**
   * Whether the bot could not quote: it was not running, halted, paused or blocked, or no recording shows its quotes.
   */
  readonly isStop: boolean;
};

export type PresenceDay = {
  /** Start of the day, UTC. */
  readonly from: Millis;
  /** Time in which the bids had the minimum amount, in ms. */
  readonly bidMs: number;
  /** Time in which the asks had the minimum amount, in ms. */
  readonly askMs: number;
  /** Time with both sides within the terms, in ms. */
  readonly bothMs: number;
  /** Time of the day that recordings cover, in ms. */
  readonly recordedMs: number;
  /**
   * Times without both sides within the terms, by reason, longest first. These times and `bothMs` add up to the day.
   */
  readonly absences: readonly { readonly reason: string; readonly ms: number }[];
};

export type Stop = { readonly from: Millis; readonly to: Millis; readonly reason: string };

const ABSENT = { bid: false, ask: false, isStop: true } as const;
/** Presence while the bot is not running. */
export const NOT_RUNNING: QuotePresence = { ...ABSENT, absence: 'not running' };
/** Presence after a recording that ended early because the disk was full. */
export const DISK_FULL: QuotePresence = { ...ABSENT, absence: 'not recorded: the disk was full' };
/** Presence after the first difference between replay and recording. */
export const NOT_REPLAYED: QuotePresence = {
  ...ABSENT,
  absence: 'not replayed: this version of Puntas decides differently',
};
const NOT_RECORDED: readonly (string | null)[] = [NOT_RUNNING, DISK_FULL, NOT_REPLAYED].map(({ absence }) => absence);
/** Reason for the time before the first and after the last recorded input. */
export const NO_RECORDING = 'no recording';

type Sums = { bid: number; ask: number; both: number; recorded: number; readonly absences: Map<string, number> };

/** Times with and without quotes, added up by UTC day, and the periods in which the bot could not quote. */
export class PresenceTime {
  readonly #days = new Map<Millis, Sums>();
  readonly #stops: Stop[] = [];
  #last: Millis | null = null;
  #now: QuotePresence = NOT_RUNNING;

  /**
   * Adds the time until `at` to the current presence, then changes the current presence to `next`. If the clock was set
   * back, adds nothing until `at` is later than every earlier time.
   */
  change(at: Millis, next: QuotePresence): void {
    const to = Math.floor(at);
    const from = this.#last ?? to;
    for (let start = from; start < to;) {
      const day = dayStart(start);
      const end = Math.min(to, day + DAY_MS);
      this.#add(day, end - start);
      start = end;
    }
    if (from < to && this.#now.isStop) this.#stopped(from, to, this.#now.absence ?? '');
    this.#last = Math.max(from, to);
    this.#now = next;
  }

  /** Returns every day from the first to the last one to which a time was added. */
  get days(): readonly PresenceDay[] {
    const known = [...this.#days.keys()];
    const days: PresenceDay[] = [];
    const last = known.at(-1) ?? -Infinity;
    for (let from = known[0] ?? Infinity; from <= last; from += DAY_MS) {
      const { bid, ask, both, recorded, absences } = this.#days.get(from)!;
      const missing = [...absences].reduce((rest, [, ms]) => rest - ms, DAY_MS - both);
      const all = missing > 0 ? [...absences, [NO_RECORDING, missing] as const] : [...absences];
      days.push({
        ...{ from, bidMs: bid, askMs: ask, bothMs: both, recordedMs: recorded },
        absences: all.map(([reason, ms]) => ({ reason, ms })).sort((a, b) => b.ms - a.ms),
      });
    }
    return days;
  }

  /**
   * Returns the periods in which the bot could not quote, in order. Adjacent periods with the same reason are merged.
   */
  get stops(): readonly Stop[] {
    return this.#stops;
  }

  #add(day: Millis, ms: number): void {
    const sums = this.#days.get(day) ?? { bid: 0, ask: 0, both: 0, recorded: 0, absences: new Map<string, number>() };
    this.#days.set(day, sums);
    const { bid, ask, absence } = this.#now;
    if (bid) sums.bid += ms;
    if (ask) sums.ask += ms;
    if (!NOT_RECORDED.includes(absence)) sums.recorded += ms;
    if (absence === null) sums.both += ms;
    else sums.absences.set(absence, (sums.absences.get(absence) ?? 0) + ms);
  }

  #stopped(from: Millis, to: Millis, reason: string): void {
    const before = this.#stops.at(-1);
    if (before?.to === from && before.reason === reason) this.#stops[this.#stops.length - 1] = { ...before, to };
    else this.#stops.push({ from, to, reason });
  }
}

/** Terms in the units of one book. */
export type TermsInUnits = { readonly lots: number; readonly spreadMaxBps: DecimalText | null };

/** Converts terms to the units of a book, the minimum amount rounded up. Throws `TooLarge` for an impossible amount. */
export const termsIn = (instrument: Instrument, { spreadMaxBps, sizeMin }: PresenceTerms): TermsInUnits => ({
  lots: sizeMin === null ? 1 : amountCeil(instrument, sizeMin),
  spreadMaxBps,
});

/**
 * Returns the presence of the orders of one book. An order counts once the bot knows that it is in the book. It stops
 * counting when the bot sends a cancel or learns that the order has ended.
 */
export function presenceOf(book: BookEngine, at: Millis, terms: TermsInUnits): QuotePresence {
  const orders = book.unfinished.filter(isInBook);
  const [bid, ask] = [depthPrice(orders, 'buy', terms.lots), depthPrice(orders, 'sell', terms.lots)];
  const sides = { bid: bid !== null, ask: ask !== null };
  if (bid !== null && ask !== null && isWithinSpread(bid, ask, terms.spreadMaxBps))
    return { ...sides, absence: null, isStop: false };
  const stop = reasonForStop(book, at);
  if (stop !== null) return { ...sides, absence: stop, isStop: true };
  return { ...sides, absence: reasonForAbsence(book, orders, sides), isStop: false };
}

/**
 * Returns the price at which the orders of a side, counted from the best price, reach the amount; `null` if all of them
 * together have less. The price is in ticks.
 */
export function depthPrice(orders: readonly Order[], side: Side, lots: number): Price | null {
  const outward = side === 'buy' ? -1 : 1;
  const own = orders.filter(order => order.side === side).sort((a, b) => outward * (a.price - b.price));
  let sum = 0;
  for (const order of own) {
    sum += remaining(order);
    if (sum >= lots) return order.price;
  }
  return null;
}

/** Whether ask minus bid is at most `maxBps` basis points of their mean, computed exactly. `null` allows any spread. */
export const isWithinSpread = (bid: Price, ask: Price, maxBps: DecimalText | null): boolean =>
  maxBps === null || 2n * BigInt(ask - bid) * 10_000n * 10n ** 18n <= moneyOf(maxBps) * BigInt(ask + bid);

function reasonForStop(book: BookEngine, at: Millis): string | null {
  if (book.haltedBecause !== null) return `halted: ${book.haltedBecause}`;
  if (book.pausedBecause !== null) return `paused: ${book.pausedBecause}`;
  return quotingRefusal(book.riskContext(at));
}

function reasonForAbsence(
  book: BookEngine,
  orders: readonly Order[],
  sides: Pick<QuotePresence, 'bid' | 'ask'>,
): string {
  if (sides.bid && sides.ask) return 'spread above the maximum';
  const regime = book.regimeChanges.at(-1);
  return regime?.regime === 'reduce only' ? `reduce only: ${regime.why}` : missingQuote(orders, sides);
}

/**
 * Returns why a side, or both, lack the minimum amount: no orders, or too small orders. All `orders` are in the book.
 */
export function missingQuote(
  orders: readonly Pick<Order, 'side'>[],
  { bid, ask }: Pick<QuotePresence, 'bid' | 'ask'>,
): string {
  const [name, side] = bid ? (['ask', 'sell'] as const) : ask ? (['bid', 'buy'] as const) : (['quote', null] as const);
  const isSmall = side === null ? orders.length > 0 : orders.some(order => order.side === side);
  return isSmall ? `${name} below the minimum size` : `no ${name}`;
}
