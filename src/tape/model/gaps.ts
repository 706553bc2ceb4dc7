/** Gaps of a recording as disjoint times, and their parts inside a time span. */
import type { Millis } from '../../core/index.ts';
import { isClosed } from './session.ts';
import type { Gap } from './tape.ts';

/**
 * Sorts gaps by time and merges overlapping gaps, with all their reasons. A merged gap counts as closed market time only
 * if all its parts are.
 */
export function mergedGaps(gaps: readonly Gap[]): readonly Gap[] {
  const merged: Gap[] = [];
  for (const gap of [...gaps].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || gap.from >= last.to) merged.push(gap);
    else {
      const [first, second] = isClosed(last) ? [gap.why, last.why] : [last.why, gap.why];
      const why = first.split('; ').includes(second) ? first : `${first}; ${second}`;
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, gap.to), why };
    }
  }
  return merged;
}

/** Returns the parts of gaps between `from` and `to`. */
export const gapsWithin = (gaps: readonly Gap[], from: Millis, to: Millis): readonly Gap[] =>
  gaps
    .map(gap => ({ ...gap, from: Math.max(gap.from, from), to: Math.min(gap.to, to) }))
    .filter(gap => gap.to > gap.from);

/** Returns the total length of disjoint gaps, in ms. */
export const gapMs = (gaps: readonly Gap[]): Millis => gaps.reduce((sum, { from, to }) => sum + (to - from), 0);
