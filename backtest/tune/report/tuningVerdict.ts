/** Verdict on a study: whether its best trial is better than not trading, and the limits that this requires. */
import { numberText } from '../../../src/pages/index.ts';
import type { Evidence, HeldOut, Tuning } from './tuning.ts';

/** Minimum of the deflated Sharpe ratio that a better trial must reach. */
const DEFLATED_MIN = 0.95;
/** Maximum of the probability of overfitting that a better trial may have. */
export const PBO_MAX = 0.05;

/**
 * Returns whether the best trial is better than not trading, with every objection as a clause. It is better only if
 * there are no objections.
 */
export function verdictOn(evidence: Evidence | null, holdout: HeldOut | null): Tuning['verdict'] {
  if (evidence === null) return { better: false, words: ['no trial ran to the end within the constraints'] };
  const { net, interval, deflated, paths } = evidence;
  const words: string[] = [];
  if (!(net > 0)) words.push('the best trial earned nothing after 60 s');
  else {
    if (interval === null) words.push('too few time blocks to distinguish its result from chance');
    else if (!(interval.low > 0)) words.push('its 95% interval includes zero');
    if (!(deflated.probability >= DEFLATED_MIN))
      words.push(
        `the best of ${numberText(deflated.trials)} trials without any skill would look as good: deflated Sharpe ${share(deflated.probability)}, expected ${DEFLATED_MIN}`,
      );
    if (paths.length > 0 && !(median(paths) > 0))
      words.push('choosing on some of the hours lost on the others, on the median path');
  }
  if (holdout !== null && !(holdout.net > 0)) words.push('it earned nothing on the holdout');
  return { better: words.length === 0, words };
}

/** Formats a share with two decimals. Only exact values of 0 and 1 become 0.00 and 1.00. */
export const share = (x: number): string =>
  x > 0.995 && x < 1 ? 'above 0.99' : x > 0 && x < 0.005 ? 'below 0.01' : x.toFixed(2);

/** Returns the median of the values, which must not be empty. */
function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const half = ascending.length / 2;
  return (ascending[Math.ceil(half) - 1]! + ascending[Math.floor(half)]!) / 2;
}
