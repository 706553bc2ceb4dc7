/**
 * Conversion of a tape of levels to rows. Snapshots become changes, unchanged levels are dropped, and trades with an
 * unknown taker get a side.
 */
import { KIND, SIDE, type Columns } from '../../src/tape/index.ts';
import type { Travel } from './latency.ts';
import { Ghosts } from './ghosts.ts';
import { BUY, FLAG, SELL, type RowsOut, type SideIndex } from './rows.ts';
import { TickBook } from './tickBook.ts';

export type LevelRowsOptions = {
  /** Price at price index 0, in ticks. */
  readonly base: number;
  /** Number of price indices in the window. Prices outside the window are far from all trades and are dropped. */
  readonly places: number;
  /** Maximum number of levels per side in a snapshot. */
  readonly depth: number;
  /** Minimum delay from the exchange to the bot, in the unit of the rows, as a function of the exchange time. */
  readonly feed: Travel;
  /** Whether the tape may contain snapshots of the book. */
  readonly hasSnapshots: boolean;
};

type LevelSnapshot = { readonly at: number; readonly local: number; readonly levels: Level[] };
type Level = { readonly local: number; readonly side: number; readonly tick: number; readonly lots: number };

export class LevelRows {
  readonly #options: LevelRowsOptions;
  readonly #out: RowsOut;
  readonly #book: TickBook;
  /** Prices with an amount, in ticks; bids, then asks. Maintained only if there may be snapshots. */
  readonly #there = [new Set<number>(), new Set<number>()] as const;
  /** Snapshot that is being read; `null` if there is none. */
  #snapshot: LevelSnapshot | null = null;
  readonly #ghosts: Ghosts;
  /** Whether the last level was part of a snapshot. */
  #isPicture = false;
  /** Whether executions occurred since the last snapshot. */
  #traded = false;

  constructor(options: LevelRowsOptions, out: RowsOut) {
    this.#options = options;
    this.#out = out;
    this.#book = new TickBook(options);
    this.#ghosts = new Ghosts(this.#book);
  }

  /** Processes the next rows of the tape. The columns are not used after the call. */
  take({ kind, side, at, local, price, amount, length }: Columns): void {
    for (let row = 0; row < length; row++) {
      const what = kind[row]!;
      if (this.#snapshot !== null) {
        if (what === KIND.level && at[row] === this.#snapshot.at) {
          this.#snapshot.levels.push({ local: local[row]!, side: side[row]!, tick: price[row]!, lots: amount[row]! });
          continue;
        }
        this.end();
      }
      if (what === KIND.level) this.#step(at[row]!, local[row]!, side[row]!, price[row]!, amount[row]!);
      else if (what === KIND.trade) this.#trade(at[row]!, local[row]!, side[row]!, price[row]!, amount[row]!);
      else if (what === KIND.clear) this.#snapshot = { at: at[row]!, local: local[row]!, levels: [] };
    }
  }

  /** Completes the snapshot that is being read, if any; must be called after the last row. */
  end(): void {
    const snapshot = this.#snapshot;
    if (snapshot === null) return;
    this.#snapshot = null;
    const { at, local, levels } = snapshot;
    const { base, feed } = this.#options;
    for (const code of [SIDE.buy, SIDE.sell]) {
      const shown = new Set<number>();
      for (const { side, tick, lots } of levels) if (lots > 0 && sideOf(side) === code) shown.add(tick);
      const sign = code === SIDE.sell ? 1 : -1;
      this.#ghosts.pictured(code === SIDE.sell ? SELL : BUY, place => shown.has(place + base));
      let worst = Infinity;
      if (shown.size >= this.#options.depth) {
        worst = -Infinity;
        for (const tick of shown) worst = Math.max(worst, tick * sign);
      }
      for (const tick of [...this.#there[code]]) {
        if (shown.has(tick)) continue;
        this.#level(at, local, code, tick, 0, tick * sign > worst ? FLAG.snapshot | FLAG.unseen : FLAG.snapshot);
      }
    }
    const again = this.#traded ? FLAG.snapshot | FLAG.again : FLAG.snapshot;
    for (const level of levels) this.#level(at, level.local, level.side, level.tick, level.lots, again);
    this.#traded = false;
    this.#isPicture = true;
    const { bids, asks, last } = this.#book;
    const any = levels.find(({ tick }) => tick > base && tick < base + last);
    if (any === undefined) return;
    const isAsk = sideOf(any.side) === SIDE.sell;
    const flags = FLAG.snapshot | FLAG.again | FLAG.end | (isAsk ? FLAG.sell : 0) | this.#crossed();
    const lots = (isAsk ? asks : bids)[any.tick - base]!;
    this.#out.add(at, Math.max(any.local, at + feed(at)), any.tick, lots, flags);
  }

  #step(at: number, local: number, side: number, tick: number, lots: number): void {
    this.#isPicture = false;
    this.#level(at, local, side, tick, lots);
  }

  #level(at: number, local: number, side: number, tick: number, lots: number, flags = 0): void {
    const { base, feed, hasSnapshots } = this.#options;
    const place = tick - base;
    const book = this.#book;
    if (!(place > 0 && place < book.last)) return;
    const sell = sideOf(side) === SIDE.sell;
    const there: { readonly side: SideIndex; readonly place: number } = { side: sell ? SELL : BUY, place };
    if ((flags & FLAG.ghost) === 0 && this.#ghosts.isGhost(there, lots)) return;
    const before = sell ? book.setAsk(place, lots) : book.setBid(place, lots);
    this.#ghosts.told(there, before, lots);
    if (before === lots && (lots === 0 || (flags & FLAG.again) === 0)) return;
    if (before !== lots) flags &= ~FLAG.again;
    if (hasSnapshots) {
      const ticks = this.#there[sell ? SIDE.sell : SIDE.buy];
      if (lots === 0) ticks.delete(tick);
      else if (before === 0) ticks.add(tick);
    }
    this.#out.add(at, Math.max(local, at + feed(at)), tick, lots, flags | (sell ? FLAG.sell : 0) | this.#crossed());
  }

  #crossed(): number {
    return this.#ghosts.isCrossed ? FLAG.crossed : 0;
  }

  /**
   * Adds a trade row. An unknown taker counts as a seller if the price is below the mid price, otherwise as a buyer.
   */
  #trade(at: number, local: number, side: number, tick: number, lots: number): void {
    const { base, feed } = this.#options;
    const { bid, ask } = this.#book;
    this.#traded = true;
    const sell = side === SIDE.unknown ? 2 * (tick - base) < bid + ask : side === SIDE.sell;
    this.#out.add(at, Math.max(local, at + feed(at)), tick, lots, FLAG.trade | (sell ? FLAG.sell : 0));
    const place = tick - base;
    if (!(place > 0 && place < this.#book.last)) return;
    const snapshot = this.#isPicture ? FLAG.snapshot : 0;
    for (const ghost of this.#ghosts.traded(at, place, !this.#isPicture))
      this.#level(at, local, ghost.side === SELL ? SIDE.sell : SIDE.buy, ghost.place + base, 0, FLAG.ghost | snapshot);
  }
}

const sideOf = (code: number): typeof SIDE.buy | typeof SIDE.sell => (code === SIDE.sell ? SIDE.sell : SIDE.buy);
