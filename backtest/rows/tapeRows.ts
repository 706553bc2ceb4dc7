/** Conversion of a tape to the rows of a replay, in memory or in a sliding window. */
import { KIND, type Columns, type StoredTape, type Tape } from '../../src/tape/index.ts';
import type { Travel } from './latency.ts';
import { LevelRows } from './levelRows.ts';
import { rowsOfOrders } from './orderRows.ts';
import { RowBuilder, windowOfRange, type MarketRows } from './rows.ts';
import { RowWindow } from './rowWindow.ts';

export type TapeRowsOptions = {
  /** Rows that define the book if a tape has both levels and single orders. Default: levels. */
  readonly from?: 'levels' | 'orders';
  /**
   * Minimum delay from the exchange to the bot, in ms, at a given time; needed for tapes without receive times.
   * Default: 0.
   */
  readonly feed?: Travel;
};

const AT_ONCE: Travel = () => 0;

/** Builds rows with times in ms. Throws a RangeError for a tape of best prices without amounts. */
export function rowsOfTape(tape: Tape, options: TapeRowsOptions = {}): MarketRows {
  refuseQuotes(tape);
  const { columns, depth } = tape;
  const from = options.from ?? (columns.kind.includes(KIND.level) ? 'levels' : 'orders');
  const feed = options.feed ?? AT_ONCE;
  if (from === 'orders') return rowsOfOrders(columns, feed);
  const window = windowOfColumns(columns);
  const rows = new RowBuilder();
  const levels = new LevelRows({ ...window, depth, feed, hasSnapshots: columns.kind.includes(KIND.clear) }, rows);
  levels.take(columns);
  levels.end();
  return rows.rows(null, window, depth);
}

/**
 * Returns a sliding window over a stored tape of levels. The chunks of the tape are decoded before they are needed.
 * Throws if the tape has only single orders. Loading rows throws if the tick size changes within the tape.
 */
export function windowOfLevels(tape: StoredTape, feed: Travel = AT_ONCE): RowWindow {
  refuseQuotes(tape);
  const { dir, kinds, prices, traded, depth } = tape;
  if (prices === null || !kinds.has(KIND.level))
    throw new RangeError(`${dir}: the recording has only single orders; a sliding window needs levels`);
  const window = windowOfRange(prices, traded);
  const chunks = tape.chunksAhead();
  const rows: RowWindow = new RowWindow({ ...window, depth }, () => {
    const { done, value } = chunks.next();
    if (done) {
      levels.end();
      return false;
    }
    if (value.instrument.tick !== tape.instrument.tick) {
      throw new Error(`${dir}: the tick size changes during the recording; choose a time range without such a change`);
    }
    levels.take(value.columns);
    return true;
  });
  const levels = new LevelRows({ ...window, depth, feed, hasSnapshots: kinds.has(KIND.clear) }, rows);
  return rows;
}

function refuseQuotes({ quotesOnly, source }: Pick<Tape, 'quotesOnly' | 'source'>): void {
  if (quotesOnly)
    throw new RangeError(`${source}: cannot be replayed, because the recording has best prices without amounts`);
}

/**
 * Returns the window of prices that the levels, orders and trades of a tape need. A tape in memory and a stored tape
 * with equal rows have equal windows.
 */
function windowOfColumns({ kind, price, length }: Columns): { readonly base: number; readonly places: number } {
  const all = { low: Infinity, high: -Infinity };
  const traded = { low: Infinity, high: -Infinity };
  for (let row = 0; row < length; row++) {
    if (kind[row] === KIND.clear) continue;
    const tick = price[row]!;
    for (const range of kind[row] === KIND.trade ? [all, traded] : [all]) {
      range.low = Math.min(range.low, tick);
      range.high = Math.max(range.high, tick);
    }
  }
  if (!(all.low <= all.high)) return windowOfRange({ low: 0, high: 0 }, null);
  return windowOfRange(all, traded.low <= traded.high ? traded : null);
}
