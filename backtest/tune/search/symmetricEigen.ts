/** Eigenvalues and eigenvectors of a symmetric matrix with up to some tens of rows, by Jacobi rotations. */

/** Eigenvalues, unordered, and eigenvectors, row-major. Column j of `vectors` belongs to entry j of `values`. */
export type Eigen = { readonly values: Float64Array; readonly vectors: Float64Array };

/** Decomposes a symmetric, row-major matrix of n rows. */
export function symmetricEigen(matrix: Float64Array, n: number): Eigen {
  const a = Float64Array.from(matrix);
  const vectors = new Float64Array(n * n);
  for (let i = 0; i < n; i++) vectors[i * n + i] = 1;
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    let on = 0;
    for (let p = 0; p < n; p++) {
      on += a[p * n + p]! ** 2;
      for (let q = p + 1; q < n; q++) off += a[p * n + q]! ** 2;
    }
    if (!(off > 1e-30 * on)) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, vectors, n, p, q);
  }
  return { values: Float64Array.from({ length: n }, (_, i) => a[i * n + i]!), vectors };
}

/** Rotates rows and columns p and q so that a[p][q] becomes zero. */
function rotate(a: Float64Array, vectors: Float64Array, n: number, p: number, q: number): void {
  const between = a[p * n + q]!;
  if (between === 0) return;
  const theta = (a[q * n + q]! - a[p * n + p]!) / (2 * between);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < n; k++) {
    const kp = a[k * n + p]!;
    const kq = a[k * n + q]!;
    a[k * n + p] = c * kp - s * kq;
    a[k * n + q] = s * kp + c * kq;
  }
  for (let k = 0; k < n; k++) {
    const pk = a[p * n + k]!;
    const qk = a[q * n + k]!;
    a[p * n + k] = c * pk - s * qk;
    a[q * n + k] = s * pk + c * qk;
    const vp = vectors[k * n + p]!;
    const vq = vectors[k * n + q]!;
    vectors[k * n + p] = c * vp - s * vq;
    vectors[k * n + q] = s * vp + c * vq;
  }
}
