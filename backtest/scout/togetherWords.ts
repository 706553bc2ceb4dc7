/** Joint moves of the books of a scout in sentences, and formats of their numbers. */
import { counted } from '../../src/core/index.ts';
import { durationText } from '../../src/pages/index.ts';
import { bpsText } from '../profile/bpsText.ts';
import type { BookPair, JointMoves } from './together.ts';

/** Maximum number of pairs of one kind that a sentence names. */
const NAMED_MAX = 3;

/** Formats a correlation with two decimals; a dash if unknown. */
export const correlationText = (x: number | null): string =>
  x === null ? '–' : x.toFixed(2).replace(/^-(0(?:\.0+)?)$/, '$1');

/** Formats a risk as a multiple of the risk of one book. */
export const riskText = (x: number): string => x.toFixed(x < 9.95 ? 2 : 1);

/** Whether the correlation of a pair is not zero beyond chance. */
export const isRelated = ({ usedCorrelation }: BookPair): boolean => usedCorrelation !== 0;

/** Returns the summary in sentences: the strongest pair, all books together, implied books and unknown pairs. */
export function togetherWords({ pairs, allSameSide }: JointMoves): readonly string[] {
  const related = pairs.filter(isRelated);
  const [strongest] = related;
  const known = pairs.filter(({ correlation }) => correlation !== null);
  const first =
    strongest === undefined
      ? known.length === 0
        ? 'How the books move together is unknown.'
        : `No two books move together beyond chance (${counted(known.length, 'pair')}).`
      : `${namedPair(strongest)} move ${strongest.usedCorrelation > 0 ? 'together' : 'against each other'}: ${pairMeaning(strongest)}`;
  const count = new Set(pairs.flatMap(({ a, b }) => [a, b])).size;
  const zeros = known.length < pairs.length ? ' Unknown pairs count as unrelated.' : '';
  const all =
    count < 3 || related.length === 0
      ? []
      : [
          `Inventory of equal risk on the same side of all ${counted(count, 'book')} carries ${counted(riskText(allSameSide), 'time')} the risk of one; ${riskText(Math.sqrt(count))} if they were independent.${zeros}`,
        ];
  const implied = pairs.flatMap(pair => impliedText(pair) ?? []);
  return [first, ...all, ...implied.slice(0, NAMED_MAX), ...unknownWords(pairs)];
}

/** Describes what a pair means for inventory in both books, in one sentence. */
export function pairMeaning(pair: BookPair): string {
  const { correlation, sameSide, oppositeSides, seconds, neededSeconds } = pair;
  if (isRelated(pair))
    return `long in both carries ${counted(riskText(sameSide), 'time')} the risk of one, and long in one and short in the other ${counted(riskText(oppositeSides), 'time')}.`;
  if (correlation !== null)
    return `unrelated as far as ${durationText(seconds)} show${neededSeconds === null ? '' : `; if ${correlationText(correlation.value)} is right, ${durationText(neededSeconds)} would show it`}.`;
  if (seconds === 0) return 'not recorded at the same time.';
  return neededSeconds === null
    ? 'the prices moved too little or too unevenly to say.'
    : `too little common time to say: ${durationText(seconds)} of ${durationText(neededSeconds)}.`;
}

/**
 * Describes the book that the prices of a pair imply, with its volatility; `null` if there is none, if the volatility is
 * unknown, and for unrelated books whose implied book was not recorded.
 */
export function impliedText(pair: BookPair): string | null {
  const { a, b, implied } = pair;
  if (implied === null) return null;
  const { book, isSecondShort, volatilityBps, recordedBps } = implied;
  if (volatilityBps === null || (recordedBps === null && !isRelated(pair))) return null;
  const recorded = recordedBps === null ? '' : ` (recorded there: ${bpsText(recordedBps)} bps)`;
  return `Long ${a} and ${isSecondShort ? 'short' : 'long'} ${b} of the same value is a position in ${book}, with a volatility of ${bpsText(volatilityBps)} bps per hour${recorded}.`;
}

/** Joins the names of a pair for a sentence. */
export const namedPair = ({ a, b }: BookPair): string => `${a} and ${b}`;

/** Groups the pairs without a correlation by their reason. */
function unknownWords(pairs: readonly BookPair[]): readonly string[] {
  const unknown = pairs.filter(({ correlation }) => correlation === null);
  const apart = unknown.filter(({ seconds }) => seconds === 0);
  const short = unknown.filter(({ seconds, neededSeconds }) => seconds > 0 && neededSeconds !== null);
  const still = unknown.filter(({ seconds, neededSeconds }) => seconds > 0 && neededSeconds === null);
  return [
    ...reasonWords(
      'Too little common time to say',
      short,
      pair => `${namedPair(pair)} (${durationText(pair.seconds)} of ${durationText(pair.neededSeconds ?? 0)})`,
    ),
    ...reasonWords('Not recorded at the same time', apart, namedPair),
    ...reasonWords('Prices that moved too little to say', still, namedPair),
  ];
}

function reasonWords(heading: string, pairs: readonly BookPair[], text: (pair: BookPair) => string): readonly string[] {
  if (pairs.length === 0) return [];
  const more = pairs.length - NAMED_MAX;
  return [
    `${heading}: ${pairs.slice(0, NAMED_MAX).map(text).join('; ')}${more > 0 ? `; and ${counted(more, 'more pair')}` : ''}.`,
  ];
}
