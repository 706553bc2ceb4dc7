/** Pareto front of several objectives: the points that no other point dominates. */

/**
 * Whether point `a` is at least as good as `b` in every objective, and better in at least one objective. Higher values
 * are better.
 */
export const dominates = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((value, i) => value >= b[i]!) && a.some((value, i) => value > b[i]!);

/**
 * Returns the indices of the points that no other point dominates, in order. A point with a NaN value is not on the
 * front. If one of several equal points is on the front, all are.
 */
export function paretoFront(values: readonly (readonly number[])[]): readonly number[] {
  return values.flatMap((own, i) =>
    own.some(Number.isNaN) || values.some(other => !other.some(Number.isNaN) && dominates(other, own)) ? [] : [i],
  );
}

/**
 * Returns the rank of each point: 0 if no point dominates it, 1 if only points of rank 0 dominate it, and so on.
 * Infinity for a point with a NaN value.
 */
export function paretoRanks(values: readonly (readonly number[])[]): readonly number[] {
  const ranks = values.map(() => Infinity);
  let left = values.flatMap((own, i) => (own.some(Number.isNaN) ? [] : [i]));
  for (let rank = 0; left.length > 0; rank++) {
    const front = new Set(paretoFront(left.map(i => values[i]!)).map(k => left[k]!));
    for (const i of front) ranks[i] = rank;
    left = left.filter(i => !front.has(i));
  }
  return ranks;
}
