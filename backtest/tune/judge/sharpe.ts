/** How far a Sharpe ratio is beyond luck: probabilistic (of one series) and deflated (of the best of many trials). */
import { normalCumulative, normalQuantile } from '../../../src/core/index.ts';

/** What a series of results comes to, none of it annualized. Of a normal law skew is 0 and kurtosis 3. */
export type Moments = {
  readonly count: number;
  readonly mean: number;
  readonly deviation: number;
  /** Mean over deviation of one result; 0 where nothing deviates. */
  readonly sharpe: number;
  readonly skew: number;
  readonly kurtosis: number;
};

/** Of one number per stretch of time. The deviation has n - 1 below it; skew and kurtosis are those of the sample, not corrected for its size. */
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
 * The probability that the true Sharpe ratio is above a threshold (E11; Bailey, López de Prado 2012). All ratios are of one result, not annualized. NaN where the moments leave no variance.
 */
export const probabilisticSharpe = (
  { count, sharpe, skew, kurtosis }: Pick<Moments, 'count' | 'sharpe' | 'skew' | 'kurtosis'>,
  threshold: number,
): number =>
  normalCumulative(
    ((sharpe - threshold) * Math.sqrt(count - 1)) / Math.sqrt(1 - skew * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2),
  );

const EULER_MASCHERONI = 0.5772156649015329;

/** The highest Sharpe ratio to be expected of so many independent trials without any skill, whose ratios have this variance (E11). 0 of a single trial: nothing was chosen. */
export function expectedMaximumSharpe(trials: number, varianceOfSharpes: number): number {
  if (trials <= 1) return 0;
  const low = normalQuantile(1 - 1 / trials);
  const high = normalQuantile(1 - 1 / (trials * Math.E));
  return Math.sqrt(varianceOfSharpes) * ((1 - EULER_MASCHERONI) * low + EULER_MASCHERONI * high);
}

/** What a best trial is judged by. */
export type DeflatedSharpe = {
  /** SR0: what the best of the trials would show without skill. */
  readonly threshold: number;
  /** The probability that the true ratio is above it; 0.95 is asked for before anything is believed. */
  readonly probability: number;
};

/** The deflated Sharpe ratio of the chosen trial (E11; Bailey, López de Prado 2014): `trials` are all that were ever made, also those that nobody looked at. */
export function deflatedSharpe(
  chosen: Pick<Moments, 'count' | 'sharpe' | 'skew' | 'kurtosis'>,
  trials: number,
  varianceOfSharpes: number,
): DeflatedSharpe {
  const threshold = expectedMaximumSharpe(trials, varianceOfSharpes);
  return { threshold, probability: probabilisticSharpe(chosen, threshold) };
}

/** The variance of the Sharpe ratios of trials, n - 1 below it; 0 of fewer than two. */
export function varianceOfSharpes(sharpes: readonly number[]): number {
  if (sharpes.length < 2) return 0;
  const { deviation } = momentsOf(sharpes);
  return deviation ** 2;
}

/**
 * How far the ratios of trials lie apart by luck alone, as a variance: as they do, but not more than those of so many results each without any skill would, 1 / (n - 1) of each; what is beyond that is that some
 * trials are truly worse than others, which makes none of them lucky. Of fewer than two ratios that bound.
 */
export function varianceByLuck(sharpes: readonly number[], count: number): number {
  const most = 1 / (count - 1);
  return sharpes.length < 2 ? most : Math.min(varianceOfSharpes(sharpes), most);
}
