/**
 * Efficient price of the seeded flow: diffusion and news, known to informed takers immediately and to the public later.
 */
import { exponential, normal, type Random } from '../../core/index.ts';

/**
 * Share of the efficient price's variance that news causes. Diffusion causes the share that remains after news and
 * order imbalance.
 */
const NEWS_SHARE = 0.55;
/** Share of the efficient price's variance that order imbalance causes. */
export const IMBALANCE_SHARE = 0.25;
/** Mean time between news, in seconds. */
const NEWS_MEAN_S = 120;
/** Time constant of the order imbalance, in seconds; equals `TILT_S` in `flowArrivals`. */
const IMBALANCE_S = 150;
/** Time constant of the pull toward the start price, in seconds. The pull keeps the price plausible over years. */
const REVERSION_S = 10 * 86_400;
const LOG_BOUND = Math.log(2.8);
/** Standard deviation of the logarithm of volatility, which varies slowly. */
const MOOD_DEVIATION = 0.45;
/** Time constant of the variation of volatility, in seconds. */
const MOOD_S = 1_200;
/** Default time constant with which the knowledge of informed takers becomes public, in seconds. */
const PUBLICATION_S = 15;
/** Time ahead for which informed takers know the drift from the order imbalance, in seconds. */
const FORESIGHT_S = 90;

/** Price that drives a flow: what informed takers know, and what the public knows. */
export type FlowValue = {
  /** Advances the price to `seconds` since the start, with a drift from the order imbalance. */
  advance(seconds: number, imbalance: number): void;
  /** Returns the logarithm of (price that informed takers expect / start price). */
  expectedLog(imbalance: number): number;
  /** Logarithm of (public price / start price). */
  readonly publicLog: number;
  /** Volatility multiplier, 1 on average. */
  readonly mood: number;
};

export class EfficientPrice implements FlowValue {
  readonly #random: Random;
  readonly #deviationPerRootS: number;
  readonly #newsMean: number;
  readonly #imbalanceDriftPerS: number;
  readonly #driftPerS: number;
  readonly #publicationS: number;
  #seconds = 0;
  #nextNews: number;
  #log = 0;
  #public = 0;
  #mood = 0;

  /**
   * Starts the efficient price at the start price. `volatilityBps` is the root mean square move per minute;
   * `driftBpsPerHour` is an additional trend; `publicationS` is the time constant of the public price.
   */
  constructor(random: Random, volatilityBps: number, driftBpsPerHour = 0, publicationS = PUBLICATION_S) {
    this.#publicationS = publicationS;
    this.#random = random;
    const perMinute = volatilityBps / 1e4;
    this.#driftPerS = driftBpsPerHour / 1e4 / 3_600;
    this.#deviationPerRootS = perMinute * Math.sqrt((1 - NEWS_SHARE - IMBALANCE_SHARE) / 60);
    // A drift with time constant T adds a variance per second of about 2T times its mean square.
    this.#imbalanceDriftPerS = perMinute * Math.sqrt(IMBALANCE_SHARE / 60 / (2 * IMBALANCE_S));
    // News sizes are exponential with a random sign, so their variance is twice the squared mean.
    this.#newsMean = perMinute * Math.sqrt((NEWS_SHARE * NEWS_MEAN_S) / 60 / 2);
    this.#nextNews = exponential(random, NEWS_MEAN_S);
  }

  /**
   * Returns the logarithm of (expected price / start price). The expected price is the efficient price that informed
   * takers expect `FORESIGHT_S` later.
   */
  expectedLog(imbalance: number): number {
    return this.#log + this.#imbalanceDriftPerS * imbalance * FORESIGHT_S;
  }

  /** Logarithm of (public price / start price). */
  get publicLog(): number {
    return this.#public;
  }

  /** Volatility multiplier, 1 on average. */
  get mood(): number {
    return Math.exp(this.#mood - MOOD_DEVIATION ** 2);
  }

  /**
   * Advances the price to `seconds` since the start, with a drift from the order imbalance; earlier times change
   * nothing.
   */
  advance(seconds: number, imbalance: number): void {
    while (this.#nextNews <= seconds) {
      this.#diffuse(this.#nextNews, imbalance);
      const size = exponential(this.#random, this.#newsMean) * this.mood;
      this.#log += this.#random.next() < 0.5 ? -size : size;
      this.#nextNews += exponential(this.#random, NEWS_MEAN_S);
    }
    this.#diffuse(seconds, imbalance);
  }

  #diffuse(seconds: number, imbalance: number): void {
    const dt = seconds - this.#seconds;
    if (!(dt > 0)) return;
    this.#seconds = seconds;
    const before = this.#log;
    const moved =
      before * Math.exp(-dt / REVERSION_S) +
      this.#driftPerS * dt +
      this.#imbalanceDriftPerS * imbalance * dt +
      this.#deviationPerRootS * this.mood * Math.sqrt(dt) * normal(this.#random);
    this.#log = Math.max(-LOG_BOUND, Math.min(LOG_BOUND, moved));
    this.#public += (this.#log - this.#public) * (1 - Math.exp(-dt / this.#publicationS));
    const kept = Math.exp(-dt / MOOD_S);
    this.#mood = this.#mood * kept + MOOD_DEVIATION * Math.sqrt(1 - kept * kept) * normal(this.#random);
  }
}
