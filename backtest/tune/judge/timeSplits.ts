/**
 * Splits of a recording into training and test parts: combinatorial with purging and embargo, and walk-forward. See
 * López de Prado, "Advances in Financial Machine Learning", 2018, chapters 7 and 12.
 */
import { counted } from '../../../src/core/index.ts';

/**
 * Time span of a result, from its first decision until its last input is known, such as a markout after a fill. Both
 * ends are included. Any time unit can be used.
 */
export type ResultSpan = { readonly from: number; readonly to: number };

/** Indices of the spans in each part, ascending. Spans in neither part were purged, embargoed, or out of range. */
export type TimeSplit = { readonly train: readonly number[]; readonly test: readonly number[] };

/** One of the C(N, k) splits; `groups` are the indices of its k test groups. */
export type CombinatorialSplit = TimeSplit & { readonly groups: readonly number[] };

export type CombinatorialSplits = {
  /** Indices of the spans in each group. */
  readonly groups: readonly (readonly number[])[];
  readonly splits: readonly CombinatorialSplit[];
  /**
   * Paths through all groups. A path contains, for each group, the index of the split that evaluates the group. Each
   * test group of a split is on only one path.
   */
  readonly paths: readonly (readonly number[])[];
};

export type CombinatorialOptions = {
  readonly groups: number;
  /** Number of test groups in each split. Default: 2. */
  readonly tested?: number;
  /** Time after each test range; spans that start within this time are excluded from training. */
  readonly embargo?: number;
};

/**
 * Returns the splits of purged and embargoed combinatorial cross-validation (CPCV). Spans must be in order of start.
 * Every combination of `tested` groups is the test part of one split. Spans that overlap the test part, or start within
 * the embargo after it, are excluded from training. Throws a RangeError for invalid numbers.
 */
export function combinatorialSplits(spans: readonly ResultSpan[], options: CombinatorialOptions): CombinatorialSplits {
  const { groups: count, tested = 2, embargo = 0 } = options;
  checkSpans(spans);
  if (!(Number.isSafeInteger(count) && count >= 2 && count <= spans.length))
    throw new RangeError(
      `expected at least 2 groups, and at most one group per time span, found ${counted(count, 'group')} and ${counted(spans.length, 'time span')}`,
    );
  if (!(Number.isSafeInteger(tested) && tested >= 1 && tested < count))
    throw new RangeError(
      `expected at least 1 group for testing, and fewer than all ${counted(count, 'group')}, found ${tested}`,
    );
  const groups = evenGroups(spans.length, count);
  const splits = combinationsOf(count, tested).map(chosen => {
    const test = chosen.flatMap(group => groups[group]!);
    return { groups: chosen, train: purged(spans, groups.flat(), test, embargo), test };
  });
  return { groups, splits, paths: pathsOf(splits, count) };
}

export type WalkForwardOptions = {
  /**
   * Number of consecutive test folds. The spans are divided into `folds` + 1 groups; the first group is only for
   * training.
   */
  readonly folds: number;
  /** Number of groups before a fold that are used for training. Default: all. */
  readonly window?: number;
  readonly embargo?: number;
};

/**
 * Returns walk-forward splits: each fold is tested after training on earlier spans that end before it. Throws a
 * RangeError for invalid numbers.
 */
export function walkForwardSplits(spans: readonly ResultSpan[], options: WalkForwardOptions): readonly TimeSplit[] {
  const { folds, window = Infinity, embargo = 0 } = options;
  checkSpans(spans);
  if (!(Number.isSafeInteger(folds) && folds >= 1 && folds < spans.length && window >= 1))
    throw new RangeError(
      `expected at least 1 fold, fewer folds than time spans, and a window of at least 1, found ${counted(folds, 'fold')}, ${counted(spans.length, 'time span')} and a window of ${window}`,
    );
  const groups = evenGroups(spans.length, folds + 1);
  return groups.slice(1).map((test, i) => {
    const before = groups.slice(Math.max(0, i + 1 - window), i + 1).flat();
    // In walk-forward splits, training must end at least the embargo before the fold starts.
    const first = spans[test[0]!]!.from;
    return { train: before.filter(number => spans[number]!.to < first - embargo), test };
  });
}

/**
 * Returns the candidates for training that are not in the test part, do not overlap the test part, and do not start
 * within the embargo after it.
 */
function purged(
  spans: readonly ResultSpan[],
  candidates: readonly number[],
  test: readonly number[],
  embargo: number,
): readonly number[] {
  const judged = new Set(test);
  const merged: { from: number; to: number }[] = [];
  for (const number of test) {
    const { from, to } = spans[number]!;
    const last = merged.at(-1);
    // Adjacent test spans are merged into one range, because no training span is between them.
    if (last !== undefined && (judged.has(number - 1) || from <= last.to)) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return candidates.filter(number => {
    if (judged.has(number)) return false;
    const { from, to } = spans[number]!;
    return merged.every(stretch => to < stretch.from || from > stretch.to + embargo);
  });
}

/** Splits the integers from 0 to `count` - 1 into consecutive groups of nearly equal size. */
function evenGroups(count: number, groups: number): readonly (readonly number[])[] {
  return Array.from({ length: groups }, (_, g) => {
    const from = Math.floor((g * count) / groups);
    const to = Math.floor(((g + 1) * count) / groups);
    return Array.from({ length: to - from }, (_unused, i) => from + i);
  });
}

/** Returns all combinations of `size` integers from 0 to `count` - 1, each ascending, in lexicographic order. */
export function combinationsOf(count: number, size: number): readonly (readonly number[])[] {
  const found: number[][] = [];
  const grow = (chosen: readonly number[], from: number): void => {
    if (chosen.length === size) {
      found.push([...chosen]);
      return;
    }
    for (let i = from; i <= count - (size - chosen.length); i++) grow([...chosen, i], i + 1);
  };
  grow([], 0);
  return found;
}

/** Returns the paths. In path j, each group is evaluated by the j-th split that tests it. */
function pathsOf(splits: readonly CombinatorialSplit[], groups: number): readonly (readonly number[])[] {
  const judging = Array.from({ length: groups }, (_, group) =>
    splits.flatMap((split, number) => (split.groups.includes(group) ? [number] : [])),
  );
  return judging[0]!.map((_, path) => judging.map(of => of[path]!));
}

function checkSpans(spans: readonly ResultSpan[]): void {
  const wrong = spans.findIndex(
    ({ from, to }, i) =>
      !(from <= to && Number.isFinite(from) && Number.isFinite(to)) || from < (spans[i - 1]?.from ?? -Infinity),
  );
  if (wrong < 0) return;
  const { from, to } = spans[wrong]!;
  throw new RangeError(
    `time span ${wrong} is from ${from} to ${to}; expected a start that is at or before the end of the span, and at or after the start of the previous span`,
  );
}
