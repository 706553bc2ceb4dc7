/** Words for a verdict on quoting. */
import type { QuoteVerdict } from './quoteVerdict.ts';

/** Answer of a verdict. `not known yet` also means not to quote for now. */
export type QuoteAnswer = 'quote' | 'do not quote' | 'not known yet';

/** Returns the answer of a verdict. */
export function answerOf(verdict: QuoteVerdict): QuoteAnswer {
  if (verdict.quote) return 'quote';
  return verdict.isKnown ? 'do not quote' : 'not known yet';
}

/** Describes how many more hours would decide; empty if the verdict is known. */
export function missingText(verdict: QuoteVerdict): string {
  if (verdict.quote || verdict.isKnown) return '';
  const { hoursMissing, bestDistanceBps } = verdict;
  if (hoursMissing !== null) return `; about ${hoursMissing} more hours would decide`;
  return bestDistanceBps === null ? '' : '; over 1,000 more hours would be needed';
}
