/** Turns a tape into the rows of a replay: pictures of the book become changes, single orders become levels, unknown takers get a side. */
import { KIND, SIDE } from '../src/tape/index.ts';
import type { Columns, Tape } from '../src/tape/index.ts';
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
  return from === 'levels' ? fromLevels(columns, delay) : fromOrders(columns, delay);
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

type Resting = { readonly side: number; readonly tick: number; lots: number; born: number };

/**
 * Orders that shrink or go without amount were executed where they rested; an execution is told as a trade of the other side before
 * the level that it changed, and the tape's own trade rows, which tell it again, are left out. The order that came in to take is known
 * by its price: it would not rest, and what it takes shows at the orders that it meets.
 */
function fromOrders(columns: Columns, delay: number): MarketRows {
  const { kind, side, at, local, price, amount, id, length } = columns;
  const rows = new RowBuilder();
  const orders = new Map<number, Resting>();
  const levels = [new Map<number, number>(), new Map<number, number>()] as const;
  const born: number[] = [];
  const gone: number[] = [];
  const executed: number[] = [];
  const add = (
    row: number,
    tick: number,
    lots: number,
    flags: number,
    one: readonly [number, number, number],
  ): void => {
    rows.add(at[row]!, Math.max(local[row]!, at[row]! + delay), tick, lots, flags);
    born.push(one[0]);
    gone.push(one[1]);
    executed.push(one[2]);
  };
  const change = (row: number, order: Resting, lots: number, byTaker: boolean): void => {
    const sell = order.side === SIDE.sell;
    const less = order.lots - lots;
    if (less === 0) return;
    const book = levels[sell ? 1 : 0];
    if (byTaker) add(row, order.tick, less, FLAG.trade | (sell ? 0 : FLAG.sell), [order.born, less, 1]);
    const level = Math.max(0, (book.get(order.tick) ?? 0) - less);
    if (level > 0) book.set(order.tick, level);
    else book.delete(order.tick);
    // Who grows goes to the end of the queue.
    if (less < 0) order.born = rows.length;
    order.lots = lots;
    add(row, order.tick, level, sell ? FLAG.sell : 0, [order.born, less, byTaker ? 1 : 0]);
  };
  const best = (sideCode: number): number => {
    let found = sideCode === SIDE.buy ? -Infinity : Infinity;
    for (const tick of levels[sideCode === SIDE.sell ? 1 : 0].keys()) {
      found = sideCode === SIDE.buy ? Math.max(found, tick) : Math.min(found, tick);
    }
    return found;
  };
  for (let row = 0; row < length; row++) {
    const known = orders.get(id[row]!);
    if (kind[row] === KIND.add) {
      const buy = side[row] === SIDE.buy;
      if (known || (buy ? price[row]! >= best(SIDE.sell) : price[row]! <= best(SIDE.buy))) continue;
      const order: Resting = { side: side[row]!, tick: price[row]!, lots: 0, born: rows.length };
      orders.set(id[row]!, order);
      change(row, order, amount[row]!, false);
    } else if (known && kind[row] === KIND.change) {
      const moved = price[row]! !== known.tick;
      change(row, known, moved ? 0 : amount[row]!, !moved && amount[row]! < known.lots);
      if (moved) {
        const order: Resting = { side: known.side, tick: price[row]!, lots: 0, born: rows.length };
        orders.set(id[row]!, order);
        change(row, order, amount[row]!, false);
      }
    } else if (known && kind[row] === KIND.remove) {
      change(row, known, 0, amount[row] === 0);
      orders.delete(id[row]!);
    }
  }
  return rows.rows({ born: Int32Array.from(born), gone: Float64Array.from(gone), executed: Uint8Array.from(executed) });
}
