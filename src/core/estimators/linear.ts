/** Linear systems with some tens of unknowns: Gaussian elimination with pivoting. */

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
