/** Turns a tape into the rows of a replay: pictures of the book become changes, single orders become levels, unknown takers get a side. */
import { KIND, SIDE } from '../src/tape/index.ts';
import type { Columns, Tape } from '../src/tape/index.ts';
import { rowsOfOrders } from './orderRows.ts';
import { FLAG, RowBuilder } from './rows.ts';
import type { MarketRows } from './rows.ts';
import { TickBook } from './tickBook.ts';

export type TapeRowsOptions = {
  /** Which rows tell the book where a tape has both; without it levels, if there are any. */
  readonly from?: 'levels' | 'orders';
  /** Time from the exchange to us, in ms, at least: for tapes that have no receive times. */
  readonly feedLatencyMs?: number;
};

/** Times in milliseconds. Throws on a tape without amounts. */
export function rowsOfTape(tape: Tape, options: TapeRowsOptions = {}): MarketRows {
  if (tape.quotesOnly) throw new RangeError(`${tape.source}: has best prices without amounts; it cannot be replayed`);
  const { columns } = tape;
  const from = options.from ?? (columns.kind.includes(KIND.level) ? 'levels' : 'orders');
  const delay = options.feedLatencyMs ?? 0;
  return from === 'levels' ? fromLevels(columns, delay) : rowsOfOrders(columns, delay);
}

function fromLevels(columns: Columns, delay: number): MarketRows {
  const { kind, side, at, local, price, amount, length } = columns;
  const rows = new RowBuilder();
  const levels = [new Map<number, number>(), new Map<number, number>()] as const;
  const unknown: number[] = [];
  const set = (row: number, sideCode: number, tick: number, lots: number): void => {
    const book = levels[sideCode === SIDE.sell ? 1 : 0];
    if ((book.get(tick) ?? 0) === lots) return;
    if (lots > 0) book.set(tick, lots);
    else book.delete(tick);
    rows.add(at[row]!, Math.max(local[row]!, at[row]! + delay), tick, lots, sideCode === SIDE.sell ? FLAG.sell : 0);
  };
  for (let row = 0; row < length; row++) {
    if (kind[row] === KIND.trade) {
      if (side[row] === SIDE.unknown) unknown.push(rows.length);
      const flags = FLAG.trade | (side[row] === SIDE.sell ? FLAG.sell : 0);
      rows.add(at[row]!, Math.max(local[row]!, at[row]! + delay), price[row]!, amount[row]!, flags);
    } else if (kind[row] === KIND.level) set(row, side[row]!, price[row]!, amount[row]!);
    else if (kind[row] === KIND.clear) {
      let end = row + 1;
      while (end < length && kind[end] === KIND.level && at[end] === at[row]) end++;
      const shown = [new Set<number>(), new Set<number>()] as const;
      for (let i = row + 1; i < end; i++) if (amount[i]! > 0) shown[side[i] === SIDE.sell ? 1 : 0].add(price[i]!);
      for (const sideCode of [SIDE.buy, SIDE.sell]) {
        for (const tick of [...levels[sideCode].keys()]) if (!shown[sideCode].has(tick)) set(row, sideCode, tick, 0);
      }
    }
  }
  return withSides(rows.rows(), unknown);
}

/** A trade whose taker is not known met the side that it was nearer to. */
function withSides(rows: MarketRows, unknown: readonly number[]): MarketRows {
  const book = new TickBook(rows);
  let next = 0;
  for (let row = 0; row < rows.length && next < unknown.length; row++) {
    const place = rows.place[row]!;
    if (row === unknown[next]) {
      if (2 * place < book.bid + book.ask) rows.flags[row]! |= FLAG.sell;
      next++;
    }
    const flags = rows.flags[row]!;
    if ((flags & FLAG.trade) !== 0) continue;
    if ((flags & FLAG.sell) !== 0) book.setAsk(place, rows.lots[row]!);
    else book.setBid(place, rows.lots[row]!);
  }
  return rows;
}
