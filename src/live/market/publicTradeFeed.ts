/** The public trades of a book, each once and in the order of their numbers: from the stream while it is there, by pages otherwise. */
import { amountFloor, opposite } from '../../core/index.ts';
import type { Amount, Exchange, Instrument, Price, PublicTrade, Side, StreamTrade } from '../../core/index.ts';
import { priceOrNull } from '../account/reads.ts';

export interface TradeSink {
  /** Names this moment for `trade`. */
  mark(): number;
  trade(taker: Side, price: Price, lots: Amount, told: TradeContext): void;
}

/** What is known of an execution besides itself. */
export type TradeContext = {
  /** Its number differs from that of the one before it, unless one taker may have met both. */
  readonly moment: number;
  /** It happened at some time after this; absent: just now. */
  readonly mark?: number;
  /** When the order that was met had come, as `OrderFeed.arrivals` counts; 0 when that is not known any more, absent when it cannot be. */
  readonly maker?: number;
};

export type PublicTradeFeedOptions = {
  readonly exchange: Pick<Exchange, 'trades'>;
  readonly instrument: Instrument;
  readonly sink: TradeSink;
  /** When a resting order came; null when it is not in the book. */
  readonly bornOf: (oid: string) => number | null;
};

const PAGE = 100;
const PAGES_MAX = 20;
/** Orders whose executions the stream has told of lately, and trades that wait for a page. */
const KEPT_MAX = 10_000;

export class PublicTradeFeed {
  readonly #options: PublicTradeFeedOptions;
  #last: bigint | null = null;
  /** A moment before which every trade is known. */
  #mark = 0;
  #source: 'pages' | 'stream' = 'pages';
  /** Of the stream, until the page is read that reaches back to before it came up. */
  #early: StreamTrade[] | null = null;
  readonly #makers = new Set<string>();
  /** The taker of the last one, or its time where the taker is not told. */
  #taker: string | number = '';
  #moment = 0;

  constructor(options: PublicTradeFeedOptions) {
    this.#options = options;
  }

  /** True while trades must be read by pages. */
  get needsPages(): boolean {
    return this.#source === 'pages';
  }

  /** The stream tells of every trade from now on. */
  up(): void {
    this.#early = [];
  }

  down(): void {
    this.#source = 'pages';
    this.#early = null;
  }

  hear(trades: readonly StreamTrade[]): void {
    for (const trade of trades) {
      this.#makers.add(trade.makerOid);
      if (this.#source === 'stream') this.#take(trade, { maker: this.#options.bornOf(trade.makerOid) ?? 0 });
      else if (this.#early && this.#early.length < KEPT_MAX) this.#early.push(trade);
    }
    if (this.#makers.size <= KEPT_MAX) return;
    for (const old of [...this.#makers].slice(0, KEPT_MAX / 2)) this.#makers.delete(old);
  }

  /** The stream is not behind: nothing was traded before now that it has not told of. */
  confirm(): void {
    if (this.#source === 'stream') this.#mark = this.#options.sink.mark();
  }

  /** The stream has told of an execution of this resting order. */
  hasMet(oid: string): boolean {
    return this.#makers.has(oid);
  }

  /** Reads everything since the last trade that is known; at the first time only which that is. False when it could not. */
  async read(): Promise<boolean> {
    const { exchange, instrument, sink } = this.#options;
    const mark = sink.mark();
    for (let page = 0; page < PAGES_MAX; page++) {
      const last = this.#last;
      const query = last === null ? { limit: 1 } : { marker: String(last), sort: 'asc' as const, limit: PAGE };
      const trades = await exchange.trades(instrument.symbol, query);
      if (trades.kind !== 'done') return false;
      for (const trade of trades.value) {
        if (last === null) this.#last = BigInt(trade.tid);
        else this.#take(trade, { mark: this.#mark });
      }
      if (last === null || trades.value.length < PAGE) break;
    }
    this.#mark = mark;
    if (this.#early === null) return true;
    for (const trade of this.#early) this.#take(trade, { mark });
    this.#early = null;
    this.#source = 'stream';
    return true;
  }

  #take(trade: PublicTrade | StreamTrade, told: Omit<TradeContext, 'moment'>): void {
    const { tid, createdAt, price: text, amount, makerSide } = trade;
    const { instrument, sink } = this.#options;
    const number = BigInt(tid);
    if (this.#last !== null && number <= this.#last) return;
    this.#last = number;
    const price = priceOrNull(instrument, text);
    const lots = amountFloor(instrument, amount);
    const taker = 'takerOid' in trade ? trade.takerOid : createdAt;
    if (taker !== this.#taker) this.#moment++;
    this.#taker = taker;
    if (price && lots > 0) sink.trade(opposite(makerSide), price, lots, { moment: this.#moment, ...told });
  }
}
