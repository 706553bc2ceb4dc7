/** The efficient price behind the seeded flow: diffusion and news, known to informed takers at once and to everybody else later. */
import { exponential, normal } from '../../core/index.ts';
import type { Random } from '../../core/index.ts';

/** Shares of the variance that come as news and with the imbalance of orders; the rest is diffusion. How often news comes. */
const NEWS_SHARE = 0.55;
const IMBALANCE_SHARE = 0.25;
const NEWS_MEAN_S = 120;
/** How long orders come more on one side (flowArrivals). */
const IMBALANCE_S = 150;
/** The logarithm is pulled back to the start within this time, so that years later the price still is one. */
const REVERSION_S = 10 * 86_400;
const LOG_BOUND = Math.log(2.8);
/** Calm and nervous times: logarithmic, this wide, this long. */
const MOOD_DEVIATION = 0.45;
const MOOD_S = 1_200;
/** What the informed know is public after about this time. */
const PUBLICATION_S = 15;
/** The informed see this far ahead where the crowd drives the price. */
const FORESIGHT_S = 90;

export class EfficientPrice {
  readonly #random: Random;
  readonly #deviationPerRootS: number;
  readonly #newsMean: number;
  readonly #imbalanceDriftPerS: number;
  readonly #driftPerS: number;
  #seconds = 0;
  #nextNews: number;
  #log = 0;
  #public = 0;
  #mood = 0;

  /** `volatilityBps` is the root mean square move over a minute; beside it the price goes one way, by `driftBpsPerHour`. */
  constructor(random: Random, volatilityBps: number, driftBpsPerHour = 0) {
    this.#random = random;
    const perMinute = volatilityBps / 1e4;
    this.#driftPerS = driftBpsPerHour / 1e4 / 3_600;
    this.#deviationPerRootS = perMinute * Math.sqrt((1 - NEWS_SHARE - IMBALANCE_SHARE) / 60);
    // A drift that keeps its sign for a time T adds about 2T times its square to the variance of a second.
    this.#imbalanceDriftPerS = perMinute * Math.sqrt(IMBALANCE_SHARE / 60 / (2 * IMBALANCE_S));
    // News sizes are exponential with a random sign: their variance is twice the squared mean.
    this.#newsMean = perMinute * Math.sqrt((NEWS_SHARE * NEWS_MEAN_S) / 60 / 2);
    this.#nextNews = exponential(random, NEWS_MEAN_S);
  }

  /** What the informed know: logarithm of the efficient price over the start price, as it will be soon under this imbalance of orders. */
  expectedLog(imbalance: number): number {
    return this.#log + this.#imbalanceDriftPerS * imbalance * FORESIGHT_S;
  }

  /** What the public knows of it. */
  get publicLog(): number {
    return this.#public;
  }

  /** How nervous the times are: 1 on average, in volatility. */
  get mood(): number {
    return Math.exp(this.#mood - MOOD_DEVIATION ** 2);
  }

  /** Moves on to `seconds` since the start; earlier times change nothing. The price drifts to where more orders come. */
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
    this.#public += (this.#log - this.#public) * (1 - Math.exp(-dt / PUBLICATION_S));
    const kept = Math.exp(-dt / MOOD_S);
    this.#mood = this.#mood * kept + MOOD_DEVIATION * Math.sqrt(1 - kept * kept) * normal(this.#random);
  }
}
