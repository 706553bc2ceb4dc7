/** Words for a verdict on quoting. */
import type { QuoteVerdict } from './quoteVerdict.ts';

/** Answer of a verdict. `not known yet` also means not to quote for now. */
export type QuoteAnswer = 'quote' | 'do not quote' | 'not known yet';

/** Returns the answer of a verdict. */
export function quoteAnswer(verdict: QuoteVerdict): QuoteAnswer {
  if (verdict.quote) return 'quote';
  return verdict.isKnown ? 'do not quote' : 'not known yet';
}

/** Returns the further hours until the verdict is known, like `about 5 h`; empty if the verdict is known. */
export function hoursText(verdict: QuoteVerdict): string {
  if (verdict.quote || verdict.isKnown) return '';
  const { hoursMissing: hours, bestDistanceBps } = verdict;
  if (bestDistanceBps === null) return hours === null ? 'no estimate' : `at least ${hours} h`;
  return hours === null ? 'over 1,000 h' : `about ${hours} h`;
}

/**
 * Returns the end of a sentence, with the further hours until the verdict is known; empty if known or not estimated.
 */
export function missingText(verdict: QuoteVerdict): string {
  const hours = hoursText(verdict);
  return hours === '' || hours === 'no estimate' ? '' : `; ${hours} more would decide`;
}
