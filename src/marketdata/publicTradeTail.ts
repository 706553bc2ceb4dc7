/**
 * Public trades of a book, each once and in numeric order: from the stream while it is up; otherwise, and for gaps,
 * from REST pages.
 */
import { byTradeNumber, describeRow, type Exchange, type PublicTrade, type StreamTrade } from '../core/index.ts';

/**
 * Source of a trade. `page`: read over REST. `early`: received from the stream before the gap was closed. `live`: just
 * received, with no earlier trade missing.
 */
export type TradeWay = 'page' | 'early' | 'live';

/** Receiver of the trades. */
export type TradeListener = {
  readonly trade: (trade: PublicTrade | StreamTrade, way: TradeWay) => void;
  /** Called when reads of pages start. Every trade that happens before this call is reported before `closed`. */
  readonly opened?: () => void;
  /** Called for each unreadable row of a page; the trade in that row is not reported. */
  readonly unreadable?: (row: string) => void;
  /** Called when the gap is closed: no trade from before `opened` is missing. */
  readonly closed?: () => void;
};

export type PublicTradeTailOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'trades'>;
  readonly book: string;
  readonly listener: TradeListener;
  /**
   * Whether the exchange lists earlier trades by page. If false, trades of the stream are reported immediately, and
   * trades that it missed are not reported. Default: true.
   */
  readonly hasPages?: boolean;
};

/**
 * Maximum number of pages that one call of `fill` reads: about an hour of trades in a busy book. The next call reads
 * the remaining pages.
 */
const PAGES_MAX = 20;
/**
 * Maximum number of remembered ids of resting orders that the stream reported as filled; also the maximum number of
 * stream trades that wait for pages.
 */
const KEPT_MAX = 10_000;

export class PublicTradeTail {
  readonly #options: PublicTradeTailOptions;
  /** Number of the newest reported trade; `null` before the first read. */
  #last: bigint | null = null;
  #source: 'pages' | 'stream' = 'pages';
  /**
   * Trades of the stream that wait until pages cover the time before the stream came up; `null` while the stream is
   * down.
   */
  #early: StreamTrade[] | null = null;
  /** Number of times that the stream may have missed a trade. */
  #doubts = 0;
  readonly #makers = new Set<string>();

  constructor(options: PublicTradeTailOptions) {
    this.#options = options;
  }

  /** Whether trades must be read from pages. */
  get needsPages(): boolean {
    return this.#source === 'pages' && this.#options.hasPages !== false;
  }

  /** Handles the start of the stream. The stream reports every later trade, and pages contain the earlier trades. */
  up(): void {
    this.#begin([]);
  }

  down(): void {
    this.#begin(null);
  }

  /** Handles a loss of stream messages, which may include a trade. */
  markUncertain(): void {
    if (this.#early !== null || this.#source === 'stream') this.up();
  }

  addStreamTrades(trades: readonly StreamTrade[]): void {
    const inOrder = trades.length < 2 ? trades : [...trades].sort(byTradeNumber);
    for (const trade of inOrder) {
      if (trade.makerOid !== undefined) this.#makers.add(trade.makerOid);
      if (this.#source === 'stream') this.#tell(trade, 'live');
      else this.#early?.push(trade);
    }
    // The next read of pages returns the dropped trades, because pages contain all trades that happened before the
    // read.
    if (this.#early !== null && this.#early.length > KEPT_MAX) this.#early = this.#early.slice(-KEPT_MAX / 2);
    if (this.#makers.size <= KEPT_MAX) return;
    for (const old of [...this.#makers].slice(0, KEPT_MAX / 2)) this.#makers.delete(old);
  }

  /** Whether the stream reported an execution of this resting order. */
  hasReportedFill(oid: string): boolean {
    return this.#makers.has(oid);
  }

  /**
   * Reads all trades after the newest reported trade. The first call only finds the newest trade.
   *
   * Returns false if some trades could not be read. The trades read so far are reported, and the next call continues
   * after them. Do not call again before the previous call has ended.
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
      // If no row of the page can be read, no trade is known after which the next page could start.
      if (unreadable.length > 0 && trades.value.length === 0) return false;
      for (const row of unreadable) listener.unreadable?.(describeRow(row));
      // Trades before the first read are not reported.
      if (last === null) this.#last = BigInt(trades.value[0]?.tid ?? 0);
      else for (const trade of trades.value) this.#tell(trade, 'page');
      if (last === null || trades.value.length + unreadable.length < tradesPage) break;
    }
    listener.closed?.();
    if (this.#early === null) return true;
    // If the stream lost a trade during these reads, the pages may lack that trade too, and are read again.
    if (this.#doubts !== doubts) return false;
    for (const trade of this.#early) this.#tell(trade, 'early');
    this.#early = null;
    this.#source = 'stream';
    return true;
  }

  #begin(early: StreamTrade[] | null): void {
    this.#doubts++;
    const isAtOnce = this.#options.hasPages === false && early !== null;
    this.#source = isAtOnce ? 'stream' : 'pages';
    this.#early = isAtOnce ? null : early;
  }

  #tell(trade: PublicTrade | StreamTrade, way: TradeWay): void {
    const number = BigInt(trade.tid);
    if (this.#last !== null && number <= this.#last) return;
    this.#last = number;
    this.#options.listener.trade(trade, way);
  }
}
