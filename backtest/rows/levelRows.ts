/** Rows of a tape of levels, piece by piece: snapshots become changes, what stays as it is becomes nothing, unknown takers get a side. */
import { KIND, SIDE } from '../../src/tape/index.ts';
import type { Columns } from '../../src/tape/index.ts';
import type { Travel } from './latency.ts';
import { FLAG } from './rows.ts';
import type { RowsOut } from './rows.ts';
import { TickBook } from './tickBook.ts';

export type LevelRowsOptions = {
  /** Prices outside of the window are far from everything that trades, and are left out. */
  readonly base: number;
  readonly places: number;
  /** Least time from the exchange to us of what happens at a time, in the unit of the rows. */
  readonly feed: Travel;
  /** Whether there may be snapshots of the whole book. */
  readonly hasSnapshots: boolean;
};

type LevelSnapshot = { readonly at: number; readonly local: number; readonly levels: Level[] };
type Level = { readonly local: number; readonly side: number; readonly tick: number; readonly lots: number };

export class LevelRows {
  readonly #options: LevelRowsOptions;
  readonly #out: RowsOut;
  readonly #book: TickBook;
  /** Ticks that have an amount, bids and asks; only kept where there may be snapshots. */
  readonly #there = [new Set<number>(), new Set<number>()] as const;
  /** One whose levels may not all have been read. */
  #snapshot: LevelSnapshot | null = null;

  constructor(options: LevelRowsOptions, out: RowsOut) {
    this.#options = options;
    this.#out = out;
    this.#book = new TickBook(options);
  }

  /** The next rows of the tape, which are not needed any more after the call. */
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
      if (what === KIND.level) this.#level(at[row]!, local[row]!, side[row]!, price[row]!, amount[row]!);
      else if (what === KIND.trade) this.#trade(at[row]!, local[row]!, side[row]!, price[row]!, amount[row]!);
      else if (what === KIND.clear) this.#snapshot = { at: at[row]!, local: local[row]!, levels: [] };
    }
  }

  /** There are no more rows. */
  end(): void {
    const snapshot = this.#snapshot;
    if (snapshot === null) return;
    this.#snapshot = null;
    const { at, local, levels } = snapshot;
    for (const code of [SIDE.buy, SIDE.sell]) {
      const shown = new Set<number>();
      for (const { side, tick, lots } of levels) if (lots > 0 && sideOf(side) === code) shown.add(tick);
      for (const tick of [...this.#there[code]]) if (!shown.has(tick)) this.#level(at, local, code, tick, 0);
    }
    for (const level of levels) this.#level(at, level.local, level.side, level.tick, level.lots);
  }

  #level(at: number, local: number, side: number, tick: number, lots: number): void {
    const { base, feed, hasSnapshots } = this.#options;
    const place = tick - base;
    const book = this.#book;
    if (!(place > 0 && place < book.last)) return;
    const sell = sideOf(side) === SIDE.sell;
    const before = sell ? book.setAsk(place, lots) : book.setBid(place, lots);
    if (before === lots) return;
    if (hasSnapshots) {
      const there = this.#there[sell ? SIDE.sell : SIDE.buy];
      if (lots === 0) there.delete(tick);
      else if (before === 0) there.add(tick);
    }
    this.#out.add(at, Math.max(local, at + feed(at)), tick, lots, sell ? FLAG.sell : 0);
  }

  /** A trade whose taker is not known met the side that it was nearer to. */
  #trade(at: number, local: number, side: number, tick: number, lots: number): void {
    const { base, feed } = this.#options;
    const { bid, ask } = this.#book;
    const sell = side === SIDE.unknown ? 2 * (tick - base) < bid + ask : side === SIDE.sell;
    this.#out.add(at, Math.max(local, at + feed(at)), tick, lots, FLAG.trade | (sell ? FLAG.sell : 0));
  }
}

const sideOf = (code: number): typeof SIDE.buy | typeof SIDE.sell => (code === SIDE.sell ? SIDE.sell : SIDE.buy);
