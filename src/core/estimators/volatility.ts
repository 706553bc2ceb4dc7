/** Volatility estimates: an exponential moving average for live data, and the two-scale estimate for a recording. */
import type { Millis } from '../model/units.ts';

/**
 * Irregular exponential average of squared relative moves: v <- e^(-dt/memory) v + (1 - e^(-dt/memory)) r^2 / dt.
 *
 * Moves are sampled at least `sampleMs` apart, because closer samples would measure the bid-ask bounce. Deterministic;
 * ignores invalid prices. Result: relative standard deviation per square root of a second.
 */
export class EwmaVolatility {
  readonly #memoryMs: Millis;
  readonly #sampleMs: Millis;
  readonly #bounds: readonly [min: number, max: number];
  #variance: number;
  #price = Number.NaN;
  #at = Number.NaN;

  constructor(options: {
    /** Initial volatility per square root of a second, such as an estimate from earlier prices. */
    readonly startPerRootSecond: number;
    readonly memoryMs: Millis;
    readonly sampleMs: Millis;
    /** Maximum factor by which the estimate may be above or below the initial value; absent for no bound. */
    readonly factorMax?: number;
  }) {
    this.#variance = options.startPerRootSecond ** 2;
    this.#memoryMs = options.memoryMs;
    this.#sampleMs = options.sampleMs;
    const { startPerRootSecond: start, factorMax } = options;
    this.#bounds = factorMax === undefined ? [0, Infinity] : [start / factorMax, start * factorMax];
  }

  /** Adds a price; returns true if a move was sampled. */
  observe(at: Millis, price: number): boolean {
    if (!(price > 0 && price < Infinity && Number.isFinite(at))) return false;
    const passed = at - this.#at;
    if (passed < this.#sampleMs) return false;
    if (passed >= this.#sampleMs) {
      const move = (price - this.#price) / this.#price;
      const kept = Math.exp(-passed / this.#memoryMs);
      this.#variance = kept * this.#variance + ((1 - kept) * move * move * 1_000) / passed;
    }
    this.#price = price;
    this.#at = at;
    return passed >= this.#sampleMs;
  }

  get perRootSecond(): number {
    const [min, max] = this.#bounds;
    return Math.min(max, Math.max(min, Math.sqrt(this.#variance)));
  }
}

/**
 * Computes the two-scale realized variance of prices on a regular grid (Zhang, Mykland, Ait-Sahalia, JASA 2005): the
 * average over `subgrids` sparse grids, minus the noise measured on the dense grid.
 *
 * The result is in squared units of the prices, over the total span. NaN for fewer than `subgrids` + 2 prices; can be
 * negative if there is only noise.
 */
export function twoScaleVariance(prices: ArrayLike<number>, subgrids: number): number {
  const n = prices.length - 1;
  if (!(Number.isSafeInteger(subgrids) && subgrids >= 1 && n > subgrids)) return Number.NaN;
  const sparse = squaredMoves(prices, subgrids) / subgrids;
  if (subgrids === 1) return sparse;
  const share = (n - subgrids + 1) / subgrids / n;
  return (sparse - share * squaredMoves(prices, 1)) / (1 - share);
}

/** Returns the sum of the squared differences of all pairs of prices that are `lag` entries apart. */
function squaredMoves(prices: ArrayLike<number>, lag: number): number {
  let sum = 0;
  for (let i = lag; i < prices.length; i++) sum += (prices[i]! - prices[i - lag]!) ** 2;
  return sum;
}

/**
 * Returns the number of subgrids that balances noise and sampling error: the two-thirds power of the number of prices.
 */
export const subgridsFor = (prices: number): number => Math.max(1, Math.round(Math.cbrt(prices) ** 2));
