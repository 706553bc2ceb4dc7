/** Splits of a recording into where a configuration is chosen and where it is judged: combinatorial with purge and embargo, and walk-forward (López de Prado, "Advances in Financial Machine Learning", 2018, 7 and 12). */

/** One stretch of results: from its first decision until the last thing that was counted for it is known, such as a markout after a fill. In one unit of time, both ends included. */
export type ResultSpan = { readonly from: number; readonly to: number };

/** Numbers of spans, ascending. What is in neither was purged or embargoed, or lies outside. */
export type TimeSplit = { readonly train: readonly number[]; readonly test: readonly number[] };

/** One of C(N, k) splits; `groups` are those that are judged in. */
export type CombinatorialSplit = TimeSplit & { readonly groups: readonly number[] };

export type CombinatorialSplits = {
  /** The spans of each group. */
  readonly groups: readonly (readonly number[])[];
  readonly splits: readonly CombinatorialSplit[];
  /** Each path goes through all groups once: the number of the split that it takes each group from. No split's group is on two paths. */
  readonly paths: readonly (readonly number[])[];
};

export type CombinatorialOptions = {
  readonly groups: number;
  /** Groups that a split judges in: 2 without it. */
  readonly tested?: number;
  /** After each stretch that is judged in: spans that begin within it are not chosen on. */
  readonly embargo?: number;
};

/**
 * Purged and embargoed combinatorial cross-validation (CPCV). Spans are in order of their beginning. Every choice of `tested` groups is judged in once; spans that overlap with one judged in,
 * or begin within the embargo after it, are left out of what is chosen on. Throws a RangeError when the numbers do not fit.
 */
export function combinatorialSplits(spans: readonly ResultSpan[], options: CombinatorialOptions): CombinatorialSplits {
  const { groups: count, tested = 2, embargo = 0 } = options;
  checkSpans(spans);
  if (!(Number.isSafeInteger(count) && count >= 2 && count <= spans.length))
    throw new RangeError(`${count} groups of ${spans.length} spans; expected 2 or more, and no more than spans`);
  if (!(Number.isSafeInteger(tested) && tested >= 1 && tested < count))
    throw new RangeError(`${tested} of ${count} groups to judge in; expected at least one, and one left to choose on`);
  const groups = evenGroups(spans.length, count);
  const splits = combinationsOf(count, tested).map(chosen => {
    const test = chosen.flatMap(group => groups[group]!);
    return { groups: chosen, train: purged(spans, groups.flat(), test, embargo), test };
  });
  return { groups, splits, paths: pathsOf(splits, count) };
}

export type WalkForwardOptions = {
  /** Stretches that are judged in, one after the other; before them is one stretch more. */
  readonly folds: number;
  /** How many stretches are chosen on: all before the fold without it. */
  readonly window?: number;
  readonly embargo?: number;
};

/** Walk-forward: each fold is judged in after choosing on what was before it, purged. Throws a RangeError when the numbers do not fit. */
export function walkForwardSplits(spans: readonly ResultSpan[], options: WalkForwardOptions): readonly TimeSplit[] {
  const { folds, window = Infinity, embargo = 0 } = options;
  checkSpans(spans);
  if (!(Number.isSafeInteger(folds) && folds >= 1 && folds < spans.length && window >= 1))
    throw new RangeError(
      `${folds} folds and a window of ${window} in ${spans.length} spans; expected at least one each`,
    );
  const groups = evenGroups(spans.length, folds + 1);
  return groups.slice(1).map((test, i) => {
    const before = groups.slice(Math.max(0, i + 1 - window), i + 1).flat();
    // Here the embargo lies before the fold: what is chosen on ends so long before what is judged.
    const first = spans[test[0]!]!.from;
    return { train: before.filter(number => spans[number]!.to < first - embargo), test };
  });
}

/** What may be chosen on: of the candidates those that are not judged in, do not overlap with one that is, and do not begin within the embargo after one. */
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
    // Neighbours in time are one stretch: nothing that is chosen on lies between them.
    if (last !== undefined && (judged.has(number - 1) || from <= last.to)) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return candidates.filter(number => {
    if (judged.has(number)) return false;
    const { from, to } = spans[number]!;
    return merged.every(stretch => to < stretch.from || from > stretch.to + embargo);
  });
}

/** Whole numbers below `count`, in groups as even as can be, in order. */
function evenGroups(count: number, groups: number): readonly (readonly number[])[] {
  return Array.from({ length: groups }, (_, g) => {
    const from = Math.floor((g * count) / groups);
    const to = Math.floor(((g + 1) * count) / groups);
    return Array.from({ length: to - from }, (_unused, i) => from + i);
  });
}

/** All choices of `size` whole numbers below `count`, each ascending, in their order. */
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

/** The j-th path takes from each group the j-th split that judges in it. */
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
    `span ${wrong}, from ${from} to ${to}; expected one that begins no later than it ends, and not before the one ahead of it`,
  );
}
