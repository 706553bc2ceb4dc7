/** Verdict on a study: whether its best trial is better than not trading, and the limits for a positive verdict. */
import { counted } from '../../../src/core/index.ts';
import { numberText } from '../../../src/pages/index.ts';
import type { Evidence, HeldOut, Tuning } from './tuning.ts';

/** Minimum deflated Sharpe ratio of a trial that counts as better than not trading. */
const DEFLATED_MIN = 0.95;
/** Maximum probability of overfitting of a trial that counts as better than not trading. */
export const PBO_MAX = 0.05;

/**
 * Returns whether the best trial is better than not trading, with every objection as a clause. The best trial is better
 * only if there are no objections.
 */
export function verdictOn(evidence: Evidence | null, holdout: HeldOut | null): Tuning['verdict'] {
  if (evidence === null) return { better: false, words: ['no trial both completed and satisfied the constraints'] };
  const { net, interval, deflated, paths } = evidence;
  const words: string[] = [];
  if (!(net > 0)) words.push('the best trial made no profit (each fill valued at the mid price 60 s after the fill)');
  else {
    if (interval === null)
      words.push('the tuning hours have too few time blocks to distinguish the best trial from chance');
    else if (!(interval.low > 0)) words.push("the 95% interval of the best trial's net profit includes zero");
    if (!(deflated.probability >= DEFLATED_MIN))
      words.push(
        `by chance alone, the best of ${counted(numberText(deflated.trials), 'trial')} without skill could look as good (deflated Sharpe ratio ${share(deflated.probability)}, expected at least ${DEFLATED_MIN})`,
      );
    if (paths.length > 0 && !(median(paths) > 0))
      words.push(
        'in the median cross-validation path, parameters chosen on some hours made no profit on the other hours',
      );
  }
  if (holdout !== null && !(holdout.net > 0)) words.push('the best trial made no profit on the holdout');
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
