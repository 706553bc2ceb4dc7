/**
 * Optimal quotes of GLFT for measured fill rates and adverse moves, which may depend on distance in any way. The
 * solution is exact under a hard inventory cap, far from the horizon. Source of the model with a general intensity:
 * Gueant, "Optimal market making", Applied Math. Finance 24(2), 2017. The method of solution was developed for this
 * project.
 */
import type { Hamiltonian } from '../fillCurve.ts';

/**
 * Returns the minimum profit of a bid's fill at q = 0 … cap - 1 orders of inventory: theta(q) - theta(q + 1), where
 * theta(q) is the value of holding q orders. The minimum profit of an ask at q is the negated minimum profit of a bid
 * at q - 1.
 *
 * For every integer q within the cap and a constant g, theta solves
 *
 * H(theta(q) - theta(q + 1)) + H(theta(q) - theta(q - 1)) - gamma sigma^2 q^2 / 2 = g.
 *
 * The first term is omitted at cap, the second at -cap. H(x) is the value of quoting that `worth.best(x)` returns. The
 * equations are solved from the cap inwards: each equation gives the next difference, and errors shrink. The equation
 * at q = 0 is true for only one g.
 */
export function askedByInventory(worth: Hamiltonian, sigma: number, gamma: number, cap: number): Float64Array {
  const asked = new Float64Array(cap);
  const risk = 0.5 * gamma * sigma * sigma;
  let low = 0;
  let high = 2 * worth.best(0).worth;
  let g = 0;
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const { missing, slope } = inwards(worth, risk, g, asked);
    if (missing > 0) low = g;
    else high = g;
    const newton = g - missing / slope;
    const next = newton > low && newton < high ? newton : turn === 0 ? high : (low + high) / 2;
    const enough = PRECISION * (next + risk);
    if (!(Math.abs(next - g) > enough && high - low > enough)) {
      // If g was too small for a solution, some differences were not computed, so all are computed again for `high`.
      if (missing === Infinity) inwards(worth, risk, high, asked);
      break;
    }
    g = next;
  }
  return asked;
}

const TURNS_MAX = 200;
const PRECISION = 1e-14;

/**
 * Computes `asked` for the given g. `missing` is the left side of the equation at q = 0 minus g, and `slope` its
 * derivative by g. `missing` is Infinity if g is too small for an earlier equation.
 */
function inwards(worth: Hamiltonian, risk: number, g: number, asked: Float64Array) {
  // Value of quoting a bid at q orders; 0 at the cap, where the bot does not bid.
  let bid = 0;
  // Derivative of `bid` by g.
  let bidSlope = 0;
  for (let q = asked.length; q > 0; q--) {
    const left = g + risk * q * q - bid;
    if (!(left > 0)) return { missing: Infinity, slope: -1 };
    const ask = worth.askedFor(left);
    asked[q - 1] = -ask.asked;
    const best = worth.best(-ask.asked);
    bid = best.worth;
    bidSlope = (-best.slope * (1 - bidSlope)) / ask.slope;
  }
  return { missing: 2 * bid - g, slope: 2 * bidSlope - 1 };
}
