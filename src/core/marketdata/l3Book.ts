/**
 * Order-by-order book without the bot's orders, built from a snapshot and later steps (public facts 12.6). The book
 * also gives the bot's queue positions.
 */
import type { OrderBook } from '../model/book.ts';
import { shownAmount, shownSum, UNITS_MAX, type Instrument } from '../model/instrument.ts';
import type { Order } from '../orders/orders.ts';
import type { BookDiff, BookSnapshot, OrderChange } from '../ports/port.ts';
import { damageWithinDepth, levelTick } from './bookDamage.ts';
import { StepSequence, type L3Step } from './stepSequence.ts';
import type { Amount, DecimalText, Price, Side } from '../model/units.ts';

/** Order of the bot that may already be in the book although its oid is not yet known. */
export type PendingOrder = Pick<Order, 'id' | 'side' | 'price' | 'amount'>;

export type L3BookOptions = {
  readonly instrument: Instrument;
  /** Book into which the levels are written between `show` and `hide`. */
  readonly book: Pick<OrderBook, 'set' | 'clear'>;
  readonly pending: () => Iterable<PendingOrder>;
  /** Called when an order of the bot was filled, partly or fully, or left the book otherwise. */
  readonly onOwn?: (oid: string, change: 'filled' | 'gone') => void;
};

/**
 * Result of loading a snapshot.
 * - live: the snapshot was loaded, and the stored steps after it were applied.
 * - too old: steps are missing between the snapshot and the stored steps.
 * - no ids: the snapshot is not order by order.
 * - too large: the snapshot has more orders than the maximum.
 * - damaged: an unreadable row may be among the best `DEPTH_LEVELS` levels of its side.
 */
export type SeedResult = 'live' | 'too old' | 'no ids' | 'too large' | 'damaged';

/** Maximum number of orders in one book. */
export const L3_ORDERS_MAX = 500_000;
/**
 * Maximum number of oids, and of origin ids, that are remembered for the bot's orders. Finished orders are included,
 * because the feed may lag.
 */
const OWN_MAX = 10_000;

/**
 * Whether an order is the bot's. `guess`: the side, price and amount equal those of an order of the bot whose oid is
 * unknown.
 */
type Ownership = 'no' | 'guess' | 'yes';
/**
 * Order in the book. `first` is its initial amount in lots, by which a partly filled order of the bot is recognized.
 */
type Entry = {
  readonly oid: string;
  readonly side: Side;
  readonly price: Price;
  readonly first: number;
  lots: number;
  own: Ownership;
  /** Arrival number. At equal prices, the smaller number has priority. */
  readonly born: number;
};
/**
 * Level of the book. `others` is the lots of other traders, at most 2^53 - 1; `isCapped`: whether their real sum is
 * larger. The queue is in order of arrival.
 */
type Level = { others: number; isCapped: boolean; readonly queue: Set<Entry> };

export class L3Book {
  readonly #options: L3BookOptions;
  #entries = new Map<string, Entry>();
  /**
   * Entries of the previous book while a snapshot is loaded. An order that belonged to another trader in the previous
   * book is never mistaken for an order of the bot.
   */
  #former = new Map<string, Entry>();
  readonly #levels: Record<Side, Map<Price, Level>> = { buy: new Map(), sell: new Map() };
  /** Entries of the bot's orders, including guesses. */
  readonly #ownEntries = new Set<Entry>();
  /** Guessed oid of each pending order, by origin id. */
  readonly #guesses = new Map<string, string>();
  readonly #ownOids = new Set<string>();
  /**
   * Origin ids whose oid is known. A pending order with one of these ids is no longer matched by guess with an order of
   * the book.
   */
  readonly #matchedIds = new Set<string>();
  #arrivals = 0;
  readonly #steps = new StepSequence();
  #shown = false;

  constructor(options: L3BookOptions) {
    this.#options = options;
  }

  /** Current sequence number; null while waiting for a snapshot. */
  get sequence(): bigint | null {
    return this.#steps.at;
  }

  /** Number of orders in the book. */
  get size(): number {
    return this.#entries.size;
  }

  has(oid: string): boolean {
    return this.#entries.has(oid);
  }

  /** Arrival number of the newest order. Each order that the book shows for the first time gets the next number. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** Returns the arrival number of an order; `null` if the order is not in the book. */
  arrivalOf(oid: string): number | null {
    return this.#entries.get(oid)?.born ?? null;
  }

  /** Returns the lots of other traders at a price, without orders that arrived after `arrival`. */
  lotsUpTo(side: Side, price: Price, arrival: number): number {
    let lots = 0;
    for (const entry of this.#levels[side].get(price)?.queue ?? []) {
      if (entry.own === 'no' && entry.born <= arrival) lots = shownSum(lots, entry.lots);
    }
    return lots;
  }

