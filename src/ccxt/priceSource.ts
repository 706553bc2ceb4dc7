/**
 * Live price of one book through ccxt: streamed if ccxt has a stream, otherwise polled within the exchange's rate
 * limit.
 */
import type { Clock, Millis, Timer } from '../core/index.ts';
import { CcxtMarket, type CcxtMarketNews } from './ccxtMarket.ts';
import type { TextBook, TextLevel } from './messages.ts';
import { isSameBook } from './textBook.ts';

/** Price and amount. A float suffices, because no amount of money is computed from the price of another book. */
type FloatLevel = readonly [price: number, amount: number];

/** Age of a book, as `BookAge` in live/market/livePriceSource.ts. */
type CcxtBookAge =
  { readonly sentAt: Millis | null; readonly ageMs: 0 } | { readonly sentAt: null; readonly ageMs: Millis };

/** News that a source sends, as `LivePriceNews` in live/market/livePriceSource.ts describes them. */
export type CcxtPriceNews =
  | ({
      readonly kind: 'book';
      readonly bids: readonly FloatLevel[];
      readonly asks: readonly FloatLevel[];
    } & CcxtBookAge)
  | { readonly kind: 'lost'; readonly reason: string };

export type CcxtPriceOptions = {
  /** Id of the exchange in ccxt, like `binance`. */
  readonly id: string;
  /** Book, like `btc_usdt`. */
  readonly book: string;
  /** Levels per side. If 1, and the ccxt class has a stream of best prices, the source sends only these prices. */
  readonly levels: number;
  /** If the book is not confirmed for `pollMs` plus this time (ms), the connection is replaced. */
  readonly silentAfterMs: Millis;
  /** Without a stream: interval of polls. With a stream: time without news after which the book is polled. In ms. */
  readonly pollMs: Millis;
  readonly clock: Clock;
  /** Origin that replaces the origin of the exchange's addresses. */
  readonly url?: string;
};

/** Interval of polls as a multiple of the rate limit, so that the requests of ccxt never wait for each other. */
const POLL_RATE = 1.2;
/** Time within which a stream must send an update after a poll has shown a different book, in ms. */
const FOLLOW_WITHIN_MS = 1_000;

/**
 * Source of a live price. ccxt is loaded by `start`; a missing or wrong ccxt is reported as `lost`. A stream that sends
 * nothing for `pollMs` is checked against a polled book.
 */
export class CcxtPriceSource {
  readonly name: string;
  readonly #options: CcxtPriceOptions;
  readonly #market: CcxtMarket;
  readonly #silentAfterMs: Millis;
  #onNews: (news: CcxtPriceNews) => void = () => undefined;
  #isClosed = false;
  #streams = false;
  /** Minimum interval of polls, in ms. */
  #pollMs: Millis = Infinity;
  #last: TextBook | null = null;
  /** Time at which the last book was read or received, by the monotonic clock. */
  #knownAt: Millis = -Infinity;
  #timer: Timer | null = null;
  /**
   * Number of streamed books and lost connections so far. If this number changes during a poll, the result of the poll
   * is outdated.
   */
  #changes = 0;
  /** Whether the last poll differed from the book of the stream. */
  #isBehind = false;

  constructor(options: CcxtPriceOptions) {
    const { clock, id, book, pollMs, levels, url } = options;
    this.#options = options;
    // Only polls confirm a quiet book, so the connection must outlive the time to the next poll.
    const silentAfterMs = options.silentAfterMs + pollMs;
    this.#silentAfterMs = silentAfterMs;
    this.name = `ccxt:${id} ${book}`;
    const of = { id, book, wants: 'prices', levels, silentAfterMs, clock } as const;
    this.#market = new CcxtMarket({ ...of, ...(url === undefined ? {} : { url }) });
  }

  start(onNews: (news: CcxtPriceNews) => void): void {
    this.#onNews = onNews;
    this.#market.start(news => this.#hear(news));
  }

  /** Replaces the thread, whose books may be outdated. */
  rejectAsUnreliable(reason: string): void {
    this.#market.restart(reason);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.stop();
    await this.#market.close();
  }

  #hear(news: CcxtMarketNews): void {
    if (this.#isClosed) return;
    switch (news.kind) {
      case 'ready':
        this.#streams = news.streams;
        this.#pollMs = Math.max(this.#options.pollMs, news.rateLimitMs * POLL_RATE);
        this.#knownAt = this.#options.clock.elapsed();
        return news.streams ? this.#pollIn(this.#pollMs) : this.#pollIn(0);
      case 'book':
        return this.#takeStreamed(news.book);
      case 'same':
        return this.#last === null ? undefined : this.#takeStreamed({ ...this.#last, sentAt: news.sentAt });
      case 'trades':
        return;
      case 'lost':
        this.#changes++;
        this.#last = null;
        this.#isBehind = false;
        this.#timer?.stop();
        return this.#onNews({ kind: 'lost', reason: news.reason });
    }
  }

  #takeStreamed(book: TextBook): void {
    this.#changes++;
    this.#isBehind = false;
    this.#pollIn(this.#pollMs);
    this.#tell(book, { sentAt: book.sentAt, ageMs: 0 });
  }

  #tell(book: TextBook, age: CcxtBookAge): void {
    this.#last = book;
    this.#knownAt = this.#options.clock.elapsed();
    this.#onNews({ kind: 'book', bids: numbers(book.bids), asks: numbers(book.asks), ...age });
  }

  #pollIn(ms: Millis): void {
    this.#timer?.stop();
    this.#timer = this.#options.clock.after(ms, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const { clock } = this.#options;
    const [from, changes] = [clock.elapsed(), this.#changes];
    const outcome = await this.#market.ask('book');
    // A newer book of the stream, or a new connection, has set its own timer.
    if (this.#isClosed || this.#changes !== changes) return;
    const now = clock.elapsed();
    this.#pollIn(this.#pollMs);
    if (outcome.kind !== 'done') {
      // A single failed read is no loss: the receiver sees the age of the book.
      if (now - this.#knownAt > this.#silentAfterMs)
        this.#market.restart(outcome.kind === 'unknown' ? outcome.reason : outcome.message);
      return;
    }
    const differs = this.#streams && this.#last !== null && !isSameBook(this.#last, outcome.value);
    if (differs && this.#isBehind)
      return this.#market.restart('the stream sent no update, although polls show that the book has changed');
    this.#isBehind = differs;
    // The exchange's time of a polled book may be the time of its last change, so the age counts from the request.
    const age = { sentAt: null, ageMs: now - from } as const;
    if (differs) {
      // The next poll compares with the book of the stream, not with the polled book.
      this.#pollIn(FOLLOW_WITHIN_MS);
      const streamed = this.#last;
      this.#tell(outcome.value, age);
      this.#last = streamed;
    } else {
      if (this.#streams) this.#market.confirm();
      this.#tell(outcome.value, age);
    }
  }
}

const numbers = (levels: readonly TextLevel[]): readonly FloatLevel[] =>
  levels.map(([price, amount]) => [Number(price), Number(amount)] as const);
