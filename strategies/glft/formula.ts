/**
 * Optimal quotes of Gueant, Lehalle and Fernandez-Tapia, "Dealing with the inventory risk", Math. Financ. Econ. 7(4),
 * 2013: the closed form far from the horizon, and the exact solution under a hard cap. All arguments are plain numbers
 * in any consistent unit of price and time.
 */
import { arrivalEdge } from '../modelMaker.ts';

/** Model of prices and fills; amounts are in orders. */
export type FlowModel = {
  /** Standard deviation of the price, per square root of time. */
  readonly sigma: number;
  /** Arrivals per unit of time and side, at a distance d: a e^(-k d). */
  readonly a: number;
  readonly k: number;
  /** Drift of the price, per unit of time. */
  readonly drift: number;
  /** Adverse price move after a fill, xi in the formulas. */
  readonly adverse: number;
  /** Cost of a fill in price units, which is the maker fee; c in the formulas. */
  readonly fee: number;
};

/**
 * Components of a quote's distance from the fair value, which add up to the distance. A positive `inventory` moves both
 * quotes up.
 */
export type Distance = {
  /** Optimal edge from the trade-off of edge and arrivals: (1/gamma) ln(1 + gamma/k). */
  readonly edge: number;
  readonly adverse: number;
  readonly fee: number;
  /** Price of the risk of one more order: half of R, the result of `shiftPerOrder`. */
  readonly risk: number;
  /**
   * Shift of both quotes against inventory and with the drift. The shift narrows the distance of one side and widens
   * the distance of the other side.
   */
  readonly inventory: number;
};

/** Returns the natural logarithm of (1 + gamma/k)^(1 + k/gamma); its limit for gamma = 0 is 1. */
const logPower = (gamma: number, k: number): number => (gamma === 0 ? 1 : (1 + k / gamma) * Math.log1p(gamma / k));

/**
 * Returns R, the shift of both quotes per order of inventory:
 * sqrt(sigma^2 gamma / (2 k A e^(-k c)) (1 + gamma/k)^(1 + k/gamma)) e^(k xi / 4).
 */
export function shiftPerOrder(m: FlowModel, gamma: number): number {
  const arrivals = m.a * Math.exp(-m.k * m.fee);
  const variance = ((m.sigma * m.sigma * gamma) / (2 * m.k * arrivals)) * Math.exp(logPower(gamma, m.k));
  return Math.sqrt(variance) * Math.exp((m.k * m.adverse) / 4);
}

/**
 * Returns the distances by the closed form, without horizon and cap. `q` is the inventory in orders, positive if long.
 */
export function closedForm(m: FlowModel, gamma: number, q: number): { readonly bid: Distance; readonly ask: Distance } {
  const r = shiftPerOrder(m, gamma);
  const edge = arrivalEdge(gamma, m.k);
  const towards = m.drift === 0 ? 0 : (m.drift / (gamma * m.sigma * m.sigma)) * r;
  const inventory = towards - q * r;
  const rest = { edge, adverse: m.adverse / 2, fee: m.fee, risk: r / 2 };
  return { bid: { ...rest, inventory }, ask: { ...rest, inventory } };
}

/**
 * Returns the distance of a bid below the fair value, in the price unit of `FlowModel`; negative for a bid above the
 * fair value.
 */
export const bidDistance = (d: Distance): number => d.edge + d.adverse + d.fee + d.risk - d.inventory;
/**
 * Returns the distance of an ask above the fair value. A positive `inventory` widens the distance of the ask and
 * narrows the distance of the bid.
 */
export const askDistance = (d: Distance): number => d.edge + d.adverse + d.fee + d.risk + d.inventory;

/**
 * Returns the exact distances under |q| <= cap, far from the horizon, for integer q from -cap to cap. The entry for q
 * has the index q + cap; Infinity means no quote, such as a bid at the cap.
 *
 * f is the eigenvector of the smallest eigenvalue of a symmetric tridiagonal matrix with diagonal alpha q^2 - k mu q
 * and off-diagonal -eta. The distance of a bid is (1/k) ln(f_q / f_(q+1)) plus the edge, xi/2 and c.
 */
export function exactDistances(
  m: FlowModel,
  gamma: number,
  cap: number,
): { readonly bids: Float64Array; readonly asks: Float64Array } {
  const n = 2 * cap + 1;
  const alpha = 0.5 * m.k * gamma * m.sigma * m.sigma;
  const eta = m.a * Math.exp(-m.k * m.fee - logPower(gamma, m.k) - (m.k * m.adverse) / 2);
  const diagonal = Float64Array.from(
    { length: n },
    (_, i) => alpha * (i - cap) * (i - cap) - m.k * m.drift * (i - cap),
  );
  const logs = groundState(diagonal, eta);
  const base = arrivalEdge(gamma, m.k) + m.adverse / 2 + m.fee;
  const bids = new Float64Array(n).fill(Infinity);
  const asks = new Float64Array(n).fill(Infinity);
  for (let i = 0; i + 1 < n; i++) {
    bids[i] = base - logs[i]! / m.k;
    asks[i + 1] = base + logs[i]! / m.k;
  }
  return { bids, asks };
}

