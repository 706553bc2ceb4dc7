/** Latencies of tests that are drawn anew for each message. */
import type { Random } from '../../src/core/index.ts';
import { latencyOf, travel, type Latency } from '../../backtest/rows/latency.ts';

/** At least `least` ms each way, `mean` ms on average; seeded, so that a run can be repeated. Throws a RangeError unless 0 <= least <= mean. */
export function exponentialLatency(least: number, mean: number, random: Random): Latency {
  const draw = travel({ kind: 'exponential', least, mean }, random);
  return latencyOf(draw, draw, draw);
}
