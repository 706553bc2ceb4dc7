/** The imbalance of a book down to a depth, and how unusual it is: against its own recent mean and deviation. */
import type { Depth } from '../model/book.ts';
import type { Millis } from '../model/units.ts';

/** Amounts of bids minus those of asks as a share of both, up to `depthBps` from the middle, 0 of which is the touch alone; 0 where both sides are empty that far. */
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

/** Before anything was seen: no mean, and this deviation. */
const DEVIATION_START = 0.3;
/** A book that never changes would divide by nothing. */
const DEVIATION_MIN = 0.02;

/** Exponential mean and deviation of a number between -1 and 1, over time. */
export class Unusual {
  readonly #memoryMs: Millis;
  #mean = 0;
  #variance = DEVIATION_START ** 2;
  #at: Millis = Number.NaN;
  #since: Millis = Number.NaN;

  constructor(memoryMs: Millis) {
    this.#memoryMs = memoryMs;
  }

  /** How many deviations `now` lies from the mean before it; it then becomes part of both. NaN for what is no such number. */
  deviations(at: Millis, now: number): number {
    if (!(Math.abs(now) <= 1)) return Number.NaN;
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

  /** Time of the first number; NaN before. */
  get since(): Millis {
    return this.#since;
  }
}
