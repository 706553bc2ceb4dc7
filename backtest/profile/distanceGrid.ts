/** Default distances of a profile: from half the spread to the farthest distance that executions reach often enough. */
import type { Millis } from '../../src/core/index.ts';
import { walk, type Tape } from '../../src/tape/index.ts';

/** Number of distances if none are given. */
const POINTS = 14;
/**
 * Minimum number of cadence intervals in which executions reach the farthest distance, on both sides together. The
 * orders at that distance get about as many fills.
 */
export const REACHED_MIN = 20;
/** Minimum ratio of the farthest distance to the nearest. */
const RANGE_MIN = 1.5;

/** Distances at which a tape has executions, and the median value of an execution. */
export type TapeScale = {
  /**
   * Distances from the mid price in bps, ascending: from half the median spread to the farthest distance that
   * executions reach often enough. Empty without executions or a book.
   */
  readonly distancesBps: readonly number[];
  /** Median value of an execution, in the quote currency; NaN without executions. */
  readonly medianValue: number;
};

/**
 * Measures a tape at the exchange's prices and times. Distances are from the mid price at the start of each interval of
 * `cadenceMs`.
 */
export function scaleOf(tape: Tape, cadenceMs: Millis): TapeScale {
  const spreads: number[] = [];
  const mids: number[] = [];
  const reached: number[] = [];
  const values: number[] = [];
  const start = tape.columns.at[0] ?? 0;
  const { tick, lot } = tape.instrument;
  const unit = Number(tick) * Number(lot);
  let stretch = -1;
  /**
   * Current mid price, and half the spread in bps; NaN if unknown. `from` has the values at the start of the interval.
   */
  let now = { mid: Number.NaN, half: Number.NaN };
  let from = now;
  let [up, down] = [0, 0];
  walk(tape, {
    time: at => {
      const current = Math.floor((at - start) / cadenceMs);
      if (current === stretch) return;
      stretch = current;
      for (const away of [up, down]) if (away > 0) reached.push(away);
      [up, down] = [0, 0];
      from = now;
      if (!(from.mid > 0)) return;
      spreads.push(from.half);
      mids.push(from.mid);
    },
    touch: (_at, { bid, ask }) => (now = { mid: (bid + ask) / 2, half: (5_000 * (ask - bid)) / ((bid + ask) / 2) }),
    trade: (_at, price, amount, side) => {
      values.push(price * amount * unit);
      if (!(from.mid > 0)) return;
      const away = 1e4 * (price / from.mid - 1);
      if (side === 'buy') up = Math.max(up, away);
      else down = Math.max(down, -away);
    },
  });
  const touch = median(spreads);
  reached.sort((a, b) => b - a);
  const far = Math.max(reached[Math.min(REACHED_MIN, reached.length) - 1] ?? Number.NaN, RANGE_MIN * touch);
  const mid = median(mids);
  return {
    distancesBps: touch > 0 && far > 0 ? distancesBetween(touch, far, 1e4 / mid) : [],
    medianValue: median(values),
  };
}

/**
 * Returns distances whose square roots are evenly spaced, so that they are denser near the best prices, where more
 * orders are filled. A step is at least one tick, because closer orders would have equal prices.
 */
export function distancesBetween(near: number, far: number, tickBps: number): readonly number[] {
  const grid = [near];
  for (let last = near; last < far && grid.length < POINTS; grid.push(last)) {
    const root = Math.sqrt(last);
    last = Math.min(far, Math.max((root + (Math.sqrt(far) - root) / (POINTS - grid.length)) ** 2, last + tickBps));
  }
  return [...new Set(grid.map(threeDigits))];
}

/** Sorts the values and returns the upper median; NaN of no values. */
export const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const threeDigits = (x: number): number => Number(x.toPrecision(3));
