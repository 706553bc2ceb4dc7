/** How long a request travels to the exchange, and its answer back. */
import type { Random } from '../src/core/index.ts';

export interface Latency {
  /** Of a request sent at `at`. */
  there(at: number): number;
  /** Of an answer given at `at`. */
  back(at: number): number;
}

export const constantLatency = (there: number, back: number): Latency => {
  if (!(there >= 0 && back >= 0 && there + back < Infinity)) {
    throw new RangeError(`latency must be at least 0, found ${there} there and ${back} back`);
  }
  return { there: () => there, back: () => back };
};

/** Exponential above a least latency; seeded, so that a run can be repeated. */
export const exponentialLatency = (least: number, mean: number, random: Random): Latency => {
  if (!(least >= 0 && mean >= least && mean < Infinity)) {
    throw new RangeError(`latency needs 0 <= least <= mean, found ${least} and ${mean}`);
  }
  const draw = (): number => least - (mean - least) * Math.log(1 - random.next());
  return { there: draw, back: draw };
};
