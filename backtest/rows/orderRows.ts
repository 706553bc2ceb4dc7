/**
 * Conversion of a tape of single orders to rows. Levels become sums of their orders, and executions are at the prices
 * of the resting orders. Each row refers to the row at which its order joined the queue.
 */
import { KIND, SIDE, type Columns } from '../../src/tape/index.ts';
import type { Travel } from './latency.ts';
import { Ghosts } from './ghosts.ts';
import { BUY, FLAG, RowBuilder, SELL, windowOfRange, type MarketRows, type SideIndex } from './rows.ts';
import { TickBook } from './tickBook.ts';
import { TradeRows } from './tradeRows.ts';

type Resting = { readonly side: number; readonly tick: number; lots: number; born: number };
type Taker = {
  readonly side: number;
  readonly tick: number;
  readonly lots: number;
  /** Time and index of the latest row about the order. */
  readonly since: number;
  readonly row: number;
};
/** Order that was removed from the book as stale, because executions passed it. */
type GhostOrder = { readonly side: number; readonly tick: number; readonly lots: number };

/**
 * Converts the orders of a tape to rows. `feed`: minimum delay from the exchange to the bot.
 * - An order that shrinks, or is removed with amount 0, was executed where it rested. It becomes a trade row with the
 *   other side as taker, followed by a row of the changed level. The tape's own trade rows, if any, confirm the
 *   execution and are dropped.
 * - An order that arrives at, or moves to, a price at which the following rows show executions is the taker of these
 *   executions. Its remaining amount rests at the first trade row at which the order no longer crosses the book.
 * - A market order, which soon moves to another price, rests at none of these prices.
 * - A taker without an execution, or a taker that still crosses one second later, rests as recorded. The book is then
 *   crossed.
 * - Orders that remain although executions passed them are removed as stale.
 * - Orders that rested before the tape are added at the first row, if later rows refer to them.
 */
export function rowsOfOrders(columns: Columns, feed: Travel): MarketRows {
  return new OrderRows(columns, feed).build();
}

/**
 * Time in ms within which a taker executes. A taker that still crosses the book this long after its last execution
 * rests as recorded.
 */
const TAKES_MS = 1_000;

/**
 * Maximum time in ms until a market order moves to the next price. In a log of Bitstamp, it is 2.1 s after the arrival.
 */
const WALKS_MS = 3_000;

class OrderRows {
  readonly #columns: Columns;
  readonly #feed: Travel;
  readonly #rows = new RowBuilder();
  readonly #resting = new Map<number, Resting>();
  readonly #takers = new Map<number, Taker>();
  /** Book of the summed orders. It hides crossed levels, and detects stale levels. */
  readonly #book: TickBook;
  readonly #base: number;
  readonly #ghosts: Ghosts;
  readonly #ghostOrders = new Map<number, GhostOrder>();
  readonly #bids = new Map<number, number>();
  readonly #asks = new Map<number, number>();
  /** Whether the tape also has levels; `clear` rows then apply to the levels instead of the orders. */
  readonly #hasLevels: boolean;
  readonly #trades: TradeRows;
  /** Index of the next row about the same order; 0 if there is none before the order arrives again. */
  readonly #next: Int32Array;
  readonly #born: number[] = [];
  readonly #gone: number[] = [];
  readonly #executed: number[] = [];

  constructor(columns: Columns, feed: Travel) {
    this.#columns = columns;
    this.#feed = feed;
    this.#trades = new TradeRows(columns);
    this.#next = nextRows(columns);
    this.#hasLevels = columns.kind.includes(KIND.level);
    const { base, places } = windowOfOrders(columns);
    this.#base = base;
    this.#book = new TickBook({ places });
    this.#ghosts = new Ghosts(this.#book);
  }

