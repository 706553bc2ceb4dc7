/** Books of one exchange through ccxt, as a recorder reads them. */
import {
  counted,
  type AvailableBook,
  type BookSnapshot,
  type Clock,
  type Exchange,
  type MarketStream,
  type Millis,
  type Outcome,
  type Page,
  type PublicTrade,
  type StreamNews,
  type UnreadableRow,
} from '../core/index.ts';
import { CCXT_VERSION } from './installed.ts';
import { CcxtMarket, type CcxtMarketNews } from './ccxtMarket.ts';
import type { TextBook, TextLevel } from './messages.ts';
import { TradeNumbers } from './tradeNumbers.ts';

export type RecordedBooksOptions = {
  readonly id: string;
  readonly books: readonly string[];
  readonly url?: string;
  /** Whether to use the stream of the exchange's ccxt class, if it has one. */
  readonly streams: boolean;
  readonly clock: Clock;
  readonly log: (line: string) => void;
};

/** Part of an exchange client that a recorder uses. */
export type RecordedExchange = Pick<Exchange, 'limits' | 'availableBooks' | 'orderBook' | 'trades' | 'close'>;

/** Levels per side of a tape. */
const LEVELS = 100;
/** If a streamed book does not change for this time (ms), its connection is replaced. */
const SILENT_AFTER_MS = 60_000;
/**
 * If this many streamed books arrive and none has a time of the exchange, the exchange counts as one that sends no
 * times.
 */
const UNTIMED_MAX = 3;

export class RecordedBooks {
  readonly #books: ReadonlyMap<string, RecordedBook>;
  readonly exchange: RecordedExchange;

