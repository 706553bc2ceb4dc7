/** Rows of a tape that tells single orders: levels summed up from them, executions told where they happened, and each order's place in time. */
import { KIND, SIDE } from '../../src/tape/index.ts';
import type { Columns } from '../../src/tape/index.ts';
import type { Travel } from './latency.ts';
import { FLAG, RowBuilder } from './rows.ts';
import type { MarketRows } from './rows.ts';

type Resting = { readonly side: number; readonly tick: number; lots: number; born: number };

/**
 * An order that shrinks, or goes with nothing left, was executed where it rested: told as a trade of the other side, before the level
 * that it changed. The tape's own trade rows, if it has any, confirm that, and are left out. An order that comes in at, or moves to, a price that trades is the taker
 * of what follows; what is left of it rests from the next trade row on at which it crosses nothing. Orders that rested before the tape
 * are taken up at the first row, as far as later rows tell of them. `feed`: least time from the exchange to us.
 */
export function rowsOfOrders(columns: Columns, feed: Travel): MarketRows {
  return new OrderRows(columns, feed).build();
}

/** A trade is told at most so many rows after the orders that it met, */
const SAME_MATCH_ROWS = 12;
/** or before them, in a recording of the stream, which tells orders only: at most so long, and this many trades in one sweep. */
const EARLY_MS = 1_000;
const EARLY_MAX = 512;

class OrderRows {
  readonly #columns: Columns;
  readonly #feed: Travel;
  readonly #rows = new RowBuilder();
  readonly #resting = new Map<number, Resting>();
  readonly #takers = new Map<number, { readonly side: number; readonly tick: number; readonly lots: number }>();
  readonly #bids = new Map<number, number>();
  readonly #asks = new Map<number, number>();
  readonly #hasTrades: boolean;
  /** Where levels are told too, a `clear` is of them. */
  readonly #hasLevels: boolean;
  readonly #told = new Set<number>();
  /** Rows of trades of which no order has told yet. */
  #early: number[] = [];
  #bid: number | null = null;
  #ask: number | null = null;
  readonly #born: number[] = [];
  readonly #gone: number[] = [];
  readonly #executed: number[] = [];

  constructor(columns: Columns, feed: Travel) {
    this.#columns = columns;
    this.#feed = feed;
    this.#hasTrades = columns.kind.includes(KIND.trade);
    this.#hasLevels = columns.kind.includes(KIND.level);
  }

