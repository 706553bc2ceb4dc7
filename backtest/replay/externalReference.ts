/**
 * Simulated reads of other books in a replay: recorded mid prices, read one book after another, with latency in both
 * directions.
 */
import {
  counted,
  priceAcross,
  type EngineEvent,
  type Instrument,
  type Leg,
  type Millis,
} from '../../src/core/index.ts';
import type { RateSources } from '../../src/hedge/index.ts';
import type { RecordedMids } from '../../src/tape/index.ts';
import { GapIterator } from '../rows/gapIterator.ts';
import type { Latency } from '../rows/latency.ts';

/** Inputs of the reads. `mids` has the recorded mid prices of each leg, in order of the legs. */
export type ExternalReferenceOptions = {
  readonly legs: readonly Leg[];
  readonly mids: readonly RecordedMids[];
  readonly everyMs: Millis;
  /**
   * Key under which the engine receives the price, if the price is a reading of one source; absent if the price is the
   * reference itself.
   */
  readonly feed?: string;
  /** Name of that source. */
  readonly source?: string;
};

/**
 * Result of a read: the time of the answer, and the price in ticks of the bot's book. The price is `null` if a
 * recording has no price at the time of its read.
 */
export type ExternalReferenceReading = {
  readonly at: Millis;
  readonly price: number | null;
  /** Source with the value of the first book's quote currency; none if the price is no source. */
  readonly rates: RateSources;
};

export class ExternalReferenceReplay {
  readonly everyMs: Millis;
  readonly #feed: string | undefined;
  readonly #source: string | undefined;
  readonly #legs: readonly Leg[];
  readonly #cursors: readonly MidCursor[];
  readonly #latency: Latency;
  readonly #tick: number;

  constructor(
    { legs, mids, everyMs, feed, source }: ExternalReferenceOptions,
    instrument: Instrument,
    latency: Latency,
  ) {
    if (legs.length !== mids.length)
      throw new RangeError(`${counted(mids.length, 'recording')} for ${counted(legs.length, 'book')}`);
    this.everyMs = everyMs;
    this.#feed = feed;
    this.#source = source;
    this.#legs = legs;
    this.#cursors = mids.map(recorded => new MidCursor(recorded));
    this.#latency = latency;
    this.#tick = Number(instrument.tick);
  }

  /**
   * Reads the books one after another, from `startedAt` on, and returns the reference price. Times must not decrease.
   */
  read(startedAt: Millis): ExternalReferenceReading {
    let at = startedAt;
    const prices = this.#cursors.map(cursor => {
      at += this.#latency.there(at);
      const price = cursor.at(at);
      at += this.#latency.back(at);
      return price;
    });
    const price = priceAcross(this.#legs, prices) / this.#tick;
    const [, ...others] = this.#legs;
    const quoteRate = priceAcross(others, prices.slice(1));
    const rates = this.#source === undefined ? [] : [{ name: this.#source, quoteRate }];
    return { at, price: price > 0 && price < Infinity ? price : null, rates };
  }

  /** Returns the engine's event for the result of a read that started at `startedAt`. */
  eventOf({ at, price }: Pick<ExternalReferenceReading, 'at' | 'price'>, startedAt: Millis): EngineEvent {
    if (price === null) return { kind: 'timer', at };
    if (this.#feed === undefined) return { kind: 'reference', at, startedAt, price };
    const mid = price * this.#tick;
    const prices = { bid: mid, ask: mid, sell: mid, buy: mid };
    const reading = { ...prices, bidAmount: 0, askAmount: 0, lagMs: null };
    return { kind: 'source', at, startedAt, feed: this.#feed, reading };
  }
}

class MidCursor {
  readonly #recorded: RecordedMids;
  readonly #gaps: GapIterator;
  #next = 0;

  constructor(recorded: RecordedMids) {
    this.#recorded = recorded;
    this.#gaps = new GapIterator(recorded.gaps);
  }

  /** Returns the mid price at a time; NaN if unknown. */
  at(time: Millis): number {
    const { at, mid, to } = this.#recorded;
    while (this.#next < at.length && at[this.#next]! <= time) this.#next++;
    if (!(time <= to) || this.#gaps.isIn(time)) return Number.NaN;
    return mid[this.#next - 1] ?? Number.NaN;
  }
}
