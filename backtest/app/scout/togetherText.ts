/** Joint moves of the books of a scout as text: a table of the strongest pairs, and sentences. */
import { counted } from '../../../src/core/index.ts';
import { durationText, textTable, WIDTH } from '../../../src/pages/index.ts';
import { correlationText, isRelated, riskText, togetherWords, type BookPair, type JointMoves } from '../../index.ts';
import { wrapped } from '../../../src/messages/wrapped.ts';

/** Maximum number of pairs in the table. */
const PAIRS_MAX = 12;

/** Returns the lines, without a line break at their ends. */
export function togetherLines(together: JointMoves): readonly string[] {
  const known = together.pairs.filter(({ correlation }) => correlation !== null);
  const more = known.length - PAIRS_MAX;
  return [
    ...(known.length === 0 ? [] : [...pairTable(known.slice(0, PAIRS_MAX)), '']),
    ...togetherWords(together).flatMap(words => wrapped(words, WIDTH)),
    ...(known.length === 0 ? [] : wrapped(LEGEND, WIDTH)),
    ...(more > 0
      ? wrapped(`${counted(more, 'weaker pair is', 'weaker pairs are')} only in --out and --json.`, WIDTH)
      : []),
  ];
}

const LEGEND =
  '"corr" is the correlation of price moves over the time "over", with its 95% interval. "both" is the risk of inventory on the same side of both books, and "opp." on opposite sides, as a multiple of the risk of one book at equal risk. Where the interval contains zero, both count as unrelated, and "needs" is the common time that would show this correlation.';

function pairTable(pairs: readonly BookPair[]): readonly string[] {
  const rows = pairs.map(pair => {
    const { a, b, correlation, seconds, horizonS, neededSeconds, sameSide, oppositeSides } = pair;
    return {
      name: `${a} ${b}`,
      cells: [
        ...[correlation?.value, correlation?.low, correlation?.high].map(x => correlationText(x ?? null)),
        durationText(seconds),
        horizonS === null ? '–' : durationText(horizonS),
        riskText(sameSide),
        riskText(oppositeSides),
        isRelated(pair) || neededSeconds === null || neededSeconds > NEEDED_SHOWN_MAX_S
          ? '–'
          : durationText(neededSeconds),
      ],
    };
  });
  return textTable(
    'pair',
    ['corr', 'low', 'high', 'time', 'over', 'both', 'opp.', 'needs'].map(head => [head, '']),
    rows,
  );
}

/** Longest time that the table names as needed; a correlation that needs more is as good as zero. */
const NEEDED_SHOWN_MAX_S = 30 * 86_400;
