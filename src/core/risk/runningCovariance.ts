/**
 * Joint moves of several prices, from samples at regular times (formulas-desk E13). Older samples count less, so that
 * the estimate follows the market.
 */
import type { Millis } from '../model/units.ts';
import { correlationOf, INTERVALS_MIN, usableCorrelations, type Correlation } from '../estimators/covariance.ts';

/** Sampling of prices. */
export type CovarianceRules = {
  /** Time between two samples. Shorter intervals make prices look less related than they are. */
  readonly sampleMs: Millis;
  /** Time after which the weight of a sample has halved. */
  readonly halfLifeMs: Millis;
};

/** State for the next run: names of the prices, time and values of the last sample, and the sums of each pair. */
export type RunningCovarianceState = {
  /** Time between two samples. A run with another interval cannot continue the sums. */
  readonly sampleMs: Millis;
  readonly names: readonly string[];
  readonly at: Millis;
  /** Logarithms of the prices at `at`; `null` if a price was unknown. */
  readonly logs: readonly (number | null)[];
  /** Sums of each pair of prices, in the order 0-0, 0-1, 1-1, 0-2, 1-2, 2-2 and so on. */
  readonly sums: readonly PairSums[];
};

/** Weighted sums over the intervals in which both prices of a pair are known. */
export type PairSums = {
  readonly weight: number;
  readonly squaredWeight: number;
  /** Sum of the products of both moves, and of the squared products. */
  readonly products: number;
  readonly squaredProducts: number;
};

const NO_SUMS: PairSums = { weight: 0, squaredWeight: 0, products: 0, squaredProducts: 0 };

/** Maximum time between two samples, in sampling intervals, for their difference to count as one move. */
const INTERVALS_APART_MAX = 1.5;

/** Position of the pair of prices `i` and `j` in the list of sums; `i` is at most `j`. */
const pairAt = (i: number, j: number): number => (j * (j + 1)) / 2 + i;

export class RunningCovariance {
  readonly #names: readonly string[];
  readonly #rules: CovarianceRules;
  #at: Millis = -Infinity;
  #logs: readonly (number | null)[];
  readonly #sums: PairSums[];

  /** `names`: names of the prices, by which the next run finds them again. */
  constructor(names: readonly string[], rules: CovarianceRules) {
    this.#names = names;
    this.#rules = rules;
    this.#logs = names.map(() => null);
    this.#sums = new Array<PairSums>(pairAt(0, names.length)).fill(NO_SUMS);
  }

  /** Time from which the next sample is due. */
  get dueAt(): Millis {
    return this.#at + this.#rules.sampleMs;
  }

  /** Adds a sample of the logarithms of all prices; `null` for a price that is unknown. Times must not decrease. */
  sample(at: Millis, logs: readonly (number | null)[]): void {
    const { sampleMs, halfLifeMs } = this.#rules;
    const isNext = at - this.#at <= INTERVALS_APART_MAX * sampleMs;
    const moves = logs.map((log, i) => {
      const before = isNext ? this.#logs[i]! : null;
      return log === null || before === null ? null : log - before;
    });
    const kept = 0.5 ** (sampleMs / halfLifeMs);
    for (let j = 0; j < moves.length; j++)
      for (let i = 0; i <= j; i++) {
        const [x, y] = [moves[i]!, moves[j]!];
        if (x === null || y === null) continue;
        const { weight, squaredWeight, products, squaredProducts } = this.#sums[pairAt(i, j)]!;
        this.#sums[pairAt(i, j)] = {
          weight: kept * weight + 1,
          squaredWeight: kept * kept * squaredWeight + 1,
          products: kept * products + x * y,
          squaredProducts: kept * squaredProducts + (x * y) ** 2,
        };
      }
    this.#at = at;
    this.#logs = logs;
  }

  /** Returns the variance of one price per interval; `null` with too few intervals, or if the price never moved. */
  variance(i: number): number | null {
    const sums = this.#sums[pairAt(i, i)]!;
    return sums.products > 0 && intervalsOf(sums) >= INTERVALS_MIN ? sums.products / sums.weight : null;
  }

  /**
   * Returns the correlation of two different prices; `null` with too few intervals. Heavy tails count as fewer
   * intervals, because a few large moves then decide the estimate.
   */
  correlation(i: number, j: number): Correlation | null {
    const [varianceX, varianceY] = [this.variance(i), this.variance(j)];
    const sums = this.#sums[pairAt(Math.min(i, j), Math.max(i, j))]!;
    if (varianceX === null || varianceY === null || !(intervalsOf(sums) >= INTERVALS_MIN)) return null;
    const covariance = sums.products / sums.weight;
    const excess = (sums.squaredProducts / sums.weight - covariance ** 2) / (varianceX * varianceY + covariance ** 2);
    const value = covariance / Math.sqrt(varianceX * varianceY);
    return correlationOf(Math.max(-1, Math.min(1, value)), intervalsOf(sums) / Math.max(1, excess));
  }

  /**
   * Returns the covariance of `prices` per interval, without negative eigenvalues. The variance of each must be known.
   * Correlations whose confidence interval contains zero are zero, and the others are shrunk by their errors.
   */
  covariance(prices: readonly number[]): readonly (readonly number[])[] {
    const deviations = prices.map(i => Math.sqrt(this.variance(i) ?? Number.NaN));
    const correlations = usableCorrelations(prices.length, (a, b) => this.correlation(prices[a]!, prices[b]!));
    return correlations.map((row, i) => row.map((value, j) => value * deviations[i]! * deviations[j]!));
  }

  /** State for the next run; `null` before the first sample. */
  get state(): RunningCovarianceState | null {
    if (this.#at === -Infinity) return null;
    const { sampleMs } = this.#rules;
    return { sampleMs, names: this.#names, at: this.#at, logs: this.#logs, sums: [...this.#sums] };
  }

  /**
   * Restores the sums of the pairs of prices that an earlier run also had. Ignores a state with another interval, and a
   * state from after `at`, because the clock was set back.
   */
  restore(state: RunningCovarianceState, at: Millis): void {
    if (!(state.at <= at) || state.sampleMs !== this.#rules.sampleMs) return;
    const before = this.#names.map(name => state.names.indexOf(name));
    this.#at = state.at;
    this.#logs = before.map(k => (k === -1 ? null : state.logs[k]!));
    for (let j = 0; j < before.length; j++)
      for (let i = 0; i <= j; i++) {
        const [a, b] = [before[i]!, before[j]!];
        if (a === -1 || b === -1) continue;
        this.#sums[pairAt(i, j)] = state.sums[pairAt(Math.min(a, b), Math.max(a, b))] ?? NO_SUMS;
      }
  }
}

/** Returns the number of equally weighted intervals that would give an estimate with the same error. */
const intervalsOf = ({ weight, squaredWeight }: PairSums): number =>
  squaredWeight > 0 ? weight ** 2 / squaredWeight : 0;
