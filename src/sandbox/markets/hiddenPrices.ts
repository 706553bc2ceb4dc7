/**
 * Hidden efficient prices that the flows of several books and exchanges share: one path per currency, on a grid of
 * time. The price that a flow sees differs from the hidden price by a lead, a lag, a basis and noise.
 */
import { normal, randomOf, type Random } from '../../core/index.ts';
import { EfficientPrice, IMBALANCE_SHARE, type FlowValue } from './flowValue.ts';

/** Time between two points of a path, in seconds. */
const GRID_S = 0.05;
/** Minimum length of the past for which paths are stored, in seconds; longer than the longest lead and lag together. */
const KEPT_S = 150;
const KEPT = Math.round(KEPT_S / GRID_S);
/** Time constant with which a move becomes public in linked markets, in seconds. Makers add their own lags. */
const PUBLICATION_S = 0.5;
/** Name of the path that several currencies share; not the name of a currency. */
const COMMON = '*';

type Point = { readonly log: number; readonly publicLog: number; readonly mood: number };

/** Path of one currency's price, relative to its start. */
class HiddenPath {
  readonly #price: EfficientPrice;
  readonly #points: Point[] = [];
  /** Number of the first point in `#points`. */
  #first = 0;

  constructor(random: Random, volatilityBps: number) {
    // A shared path has no moves from order imbalance, so the other moves are larger, to keep the volatility of the
    // profile.
    this.#price = new EfficientPrice(random, volatilityBps / Math.sqrt(1 - IMBALANCE_SHARE), 0, PUBLICATION_S);
    this.#points.push(this.#now());
  }

  /** Returns the point at a time in seconds since the start. For a time before the start, returns the first point. */
  at(seconds: number): Point {
    const n = Math.max(0, Math.floor(seconds / GRID_S));
    while (this.#first + this.#points.length <= n) {
      this.#price.advance((this.#first + this.#points.length) * GRID_S, 0);
      this.#points.push(this.#now());
      if (this.#points.length < 2 * KEPT) continue;
      this.#points.splice(0, KEPT);
      this.#first += KEPT;
    }
    return this.#points[Math.max(0, n - this.#first)]!;
  }

  #now(): Point {
    const { publicLog, mood } = this.#price;
    return { log: this.#price.expectedLog(0), publicLog, mood };
  }
}

export type HiddenPriceOptions = {
  readonly seed: number;
  /** Root mean square move per minute against the common currency, in bps, by currency. Other currencies do not move. */
  readonly volatilityBps: Readonly<Record<string, number>>;
  /**
   * Currencies that share a part of their moves, and the correlation of the moves of any two of them, from 0 to 1.
   * Default: no currency shares moves.
   */
  readonly common?: { readonly currencies: ReadonlySet<string>; readonly correlation: number };
};

/** Hidden efficient prices of several currencies. Equal seeds give equal paths, whatever reads them. */
export class HiddenPrices {
  readonly #options: HiddenPriceOptions;
  readonly #paths = new Map<string, HiddenPath>();

  constructor(options: HiddenPriceOptions) {
    this.#options = options;
  }

  /** Returns the logarithm of (price of base in quote / start price) and its public part at a time. */
  at(base: string, quote: string, seconds: number): Point {
    const [over, under] = [this.#pointOf(base, seconds), this.#pointOf(quote, seconds)];
    return {
      log: (over?.log ?? 0) - (under?.log ?? 0),
      publicLog: (over?.publicLog ?? 0) - (under?.publicLog ?? 0),
      mood: over?.mood ?? under?.mood ?? 1,
    };
  }

  /** Returns the point of a currency's own path, mixed with the common path; `undefined` if the currency does not move. */
  #pointOf(currency: string, seconds: number): Point | undefined {
    const { volatilityBps, common } = this.#options;
    const volatility = volatilityBps[currency];
    if (volatility === undefined) return undefined;
    const own = this.#pathOf(currency, volatility).at(seconds);
    const correlation = common?.currencies.has(currency) === true ? common.correlation : 0;
    if (correlation === 0) return own;
    const shared = this.#pathOf(COMMON, 1).at(seconds);
    const ofOwn = Math.sqrt(1 - correlation);
    const ofShared = volatility * Math.sqrt(correlation);
    return {
      log: ofOwn * own.log + ofShared * shared.log,
      publicLog: ofOwn * own.publicLog + ofShared * shared.publicLog,
      mood: (1 - correlation) * own.mood + correlation * shared.mood,
    };
  }

