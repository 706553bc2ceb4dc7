/** Rows with times in another unit. */
import type { MarketRows } from '../../backtest/rows/rows.ts';

/** The same rows with times in another unit: 0.001 makes milliseconds of microseconds. */
export function inUnit(rows: MarketRows, factor: number): MarketRows {
  const { length, base, places, depth, at, local, place, lots, flags, orders } = rows;
  const scaled = (times: Float64Array): Float64Array => {
    const result = new Float64Array(times.length);
    for (let i = 0; i < times.length; i++) result[i] = times[i]! * factor;
    return result;
  };
  // Written out, in one order everywhere: then the loops over rows know one shape of object.
  return { length, base, places, depth, at: scaled(at), local: scaled(local), place, lots, flags, orders };
}
