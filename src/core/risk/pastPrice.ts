/** Past price of the book, against which the limit on price moves compares the mid price and each order. */
import type { DecimalText, Millis, Price, Side } from '../model/units.ts';

/** Limit on price moves. */
export type PriceMoveLimit = {
  /** Maximum distance of the mid price, and of an order, from the past price, in whole basis points. */
  readonly bps: number;
  /** Window over which the past price is computed. */
  readonly windowMs: Millis;
};

/** Samples of a window, oldest first, in half ticks of `tick`. */
export type PastPriceState = {
  readonly tick: DecimalText;
  readonly windowMs: Millis;
  readonly samples: readonly (readonly [at: Millis, price: number])[];
};

/** Number of samples in one window. */
const SAMPLES = 60;

/**
 * Time-weighted median of the mid price over a window. Prices are in half ticks, so that every mid price is a whole
 * number.
 *
 * The mid price is sampled at regular times. A price that lasts for less than half of the window cannot move the median
 * beyond the prices of the other half.
 */
export class PastPrice {
  readonly #tick: DecimalText;
  readonly #windowMs: Millis;
  readonly #everyMs: Millis;
  readonly #holdMs: Millis;
  /** Samples of the window, oldest first. */
  #samples: { readonly at: Millis; readonly price: number }[] = [];
  #held = 0;
  #heldAt: Millis = 0;
  #nextAt: Millis = Infinity;
  /** Last computed median, and the number of samples that were too old for it; `null` after a new sample. */
  #median: { readonly expired: number; readonly price: number } | null = null;

  /** Each reported mid price is sampled for at most `holdMs` after its report. */
  constructor(tick: DecimalText, windowMs: Millis, holdMs: Millis) {
    this.#tick = tick;
    this.#windowMs = windowMs;
    this.#everyMs = windowMs / SAMPLES;
    this.#holdMs = holdMs;
  }

  /** Records the mid price from `at` on, in half ticks; 0 if there is none. Times must not decrease. */
  see(at: Millis, price: number): void {
    const until = Math.min(at, this.#heldAt + this.#holdMs);
    if (this.#held > 0)
      for (; this.#nextAt <= until; this.#nextAt += this.#everyMs) this.#add(this.#nextAt, this.#held);
    if (this.#nextAt <= at) this.#nextAt += (Math.floor((at - this.#nextAt) / this.#everyMs) + 1) * this.#everyMs;
    this.#held = price;
    this.#heldAt = at;
    // The first price in an empty window is sampled immediately, so that there is a past price to compare with.
    if (price > 0 && this.#expired(at) === this.#samples.length) {
      this.#add(at, price);
      this.#nextAt = at + this.#everyMs;
    }
  }

  /**
   * Returns the median over the window that ends at `at`, in half ticks; 0 if the window has no price. Of two middle
   * prices, returns the lower one.
   */
  at(at: Millis): number {
    const expired = this.#expired(at);
    if (this.#median?.expired !== expired) this.#median = { expired, price: medianOf(this.#samples, expired) };
    return this.#median.price;
  }

  state(): PastPriceState {
    const samples = this.#samples.map(({ at, price }) => [at, price] as const);
    return { tick: this.#tick, windowMs: this.#windowMs, samples };
  }

  /**
   * Continues the window of an earlier run. Must be called before the first `see`. Ignores a window with another tick
   * or another length. Also ignores samples later than `at`, because the clock was set back.
   */
  restore({ tick, windowMs, samples }: PastPriceState, at: Millis): void {
    if (tick !== this.#tick || windowMs !== this.#windowMs) return;
    this.#samples = samples.filter(sample => sample[0] <= at).map(([time, price]) => ({ at: time, price }));
    this.#nextAt = this.#samples.at(-1)?.at ?? Infinity;
    this.#median = null;
  }

  #add(at: Millis, price: number): void {
    this.#samples.splice(0, this.#expired(at));
    this.#samples.push({ at, price });
    this.#median = null;
  }

  /** Returns the number of samples that are older than the window that ends at `at`. */
  #expired(at: Millis): number {
    let count = 0;
    while (count < this.#samples.length && this.#samples[count]!.at <= at - this.#windowMs) count++;
    return count;
  }
}

function medianOf(samples: readonly { readonly price: number }[], expired: number): number {
  const prices = samples.slice(expired).map(({ price }) => price);
  prices.sort((a, b) => a - b);
  return prices[(prices.length - 1) >> 1] ?? 0;
}

/**
 * Whether a price is within the limit on the distance from the past price. Both prices are in half ticks. False if a
 * number is not whole, or if the past price is unknown (0).
 */
export function isNearPast(price: number, past: number, { bps }: PriceMoveLimit): boolean {
  if (![price, past, bps].every(Number.isSafeInteger)) return false;
  return BigInt(Math.abs(price - past)) * BPS <= BigInt(bps) * BigInt(past);
}

/**
 * Returns the worst price that is within the limit on the distance from the past price: the highest for a buy, the
 * lowest for a sell. The result is in ticks; `past` is in half ticks.
 */
export function farthestPrice(side: Side, past: number, { bps }: PriceMoveLimit): Price {
  const [share, scale] = [BigInt(past), 2n * BPS];
  const limit = side === 'buy' ? (share * (BPS + BigInt(bps))) / scale : ceilDiv(share * (BPS - BigInt(bps)), scale);
  return Number(limit) as Price;
}

const BPS = 10_000n;
const ceilDiv = (value: bigint, by: bigint): bigint => (value + by - 1n) / by;