  build(): MarketRows {
    const { kind, length } = this.#columns;
    if (length > 0) this.#addEarlierOrders();
    for (let row = 0; row < length; row++) {
      if (this.#takers.size > 0) this.#endTakers(row);
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

  /**
   * Adds orders that rested before the tape. The amount of an order is the amount in the first row about the order,
   * plus the executed amount if that row is an execution.
   */
  #addEarlierOrders(): void {
    const { kind, side, price, amount, id, length } = this.#columns;
    const seen = new Set<number>();
    for (let row = 0; row < length; row++) {
      if (kind[row] !== KIND.add && kind[row] !== KIND.change && kind[row] !== KIND.remove) continue;
      if (seen.has(id[row]!)) continue;
      seen.add(id[row]!);
      if (kind[row] === KIND.add) continue;
      const wasMet = kind[row] === KIND.change || amount[row] === 0;
      const lots = amount[row]! + (wasMet ? this.#trades.amountAfter(row) : 0);
      if (lots > 0) this.#rest(0, id[row]!, side[row]!, price[row]!, lots, -1);
    }
  }

  #onTrade(row: number): void {
    this.#restTakers(row);
    this.#traded(row, this.#columns.price[row]!);
  }

  /** Removes all orders after a gap, or at the start of another recording. */
  #onClear(row: number): void {
    this.#takers.clear();
    for (const order of this.#resting.values()) this.#shrink(row, order, 0, false);
    this.#resting.clear();
  }

  #onAdd(row: number): void {
    const { side, price, amount, id } = this.#columns;
    if (this.#resting.has(id[row]!) || amount[row] === 0) return;
    const ghost = this.#ghostOrders.get(id[row]!);
    if (ghost !== undefined && ghost.tick === price[row] && ghost.lots === amount[row]) return;
    this.#ghostOrders.delete(id[row]!);
    this.#enter(row, id[row]!, side[row]!, price[row]!, amount[row]!);
  }

  #onLess(row: number): void {
    const { kind, price, amount, id } = this.#columns;
    const name = id[row]!;
    const taker = this.#takers.get(name);
    if (taker) {
      if (kind[row] === KIND.remove) this.#takers.delete(name);
      else {
        // The row of a match can have the price of the match instead of the order's own limit.
        const isMatch = amount[row]! < taker.lots;
        const isBetter = taker.side === SIDE.buy ? price[row]! < taker.tick : price[row]! > taker.tick;
        const tick = isMatch && isBetter ? taker.tick : price[row]!;
        this.#takers.set(name, { side: taker.side, tick, lots: amount[row]!, since: this.#columns.at[row]!, row });
      }
      return;
    }
    const order = this.#resting.get(name) ?? this.#backFromGhosts(row);
    if (!order) return;
    const moved = kind[row] === KIND.change && price[row] !== order.tick;
    const left = kind[row] === KIND.remove || moved ? 0 : amount[row]!;
    const met = !moved && (kind[row] === KIND.change ? left < order.lots : amount[row] === 0);
    this.#shrink(row, order, left, met && this.#isExecuted(row, order, order.lots - left));
    if (moved || left === 0) this.#resting.delete(name);
    if (moved) this.#enter(row, name, order.side, price[row]!, amount[row]!);
  }

  /**
   * Adds an order to the book. An order that crosses the other side becomes a taker instead, if the following rows show
   * that it traded.
   */
  #enter(row: number, id: number, side: number, tick: number, lots: number): void {
    if (this.#isMarketOrder(row, side, tick) || (this.#isReached(side, tick) && this.#takes(row, id, side, tick, lots)))
      this.#takers.set(id, { side, tick, lots, since: this.#columns.at[row]!, row });
    else this.#rest(row, id, side, tick, lots, this.#rows.length);
  }

  /**
   * Whether rows soon after the order at `row` show that the order was a taker. Such rows are executions of the order
   * itself, executions of orders at prices that it reaches, or trades at such prices. An order that is canceled first
   * was no taker.
   */
  #takes(row: number, name: number, side: number, tick: number, lots: number): boolean {
    const { kind, side: sides, at, price, amount, id, length } = this.#columns;
    const reaches = (other: number): boolean => (side === SIDE.buy ? other <= tick : other >= tick);
    /** Amount of a match of the order itself in which a trade names the other side as the taker. */
    let met = Number.NaN;
    for (let next = row + 1; next < length && at[next]! <= at[row]! + TAKES_MS; next++) {
      const what = kind[next]!;
      if (what === KIND.trade) {
        if (reaches(price[next]!) && (sides[next] === side || sides[next] === SIDE.unknown)) return true;
      } else if (what === KIND.change || what === KIND.remove) {
        const left = amount[next]!;
        if (id[next] === name) {
          if (!Number.isNaN(met)) return false;
          if (what === KIND.remove && left > 0) return left < lots;
          if (!this.#trades.hasMaker(next, lots - left, side)) return true;
          met = lots - left;
          continue;
        }
        const other = this.#resting.get(id[next]!);
        if (other === undefined || other.side === side || !reaches(other.tick)) continue;
        const gone = what === KIND.remove && left > 0 ? 0 : other.lots - left;
        // The side of a trade can be inferred wrongly, but an order that already rested did not take from a later one.
        if (Number.isNaN(met) ? gone > 0 : gone === met) return true;
      }
    }
    return false;
  }

  /**
   * Whether an order that arrives at a price is a market order: it soon moves to a price at which it now would trade.
   */
  #isMarketOrder(row: number, side: number, tick: number): boolean {
    const next = this.#next[row]!;
    return next > 0 && this.#walks(row, tick) && this.#isReached(side, this.#columns.price[next]!);
  }

