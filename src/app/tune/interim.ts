/** Fronts of several objectives, until the room of searches has them. */
export function paretoFronts(values: readonly (readonly number[])[]): readonly (readonly number[])[] {
  let left = values.map((_, i) => i);
  const fronts: number[][] = [];
  const beats = (a: readonly number[], b: readonly number[]) =>
    a.every((x, i) => x >= b[i]!) && a.some((x, i) => x > b[i]!);
  while (left.length > 0) {
    const front = left.filter(i => !left.some(j => beats(values[j]!, values[i]!)));
    fronts.push(front);
    left = left.filter(i => !front.includes(i));
  }
  return fronts;
}
