/**
 * Arrivals of uninformed takers: times, sides and sizes, with self-exciting bursts, quiet periods, persistent sides and
 * heavy tails.
 */
import { exponential, normal, type Random, type Side } from '../../core/index.ts';

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
  readonly #baseRate: number;
  #seconds = 0;
  #fast = 0;
  #slow: number;
  /** Logarithm of the current activity. Starts high, so that a new exchange shows trades early. */
  #activity = ACTIVITY_DEVIATION;
  #tilt = 0;
  #last: Side = 'buy';

  /** Creates the arrivals of uninformed takers. `ratePerSecond` includes the orders that other orders trigger. */
  constructor(random: Random, ratePerSecond: number) {
    this.#random = random;
    this.#baseRate = ratePerSecond * (1 - FAST.children - SLOW.children);
    this.#slow = ratePerSecond * SLOW.children;
  }

  /** Returns the time of the next order after `seconds`, computed by Ogata's thinning. */
  next(seconds: number): number {
    let at = seconds;
    // The number of candidates is bounded, in case of extreme random draws. At the bound, the order arrives at the last
    // candidate time.
    for (let tries = 0; tries < 1000; tries++) {
      this.#moveTo(at);
      const rate = this.#rate();
      at += exponential(this.#random, 1 / rate);
      this.#moveTo(at);
      if (this.#random.next() * rate <= this.#rate()) break;
    }
    return at;
  }

  /** Records an order that triggers `weight` times the usual number of further orders. */
  excite(seconds: number, side: Side, weight: number): void {
    this.#moveTo(seconds);
    this.#fast += (weight * FAST.children) / FAST.seconds;
    this.#slow += (weight * SLOW.children) / SLOW.seconds;
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

  #rate(): number {
    return this.#baseRate * Math.exp(this.#activity - ACTIVITY_DEVIATION ** 2 / 2) + this.#fast + this.#slow;
  }

  #moveTo(seconds: number): void {
    const dt = seconds - this.#seconds;
    if (!(dt > 0)) return;
    this.#seconds = seconds;
    this.#fast *= Math.exp(-dt / FAST.seconds);
    this.#slow *= Math.exp(-dt / SLOW.seconds);
    this.#activity = this.#wander(this.#activity, ACTIVITY_DEVIATION, dt / ACTIVITY_S);
    this.#tilt = this.#wander(this.#tilt, 1, dt / TILT_S);
  }

  #wander(value: number, deviation: number, share: number): number {
    const kept = Math.exp(-share);
    return value * kept + deviation * Math.sqrt(1 - kept * kept) * normal(this.#random);
  }
}
