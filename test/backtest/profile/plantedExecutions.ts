/**
 * Fills by distance of a market with heavy tails, changing volatility, runs of takers on one side and a known margin, as sums of
 * time blocks. It skips the order simulation, so that thousands of days can be drawn.
 */
import type { DistancePoint, DistanceProfile } from '../../../backtest/index.ts';
import { exponential, normal, randomOf, type Random } from '../../../src/core/index.ts';

export type PlantedExecutions = {
  /** Remaining edge less the fee, in bps: `marginBps` at `bestBps` from the mid price, and less at every other distance. */
  readonly marginBps: number;
  /** Loss of margin at twice the best distance, in bps; 0 gives every distance the same margin. */
  readonly curvatureBps: number;
  /** Executions of both sides per hour, on average. */
  readonly perHour: number;
  /** Standard deviation of the mid price over an hour, in bps, on average. */
  readonly volatilityBps: number;
  /** Standard deviation of the logarithm of volatility and of activity, which change over hours. */
  readonly clustering: number;
  /** Probability that a taker trades on the side of the one before. */
  readonly persistence: number;
  /** Share of executions after which the mid price moves by a further `informedBps`; the others give that back on average. */
  readonly informed: { readonly share: number; readonly bps: number };
  /** Standard deviation of a day's margin around `marginBps`, in bps. */
  readonly dayBps: number;
};

/** A market without an edge at any distance. */
export const NO_EDGE: PlantedExecutions = {
  ...{ marginBps: 0, curvatureBps: 0, perHour: 60, volatilityBps: 100, clustering: 0.5, persistence: 0.7 },
  ...{ informed: { share: 0, bps: 0 }, dayBps: 0 },
};

export const FEE_BPS = 4;
/** Mean of what a taker reaches beyond the touch, in bps. */
const REACH_BPS = 8;
const BEST_BPS = 12;
const STEP_S = 10;
const HORIZON_S = 60;
const DAY_S = 86_400;
const DISTANCES = Array.from({ length: 14 }, (_, i) => Number(((1 + 0.33 * i) ** 2).toPrecision(3)));

/** Draws a market and returns the profile of its first hours, for each of `hours`, which are ascending. */
export function plantedProfiles(
  seed: number,
  hours: readonly number[],
  truth: PlantedExecutions,
): readonly DistanceProfile[] {
  const random = randomOf(seed);
  const seconds = 3_600 * hours.at(-1)!;
  const steps = Math.ceil((seconds + HORIZON_S) / STEP_S) + 2;
  const mid = new Float64Array(steps);
  const activity = new Float64Array(steps);
  let [wild, busy] = [normal(random), normal(random)];
  // The slow changes keep half of a deviation for two hours.
  const keep = 0.5 ** (STEP_S / 7_200);
  const drawn = Math.sqrt(1 - keep * keep);
  for (let i = 1; i < steps; i++) {
    wild = keep * wild + drawn * normal(random);
    busy = keep * busy + drawn * normal(random);
    const scale = Math.exp(truth.clustering * wild - truth.clustering ** 2);
    mid[i] = mid[i - 1]! + truth.volatilityBps * scale * Math.sqrt(STEP_S / 3_600) * heavyTailed(random);
    activity[i] = Math.exp(truth.clustering * (0.7 * wild + 0.7 * busy) - truth.clustering ** 2 / 2);
  }
  const midAt = (at: number): number => {
    const i = Math.floor(at / STEP_S);
    const part = at / STEP_S - i;
    return mid[i]! * (1 - part) + mid[i + 1]! * part;
  };
  const fills: Fill[] = [];
  let sign = 1;
  let [day, dayMargin] = [-1, 0];
  for (let at = 0; ;) {
    at += exponential(
      random,
      3_600 / (truth.perHour * Math.max(0.05, activity[Math.min(steps - 1, Math.floor(at / STEP_S))]!)),
    );
    if (!(at < seconds)) break;
    if (Math.floor(at / DAY_S) !== day) {
      day = Math.floor(at / DAY_S);
      dayMargin = truth.dayBps * normal(random);
    }
    if (random.next() > truth.persistence) sign = -sign;
    const reach = exponential(random, REACH_BPS);
    const { share, bps } = truth.informed;
    const known = random.next() < share ? bps : 0;
    // A single further move of the rest of the market is inside the volatility.
    const move = impactOf(reach, truth) - dayMargin + known - share * bps + sign * (midAt(at + HORIZON_S) - midAt(at));
    fills.push({ at, reach, move, value: 0.2 + 0.8 * random.next() });
  }
  return hours.map(limit => profileOf(fills, 3_600 * limit));
}

type Fill = { readonly at: number; readonly reach: number; readonly move: number; readonly value: number };

/** Returns a value with mean 0, standard deviation 1 and the tails of Student's t with four degrees of freedom. */
function heavyTailed(random: Random): number {
  const chi = 2 * (exponential(random, 1) + exponential(random, 1));
  return normal(random) / Math.sqrt(chi / 4) / Math.SQRT2;
}

/**
 * Returns the move after an execution that reaches `reach`, so that a maker at each distance d is left with the fee plus
 * margin(d): with H(d) = d - fee - margin(d), the mean of H(r) - H'(r) × mean reach over executions beyond d is H(d).
 */
function impactOf(reach: number, { marginBps, curvatureBps }: PlantedExecutions): number {
  const off = reach / BEST_BPS - 1;
  const kept = reach - FEE_BPS - (marginBps - curvatureBps * off * off);
  const slope = 1 + (2 * curvatureBps * off) / BEST_BPS;
  return kept - slope * REACH_BPS;
}

function profileOf(fills: readonly Fill[], seconds: number): DistanceProfile {
  const blockMs = Math.min(1_800_000, Math.max(120_000, (1_000 * seconds) / 40));
  const blocks = Math.floor((1_000 * seconds) / blockMs);
  const numbers = (): number[] => new Array<number>(blocks).fill(0);
  const points = DISTANCES.map((distanceBps): DistancePoint => {
    const sums = { fills: numbers(), value: numbers(), edge: numbers(), markout: numbers() };
    for (const { at, reach, move, value } of fills) {
      if (at >= seconds) break;
      if (reach < distanceBps) continue;
      const b = Math.min(blocks - 1, Math.floor((1_000 * at) / blockMs));
      sums.fills[b]!++;
      sums.value[b]! += value;
      sums.edge[b]! += value * distanceBps;
      sums.markout[b]! += value * (distanceBps - move);
    }
    const total = (of: readonly number[]): number => of.reduce((sum, x) => sum + x, 0);
    const perHour = 3_600 / seconds;
    return {
      ...{ distanceBps, edgeBps: distanceBps, fills: total(sums.fills), markoutBps: [null] },
      ...{ fillsPerHour: total(sums.fills) * perHour, valuePerHour: total(sums.value) * perHour },
      blocks: {
        at: numbers().map((_, b) => b * blockMs),
        seconds: numbers().map(() => blockMs / 1_000),
        ...{ fills: sums.fills, value: sums.value, edge: sums.edge },
        ...{ known: [sums.value], markout: [sums.markout] },
      },
    };
  });
  return {
    ...{ seconds, cadenceMs: 1_000, latencyMs: 50, orderValue: 1, blockMs, horizonsS: [HORIZON_S], points, limits: [] },
  };
}
