/** Eigenvalues of small symmetric matrices, by the rotations of Jacobi. */

/** Maximum number of sweeps over all entries. Matrices of some tens of rows need about ten. */
const SWEEPS_MAX = 60;

/** Returns the eigenvalues of a symmetric matrix, in no particular order. */
export function symmetricEigenvalues(matrix: readonly (readonly number[])[]): readonly number[] {
  const n = matrix.length;
  const a = matrix.map(row => [...row]);
  const scale = Math.max(0, ...a.map(row => row.reduce((sum, x) => sum + x * x, 0)));
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    let rest = 0;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rest += a[p]![q]! ** 2;
    if (!(rest > 1e-30 * scale)) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, p, q);
  }
  return a.map((row, i) => row[i]!);
}

/** Rotates the rows and columns `p` and `q`, so that their common entry becomes zero. */
function rotate(a: number[][], p: number, q: number): void {
  const common = a[p]![q]!;
  if (common === 0) return;
  const half = (a[q]![q]! - a[p]![p]!) / (2 * common);
  const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(half, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  for (const row of a) [row[p], row[q]] = [cosine * row[p]! - sine * row[q]!, sine * row[p]! + cosine * row[q]!];
  const [above, below] = [a[p]!, a[q]!];
  for (let k = 0; k < a.length; k++)
    [above[k], below[k]] = [cosine * above[k]! - sine * below[k]!, sine * above[k]! + cosine * below[k]!];
}
