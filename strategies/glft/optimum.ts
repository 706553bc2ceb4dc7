/**
 * The optimum of GLFT for fills and adverse moves that depend on the distance in any way: what inventory asks of a fill, far from the horizon and exact under a cap.
 * Gueant, "Optimal market making", Applied Math. Finance 24(2), 2017, for the general intensity; the method is ours.
 */
import type { Hamiltonian } from '../fillCurve.ts';

/**
 * What a bid's fill must bring at q = 0 … cap - 1 orders: the fall of the value of inventory, theta(q) - theta(q + 1). The market is the same on both sides, so that an ask
 * at q asks -(that at q - 1). theta solves, for all whole q within the cap and one number g,
 *
 *     H(theta(q) - theta(q + 1)) + H(theta(q) - theta(q - 1)) - gamma sigma^2 q^2 / 2 = g,     without the first at cap, without the second at -cap,
 *
 * H being `worth.best`. From the cap inwards each equation gives the next difference, and errors shrink on the way; at q = 0 the last one holds at one g alone.
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
      // Below the least g that reaches q = 0 not every difference is there.
      if (missing === Infinity) inwards(worth, risk, high, asked);
      break;
    }
    g = next;
  }
  return asked;
}

const TURNS_MAX = 200;
const PRECISION = 1e-14;

/** Fills `asked` for this g. `missing`: what the equation at q = 0 has more than g, and its derivative; Infinity where g is too small for one before it. */
function inwards(worth: Hamiltonian, risk: number, g: number, asked: Float64Array) {
  // Of the bid at q, and its derivative by g: none at the cap.
  let bid = 0;
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
