/**
 * Linear algebra with some tens of rows: systems by Gaussian elimination with pivoting, and eigenvalues of symmetric
 * matrices by the rotations of Jacobi.
 */

/** Solves matrix x = right for x; `matrix` is row by row. Throws RangeError if the matrix is singular. */
export function solve(matrix: Float64Array, right: Float64Array): Float64Array {
  const n = right.length;
  const a = Float64Array.from(matrix);
  const x = Float64Array.from(right);
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(a[row * n + column]!) > Math.abs(a[pivot * n + column]!)) pivot = row;
    }
    if (!(Math.abs(a[pivot * n + column]!) > 0))
      throw new RangeError('the linear system is singular and has no unique solution');
    if (pivot !== column) {
      for (let k = column; k < n; k++) swap(a, pivot * n + k, column * n + k);
      swap(x, pivot, column);
    }
    for (let row = column + 1; row < n; row++) {
      const factor = a[row * n + column]! / a[column * n + column]!;
      if (factor === 0) continue;
      for (let k = column; k < n; k++) a[row * n + k] = a[row * n + k]! - factor * a[column * n + k]!;
      x[row] = x[row]! - factor * x[column]!;
    }
  }
  for (let row = n - 1; row >= 0; row--) {
    let rest = x[row]!;
    for (let k = row + 1; k < n; k++) rest -= a[row * n + k]! * x[k]!;
    x[row] = rest / a[row * n + row]!;
  }
  return x;
}

function swap(of: Float64Array, i: number, j: number): void {
  const kept = of[i]!;
  of[i] = of[j]!;
  of[j] = kept;
}

/** Maximum number of sweeps over all entries. Matrices of some tens of rows need about ten. */
const SWEEPS_MAX = 60;

/** Returns the eigenvalues of a symmetric matrix, in no particular order. */
export const symmetricEigenvalues = (matrix: readonly (readonly number[])[]): readonly number[] =>
  eigenOf(matrix, null);

/**
 * Returns the symmetric matrix with the same eigenvectors, in which `map` has replaced each eigenvalue. If `map` is the
 * square root, for example, the result times itself is the original matrix.
 */
export function functionOfMatrix(
  matrix: readonly (readonly number[])[],
  map: (eigenvalue: number) => number,
): readonly (readonly number[])[] {
  const n = matrix.length;
  const vectors = matrix.map((_, i) => matrix.map((_, j) => (i === j ? 1 : 0)));
  const values = eigenOf(matrix, vectors).map(map);
  return vectors.map(row =>
    vectors.map(column => {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += row[k]! * values[k]! * column[k]!;
      return sum;
    }),
  );
}

/**
 * Returns the eigenvalues of a symmetric matrix. Also applies all rotations to `vectors`, unless it is `null`. If
 * `vectors` was the identity matrix, its columns are then the eigenvectors, in the order of the eigenvalues.
 */
function eigenOf(matrix: readonly (readonly number[])[], vectors: number[][] | null): readonly number[] {
  const n = matrix.length;
  const a = matrix.map(row => [...row]);
  const scale = Math.max(0, ...a.map(row => row.reduce((sum, x) => sum + x * x, 0)));
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    let rest = 0;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rest += a[p]![q]! ** 2;
    if (!(rest > 1e-30 * scale)) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) zeroEntry(a, vectors, p, q);
  }
  return a.map((row, i) => row[i]!);
}

/**
 * Rotates the rows and columns `p` and `q`, so that their common entry becomes zero. Also rotates the columns `p` and
 * `q` of `vectors`.
 */
function zeroEntry(a: number[][], vectors: number[][] | null, p: number, q: number): void {
  const common = a[p]![q]!;
  if (common === 0) return;
  const half = (a[q]![q]! - a[p]![p]!) / (2 * common);
  const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(half, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  const rotate = (row: number[]): void => {
    [row[p], row[q]] = [cosine * row[p]! - sine * row[q]!, sine * row[p]! + cosine * row[q]!];
  };
  a.forEach(rotate);
  vectors?.forEach(rotate);
  const [above, below] = [a[p]!, a[q]!];
  for (let k = 0; k < a.length; k++)
    [above[k], below[k]] = [cosine * above[k]! - sine * below[k]!, sine * above[k]! + cosine * below[k]!];
}