  /** Applies a step. Steps may arrive in any order and repeatedly. */
  take(diff: BookDiff): L3Step {
    const step = this.#steps.take(diff);
    if (step === 'gap') this.#shown = false;
    if (step !== 'applied') return step;
    this.#dropSettledGuesses();
    this.#apply(diff);
    if (this.#entries.size <= L3_ORDERS_MAX) return 'applied';
    this.markIncomplete();
    return 'gap';
  }

  /**
   * Restarts from a complete book, and applies the stored diffs that came after it. Writes no levels to `options.book`
   * until `show`.
   */
  seed(snapshot: BookSnapshot): SeedResult {
    if (!this.#steps.reaches(snapshot.sequence)) return 'too old';
    if (snapshot.bids.length + snapshot.asks.length > L3_ORDERS_MAX) return 'too large';
    if (![...snapshot.bids, ...snapshot.asks].every(entry => entry.oid !== undefined)) return 'no ids';
    if (damageWithinDepth(snapshot, this.#options.instrument) !== null) return 'damaged';
    this.#shown = false;
    this.#former = this.#entries;
    this.#entries = new Map();
    this.#levels.buy.clear();
    this.#levels.sell.clear();
    this.#ownEntries.clear();
    this.#guesses.clear();
    for (const { oid, price, amount } of snapshot.bids) this.#open(oid!, 'buy', price, amount);
    for (const { oid, price, amount } of snapshot.asks) this.#open(oid!, 'sell', price, amount);
    this.#former = new Map();
    for (const diff of this.#steps.begin(snapshot.sequence)) this.#apply(diff);
    return 'live';
  }

  /** Discards the stored steps, stops writing levels, and waits for a snapshot. */
  markIncomplete(): void {
    this.#steps.reset();
    this.#shown = false;
  }

  /**
   * Starts writing to `options.book`: all levels now, later every change. Returns false if already started, or without
   * a sequence number.
   */
  show(): boolean {
    if (this.#shown || this.#steps.at === null) return false;
    this.#shown = true;
    this.#options.book.clear();
    for (const side of ['buy', 'sell'] as const) {
      for (const [price, level] of this.#levels[side]) this.#options.book.set(side, price, level.others as Amount);
    }
    return true;
  }

  /** Stops writing until the next `show`, because another source has written the book. */
  hide(): void {
    this.#shown = false;
  }

  /** Records an oid of the bot and its origin id. Returns true if a level changed. */
  own(oid: string, id?: string): boolean {
    rememberNewest(this.#ownOids, oid);
    const changed = this.#setOwnership(oid, 'yes');
    if (id === undefined) return changed;
    rememberNewest(this.#matchedIds, id);
    const guessed = this.#guesses.get(id);
    this.#guesses.delete(id);
    // If another order of the bot was guessed to have this oid, that order is pending again.
    for (const [other, taken] of this.#guesses) if (taken === oid) this.#guesses.delete(other);
    return (guessed !== undefined && this.#rematch(guessed)) || changed;
  }

  /** Whether the order is the bot's, or is presumed to be. */
  isOwn(oid: string): boolean {
    return this.#ownOids.has(oid) || [...this.#guesses.values()].includes(oid);
  }

  /** Returns the lots of other traders ahead of an order of the bot; `null` if that order is not in the book. */
  ahead(oid: string): Amount | null {
    const entry = this.#entries.get(oid);
    return entry && entry.own !== 'no' ? this.#aheadOf(entry.side, entry.price, other => other === entry) : null;
  }

  /**
   * Returns the lots of other traders ahead of the bot's best order on a side; `null` if the bot has no order there.
   */
  aheadOfBest(side: Side): Amount | null {
    let best: Price | null = null;
    for (const { side: of, price } of this.#ownEntries) {
      if (of === side && (best === null || (side === 'buy' ? price > best : price < best))) best = price;
    }
    return best === null ? null : this.#aheadOf(side, best, other => other.own !== 'no');
  }

  #aheadOf(side: Side, price: Price, isReached: (entry: Entry) => boolean): Amount | null {
    if (this.#steps.at === null) return null;
    let lots = 0;
    for (const [other, { queue }] of this.#levels[side]) {
      if (side === 'buy' ? other <= price : other >= price) continue;
      for (const entry of queue) if (entry.own === 'no') lots = shownSum(lots, entry.lots);
    }
    for (const entry of this.#levels[side].get(price)!.queue) {
      if (isReached(entry)) break;
      if (entry.own === 'no') lots = shownSum(lots, entry.lots);
    }
    return lots as Amount;
  }

  #apply(diff: BookDiff): void {
    for (const change of diff.changes) this.#change(change);
  }

  #change(change: OrderChange): void {
    if (change.kind === 'open') {
      this.#open(change.oid, change.side, change.price, change.amount);
      return;
    }
    const entry = this.#entries.get(change.oid);
    if (!entry) return;
    this.#remove(entry);
    if (entry.own !== 'no') this.#options.onOwn?.(entry.oid, change.filled ? 'filled' : 'gone');
  }

  /**
   * Sets an order to its current state. An order keeps its queue position only if its side and price are unchanged and
   * its amount did not rise. Skips an order whose price cannot be counted in ticks.
   */
  #open(oid: string, side: Side, priceText: DecimalText, amountText: DecimalText | null): void {
    const before = this.#entries.get(oid);
    const price = this.#ticksOf(side, priceText);
    // If the amount is unreadable, a known order keeps its amount.
    const lots = amountText === null && before ? before.lots : shownAmount(this.#options.instrument, amountText);
    const counts = price !== null && lots > 0;
    if (before && counts && before.side === side && before.price === price && lots <= before.lots) {
      const less = before.lots - lots;
      if (less === 0) return;
      before.lots = lots;
      if (before.own === 'no') this.#addToLevel(before, -less);
      else this.#options.onOwn?.(oid, 'filled');
      return;
    }
    if (before) this.#remove(before);
    if (!counts) return;
    const own = before?.own ?? this.#ownershipOf(oid, side, price, lots);
    const entry: Entry = { oid, side, price, first: lots, lots, own, born: this.#bornNow(oid, side, price, lots) };
    this.#entries.set(oid, entry);
    const levels = this.#levels[side];
    const level = levels.get(price);
    if (level) level.queue.add(entry);
    else levels.set(price, { others: 0, isCapped: false, queue: new Set([entry]) });
    if (own === 'no') this.#addToLevel(entry, lots);
    else this.#ownEntries.add(entry);
  }

  /**
   * Returns the arrival number of an order: its former number if the order kept its queue position while a snapshot was
   * loaded, otherwise the next number.
   */
  #bornNow(oid: string, side: Side, price: Price, lots: number): number {
    const former = this.#former.get(oid);
    const stays = former && former.side === side && former.price === price && lots <= former.lots;
    return stays ? former.born : ++this.#arrivals;
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.oid);
    this.#ownEntries.delete(entry);
    const levels = this.#levels[entry.side];
    const level = levels.get(entry.price)!;
    level.queue.delete(entry);
    if (entry.own === 'no') this.#addToLevel(entry, -entry.lots);
    if (level.queue.size === 0) levels.delete(entry.price);
  }

  #addToLevel({ side, price }: Entry, lots: number): void {
    const level = this.#levels[side].get(price)!;
    level.others += lots;
    if (level.isCapped || level.others > UNITS_MAX) recountLevel(level);
    if (this.#shown) this.#options.book.set(side, price, level.others as Amount);
  }

  /**
   * Returns whether an order is the bot's. Before its placement is answered, an order is recognized by side, price and
   * amount.
   */
  #ownershipOf(oid: string, side: Side, price: Price, lots: number): Ownership {
    if (this.#ownOids.has(oid)) return 'yes';
    if (this.#former.get(oid)?.own === 'no') return 'no';
    for (const order of this.#options.pending()) {
      if (order.side !== side || order.price !== price || order.amount !== lots) continue;
      if (this.#guesses.has(order.id) || this.#matchedIds.has(order.id)) continue;
      this.#guesses.set(order.id, oid);
      return 'guess';
    }
    return 'no';
  }

  /** Drops guesses for orders that are no longer pending. */
  #dropSettledGuesses(): void {
    if (this.#guesses.size === 0) return;
    const waiting = new Set<string>();
    for (const { id } of this.#options.pending()) waiting.add(id);
    const settled = [...this.#guesses].filter(([id]) => !waiting.has(id));
    for (const [id] of settled) this.#guesses.delete(id);
    for (const [, oid] of settled) this.#rematch(oid);
  }

  /**
   * Corrects a wrong guess: the order may be another pending order of the bot; otherwise it is an order of another
   * trader.
   */
  #rematch(oid: string): boolean {
    const entry = this.#entries.get(oid);
    return entry !== undefined && this.#setOwnership(oid, this.#ownershipOf(oid, entry.side, entry.price, entry.first));
  }

  #setOwnership(oid: string, own: Ownership): boolean {
    const entry = this.#entries.get(oid);
    if (!entry || entry.own === own) return false;
    const wasOurs = entry.own !== 'no';
    entry.own = own;
    if (wasOurs === (own !== 'no')) return false;
    if (own === 'no') this.#ownEntries.delete(entry);
    else this.#ownEntries.add(entry);
    this.#addToLevel(entry, own === 'no' ? entry.lots : -entry.lots);
    return true;
  }

  /**
   * Returns the tick of a price; `null` if the price cannot be counted in ticks. No order at such a price can affect
   * the bot's orders.
   */
  #ticksOf(side: Side, price: DecimalText): Price | null {
    try {
      return levelTick(this.#options.instrument, side, price);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}

/** Sums a level again from its orders, because a running sum above 2^53 lots is not exact. */
function recountLevel(level: Level): void {
  let lots = 0;
  for (const entry of level.queue) if (entry.own === 'no') lots += entry.lots;
  level.isCapped = lots > UNITS_MAX;
  level.others = level.isCapped ? UNITS_MAX : lots;
}

/**
 * Adds an id as the newest id, even if the set already has it. If the set is full, removes the older half of the ids.
 */
function rememberNewest(known: Set<string>, one: string): void {
  known.delete(one);
  known.add(one);
  if (known.size <= OWN_MAX) return;
  for (const old of [...known].slice(0, -OWN_MAX / 2)) known.delete(old);
}