  build(): MarketRows {
    const { kind, length } = this.#columns;
    if (length > 0) this.#takeUp();
    for (let row = 0; row < length; row++) {
      if (kind[row] === KIND.trade) this.#onTrade(row);
      else if (kind[row] === KIND.clear && !this.#hasLevels) this.#onClear(row);
      else if (kind[row] === KIND.add) this.#onAdd(row);
      else if (kind[row] === KIND.change || kind[row] === KIND.remove) this.#onLess(row);
    }
    return this.#rows.rows({
      born: Int32Array.from(this.#born),
      gone: Float64Array.from(this.#gone),
      executed: Uint8Array.from(this.#executed),
    });
  }

  /** Orders of which the tape tells only later: with the most that is ever said of them. */
  #takeUp(): void {
    const { kind, side, price, amount, id, length } = this.#columns;
    const seen = new Set<number>();
    for (let row = 0; row < length; row++) {
      if (kind[row] !== KIND.add && kind[row] !== KIND.change && kind[row] !== KIND.remove) continue;
      if (seen.has(id[row]!)) continue;
      seen.add(id[row]!);
      if (kind[row] === KIND.add) continue;
      const wasMet = kind[row] === KIND.change || amount[row] === 0;
      const lots = amount[row]! + (wasMet ? this.#tradedAfter(row) : 0);
      if (lots > 0) this.#rest(0, id[row]!, side[row]!, price[row]!, lots, -1);
    }
  }

  /** Lots of the trade that made the order of a row shrink; 0 when none follows at its price. */
  #tradedAfter(row: number): number {
    const { kind, price, amount, length } = this.#columns;
    for (let next = row + 1; next < Math.min(length, row + SAME_MATCH_ROWS); next++) {
      if (kind[next] === KIND.trade && price[next] === price[row]) return amount[next]!;
    }
    return 0;
  }

  #onTrade(row: number): void {
    this.#restTakers(row);
    if (this.#hasLevels || this.#told.has(row)) return;
    this.#early.push(row);
    if (this.#early.length > EARLY_MAX) this.#early = this.#early.slice(-EARLY_MAX / 2);
  }

  /** A book begins anew: after a gap, or where two recordings meet. */
  #onClear(row: number): void {
    this.#takers.clear();
    for (const order of this.#resting.values()) this.#shrink(row, order, 0, false);
    this.#resting.clear();
  }

  #onAdd(row: number): void {
    const { side, price, amount, id } = this.#columns;
    if (this.#resting.has(id[row]!) || amount[row] === 0) return;
    this.#enter(row, id[row]!, side[row]!, price[row]!, amount[row]!);
  }

  #onLess(row: number): void {
    const { kind, price, amount, id } = this.#columns;
    const name = id[row]!;
    const taker = this.#takers.get(name);
    if (taker) {
      if (kind[row] === KIND.remove) this.#takers.delete(name);
      else this.#takers.set(name, { side: taker.side, tick: price[row]!, lots: amount[row]! });
      return;
    }
    const order = this.#resting.get(name);
    if (!order) return;
    const moved = kind[row] === KIND.change && price[row] !== order.tick;
    const left = kind[row] === KIND.remove || moved ? 0 : amount[row]!;
    const met = !moved && (kind[row] === KIND.change ? left < order.lots : amount[row] === 0);
    this.#shrink(row, order, left, met && this.#isTold(row, order.tick, order.lots - left));
    if (moved || left === 0) this.#resting.delete(name);
    if (moved) this.#enter(row, name, order.side, price[row]!, amount[row]!);
  }

  /** Rests, or takes when it stands at or through a price of the other side. */
  #enter(row: number, id: number, side: number, tick: number, lots: number): void {
    if (this.#crosses(side, tick)) this.#takers.set(id, { side, tick, lots });
    else this.#rest(row, id, side, tick, lots, this.#rows.length);
  }

  /** A trade row tells of each execution at its maker's price; an order that shrank with none was itself the taker. */
  #isTold(row: number, tick: number, lots: number): boolean {
    if (!this.#hasTrades) return true;
    const { kind, at, price, amount, length } = this.#columns;
    for (let next = row + 1; next < Math.min(length, row + SAME_MATCH_ROWS); next++) {
      if (kind[next] !== KIND.trade || price[next] !== tick || amount[next] !== lots || this.#told.has(next)) continue;
      this.#told.add(next);
      return true;
    }
    const place = this.#early.findIndex(
      before => price[before] === tick && amount[before] === lots && at[row]! - at[before]! <= EARLY_MS,
    );
    if (place < 0) return false;
    this.#early.splice(place, 1);
    return true;
  }

  /** A taker that was not met whole rests, once nothing is left that it crosses. */
  #restTakers(row: number): void {
    for (const [id, { side, tick, lots }] of this.#takers) {
      if (this.#crosses(side, tick)) continue;
      this.#takers.delete(id);
      this.#rest(row, id, side, tick, lots, this.#rows.length);
    }
  }

  #rest(row: number, id: number, side: number, tick: number, lots: number, born: number): void {
    const order: Resting = { side, tick, lots: 0, born };
    this.#resting.set(id, order);
    this.#shrink(row, order, lots, false, born);
  }

  /** To `lots`; one that grew goes to the end of the queue, as if it came with this row. */
  #shrink(row: number, order: Resting, lots: number, executed: boolean, born = this.#rows.length): void {
    const less = order.lots - lots;
    if (less === 0) return;
    const sell = order.side === SIDE.sell;
    if (executed) this.#add(row, order.tick, less, FLAG.trade | (sell ? 0 : FLAG.sell), order.born, less, 1);
    const level = this.#setLevel(sell, order.tick, less);
    if (less < 0) order.born = born;
    order.lots = lots;
    this.#add(row, order.tick, level, sell ? FLAG.sell : 0, order.born, less, executed ? 1 : 0);
  }

  #setLevel(sell: boolean, tick: number, less: number): number {
    const levels = sell ? this.#asks : this.#bids;
    const level = (levels.get(tick) ?? 0) - less;
    if (level > 0) {
      levels.set(tick, level);
      if (sell) this.#ask = this.#ask === null ? null : Math.min(this.#ask, tick);
      else this.#bid = this.#bid === null ? null : Math.max(this.#bid, tick);
    } else {
      levels.delete(tick);
      if (sell && tick === this.#ask) this.#ask = null;
      if (!sell && tick === this.#bid) this.#bid = null;
    }
    return Math.max(0, level);
  }

  #crosses(side: number, tick: number): boolean {
    if (side === SIDE.buy) {
      this.#ask ??= Math.min(Infinity, ...this.#asks.keys());
      return tick >= this.#ask;
    }
    this.#bid ??= Math.max(-Infinity, ...this.#bids.keys());
    return tick <= this.#bid;
  }

  #add(row: number, tick: number, lots: number, flags: number, born: number, gone: number, executed: number): void {
    const { at, local } = this.#columns;
    this.#rows.add(at[row]!, Math.max(local[row]!, at[row]! + this.#feed(at[row]!)), tick, lots, flags);
    this.#born.push(born);
    this.#gone.push(gone);
    this.#executed.push(executed);
  }
}
