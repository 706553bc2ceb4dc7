/** From which distances a profile is made, where nobody says: from the touch out to where executions become too rare to tell anything. */
import type { Millis } from '../../src/core/index.ts';
import { walk } from '../../src/tape/index.ts';
import type { Tape } from '../../src/tape/index.ts';

/** Distances of a grid that is chosen. */
const POINTS = 14;
/** The farthest is reached in at least so many stretches of one cadence, both sides together: orders there get about as many fills. */
export const REACHED_MIN = 20;
/** A grid is at least this wide, as a factor. */
const RANGE_MIN = 1.5;

/** What a look at the whole tape tells of the sizes of things. */
export type TapeScale = {
  /** Ascending, in bps from the middle: from half the median spread out to where executions are too rare. Empty without executions or a book. */
  readonly distancesBps: readonly number[];
  /** Of one execution, in units of the minor currency; NaN without any. */
  readonly medianValue: number;
};

/** Prices and times are the exchange's; the middle that distances are from is the one at the beginning of each stretch of `cadenceMs`. */
export function scaleOf(tape: Tape, cadenceMs: Millis): TapeScale {
  const spreads: number[] = [];
  const mids: number[] = [];
  const reached: number[] = [];
  const values: number[] = [];
  const start = tape.columns.at[0] ?? 0;
  const { tick, lot } = tape.instrument;
  const unit = Number(tick) * Number(lot);
  let stretch = -1;
  /** The middle and half the spread in bps, now and at the beginning of the stretch; NaN while nothing is known. */
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
  return { distancesBps: touch > 0 && far > 0 ? gridOf(touch, far, 1e4 / mid) : [], medianValue: median(values) };
}

/** Even steps of the square root, closer where more orders are met, and none smaller than a tick: orders nearer to each other would stand at the same price. */
function gridOf(near: number, far: number, tickBps: number): readonly number[] {
  const grid = [near];
  for (let last = near; last < far && grid.length < POINTS; grid.push(last)) {
    const root = Math.sqrt(last);
    last = Math.min(far, Math.max((root + (Math.sqrt(far) - root) / (POINTS - grid.length)) ** 2, last + tickBps));
  }
  return [...new Set(grid.map(threeDigits))];
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const threeDigits = (x: number): number => Number(x.toPrecision(3));
