/** Several objectives at once: the points that no other one beats in all of them. */

/** Whether the first is at least as good in every objective, all of them higher-is-better, and better in one. */
export const dominates = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((value, i) => value >= b[i]!) && a.some((value, i) => value > b[i]!);

/** The numbers of the points that none dominates, in order. A point with a value that is no number is on no front; equal points are all on it. */
export function paretoFront(values: readonly (readonly number[])[]): readonly number[] {
  return values.flatMap((own, i) =>
    own.some(Number.isNaN) || values.some(other => !other.some(Number.isNaN) && dominates(other, own)) ? [] : [i],
  );
}

/** For each point on which front it is: 0 of those that none dominates, 1 when they are taken away, and so on; Infinity for one with a value that is no number. */
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