  /** Whether the next rows of the order at `row` soon move the order from `tick` to another price. */
  #walks(row: number, tick: number): boolean {
    const { kind, at, price } = this.#columns;
    for (let next = this.#next[row]!; next > 0 && at[next]! - at[row]! <= WALKS_MS; next = this.#next[next]!)
      if (kind[next] === KIND.change && price[next] !== tick) return true;
    return false;
  }

  /**
   * Whether a resting order shrank because a taker executed against it: a trade row at its price matches, or the tape
   * has no trade rows. Otherwise, the order itself was the taker.
   */
  #isExecuted(row: number, { tick, side }: Resting, lots: number): boolean {
    return this.#trades.isEmpty || this.#trades.take(row, tick, lots, side);
  }

  /** Adds takers with a remaining amount to the book, if they no longer cross. */
  #restTakers(row: number): void {
    for (const [id, { side, tick, lots, row: latest }] of this.#takers) {
      if (this.#crosses(side, tick) || this.#walks(latest, tick)) continue;
      this.#takers.delete(id);
      this.#rest(row, id, side, tick, lots, this.#rows.length);
    }
  }

  /** Adds to the book the takers that still cross a second after their last execution. */
  #endTakers(row: number): void {
    const at = this.#columns.at[row]!;
    for (const [id, { side, tick, lots, since, row: latest }] of this.#takers) {
      if (at - since <= TAKES_MS || this.#walks(latest, tick)) continue;
      this.#takers.delete(id);
      this.#rest(row, id, side, tick, lots, this.#rows.length);
    }
  }

  /** Processes an execution at a price. Removes orders that remained although earlier executions passed them. */
  #traded(row: number, tick: number): void {
    const place = tick - this.#base;
    if (!(place > 0 && place < this.#book.last)) return;
    for (const ghost of this.#ghosts.traded(this.#columns.at[row]!, place, true))
      this.#takeOut(row, ghost.side === SELL ? SIDE.sell : SIDE.buy, ghost.place + this.#base);
  }

  #takeOut(row: number, side: number, tick: number): void {
    const found = [...this.#resting].filter(([, order]) => order.side === side && order.tick === tick);
    for (const [i, [id, order]] of found.entries()) {
      const { lots } = order;
      this.#resting.delete(id);
      this.#ghostOrders.set(id, { side, tick, lots });
      this.#shrink(row, order, 0, false, this.#rows.length, i === found.length - 1 ? FLAG.ghost : 0);
    }
  }

  /**
   * Handles a row about a removed order. If the row is a cancel, the order stays removed; otherwise it is restored,
   * because it existed after all. Returns the restored order.
   */
  #backFromGhosts(row: number): Resting | undefined {
    const { kind, amount, id } = this.#columns;
    const ghost = this.#ghostOrders.get(id[row]!);
    if (ghost === undefined) return undefined;
    this.#ghostOrders.delete(id[row]!);
    if (kind[row] === KIND.remove && amount[row]! > 0) return undefined;
    this.#rest(row, id[row]!, ghost.side, ghost.tick, ghost.lots, this.#rows.length);
    return this.#resting.get(id[row]!);
  }

  #rest(row: number, id: number, side: number, tick: number, lots: number, born: number): void {
    const order: Resting = { side, tick, lots: 0, born };
    this.#resting.set(id, order);
    this.#shrink(row, order, lots, false, born);
  }

  /**
   * Changes the amount of an order to `lots`. An order that grew moves to the end of the queue, as if it arrived with
   * this row.
   */
  #shrink(row: number, order: Resting, lots: number, executed: boolean, born = this.#rows.length, flags = 0): void {
    const less = order.lots - lots;
    if (less === 0) return;
    const sell = order.side === SIDE.sell;
    if (executed) this.#add(row, order.tick, less, FLAG.trade | (sell ? 0 : FLAG.sell), order.born, less, 1);
    const level = this.#setLevel(sell, order.tick, less);
    if (less < 0) order.born = born;
    order.lots = lots;
    const crossed = this.#ghosts.isCrossed ? FLAG.crossed : 0;
    this.#add(row, order.tick, level, (sell ? FLAG.sell : 0) | crossed | flags, order.born, less, executed ? 1 : 0);
    if (executed && this.#trades.isEmpty) this.#traded(row, order.tick);
  }

  #setLevel(sell: boolean, tick: number, less: number): number {
    const levels = sell ? this.#asks : this.#bids;
    const level = Math.max(0, (levels.get(tick) ?? 0) - less);
    if (level > 0) levels.set(tick, level);
    else levels.delete(tick);
    const place = tick - this.#base;
    if (place > 0 && place < this.#book.last) {
      const side: SideIndex = sell ? SELL : BUY;
      const before = sell ? this.#book.setAsk(place, level) : this.#book.setBid(place, level);
      this.#ghosts.told({ side, place }, before, level);
    }
    return level;
  }

  /**
   * Whether a price is at or through the best recorded price of the other side. An order that crosses the book briefly
   * does not hide this price.
   */
  #isReached(side: number, tick: number): boolean {
    const { bid, ask } = this.#ghosts;
    const place = tick - this.#base;
    return side === SIDE.buy ? ask < this.#book.last && place >= ask : bid > 0 && place <= bid;
  }

  /** Whether a price is at or through the best price of the other side. */
  #crosses(side: number, tick: number): boolean {
    const { bid, ask, last } = this.#book;
    const place = tick - this.#base;
    return side === SIDE.buy ? ask < last && place >= ask : bid > 0 && place <= bid;
  }

  #add(row: number, tick: number, lots: number, flags: number, born: number, gone: number, executed: number): void {
    const { at, local } = this.#columns;
    this.#rows.add(at[row]!, Math.max(local[row]!, at[row]! + this.#feed(at[row]!)), tick, lots, flags);
    this.#born.push(born);
    this.#gone.push(gone);
    this.#executed.push(executed);
  }
}

