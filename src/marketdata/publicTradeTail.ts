/** The public trades of a book, each once and in the order of their numbers: from the stream while it is there, by pages over REST for what it did not tell. */
import { describeRow } from '../core/index.ts';
import type { Exchange, PublicTrade, StreamTrade } from '../core/index.ts';

/** `page`: read over REST. `early`: heard before the hole behind it was closed. `live`: just heard, and nothing is missing before it. */
export type TradeWay = 'page' | 'early' | 'live';

/** Who is told of the trades. */
export type TradeListener = {
  readonly trade: (trade: PublicTrade | StreamTrade, way: TradeWay) => void;
  /** Pages begin to be read: every trade until now is told before `closed`. */
  readonly opened?: () => void;
  /** A row of a page could not be read: its execution is missing. */
  readonly unreadable?: (row: string) => void;
  /** The hole is closed: no trade from before `opened` is missing. */
  readonly closed?: () => void;
};

export type PublicTradeTailOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'trades'>;
  /** Symbol. */
  readonly book: string;
  readonly listener: TradeListener;
};

/** Pages of one turn: trades of about an hour of a busy book. What lies further on is read in the next turn. */
const PAGES_MAX = 20;
/** Orders whose executions the stream has told of lately, and trades that wait for a page. */
const KEPT_MAX = 10_000;

export class PublicTradeTail {
  readonly #options: PublicTradeTailOptions;
  /** Number of the newest trade that was told; null before it is known which was there first. */
  #last: bigint | null = null;
  #source: 'pages' | 'stream' = 'pages';
  /** Of the stream, until the pages are read that reach back to before it came up; null while it is down. */
  #early: StreamTrade[] | null = null;
  /** Grows whenever the stream may have left something out. */
  #doubts = 0;
  readonly #makers = new Set<string>();

  constructor(options: PublicTradeTailOptions) {
    this.#options = options;
  }

  /** True while trades must be read by pages. */
  get needsPages(): boolean {
    return this.#source === 'pages';
  }

  /** The stream tells of every trade from now on; what came before is read by pages. */
  up(): void {
    this.#begin([]);
  }

  down(): void {
    this.#begin(null);
  }

  /** Something of the stream was lost, and a trade may have been among it. */
  doubt(): void {
    if (this.#early !== null || this.#source === 'stream') this.up();
  }

  hear(trades: readonly StreamTrade[]): void {
    const inOrder = trades.length < 2 ? trades : [...trades].sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1));
    for (const trade of inOrder) {
      this.#makers.add(trade.makerOid);
      if (this.#source === 'stream') this.#tell(trade, 'live');
      else this.#early?.push(trade);
    }
    // The pages reach up to the moment of their read, and so beyond what is dropped here.
    if (this.#early !== null && this.#early.length > KEPT_MAX) this.#early = this.#early.slice(-KEPT_MAX / 2);
    if (this.#makers.size <= KEPT_MAX) return;
    for (const old of [...this.#makers].slice(0, KEPT_MAX / 2)) this.#makers.delete(old);
  }

  /** The stream has told of an execution of this resting order. */
  hasMet(oid: string): boolean {
    return this.#makers.has(oid);
  }

  /**
   * Reads everything since the last trade that is known; at the first time only which that is. False when it could not read to the end:
   * what it did read is told, and the next turn goes on from there. One turn at a time.
   */
  async fill(): Promise<boolean> {
    const { exchange, book, listener } = this.#options;
    const { tradesPage } = exchange.limits;
    const doubts = this.#doubts;
    listener.opened?.();
    for (let page = 0; ; page++) {
      const last = this.#last;
      if (page === PAGES_MAX) return false;
      const query = last === null ? { limit: 1 } : { marker: String(last), sort: 'asc' as const, limit: tradesPage };
      const trades = await exchange.trades(book, query);
      if (trades.kind !== 'done') return false;
      const unreadable = trades.unreadable ?? [];
      // Nothing of the page was read: it is no page of trades.
      if (unreadable.length > 0 && trades.value.length === 0) return false;
      for (const row of unreadable) listener.unreadable?.(describeRow(row));
      // Trades from before the beginning are not part of it.
      if (last === null) this.#last = BigInt(trades.value[0]?.tid ?? 0);
      else for (const trade of trades.value) this.#tell(trade, 'page');
      if (last === null || trades.value.length + unreadable.length < tradesPage) break;
    }
    listener.closed?.();
    if (this.#early === null) return true;
    // What was lost meanwhile may have come after the last page.
    if (this.#doubts !== doubts) return false;
    for (const trade of this.#early) this.#tell(trade, 'early');
    this.#early = null;
    this.#source = 'stream';
    return true;
  }

  #begin(early: StreamTrade[] | null): void {
    this.#doubts++;
    this.#source = 'pages';
    this.#early = early;
  }

  #tell(trade: PublicTrade | StreamTrade, way: TradeWay): void {
    const number = BigInt(trade.tid);
    if (this.#last !== null && number <= this.#last) return;
    this.#last = number;
    this.#options.listener.trade(trade, way);
  }
}
