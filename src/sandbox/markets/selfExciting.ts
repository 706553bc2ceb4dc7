/** Self-exciting arrivals (Hawkes process) with two exponential kernels and a base rate that varies slowly. */
import { exponential, normal, type Random } from '../../core/index.ts';

/** Orders that an order triggers: average number, and average delay in seconds. */
type Kernel = { readonly children: number; readonly seconds: number };

export type SelfExcitingOptions = {
  /** Average rate per second, triggered arrivals included. */
  readonly ratePerSecond: number;
  readonly fast: Kernel;
  readonly slow: Kernel;
  /** Standard deviation of the logarithm of the base rate, and the time constant of its variation in seconds. */
  readonly activityDeviation: number;
  readonly activityS: number;
};

export class SelfExciting {
  readonly #random: Random;
  readonly #options: SelfExcitingOptions;
  readonly #moved: (dt: number) => void;
  #seconds = 0;
  #fast = 0;
  #slow: number;
  /** Logarithm of the current activity. Starts high, so that a new exchange shows trades early. */
  #activity: number;

  /** `moved` is called after each step of time, with the length of the step in seconds. */
  constructor(random: Random, options: SelfExcitingOptions, moved: (dt: number) => void = () => undefined) {
    this.#random = random;
    this.#options = options;
    this.#moved = moved;
    this.#slow = options.ratePerSecond * options.slow.children;
    this.#activity = options.activityDeviation;
  }

  /** Returns the time of the next arrival after `seconds`, computed by Ogata's thinning. */
  next(seconds: number): number {
    let at = seconds;
    // The number of candidate times is bounded, in case of extreme random draws. At the bound, the arrival is at the
    // last candidate time.
    for (let tries = 0; tries < 1000; tries++) {
      this.#moveTo(at);
      const rate = this.#rate();
      at += exponential(this.#random, 1 / rate);
      this.#moveTo(at);
      if (this.#random.next() * rate <= this.#rate()) break;
    }
    return at;
  }

  /** Records an arrival that triggers `weight` times the usual number of further arrivals. */
  excite(seconds: number, weight: number): void {
    this.#moveTo(seconds);
    const { fast, slow } = this.#options;
    this.#fast += (weight * fast.children) / fast.seconds;
    this.#slow += (weight * slow.children) / slow.seconds;
  }

  #rate(): number {
    const { ratePerSecond, fast, slow, activityDeviation } = this.#options;
    const baseRate = ratePerSecond * (1 - fast.children - slow.children);
    return baseRate * Math.exp(this.#activity - activityDeviation ** 2 / 2) + this.#fast + this.#slow;
  }

  #moveTo(seconds: number): void {
    const dt = seconds - this.#seconds;
    if (!(dt > 0)) return;
    this.#seconds = seconds;
    const { fast, slow, activityDeviation, activityS } = this.#options;
    this.#fast *= Math.exp(-dt / fast.seconds);
    this.#slow *= Math.exp(-dt / slow.seconds);
    this.#activity = wander(this.#random, this.#activity, activityDeviation, dt / activityS);
    this.#moved(dt);
  }
}

/**
 * Returns the next value of a stationary process that reverts to 0 (Ornstein-Uhlenbeck). `share`: elapsed time as a
 * share of the time constant.
 */
export function wander(random: Random, value: number, deviation: number, share: number): number {
  const kept = Math.exp(-share);
  return value * kept + deviation * Math.sqrt(1 - kept * kept) * normal(random);
}
