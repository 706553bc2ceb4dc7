/**
 * Book by levels from a snapshot and the changes after it. Source: "How to manage a local order book correctly" in
 * web-socket-streams.md of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { moneyOf, type BookEntry, type BookSnapshot, type Millis, type Money, type Side } from '../../../core/index.ts';

/** Changes of levels between two update ids, both included. An amount of zero removes the level. */
export type DepthUpdate = {
  readonly first: bigint;
  readonly last: bigint;
  readonly sentAt: Millis;
  readonly bids: readonly BookEntry[];
  readonly asks: readonly BookEntry[];
};

/** Maximum number of updates that wait for a snapshot: 100 s at one update per 100 ms. */
const WAITING_MAX = 1_000;
/** Maximum number of levels kept per side. Updates can add more levels than the snapshot had. */
const LEVELS_MAX = 4_000;
/** Levels per side in a book that is reported. */
const SHOWN = 100;
/** Minimum levels per side within the range of the snapshot; below it, a new snapshot is needed. */
const KNOWN_MIN = 50;

type Level = BookEntry & { readonly key: Money };

/** One side of the book, best level first. */
class Levels {
  readonly #side: Side;
  readonly #list: Level[] = [];
  /** Worst price up to which every level is known; `null` if the snapshot had all levels. */
  #knownTo: Money | null = null;

  constructor(side: Side) {
    this.#side = side;
  }

  fill(entries: readonly BookEntry[], isCut: boolean): void {
    this.#list.length = 0;
    for (const entry of entries) this.set(entry);
    this.#knownTo = isCut ? (this.#list.at(-1)?.key ?? null) : null;
  }

  set(entry: BookEntry): void {
    const key = moneyOf(entry.price);
    const at = this.#placeOf(key);
    const isThere = this.#list[at]?.key === key;
    const isGone = entry.amount !== null && !/[1-9]/.test(entry.amount);
    if (isGone) {
      if (isThere) this.#list.splice(at, 1);
      return;
    }
    this.#list.splice(at, isThere ? 1 : 0, { ...entry, key });
    if (this.#list.length > LEVELS_MAX) this.#knownTo = this.#nearer(this.#list.splice(LEVELS_MAX)[0]!.key);
  }

  /** Returns the best levels within the known range. */
  shown(): readonly BookEntry[] {
    return this.#list.slice(0, Math.min(SHOWN, this.#knownCount())).map(({ price, amount }) => ({ price, amount }));
  }

  get isExhausted(): boolean {
    return this.#knownTo !== null && this.#knownCount() < KNOWN_MIN;
  }

  get best(): Money | null {
    return this.#list[0]?.key ?? null;
  }

  #knownCount(): number {
    if (this.#knownTo === null) return this.#list.length;
    const at = this.#placeOf(this.#knownTo);
    return this.#list[at]?.key === this.#knownTo ? at + 1 : at;
  }

  /** Returns the worst price up to which every level is known, after the levels from `dropped` on were removed. */
  #nearer(dropped: Money): Money {
    const last = this.#list.at(-1)!.key;
    if (this.#knownTo === null) return last;
    const isFarther = this.#side === 'buy' ? this.#knownTo <= dropped : this.#knownTo >= dropped;
    return isFarther ? last : this.#knownTo;
  }

  /** Returns the index of a price, or the index at which it belongs. */
  #placeOf(key: Money): number {
    let [low, high] = [0, this.#list.length];
    while (low < high) {
      const half = (low + high) >> 1;
      const isBetter = this.#side === 'buy' ? this.#list[half]!.key > key : this.#list[half]!.key < key;
      if (isBetter) low = half + 1;
      else high = half;
    }
    return low;
  }
}

/** Book with the send time of its last update; `sentAt` is absent if the book is a snapshot without later updates. */
export type SentBook = { readonly snapshot: BookSnapshot; readonly sentAt?: Millis };

/**
 * Result of an update: the updated book, waiting for a snapshot, an update that the book already has, or the reason why
 * the book is lost.
 */
export type DepthStep = SentBook | 'waiting' | 'old' | { readonly lost: string };

export class DepthBook {
  readonly #book: string;
  readonly #sides: Readonly<Record<Side, Levels>> = { buy: new Levels('buy'), sell: new Levels('sell') };
  /** Last update id in the book; `null` while waiting for a snapshot. */
  #sequence: bigint | null = null;
  #waiting: DepthUpdate[] = [];

  constructor(book: string) {
    this.#book = book;
  }

  get isWaiting(): boolean {
    return this.#sequence === null;
  }

  /** Forgets the book and the waiting updates. */
  reset(): void {
    this.#sequence = null;
    this.#waiting = [];
  }

  /** Applies an update, or keeps it until the snapshot arrives. */
  take(update: DepthUpdate): DepthStep {
    if (this.#sequence === null) {
      const before = this.#waiting.at(-1);
      // Updates between the last waiting update and this one are missing, so only a snapshot after the gap is usable.
      if (before && update.first > before.last + 1n) this.#waiting = [];
      this.#waiting.push(update);
      if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
      return 'waiting';
    }
    if (update.last <= this.#sequence) return 'old';
    if (update.first > this.#sequence + 1n) {
      const lost = `updates ${this.#sequence + 1n} to ${update.first - 1n} of the book are missing`;
      this.reset();
      this.#waiting = [update];
      return { lost };
    }
    for (const entry of update.bids) this.#sides.buy.set(entry);
    for (const entry of update.asks) this.#sides.sell.set(entry);
    this.#sequence = update.last;
    return this.#checked(update.sentAt, update.sentAt);
  }

  /**
   * Starts from a snapshot and applies the waiting updates after it. `depth` is the number of levels per side that was
   * requested. Returns `null` if the snapshot is older than the first waiting update, so that a newer one is needed;
   * otherwise the result of the last step.
   */
  seed(snapshot: BookSnapshot, depth: number): DepthStep | null {
    const waiting = this.#waiting;
    if (waiting.length > 0 && snapshot.sequence + 1n < waiting[0]!.first) return null;
    this.#sides.buy.fill(snapshot.bids, snapshot.bids.length >= depth);
    this.#sides.sell.fill(snapshot.asks, snapshot.asks.length >= depth);
    this.#sequence = snapshot.sequence;
    this.#waiting = [];
    // The exchange sent the last update before the snapshot, or both at nearly the same time.
    let result: DepthStep = this.#checked(waiting.at(-1)?.sentAt ?? snapshot.updatedAt);
    for (const update of waiting) {
      const step = this.take(update);
      if (step !== 'old') result = step;
      if (typeof step === 'object' && 'lost' in step) return step;
    }
    return result;
  }

  #checked(updatedAt: Millis, sentAt?: Millis): DepthStep {
    const { buy, sell } = this.#sides;
    const [bid, ask] = [buy.best, sell.best];
    let lost: string | null = null;
    if (bid !== null && ask !== null && bid >= ask) lost = 'the best bid of the book is at or above the best ask';
    else if (buy.isExhausted || sell.isExhausted)
      lost = 'the price has moved beyond the price levels of the last snapshot';
    if (lost !== null) {
      this.reset();
      return { lost };
    }
    const [book, sequence] = [this.#book, this.#sequence!];
    return {
      snapshot: { book, sequence, updatedAt, bids: buy.shown(), asks: sell.shown() },
      ...(sentAt === undefined ? {} : { sentAt }),
    };
  }
}
