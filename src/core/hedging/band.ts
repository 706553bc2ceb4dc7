/** Inside or out: how much inventory quotes should bring back themselves, and what holding it costs, from risk, flow and the cost of the way out. */

/** Of inventory in whole orders. Everything that is earned or paid is a share of the value of one order. */
export type BandInput = {
  /** What holding one order costs in a second: half of gamma sigma squared. Of q orders it is q squared times as much. */
  readonly riskPerS: number;
  /** Fills of one side in a second at no inventory. */
  readonly fillsPerS: number;
  /** 1 / k of the arrivals A e^(-k d): what a quote at its best distance keeps of a fill. */
  readonly edge: number;
  /** What leaving costs. */
  readonly cost: number;
  /** Orders of inventory that are never exceeded. */
  readonly ordersMax: number;
};

export type Band = {
  /** Orders that are held; one more leaves. `ordersMax`: nothing leaves. */
  readonly orders: number;
  /** What the one order after the first q costs its holder, until it is gone; never more than leaving. `ordersMax` of them. */
  readonly marginal: readonly number[];
  /** What is earned in a second, risk and hedges paid. */
  readonly earnsPerS: number;
};

/**
 * Barzykin, Bergault, Gueant, "Algorithmic market making in dealer markets with hedging and market impact" (Mathematical Finance 33(1), 2023), for
 * exponential arrivals, orders of one size, a running penalty of inventory's variance, and a way out of proportional cost c: with theta(q) the value of
 * q orders, p(q) = theta(q) - theta(q + 1) what one more costs, and H(p) = max over d >= 0 of lambda e^(1 - d / e) (d - p) what a side earns in a second,
 *
 *     rho + h q^2 = H(p(q)) + H(-p(q - 1))  for |q| <= b,  p(b) = c,  p(-1) = -p(0),  b the last q with rho + h q^2 <= H(c) + H(-c).
 *
 * h is `riskPerS`, e is `edge`, d what is left of a distance once the fee is paid: quotes never give more than the fair value. There is no closed form: p is
 * followed from the band to zero, which forgets errors, and rho, which makes both ends meet, is found by halving. While leaning against
 * inventory brings little back (small c) the band is (3 lambda c / (2 h))^(1/3) orders; then it nears c sqrt(lambda / (h e)): c over the shift of GLFT's quotes for one order.
 */
export function bandOf({ riskPerS: h, fillsPerS, edge, cost, ordersMax }: BandInput): Band {
  const all = Math.max(0, Math.floor(ordersMax));
  const most = fillsPerS * edge;
  if (!(h > 0)) return { orders: all, marginal: new Array<number>(all).fill(0), earnsPerS: 2 * most };
  if (!(cost > 0 && most > 0)) return { orders: 0, marginal: new Array<number>(all).fill(0), earnsPerS: 0 };
  const outside = most * Math.exp(-cost / edge) + earnedBack(most, edge, cost);
  const bandAt = (rho: number): number => Math.min(all, Math.floor(Math.sqrt(Math.max(0, outside - rho) / h)));
  /** p(0) to p(b - 1), and p(-1) before them. */
  const inside = (rho: number): number[] => {
    let p = cost;
    const found: number[] = [];
    for (let q = bandAt(rho); q >= 0; q--) {
      p = paidFor(most, edge, rho + h * q * q - most * Math.exp(-p / edge));
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

/** H(-p), p above zero: what the side earns in a second that takes an order off who pays p for it. */
const earnedBack = (most: number, edge: number, p: number): number =>
  p <= edge ? most * Math.exp(p / edge) : (most * Math.E * p) / edge;

/** The p of which `earned` is H(-p). */
const paidFor = (most: number, edge: number, earned: number): number => {
  if (!(earned > 0)) return -Infinity;
  return earned <= most * Math.E ? edge * Math.log(earned / most) : (edge * earned) / (most * Math.E);
};

/** Halvings: to the last digit of a float. */
const STEPS = 60;
