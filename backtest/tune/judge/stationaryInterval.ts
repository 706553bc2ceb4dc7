/**
 * Intervals for results of one configuration by the stationary bootstrap, which resamples dependent results together
 * (Politis, Romano 1994).
 */
import { blockBootstrap, type BootstrapInterval, type BootstrapOptions } from '../../../src/core/index.ts';
import type { Measure } from './outOfSample.ts';

/**
 * Returns the interval of a statistic of `values`, which are in order of time. The default mean length of resampled
 * runs follows from the correlation of the values. Returns `null` in the same cases as `blockBootstrap`.
 */
export const stationaryInterval = (
  values: readonly number[],
  measure: Measure,
  options: BootstrapOptions,
): BootstrapInterval | null => blockBootstrap(values, measure, { meanRun: bestRun(values), ...options });

/**
 * Returns the best mean length of resampled runs for an interval of the mean of `values`. The length is 1 without
 * correlation, and at most a third of the number of values (Politis, White 2004, corrected by Patton, Politis, White
 * 2009).
 */
export function bestRun(values: readonly number[]): number {
  const n = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / n;
  const covariance = (lag: number): number => {
    let sum = 0;
    for (let i = lag; i < n; i++) sum += (values[i]! - mean) * (values[i - lag]! - mean);
    return sum / n;
  };
  const variance = covariance(0);
  if (n < 4 || !(variance > 0)) return 1;
  // Number of consecutive insignificant lags that must follow the last significant lag.
  const quiet = Math.max(5, Math.ceil(Math.sqrt(Math.log10(n))));
  const far = Math.min(n - 1, Math.ceil(Math.sqrt(n)) + quiet);
  const bound = 2 * Math.sqrt(Math.log10(n) / n);
  const correlations = Array.from({ length: far }, (_, i) => covariance(i + 1) / variance);
  let last = correlations.findIndex((_, i) =>
    correlations.slice(i, i + quiet).every(correlation => Math.abs(correlation) < bound),
  );
  if (last < 0) last = correlations.findLastIndex(correlation => Math.abs(correlation) >= bound) + 1;
  const reach = Math.min(far, 2 * Math.max(1, last));
  let spectrum = variance;
  let slope = 0;
  for (let lag = 1; lag <= reach; lag++) {
    const share = lag / reach;
    const weight = share <= 0.5 ? 1 : 2 * (1 - share);
    const own = covariance(lag);
    spectrum += 2 * weight * own;
    slope += 2 * weight * lag * own;
  }
  const run = ((2 * slope ** 2) / (2 * spectrum ** 2)) ** (1 / 3) * n ** (1 / 3);
  return Number.isFinite(run) ? Math.min(Math.max(1, run), Math.ceil(Math.min(3 * Math.sqrt(n), n / 3))) : 1;
}