/**
 * Returns ln(f_(i+1) / f_i) of the positive eigenvector f of the symmetric tridiagonal matrix with this diagonal and
 * the off-diagonal `-beside`. Pivots are computed from both ends and joined at the row where they agree best (twisted
 * factorization, Parlett and Dhillon 1997). Ratios of the pivots neither overflow nor lose digits where f itself would
 * vanish.
 */
export function groundState(diagonal: Float64Array, beside: number): Float64Array {
  const n = diagonal.length;
  const square = beside * beside;
  const root = smallestRoot(diagonal, beside);
  const up = new Float64Array(n);
  const down = new Float64Array(n);
  for (let i = 0; i < n; i++) up[i] = diagonal[i]! - root - (i === 0 ? 0 : square / up[i - 1]!);
  for (let i = n - 1; i >= 0; i--) down[i] = diagonal[i]! - root - (i === n - 1 ? 0 : square / down[i + 1]!);
  let twist = 0;
  let least = Infinity;
  for (let i = 0; i < n; i++) {
    const gap = Math.abs(up[i]! + down[i]! - (diagonal[i]! - root));
    if (gap < least) [twist, least] = [i, gap];
  }
  const logs = new Float64Array(n - 1);
  for (let i = 0; i + 1 < n; i++) {
    logs[i] = i < twist ? Math.log(up[i]! / beside) : -Math.log(down[i + 1]! / beside);
  }
  return logs;
}

/**
 * Returns the smallest eigenvalue, or a number just below it, for which every pivot is positive. Laguerre's iteration
 * starts below the smallest eigenvalue and never exceeds it. The characteristic polynomial p is the product of the
 * pivots d_i - x - beside^2 / pivot_(i-1). The derivatives of the pivots give p'/p and its derivative.
 */
function smallestRoot(diagonal: Float64Array, beside: number): number {
  const n = diagonal.length;
  const square = beside * beside;
  let x = Infinity;
  let high = Infinity;
  let scale = 2 * beside;
  for (let i = 0; i < n; i++) {
    x = Math.min(x, diagonal[i]! - 2 * beside);
    high = Math.min(high, diagonal[i]!);
    scale = Math.max(scale, Math.abs(diagonal[i]!));
  }
  for (let turn = 0; turn < TURNS_MAX && isBelow(diagonal, square, x); turn++) {
    // `first` is the sum of 1 / (eigenvalue - x) over all eigenvalues; `second` is the sum of the squares of these
    // terms.
    let [first, second] = [0, 0];
    let [pivot, slope, bend] = [Infinity, 0, 0];
    for (let i = 0; i < n; i++) {
      const ratio = square / (pivot * pivot);
      bend = pivot === Infinity ? 0 : ratio * (bend - (2 * slope * slope) / pivot);
      slope = -1 + ratio * slope;
      pivot = diagonal[i]! - x - square / pivot;
      const share = slope / pivot;
      first -= share;
      second += share * share - bend / pivot;
    }
    const step = n / (first + Math.sqrt(Math.max(0, (n - 1) * (n * second - first * first))));
    if (!(step > PRECISION * scale)) break;
    x = Math.min(high, x + step);
  }
  if (!Number.isFinite(x)) return Number.NaN;
  for (let back = PRECISION * scale; !isBelow(diagonal, square, x) && back < Infinity; back *= 2) x -= back;
  return x;
}

function isBelow(diagonal: Float64Array, square: number, x: number): boolean {
  let pivot = Infinity;
  for (let i = 0; i < diagonal.length; i++) {
    pivot = diagonal[i]! - x - square / pivot;
    if (!(pivot > 0)) return false;
  }
  return true;
}

const TURNS_MAX = 100;
const PRECISION = 1e-15;

/** Returns the gamma at which `shiftPerOrder` is `shift` or nearest to it, by bisection of ln(gamma). */
export function aversionFor(m: FlowModel, shift: number): number {
  let low = Math.log(m.k) - LOG_RANGE;
  let high = Math.log(m.k) + LOG_RANGE;
  for (let turn = 0; turn < 60; turn++) {
    const pivot = (low + high) / 2;
    if (shiftPerOrder(m, Math.exp(pivot)) < shift) low = pivot;
    else high = pivot;
  }
  return Math.exp(low);
}

/** Half the range of ln(gamma) in the bisection: gamma / k is from 1e-13 to 1e13. */
const LOG_RANGE = 30;
