/** The path of a line in an SVG, for the plots of the pages. */

/** Of a line through `x y`, broken at each null. */
export function pathOf(points: readonly (string | null)[]): string {
  let pen = 'M';
  const parts: string[] = [];
  for (const point of points) {
    if (point !== null) parts.push(`${pen}${point}`);
    pen = point === null ? 'M' : 'L';
  }
  return parts.join('');
}