  #pathOf(name: string, volatilityBps: number): HiddenPath {
    let path = this.#paths.get(name);
    if (path) return path;
    path = new HiddenPath(randomOf(saltedSeed(this.#options.seed, name)), volatilityBps);
    this.#paths.set(name, path);
    return path;
  }
}

/** Returns a seed for a name, so that each path has draws of its own. */
export function saltedSeed(seed: number, name: string): number {
  let hash = seed >>> 0;
  for (const letter of name) hash = (Math.imul(hash, 31) + letter.codePointAt(0)!) >>> 0;
  return hash;
}

/**
 * Distance of an exchange's price from the hidden efficient price, in bps: a constant, a mean-reverting part and a
 * random walk.
 */
export type BasisOptions = {
  readonly constantBps: number;
  /** Standard deviation of the mean-reverting part. */
  readonly revertingBps: number;
  /** Time constant of the mean-reverting part, in seconds. */
  readonly revertingS: number;
  /** Standard deviation of the random walk after an hour. */
  readonly walkBpsPerHour: number;
};

/** Time between two points of the paths of basis and noise, in seconds. */
const BASIS_GRID_S = 0.25;
/** Time constant of an exchange's noise, in seconds. */
const NOISE_S = 5;

/** Path of the distance of one flow's price from the hidden price, in bps: basis plus noise. */
class Offset {
  readonly #random: Random;
  readonly #basis: BasisOptions;
  readonly #noiseBps: number;
  #n = 0;
  #reverting: number;
  #walk = 0;
  #noise: number;

  constructor(random: Random, basis: BasisOptions, noiseBps: number) {
    this.#random = random;
    this.#basis = basis;
    this.#noiseBps = noiseBps;
    this.#reverting = basis.revertingBps * normal(random);
    this.#noise = noiseBps * normal(random);
  }

  /**
   * Returns the distance at a time in seconds. For a time that is earlier than in a previous call, returns the latest
   * computed distance.
   */
  at(seconds: number): number {
    const { constantBps, revertingBps, revertingS, walkBpsPerHour } = this.#basis;
    for (; (this.#n + 1) * BASIS_GRID_S <= seconds; this.#n++) {
      this.#reverting = this.#reverted(this.#reverting, revertingBps, revertingS);
      this.#noise = this.#reverted(this.#noise, this.#noiseBps, NOISE_S);
      this.#walk += walkBpsPerHour * Math.sqrt(BASIS_GRID_S / 3_600) * normal(this.#random);
    }
    return constantBps + this.#reverting + this.#walk + this.#noise;
  }

  #reverted(value: number, deviation: number, timeS: number): number {
    const kept = Math.exp(-BASIS_GRID_S / timeS);
    return value * kept + deviation * Math.sqrt(1 - kept * kept) * normal(this.#random);
  }
}

export const NO_BASIS: BasisOptions = { constantBps: 0, revertingBps: 0, revertingS: 1, walkBpsPerHour: 0 };

export type HiddenViewOptions = {
  readonly base: string;
  readonly quote: string;
  readonly seed: number;
  /** Time after which the flow sees a move of the hidden efficient price, in ms; up to 120,000. */
  readonly lateMs: number;
  readonly basis: BasisOptions;
  /** Standard deviation of the noise in the price that the flow sees, in bps. */
  readonly noiseBps: number;
};

/** Returns the price of one book of one exchange as its flow sees it. */
export function hiddenView(hidden: HiddenPrices, options: HiddenViewOptions): FlowValue {
  const { base, quote, seed, lateMs, basis, noiseBps } = options;
  const offset = new Offset(randomOf(seed), basis, noiseBps);
  let now = { log: 0, publicLog: 0, mood: 1 };
  const advance = (seconds: number) => {
    const { log, publicLog, mood } = hidden.at(base, quote, seconds - lateMs / 1_000);
    const shift = offset.at(seconds) / 1e4;
    now = { log: log + shift, publicLog: publicLog + shift, mood };
  };
  advance(0);
  return {
    advance,
    expectedLog: () => now.log,
    get publicLog() {
      return now.publicLog;
    },
    get mood() {
      return now.mood;
    },
  };
}
