/** Significance of a Sharpe ratio: probabilistic for one series, deflated for the best of many trials. */
import { normalCumulative, normalQuantile } from '../../../src/core/index.ts';

/** Moments of a series of results, not annualized. A normal distribution has skew 0 and kurtosis 3. */
export type Moments = {
  readonly count: number;
  readonly mean: number;
  readonly deviation: number;
  /** Sharpe ratio per result: mean divided by standard deviation; 0 if all results are equal. */
  readonly sharpe: number;
  readonly skew: number;
  readonly kurtosis: number;
};

/**
 * Computes the moments of a series with one result per time block. The variance is the sum of squares divided by n - 1.
 * Skew and kurtosis are computed without correction for the sample size.
 */
export function momentsOf(values: readonly number[]): Moments {
  const count = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / count;
  const sum = (power: number): number => values.reduce((all, x) => all + (x - mean) ** power, 0);
  const squares = sum(2);
  if (!(squares > 0)) return { count, mean, deviation: 0, sharpe: 0, skew: 0, kurtosis: 3 };
  const deviation = Math.sqrt(squares / (count - 1));
  const spread = squares / count;
  return {
    count,
    mean,
    deviation,
    sharpe: mean / deviation,
    skew: sum(3) / count / spread ** 1.5,
    kurtosis: sum(4) / count / spread ** 2,
  };
}

/**
 * Returns the probability that the true Sharpe ratio exceeds a threshold (E11; Bailey, López de Prado 2012). All ratios
 * are per result, not annualized. NaN if the moments imply no positive variance.
 */
export const probabilisticSharpe = (
  { count, sharpe, skew, kurtosis }: Pick<Moments, 'count' | 'sharpe' | 'skew' | 'kurtosis'>,
  threshold: number,
): number =>
  normalCumulative(
    ((sharpe - threshold) * Math.sqrt(count - 1)) / Math.sqrt(1 - skew * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2),
  );

const EULER_MASCHERONI = 0.5772156649015329;

/**
 * Returns the expected maximum Sharpe ratio of `trials` independent trials without skill, whose ratios have the given
 * variance (E11); 0 for a single trial.
 */
export function expectedMaximumSharpe(trials: number, varianceOfSharpes: number): number {
  if (trials <= 1) return 0;
  const low = normalQuantile(1 - 1 / trials);
  const high = normalQuantile(1 - 1 / (trials * Math.E));
  return Math.sqrt(varianceOfSharpes) * ((1 - EULER_MASCHERONI) * low + EULER_MASCHERONI * high);
}

/** Deflated Sharpe ratio of the best trial. */
export type DeflatedSharpe = {
  /** Expected Sharpe ratio of the best of the trials if none has skill (SR0). */
  readonly threshold: number;
  /** Probability that the true Sharpe ratio exceeds `threshold`; a positive verdict requires at least 0.95. */
  readonly probability: number;
};

/**
 * Computes the deflated Sharpe ratio of the chosen trial (E11; Bailey, López de Prado 2014). `trials` counts all trials
 * ever made, including discarded ones.
 */
export function deflatedSharpe(
  chosen: Pick<Moments, 'count' | 'sharpe' | 'skew' | 'kurtosis'>,
  trials: number,
  varianceOfSharpes: number,
): DeflatedSharpe {
  const threshold = expectedMaximumSharpe(trials, varianceOfSharpes);
  return { threshold, probability: probabilisticSharpe(chosen, threshold) };
}

/** Returns the variance of the Sharpe ratios of trials, with divisor n - 1; 0 for fewer than two ratios. */
export function varianceOfSharpes(sharpes: readonly number[]): number {
  if (sharpes.length < 2) return 0;
  const { deviation } = momentsOf(sharpes);
  return deviation ** 2;
}

/**
 * Returns the variance of the trials' ratios that is due to chance: the observed variance, but at most the variance
 * without skill, 1 / (n - 1). A larger observed variance means that some trials are truly worse, not that others were
 * lucky. With fewer than two ratios, the result is 1 / (n - 1).
 */
export function varianceByLuck(sharpes: readonly number[], count: number): number {
  const most = 1 / (count - 1);
  return sharpes.length < 2 ? most : Math.min(varianceOfSharpes(sharpes), most);
}
