/**
 * Reads of the polled books of one bot, if the public request budget is too small to read every book as often as
 * configured: one read per slot, of the book whose read is worth most.
 */
import { nextRead, oldestAge, readCountValue, type Clock, type Millis, type StaleRisk } from '../../core/index.ts';
import type { PollState } from '../../marketdata/index.ts';

/** Reads that the books share. */
export type SharedReads = {
  /** Maximum number of book reads per minute, of all books together. */
  readonly perMinute: number;
  /** Age at which a book is stale. */
  readonly staleAfterMs: Millis;
};

/** Market data of a book whose reads are shared. */
export type PolledMarket = {
  /** State of the polls; `null` if no poll is wanted now. */
  readonly pollState: PollState | null;
  poll(): Promise<void>;
};

/** Interval at which the bot checks whether a book is due, while no book is due. */
const LOOK_MS: Millis = 100;
/** Time that is reserved for the answer of a read before its book is stale, if the budget is large enough. */
const ANSWER_MS: Millis = 1_000;
const NO_VALUE = { value: 0, xi: Infinity } as const;

export class BookPolls {
  /** Minimum time between two reads of any books. */
  readonly slotMs: Millis;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #markets: readonly PolledMarket[];
  readonly #pollMs: Millis;
  readonly #oldestMs: Millis;
  readonly #left: () => number;
  readonly #risks: () => readonly StaleRisk[];
  readonly #waits: number[];
  #readAt: Millis = -Infinity;

  /**
   * `pollMs`: minimum time between two reads of one book. `left` returns the public requests that are left in the
   * budget. `risks` returns the current risk of each book.
   */
  constructor(
    clock: Pick<Clock, 'elapsed'>,
    markets: readonly PolledMarket[],
    { perMinute, staleAfterMs, pollMs }: SharedReads & { readonly pollMs: Millis },
    from: { readonly left: () => number; readonly risks: () => readonly StaleRisk[] },
  ) {
    this.#clock = clock;
    this.#markets = markets;
    this.#pollMs = pollMs;
    this.slotMs = Math.ceil(60_000 / perMinute);
    // If a turn of all books takes as long as a book stays fresh, the books are read in turn.
    const freshMs = Math.max(markets.length * this.slotMs, staleAfterMs - ANSWER_MS);
    this.#oldestMs = oldestAge(markets.length, this.slotMs, freshMs);
    this.#left = from.left;
    this.#risks = from.risks;
    this.#waits = markets.map(() => 0);
  }

  /** For each book: number of slots in which the book was due, but another book was read. */
  get waits(): readonly number[] {
    return this.#waits;
  }

  /**
   * Time until the next call of `turn`: until the next slot, or a short time if the slot has started without a read.
   */
  get pauseMs(): Millis {
    const pause = this.#readAt + this.slotMs - this.#clock.elapsed();
    return pause > 0 ? pause : LOOK_MS;
  }

  /**
   * Starts the read of this slot, and returns its promise; `null` if the slot has not started, no book is due, or the
   * budget is used up.
   */
  turn(): Promise<void> | null {
    const now = this.#clock.elapsed();
    if (now < this.#readAt + this.slotMs) return null;
    const due = this.#markets.flatMap((market, i) => {
      const { pollState: state } = market;
      return state !== null && state.age >= this.#pollMs ? [{ market, i, ...state }] : [];
    });
    if (due.length === 0 || !(this.#left() >= 1)) return null;
    const risks = this.#risks();
    const books = due.map(({ i, age, isOnStream }) => ({
      age,
      // If the stream reports the book, a read shows nothing new.
      ...(isOnStream ? NO_VALUE : readCountValue(risks[i]!, age / 1_000)),
    }));
    const next = nextRead(books, this.slotMs, this.#oldestMs);
    due.forEach(({ i }, place) => (this.#waits[i]! += Number(place !== next)));
    this.#readAt = now;
    return due[next]!.market.poll();
  }
}
