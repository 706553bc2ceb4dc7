/**
 * Inventory band: the maximum inventory that is left to the quotes without a hedge, and the cost of holding inventory.
 * Computed from risk, flow and hedge cost.
 */

/** Inputs, with inventory in whole orders. Earnings and costs are shares of the value of one order. */
export type BandInput = {
  /**
   * Cost per second of an inventory of one order: half of gamma (risk aversion) times sigma (volatility) squared. An
   * inventory of q orders costs q squared times as much.
   */
  readonly riskPerS: number;
  /** Fills per second of one side at zero inventory. */
  readonly fillsPerS: number;
  /**
   * Earnings of a fill at the optimal quote distance, as a share of the order's value: 1 / k for the arrival rate A
   * e^(-k d).
   */
  readonly edge: number;
  /** Cost of a hedge, as a share of the hedged value. */
  readonly cost: number;
  /** Maximum inventory, in orders. */
  readonly ordersMax: number;
};

export type Band = {
  /**
   * Maximum inventory that is not hedged, in orders. Inventory beyond this maximum is hedged. If the maximum equals
   * `ordersMax`, nothing is hedged.
   */
  readonly orders: number;
  /**
   * Entry q, for q from 0 to `ordersMax` - 1: cost of holding one more order at an inventory of q orders, until quotes
   * sell it. At most the hedge cost.
   */
  readonly marginal: readonly number[];
  /** Earnings per second minus risk and hedge costs, as a share of the value of one order. */
  readonly earnsPerS: number;
};

/**
 * Computes the optimal band. Source: Barzykin, Bergault, Gueant, "Algorithmic market making in dealer markets with
 * hedging and market impact" (Mathematical Finance 33(1), 2023).
 *
 * The model has exponential arrivals, orders of one size, a running penalty on the variance of inventory, and hedges of
 * proportional cost c.
 * - theta(q): value of q orders.
 * - p(q) = theta(q) - theta(q + 1): cost of one more order.
 * - H(p) = max over d >= 0 of lambda exp(1 - d / e) (d - p): earnings of a side per second; lambda is `fillsPerS`.
 * - h is `riskPerS`, e is `edge`, rho is `earnsPerS`, d the distance after the fee. No quote is worse for the bot than
 * the fair value.
 *
 * The equations are:
 * - rho + h q^2 = H(p(q)) + H(-p(q - 1)) for |q| <= b,
 * - p(b) = c, p(-1) = -p(0),
 * - b is the last q with rho + h q^2 <= H(c) + H(-c).
 *
 * There is no closed form. p is computed from q = b down to q = -1, which damps errors; bisection finds the rho for
 * which p(-1) = -p(0).
 *
 * For small c, skewed quotes reduce little inventory, and the band is (3 lambda c / (2 h))^(1/3) orders. For larger c
 * the band approaches c sqrt(lambda / (h e)), which is c divided by the shift of GLFT's quotes for one order.
 */
export function computeBand({ riskPerS: h, fillsPerS, edge, cost, ordersMax }: BandInput): Band {
  const all = Math.max(0, Math.floor(ordersMax));
  const most = fillsPerS * edge;
  if (!(h > 0)) return { orders: all, marginal: new Array<number>(all).fill(0), earnsPerS: 2 * most };
  if (!(cost > 0 && most > 0)) return { orders: 0, marginal: new Array<number>(all).fill(0), earnsPerS: 0 };
  const outside = most * Math.exp(-cost / edge) + earningsAtPrice(most, edge, cost);
  const bandAt = (rho: number): number => Math.min(all, Math.floor(Math.sqrt(Math.max(0, outside - rho) / h)));
  /** Returns p(-1), followed by p(0) to p(b - 1). */
  const inside = (rho: number): number[] => {
    let p = cost;
    const found: number[] = [];
    for (let q = bandAt(rho); q >= 0; q--) {
      p = priceForEarnings(most, edge, rho + h * q * q - most * Math.exp(-p / edge));
      found.push(p);
    }
    return found.reverse();
  };
  let [low, high] = [2 * most * Math.exp(-cost / edge), 2 * most];
  for (let i = 0; i < STEPS; i++) {
    const rho = (low + high) / 2;
    const [before = 0, first = cost] = inside(rho);
    if (before + first > 0) high = rho;
    else low = rho;
  }
  const [, ...p] = inside(high);
  const orders = p.length;
  return { orders, marginal: Array.from({ length: all }, (_, q) => p[q] ?? cost), earnsPerS: high };
}

/**
 * Returns H(-p) for p > 0: earnings per second of the side that reduces the position. The bot pays up to p to reduce
 * the position by one order.
 */
const earningsAtPrice = (most: number, edge: number, p: number): number =>
  p <= edge ? most * Math.exp(p / edge) : (most * Math.E * p) / edge;

/** Returns the p for which H(-p) is `earned`; NaN if there is no such p. */
const priceForEarnings = (most: number, edge: number, earned: number): number =>
  earned <= most * Math.E ? edge * Math.log(earned / most) : (edge * earned) / (most * Math.E);

/** Number of bisections: enough for full float precision. */
const STEPS = 60;
