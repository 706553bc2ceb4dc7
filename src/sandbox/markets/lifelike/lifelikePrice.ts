/**
 * Price that the makers of the lifelike market share. Takers, news and a short-lived signal, which is visible in the
 * book, move it.
 */
import { exponential, normal, type Random, type Side } from '../../../core/index.ts';
import { wander } from '../selfExciting.ts';

/** Shares of the profile's variance per minute that diffusion and news cause. Takers and the signal cause the rest. */
const SHARE = { diffusion: 0.06, news: 0.12 };
/** Mean time between news, in seconds. */
const NEWS_MEAN_S = 150;
/** Time constant of the signal, in seconds. */
const SIGNAL_S = 22;
/** Restlessness of the makers, which varies slowly: standard deviation, and time constant in seconds. */
const RESTLESS = { deviation: 1, seconds: 240 };
/** Time constant of the reversion to the start price, in seconds. */
const REVERSION_S = 10 * 86_400;
/** Maximum of |logarithm of (price / start price)|. */
const LOG_BOUND = Math.log(2.8);
/** Permanent move by an order of the market's own takers, in units of distance: the order carries information. */
const INFORMATION = 0.36;
/**
 * Temporary move by any trade, in units of distance: at most `most`, and half of `most` for `amounts` typical amounts.
 * Half of the move fades quickly, the other half slowly. The sum of all temporary moves is at most `max`.
 */
const PUSH = { most: 0.35, amounts: 5, max: 1.5, fastS: 12, slowS: 240 };

export type LifelikePriceOptions = {
  /** Unit of distance, as a fraction of the price. */
  readonly unit: number;
  /** Root mean square move per minute, as a fraction of the price. */
  readonly minuteMove: number;
  /** Trend of the price, as a fraction per second. */
  readonly driftPerS: number;
  /** Move of the price per second for a signal of 1, in units of distance. Without it, imbalance predicts less. */
  readonly signalPerS: number;
};

export class LifelikePrice {
  readonly #random: Random;
  readonly #options: LifelikePriceOptions;
  #seconds = 0;
  #nextNews: number;
  #log = 0;
  #fast = 0;
  #slow = 0;
  #signal = 0;
  #calm = 0;

  constructor(random: Random, options: LifelikePriceOptions) {
    this.#random = random;
    this.#options = options;
    this.#nextNews = exponential(random, NEWS_MEAN_S);
  }

  /** Logarithm of (price / start price). */
  get log(): number {
    return this.#log + this.#fast + this.#slow;
  }

  /** Signal with standard deviation 1: positive before the price rises. Makers know it and place more on its side. */
  get signal(): number {
    return this.#signal;
  }

  /** Restlessness of the makers: a logarithm with mean 0. */
  get restlessness(): number {
    return -this.#calm;
  }

  /** Advances the price to `seconds` since the start; earlier times change nothing. */
  advance(seconds: number): void {
    while (this.#nextNews <= seconds) {
      this.#move(this.#nextNews);
      // News sizes are exponential with a random sign, so their variance is twice the squared mean.
      const mean = this.#options.minuteMove * Math.sqrt((SHARE.news * NEWS_MEAN_S) / 60 / 2);
      const size = exponential(this.#random, mean);
      this.#log += this.#random.next() < 0.5 ? -size : size;
      this.#nextNews += exponential(this.#random, NEWS_MEAN_S);
    }
    this.#move(seconds);
  }

  /** Moves the price permanently by an order of the market's own takers. */
  inform(side: Side): void {
    this.#log += (side === 'buy' ? 1 : -1) * INFORMATION * this.#options.unit;
  }

  /** Moves the price temporarily by a trade of any trader. `amounts`: size of the trade in typical amounts. */
  push(takerBuys: boolean, amounts: number): void {
    const { unit } = this.#options;
    const each = ((PUSH.most * unit * amounts) / (amounts + PUSH.amounts) / 2) * (takerBuys ? 1 : -1);
    const max = (PUSH.max * unit) / 2;
    this.#fast = clampTo(this.#fast + each, max);
    this.#slow = clampTo(this.#slow + each, max);
  }

  #move(seconds: number): void {
    const dt = seconds - this.#seconds;
    if (!(dt > 0)) return;
    this.#seconds = seconds;
    const { minuteMove, driftPerS, signalPerS, unit } = this.#options;
    const moved =
      this.#log * Math.exp(-dt / REVERSION_S) +
      driftPerS * dt +
      // In a long step, such as after a pause of the machine, the signal moves the price for one time constant at most.
      signalPerS * unit * this.#signal * Math.min(dt, SIGNAL_S) +
      minuteMove * Math.sqrt((SHARE.diffusion * dt) / 60) * normal(this.#random);
    this.#log = clampTo(moved, LOG_BOUND);
    this.#fast *= Math.exp(-dt / PUSH.fastS);
    this.#slow *= Math.exp(-dt / PUSH.slowS);
    this.#calm = wander(this.#random, this.#calm, RESTLESS.deviation, dt / RESTLESS.seconds);
    this.#signal = wander(this.#random, this.#signal, 1, dt / SIGNAL_S);
  }
}

const clampTo = (value: number, max: number): number => Math.max(-max, Math.min(max, value));
