/**
 * Arrivals of uninformed takers: times, sides and sizes, with self-exciting bursts, quiet periods, persistent sides and
 * heavy tails.
 */
import { normal, type Random, type Side } from '../../core/index.ts';
import { SelfExciting, wander } from './selfExciting.ts';

/**
 * Orders that an order triggers: average number and average delay in seconds. `FAST` is for split orders, which follow
 * almost immediately; `SLOW` is for other traders who follow the side of the order.
 */
const FAST = { children: 0.38, seconds: 0.04 };
const SLOW = { children: 0.2, seconds: 15 };
/** Standard deviation of the logarithm of the base rate, which varies slowly. */
const ACTIVITY_DEVIATION = 0.4;
/** Time constant of the variation of the base rate, in seconds. */
const ACTIVITY_S = 600;
/**
 * Probability that a taker repeats the previous side. Otherwise the side is random, tilted by a slowly changing
 * imbalance.
 */
const FOLLOW = 0.3;
const TILT_S = 150;
const TILT_STRENGTH = 1.4;
/**
 * Standard deviation of the logarithm of sizes. The mean is then 7.4 times the median, as in the recordings used for
 * calibration.
 */
const SIZE_DEVIATION = 2;
const SIZE_MAX = 300;

export class Arrivals {
  readonly #random: Random;
  readonly #times: SelfExciting;
  #tilt = 0;
  #last: Side = 'buy';

  /** Creates the arrivals of uninformed takers. `ratePerSecond` includes the orders that other orders trigger. */
  constructor(random: Random, ratePerSecond: number) {
    this.#random = random;
    const activity = { activityDeviation: ACTIVITY_DEVIATION, activityS: ACTIVITY_S };
    this.#times = new SelfExciting(random, { ratePerSecond, fast: FAST, slow: SLOW, ...activity }, dt => {
      this.#tilt = wander(random, this.#tilt, 1, dt / TILT_S);
    });
  }

  /** Returns the time of the next order after `seconds`. */
  next(seconds: number): number {
    return this.#times.next(seconds);
  }

  /** Records an order that triggers `weight` times the usual number of further orders. */
  excite(seconds: number, side: Side, weight: number): void {
    this.#times.excite(seconds, weight);
    this.#last = side;
  }

  /** Current imbalance of order sides: positive for more buys; usually between -1 and 1. */
  get imbalance(): number {
    return Math.tanh(TILT_STRENGTH * this.#tilt);
  }

  side(): Side {
    if (this.#random.next() < FOLLOW) return this.#last;
    return this.#random.next() * 2 - 1 < this.imbalance ? 'buy' : 'sell';
  }

  /** Returns a random order size, as a multiple of the typical amount. */
  size(): number {
    return Math.min(SIZE_MAX, Math.exp(SIZE_DEVIATION * normal(this.#random)));
  }
}
