/** Imbalance of a book within a distance of the mid price, and its deviation from its own recent mean. */
import type { Depth } from '../model/book.ts';
import type { Millis } from '../model/units.ts';
import { restartsAfter } from './orderFlow.ts';

/**
 * Returns (bids - asks) / (bids + asks) of the amounts within `depthBps` of the mid price. A depth of 0 uses only the
 * best levels. Returns 0 if both sides are empty within that distance.
 */
export function depthImbalance(depth: Depth, mid: number, depthBps: number): number {
  const reach = (mid * depthBps) / 10_000;
  let [bids, asks] = [0, 0];
  if (depthBps === 0) {
    bids = depth.bids > 0 ? depth.bidAmounts[0]! : 0;
    asks = depth.asks > 0 ? depth.askAmounts[0]! : 0;
  }
  for (let i = 0; i < depth.bids && mid - depth.bidPrices[i]! <= reach; i++) bids += depth.bidAmounts[i]!;
  for (let i = 0; i < depth.asks && depth.askPrices[i]! - mid <= reach; i++) asks += depth.askAmounts[i]!;
  return bids + asks === 0 ? 0 : (bids - asks) / (bids + asks);
}

/** Standard deviation at a start; the mean at a start is 0. */
const DEVIATION_START = 0.3;
/** Minimum standard deviation, so that a constant book causes no division by zero. */
const DEVIATION_MIN = 0.02;

/**
 * Exponential moving average and standard deviation of a number between -1 and 1. Both restart after a gap, because the
 * first number after it would replace them and does not show how the next ones deviate.
 */
export class RunningDeviation {
  readonly #memoryMs: Millis;
  #mean = 0;
  #variance = DEVIATION_START ** 2;
  #at: Millis = Number.NaN;
  #since: Millis = Number.NaN;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /**
   * Returns how many standard deviations `now` is from the mean, then updates mean and deviation with `now`. Returns
   * NaN for a number outside -1 to 1.
   */
  deviations(at: Millis, now: number): number {
    if (!(Math.abs(now) <= 1)) return Number.NaN;
    if (restartsAfter(at - this.#at, this.#memoryMs)) {
      this.#mean = 0;
      this.#variance = DEVIATION_START ** 2;
      this.#at = this.#since = Number.NaN;
    }
    const away = now - this.#mean;
    const deviations = away / Math.max(DEVIATION_MIN, Math.sqrt(this.#variance));
    const weight = at > this.#at ? 1 - Math.exp(-(at - this.#at) / this.#memoryMs) : 0;
    this.#mean += weight * away;
    this.#variance = (1 - weight) * (this.#variance + weight * away * away);
    if (Number.isFinite(at)) {
      this.#at = at;
      if (Number.isNaN(this.#since)) this.#since = at;
    }
    return deviations;
  }

  /** Time of the first valid number since the latest start; NaN before the first. */
  get since(): Millis {
    return this.#since;
  }
}
