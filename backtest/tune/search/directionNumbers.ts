/**
 * Direction numbers of Sobol sequences, from table D6 of Joe and Kuo, "Constructing Sobol sequences with better
 * two-dimensional projections", 2008.
 */

/**
 * Rows for dimension 2 and later: the degree of the primitive polynomial, its inner coefficients as bits, and the first
 * numbers m.
 */
const TABLE: readonly (readonly number[])[] = [
  [1, 0, 1],
  [2, 1, 1, 3],
  [3, 1, 1, 3, 1],
  [3, 2, 1, 1, 1],
  [4, 1, 1, 1, 3, 3],
  [4, 4, 1, 3, 5, 13],
  [5, 2, 1, 1, 5, 5, 17],
  [5, 4, 1, 1, 5, 5, 5],
  [5, 7, 1, 1, 7, 11, 19],
  [5, 11, 1, 1, 5, 1, 1],
  [5, 13, 1, 1, 1, 3, 11],
  [5, 14, 1, 3, 5, 5, 31],
  [6, 1, 1, 3, 3, 9, 7, 49],
  [6, 13, 1, 1, 1, 15, 21, 21],
  [6, 16, 1, 3, 1, 13, 27, 49],
  [6, 19, 1, 1, 1, 15, 7, 5],
  [6, 22, 1, 3, 1, 15, 13, 25],
  [6, 25, 1, 1, 5, 5, 19, 61],
  [7, 1, 1, 3, 7, 11, 23, 15, 103],
  [7, 4, 1, 3, 7, 13, 13, 15, 69],
  [7, 7, 1, 1, 3, 13, 7, 35, 63],
  [7, 8, 1, 3, 5, 9, 1, 25, 53],
  [7, 14, 1, 3, 1, 13, 9, 35, 107],
  [7, 19, 1, 3, 1, 5, 27, 61, 31],
  [7, 21, 1, 1, 5, 11, 19, 41, 61],
  [7, 28, 1, 3, 5, 3, 3, 13, 69],
  [7, 31, 1, 1, 7, 13, 1, 19, 1],
  [7, 32, 1, 3, 7, 5, 13, 19, 59],
  [7, 37, 1, 1, 3, 9, 25, 29, 41],
  [7, 41, 1, 3, 5, 13, 23, 1, 55],
  [7, 42, 1, 3, 7, 3, 13, 59, 17],
];

/** Number of supported dimensions; the first dimension needs no row of the table. */
export const SOBOL_DIMENSIONS = TABLE.length + 1;

/** Returns the 32 direction numbers of a dimension, the highest bit first. The first dimension has the index 0. */
export function directionNumbers(dimension: number): Uint32Array {
  const directions = new Uint32Array(32);
  if (dimension === 0) return directions.map((_, k) => 2 ** (31 - k));
  const [degree, inner, ...first] = TABLE[dimension - 1] as [number, number, ...number[]];
  for (let k = 0; k < 32; k++) {
    if (k < degree) {
      directions[k] = first[k]! * 2 ** (31 - k);
      continue;
    }
    let direction = directions[k - degree]! ^ (directions[k - degree]! >>> degree);
    for (let j = 1; j < degree; j++) if ((inner >>> (degree - 1 - j)) & 1) direction ^= directions[k - j]!;
    directions[k] = direction;
  }
  return directions;
}
