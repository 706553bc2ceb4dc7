/**
 * Value of fills by distance, from virtual orders on both sides of a recorded market. At each of several distances, the
 * orders are re-pegged with a bot's cadence and latency.
 */
import { blockBootstrap, randomOf, type BootstrapInterval, type Millis, type Random } from '../../src/core/index.ts';
import { wideHoursOf, wideHoursText, type Tape } from '../../src/tape/index.ts';
import { constantLatency, type Latency } from '../rows/latency.ts';
import { scaleOf } from './distanceGrid.ts';
import { VirtualOrders, type DistanceSums } from './virtualOrders.ts';

/** Default horizons: times from a fill to its valuation, in seconds. */
export const PROFILE_HORIZONS_S: readonly number[] = [0.5, 1, 5, 15, 60, 300];

export type ProfileOptions = {
  /** Interval between two pegs, in ms. Default: 1,000. */
  readonly cadenceMs?: Millis;
  /** Latency of requests and answers. Default: 25 ms each way. */
  readonly latency?: Latency;
  /** Age of the book that the bot sees, in ms. Default: 0. */
  readonly feedMs?: Millis;
  /** Distances from the mid price that the bot sees, in bps. Default: derived from the tape. */
  readonly distancesBps?: readonly number[];
  /** Value of each virtual order, in the quote currency. Default: the median value of an execution. */
  readonly orderValue?: number;
  /** Times from a fill to its valuation, in seconds, ascending. Default: `PROFILE_HORIZONS_S`. */
  readonly horizons?: readonly number[];
  /** Length of the bootstrap blocks, in ms. Default: 1/40 of the recording, between 2 and 30 minutes. */
  readonly blockMs?: Millis;
  readonly seed?: number;
  readonly onShare?: (share: number) => void;
};

export type DistancePoint = {
  /**
   * Requested distance from the mid price that the bot sees, in bps. Orders are rounded to the tick away from that
   * price.
   */
  readonly distanceBps: number;
  /** Value-weighted distance from the mid price just before the fill, in bps; `null` without fills. */
  readonly edgeBps: number | null;
  /** Number of fills of both sides. Executions of one order by one taker count as one fill. */
  readonly fills: number;
  readonly fillsPerHour: number;
  /** Filled value per hour of both sides together, in the quote currency. */
  readonly valuePerHour: number;
  /**
   * Value-weighted edge that remains after the price move, in bps before fees, by horizon; `null` with too little data.
   */
  readonly markoutBps: readonly (BootstrapInterval | null)[];
  readonly blocks: DistanceSums;
};

export type DistanceProfile = {
  /** Time with pegged orders, in seconds. */
  readonly seconds: number;
  readonly cadenceMs: Millis;
  /** Mean latency of a request plus the age of the book that the bot sees, in ms. */
  readonly latencyMs: Millis;
  readonly orderValue: number;
  readonly blockMs: Millis;
  readonly horizonsS: readonly number[];
  /** Results by distance, ascending; empty if `limits` explains why nothing can be measured. */
  readonly points: readonly DistancePoint[];
  /** Limitations of this recording, in sentences. */
  readonly limits: readonly string[];
};

/**
 * Computes the profile. Distances are independent: the orders at each distance receive every execution in full. Queues
 * and fills follow the backtest model `expected`, which is exact if the tape has only single orders. Fills do not
 * change the recorded market.
 */
export function distanceProfileOf(tape: Tape, options: ProfileOptions = {}): DistanceProfile {
  const { cadenceMs = 1_000, horizons = PROFILE_HORIZONS_S, feedMs = 0, seed = 1 } = options;
  if (!(cadenceMs > 0)) throw new RangeError(`the interval between two pegs must be above 0 ms, found ${cadenceMs}`);
  const { columns } = tape;
  const span = (columns.at[columns.length - 1] ?? 0) - (columns.at[0] ?? 0);
  const blockMs = options.blockMs ?? Math.min(1_800_000, Math.max(120_000, span / 40));
  const latency = options.latency ?? constantLatency(25, 25);
  const scale = scaleOf(tape, cadenceMs);
  const distances = [...(options.distancesBps ?? scale.distancesBps)].sort((a, b) => a - b);
  const orderValue = options.orderValue ?? scale.medianValue;
  const limits = limitsOf(tape, Number.isFinite(scale.medianValue));
  const told = { cadenceMs, orderValue, blockMs, horizonsS: horizons, limits };
  if (!(scale.medianValue > 0) || distances.length === 0 || !(orderValue > 0))
    return { ...told, seconds: 0, latencyMs: feedMs + latency.there(0), points: [] };
  const orders = new VirtualOrders({ tape, cadenceMs, latency, feedMs, distances, orderValue, horizons, blockMs });
  const sums = orders.run(options.onShare);
  const random = randomOf(seed);
  return {
    ...told,
    seconds: total(sums[0]!.seconds),
    latencyMs: orders.latencyMs,
    points: sums.map((blocks, i) => pointOf(distances[i]!, blocks, random)),
  };
}

function limitsOf(tape: Tape, hasTrades: boolean): readonly string[] {
  const { quotesOnly, depth } = tape;
  const wide = wideHoursOf(tape);
  return [
    ...(hasTrades ? [] : ['The recording has no executions, so only spreads and volatility can be measured.']),
    ...(quotesOnly && hasTrades
      ? [
          'The recorded quotes have no amounts, so an order fills only if an execution passes its price. Fills near the best prices are therefore undercounted.',
        ]
      : []),
    ...(depth === 1 && !quotesOnly && hasTrades
      ? [
          'The recording has only the best prices, so deeper queues are assumed to be as long as the queue at the best price.',
        ]
      : []),
    ...(wide === null ? [] : [wideHoursText(wide)]),
  ];
}

/** Returns the results at one distance with their intervals. */
export function pointOf(distanceBps: number, blocks: DistanceSums, random: Random): DistancePoint {
  const hours = total(blocks.seconds) / 3_600;
  const value = total(blocks.value);
  const fills = total(blocks.fills);
  return {
    distanceBps,
    edgeBps: value > 0 ? total(blocks.edge) / value : null,
    fills,
    fillsPerHour: hours > 0 ? fills / hours : 0,
    valuePerHour: hours > 0 ? value / hours : 0,
    markoutBps: blocks.markout.map((left, h) => ratioOf(left, blocks.known[h]!, random)),
    blocks,
  };
}

/** Returns the ratio of two sums over blocks with its bootstrap interval; `null` if there are too few blocks. */
function ratioOf(above: readonly number[], below: readonly number[], random: Random): BootstrapInterval | null {
  const of = above.map((x, b) => ({ above: x, below: below[b]! })).filter(block => block.below > 0);
  return blockBootstrap(of, ratio, { random });
}

function ratio(of: readonly { readonly above: number; readonly below: number }[]): number {
  let [above, below] = [0, 0];
  for (const block of of) {
    above += block.above;
    below += block.below;
  }
  return above / below;
}

const total = (of: readonly number[]): number => of.reduce((sum, x) => sum + x, 0);