/**
 * Returns, for each row about an order, the index of the next row about the same order; 0 if there is none before the
 * order arrives again.
 */
function nextRows({ kind, id, length }: Columns): Int32Array {
  const next = new Int32Array(length);
  const later = new Map<number, number>();
  for (let row = length - 1; row >= 0; row--) {
    const what = kind[row]!;
    if (what === KIND.add || what === KIND.change) next[row] = later.get(id[row]!) ?? 0;
    if (what === KIND.add) later.delete(id[row]!);
    else if (what === KIND.change || what === KIND.remove) later.set(id[row]!, row);
  }
  return next;
}

/**
 * Returns a window of all prices of orders and trades if it is not too large; otherwise a window around the executions.
 */
function windowOfOrders({ kind, price, amount, length }: Columns): Pick<MarketRows, 'base' | 'places'> {
  const all = { low: Infinity, high: -Infinity };
  const traded = { low: Infinity, high: -Infinity };
  for (let row = 0; row < length; row++) {
    const what = kind[row]!;
    if (what === KIND.clear || what === KIND.level) continue;
    const isExecuted = what === KIND.trade || (what === KIND.remove && amount[row] === 0);
    for (const range of isExecuted ? [all, traded] : [all]) {
      range.low = Math.min(range.low, price[row]!);
      range.high = Math.max(range.high, price[row]!);
    }
  }
  if (!(all.low <= all.high)) return windowOfRange({ low: 0, high: 0 }, null);
  return windowOfRange(all, traded.low <= traded.high ? traded : null);
}
