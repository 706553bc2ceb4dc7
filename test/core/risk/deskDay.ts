/**
 * A day of the desk of formulas-desk E12, check 2: four books of four currencies, with fills drawn from their intensity,
 * each book skewing on its own inventory or on that of all.
 */
import { functionOfMatrix } from '../../../src/core/estimators/linear.ts';
import { skewMatrix } from '../../../src/core/risk/jointInventory.ts';
import { randomOf } from '../../../src/core/index.ts';

const YEAR_S = 365 * 86_400;
/** Values of bitcoin, dollar and ether in pesos. */
const VALUES = [1.2e6, 18, 45_000] as const;
const VOLATILITIES = [0.55, 0.12, 0.75] as const;
const CORRELATIONS = [
  [1, -0.1, 0.8],
  [-0.1, 1, -0.15],
  [0.8, -0.15, 1],
] as const;
/** btc_mxn, btc_usd, usd_mxn, eth_mxn. */
const HOLDS = [
  [1, 0, 0],
  [1, -1, 0],
  [0, 1, 0],
  [0, 0, 1],
] as const;
const PRICES = [VALUES[0], VALUES[0] / VALUES[1], VALUES[1], VALUES[2]] as const;
const AMOUNTS = [0.01, 0.005, 500, 0.2] as const;
const RISK_AVERSION = 2e-4;

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const between = (a: readonly number[], matrix: readonly (readonly number[])[], b: readonly number[]): number =>
  dot(
    a,
    matrix.map(row => dot(row, b)),
  );

const covariance = CORRELATIONS.map((row, i) =>
  row.map((rho, j) => (rho * VOLATILITIES[i]! * VOLATILITIES[j]!) / YEAR_S),
);

/** Values of the currencies in pesos, their covariance per second and its square root, and currencies of each book. */
export const DESK = {
  values: VALUES as readonly number[],
  covariance,
  root: functionOfMatrix(covariance, Math.sqrt),
  holds: HOLDS as readonly (readonly number[])[],
};

/**
 * For each book: amount of an order in its base currency and its value in pesos, fills per second at the mid price, and
 * their decay with the relative distance. Also the weight of the book by flow (D of E12), and the relative shift per
 * peso of inventory and half spread of its quotes if it were alone.
 */
export const DESK_BOOKS = ([1 / 1_500, 1 / 100, 1 / 0.02, 1 / 90] as const).map((k, i) => {
  const [amount, fillsPerS, decay] = [AMOUNTS[i]!, [0.02, 0.01, 0.05, 0.02][i]!, k * PRICES[i]!];
  const value = amount * VALUES[[0, 0, 1, 2][i]!]!;
  const flow = (2 * value * fillsPerS * decay) / Math.E;
  const slope = Math.sqrt((RISK_AVERSION * between(HOLDS[i]!, covariance, HOLDS[i]!)) / flow);
  return { amount, value, fillsPerS, decay, flow, slope, half: 1 / decay + (value * slope) / 2 };
});

/** Returns the mean variance of the held value per second, and the earned spread in pesos. */
export function deskDay(
  seed: number,
  skewsBy: 'own' | 'joint',
  seconds = 86_400,
): { readonly risk: number; readonly spread: number } {
  const random = randomOf(seed);
  const skew = skewMatrix(
    DESK.covariance,
    HOLDS.map(holds => ({ weight: 1, holds })),
  );
  const held = [0, 0, 0];
  const own = [0, 0, 0, 0];
  let [risk, spread] = [0, 0];
  for (let second = 0; second < seconds; second++) {
    HOLDS.forEach((holds, i) => {
      const inventory = skewsBy === 'own' ? own[i]! : between(holds, skew, held) / between(holds, skew, holds);
      const { slope, half, decay, fillsPerS, value } = DESK_BOOKS[i]!;
      const shift = -slope * inventory;
      for (const side of [1, -1] as const) {
        const distance = half - side * shift;
        if (random.next() >= fillsPerS * Math.exp(-decay * Math.max(distance, -1 / decay))) continue;
        own[i]! += side * value;
        holds.forEach((amount, c) => (held[c]! += side * value * amount));
        spread += distance * value;
      }
    });
    risk += between(held, DESK.covariance, held) / seconds;
  }
  return { risk, spread };
}
