/**
 * Takers of the lifelike market: self-exciting times, and sides with long autocorrelation, because large orders are
 * split into many parts.
 */
import { normal, type Random, type Side } from '../../../core/index.ts';
import { SelfExciting } from '../selfExciting.ts';

/** Orders that an order triggers: average number and average delay in seconds. Two kernels resemble a power law. */
const FAST = { children: 0.5, seconds: 0.08 };
const SLOW = { children: 0.35, seconds: 20 };
/** Standard deviation of the logarithm of the base rate, which varies slowly, and its time constant in seconds. */
const ACTIVITY = { activityDeviation: 0.72, activityS: 900 };
/** Probability that an order starts a new split order. Otherwise, it is the next part of an unfinished split order. */
const NEW = 0.4;
/**
 * Probability that this part belongs to the newest split order. Otherwise, it belongs to any unfinished split order.
 */
const NEWEST = 0.6;
/**
 * Split orders: Pareto exponent of the number of parts, maximum number of parts, maximum number of unfinished orders.
 */
const PARTS = { exponent: 1.4, max: 60, open: 6 };
/** Standard deviation of the logarithm of sizes, and maximum size in typical amounts, as in the seeded flow. */
const SIZE = { deviation: 1.8, max: 300 };

export class LifelikeTakers {
  readonly #random: Random;
  readonly #times: SelfExciting;
  readonly #open: { readonly side: Side; left: number }[] = [];

  /** `ratePerSecond` includes the orders that other orders trigger. */
  constructor(random: Random, ratePerSecond: number) {
    this.#random = random;
    this.#times = new SelfExciting(random, { ratePerSecond, fast: FAST, slow: SLOW, ...ACTIVITY });
  }

  /** Returns the time of the next order after `seconds`. */
  next(seconds: number): number {
    return this.#times.next(seconds);
  }

  /** Records an order of the market, which triggers others. */
  excite(seconds: number): void {
    this.#times.excite(seconds, 1);
  }

  /** Returns the side of the next order. `buyShare`: probability that a new split order buys. */
  side(buyShare: number): Side {
    if (this.#open.length === 0 || this.#random.next() < NEW) {
      const side = this.#random.next() < buyShare ? 'buy' : 'sell';
      const parts = Math.min(PARTS.max, Math.floor((1 - this.#random.next()) ** (-1 / PARTS.exponent)));
      if (parts > 1) this.#open.push({ side, left: parts - 1 });
      if (this.#open.length > PARTS.open) this.#open.shift();
      return side;
    }
    const index =
      this.#random.next() < NEWEST ? this.#open.length - 1 : Math.floor(this.#random.next() * this.#open.length);
    const order = this.#open[index]!;
    order.left--;
    if (order.left === 0) this.#open.splice(index, 1);
    return order.side;
  }

  /** Returns a random order size, as a multiple of the typical amount. */
  size(): number {
    return Math.min(SIZE.max, Math.exp(SIZE.deviation * normal(this.#random)));
  }
}
