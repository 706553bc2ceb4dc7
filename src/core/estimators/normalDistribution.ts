/** Standard normal distribution: cumulative probability and quantile, both accurate to about 15 digits. */

/** Returns Phi(x), the probability below x. */
export function normalCumulative(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x > 0) return 1 - normalTail(x);
  return normalTail(-x);
}

/**
 * Returns the probability above x, for x >= 0. Uses the series of Phi near zero (Marsaglia 2004), and the continued
 * fraction of Mills' ratio for larger x.
 */
function normalTail(x: number): number {
  if (x > 38.5) return 0;
  const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
  if (x < 2.5) {
    let term = x;
    let sum = x;
    for (let k = 3; Math.abs(term) > 1e-18 * sum && k < 200; k += 2) {
      term *= (x * x) / k;
      sum += term;
    }
    return 0.5 - sum * density;
  }
  let fraction = x;
  for (let k = 120; k > 0; k--) fraction = x + k / fraction;
  return density / fraction;
}

/**
 * Returns the quantile of the probability `share`. Starts from Acklam's rational approximation (2003), then takes two
 * steps of Halley's method on Phi. The result is infinite for 0 and 1, and NaN outside 0 to 1.
 */
export function normalQuantile(share: number): number {
  if (!(share >= 0 && share <= 1)) return Number.NaN;
  if (share === 0 || share === 1) return share === 0 ? -Infinity : Infinity;
  // Use the lower tail, where small probabilities keep their digits. For share above 0.5, 1 - share is exact.
  if (share > 0.5) return -normalQuantile(1 - share);
  let x = startOf(share);
  for (let step = 0; step < 2; step++) {
    const error = (normalCumulative(x) - share) * Math.sqrt(2 * Math.PI) * Math.exp((x * x) / 2);
    if (!Number.isFinite(error)) break;
    x -= error / (1 + (x * error) / 2);
  }
  return x;
}

function startOf(share: number): number {
  if (share < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(share));
    return polynomial(TAIL, q) / (polynomial(TAIL_BELOW, q) * q + 1);
  }
  const q = share - 0.5;
  const r = q * q;
  return (polynomial(CENTRE, r) * q) / (polynomial(CENTRE_BELOW, r) * r + 1);
}

const polynomial = (of: readonly number[], x: number): number => of.reduce((sum, factor) => sum * x + factor, 0);

const CENTRE = [-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1, 2.506628277459239]; // prettier-ignore
const CENTRE_BELOW = [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1]; // prettier-ignore
const TAIL = [-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783]; // prettier-ignore
const TAIL_BELOW = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416]; // prettier-ignore