  constructor(options: RecordedBooksOptions) {
    this.#books = new Map(options.books.map(book => [book, new RecordedBook(book, options)]));
    const of = (book: string): RecordedBook => {
      const found = this.#books.get(book);
      if (!found) throw new RangeError(`the book ${book} is not recorded`);
      return found;
    };
    this.exchange = {
      // One read of trades returns every trade that the exchange still lists, so there is no next page.
      limits: { ordersPage: Infinity, tradesPage: Infinity, depth: LEVELS },
      availableBooks: () => this.#rules(),
      orderBook: book => of(book).read(),
      trades: (book, page) => of(book).trades(page),
      close: async () => void (await Promise.all([...this.#books.values()].map(one => one.close()))),
    };
  }

  /**
   * Returns the stream of a book whose rules were read; `undefined` if the ccxt class does not stream both books and
   * trades.
   */
  streamOf = (book: string): MarketStream | undefined => this.#books.get(book)?.stream;

  /** Minimum time between two requests of one book, in ms. */
  get rateLimitMs(): Millis {
    return Math.max(...[...this.#books.values()].map(book => book.rateLimitMs));
  }

  async #rules(): Promise<Outcome<readonly AvailableBook[]>> {
    const rows: AvailableBook[] = [];
    const unreadable: UnreadableRow[] = [];
    for (const [book, one] of this.#books) {
      const outcome = await one.rules();
      if (outcome.kind === 'done') rows.push(outcome.value);
      else if (outcome.kind === 'refused') return outcome;
      else unreadable.push({ book, why: outcome.reason });
    }
    return { kind: 'done', value: rows, ...(unreadable.length === 0 ? {} : { unreadable }) };
  }
}

/** Describes the source of a tape for its header. */
export const sourceOfTape = (id: string, streams: boolean, url: string | undefined): string =>
  `ccxt ${CCXT_VERSION} ${id}${url === undefined ? '' : ` at ${url}`}${streams ? '; prices and amounts arrived as doubles, so digits after the 15th may be lost' : ''}`;

class RecordedBook {
  readonly #book: string;
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  readonly #market: CcxtMarket;
  readonly #numbers = new TradeNumbers();
  rateLimitMs: Millis = 0;
  #streams = false;
  #listener: ((news: StreamNews) => void) | null = null;
  #isUp = false;
  /** Last book of the stream, with the local time of its arrival. */
  #last: { readonly book: TextBook; readonly heardAt: Millis } | null = null;
  /** Sequence number of the last book, from the stream or a request. */
  #sequence = 0n;
  /** Clock of the times of streamed books. `null`: unknown until some books have arrived. */
  #times: 'exchange' | 'local' | null = null;
  #untimed = 0;
  /** Time of the exchange in the last book that had one, with the local time of its arrival. */
  #timed: { readonly sentAt: Millis; readonly heardAt: Millis } | null = null;
  /** Id of the newest trade of the last read. */
  #newest: string | null = null;
  #hasSaidInexact = false;

  constructor(book: string, { id, url, streams, clock, log }: RecordedBooksOptions) {
    this.#book = book;
    this.#clock = clock;
    this.#log = line => log(`${book}: ${line}`);
    const wants = streams ? 'tape' : 'polls';
    const of = { id, book, wants, levels: LEVELS, silentAfterMs: SILENT_AFTER_MS, clock } as const;
    this.#market = new CcxtMarket({ ...of, ...(url === undefined ? {} : { url }) });
    this.#market.start(news => this.#hear(news));
  }

  /** Stream of this book; `undefined` if the ccxt class does not stream both books and trades. */
  get stream(): MarketStream | undefined {
    if (!this.#streams) return undefined;
    return {
      start: listener => {
        this.#listener = listener;
        const last = this.#last;
        if (last !== null) this.#clock.after(0, () => this.#tellBook(last.book));
      },
      restart: reason => this.#market.restart(reason),
      close: () => (this.#listener = null),
    };
  }

  rules(): Promise<Outcome<AvailableBook>> {
    return this.#market.ask('rules');
  }

  close(): Promise<void> {
    this.#listener = null;
    return this.#market.close();
  }

  /** Reads the book by a request. The result is `refused` if the stream sends a newer book during the request. */
  async read(): Promise<Outcome<BookSnapshot>> {
    const before = this.#sequence;
    const outcome = await this.#market.ask('book');
    if (outcome.kind !== 'done') return outcome;
    if (this.#sequence !== before)
      return { kind: 'refused', code: 'not-sent', message: 'the stream sent a newer book during the request' };
    const { bids, asks } = outcome.value;
    // Levels beyond those of the stream are removed, because the next book of the stream would seem to delete them.
    const shown = this.#last?.book;
    const cut = (side: readonly TextLevel[], levels: number | undefined) => side.slice(0, levels || undefined);
    const found = { ...outcome.value, bids: cut(bids, shown?.bids.length), asks: cut(asks, shown?.asks.length) };
    this.#sayInexact(found);
    return { kind: 'done', value: this.#snapshot(found, this.#clock.now()) };
  }

  /** Reads the trades after the trade `marker`. */
  async trades({ marker, limit }: Page = {}): Promise<Outcome<readonly PublicTrade[]>> {
    const outcome = await this.#market.ask('trades');
    if (outcome.kind !== 'done') return outcome;
    const { trades, unreadable } = outcome.value;
    const { trades: numbered, odd } = this.#numbers.numbered(this.#book, trades);
    const rows: UnreadableRow[] = unreadable.map(why => ({ why }));
    if (odd > 0) rows.push({ why: `${counted(odd, 'trade has', 'trades have')} ids that are not whole numbers` });
    const newest = numbered.at(-1)?.tid ?? this.#newest;
    const before = this.#newest;
    this.#newest = newest;
    if (marker === undefined) return { kind: 'done', value: numbered.slice(-(limit ?? numbered.length)) };
    const isReached = before === null || numbered.some(({ tid }) => tid === before) || numbered.length === 0;
    if (!isReached)
      rows.push({
        why: `the exchange no longer lists the trades between ${before} and ${numbered[0]!.tid}, the oldest that it lists`,
      });
    const after = numbered.filter(({ tid }) => BigInt(tid) > BigInt(marker));
    return { kind: 'done', value: after, ...(rows.length === 0 ? {} : { unreadable: rows }) };
  }

  #hear(news: CcxtMarketNews): void {
    switch (news.kind) {
      case 'ready':
        this.#streams = news.streams;
        this.rateLimitMs = news.rateLimitMs;
        return;
      case 'book':
        return this.#takeBook(news.book);
      case 'same':
        return this.#last === null ? undefined : this.#takeBook({ ...this.#last.book, sentAt: news.sentAt });
      case 'trades': {
        const { trades, odd } = this.#numbers.numbered(this.#book, news.trades);
        for (const row of news.unreadable)
          this.#log(`a trade could not be read and is missing in the recording: ${row}`);
        if (odd > 0)
          this.#log(
            `${counted(odd, 'trade is', 'trades are')} missing in the recording, because their ids are not whole numbers`,
          );
        if (this.#isUp)
          this.#listener?.({ kind: 'trades', trades: trades.map(trade => ({ ...trade, makerOid: '', takerOid: '' })) });
        return;
      }
      case 'lost':
        this.#isUp = false;
        this.#last = null;
        this.#log(`the connection was lost: ${news.reason}`);
        return this.#listener?.({ kind: 'down', reason: news.reason });
    }
  }

  #takeBook(book: TextBook): void {
    const heardAt = this.#clock.now();
    if (book.sentAt !== null) this.#timed = { sentAt: book.sentAt, heardAt };
    this.#last = { book, heardAt };
    if (this.#times === null) {
      if (book.sentAt !== null) this.#times = 'exchange';
      else if (++this.#untimed < UNTIMED_MAX) return;
      else this.#times = 'local';
    }
    this.#sayInexact(book);
    this.#tellBook(book);
  }

  #tellBook(book: TextBook): void {
    const listener = this.#listener;
    if (listener === null || this.#last === null || this.#times === null) return;
    if (!this.#isUp) {
      this.#isUp = true;
      listener({ kind: 'up' });
    }
    const { heardAt } = this.#last;
    const sentAt = this.#times === 'local' ? heardAt : book.sentAt;
    listener({ kind: 'book', snapshot: this.#snapshot(book, heardAt), ...(sentAt === null ? {} : { sentAt }) });
  }

  /**
   * A book without a time of the exchange gets the exchange time of the last book that had one, plus the local time
   * since that book arrived.
   */
  #snapshot({ bids, asks, sentAt }: TextBook, heardAt: Millis): BookSnapshot {
    const timed = this.#timed;
    const theirs = sentAt ?? (timed === null ? heardAt : timed.sentAt + (heardAt - timed.heardAt));
    const updatedAt = this.#times === 'local' ? heardAt : theirs;
    const side = (levels: readonly TextLevel[]) => levels.map(([price, amount]) => ({ price, amount }));
    return { book: this.#book, sequence: ++this.#sequence, updatedAt, bids: side(bids), asks: side(asks) };
  }

  #sayInexact({ inexact }: TextBook): void {
    if (inexact === 0 || this.#hasSaidInexact) return;
    this.#hasSaidInexact = true;
    this.#log('some prices or amounts have more than 15 digits; digits after the 15th may be wrong');
  }
}
