/**
 * Market data stream of one book: changes of levels every 100 ms, applied to a snapshot, and trades. Source:
 * web-socket-streams.md of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import type { Exchange, MarketStream, Millis, StreamNews, StreamTrade, Timer } from '../../../core/index.ts';
import { ReconnectingStream, type ReconnectOptions } from '../../transport/reconnectingStream.ts';
import { parsedFrame } from '../../wire/frames.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';
import { depthLevel } from '../wire/replies.ts';
import { DepthBook, type DepthStep, type DepthUpdate } from './depthBook.ts';

export type SpotStreamOptions = ReconnectOptions & {
  readonly book: string;
  /** Symbol in upper case. */
  readonly symbol: string;
  /** Client that reads the snapshot. */
  readonly exchange: Pick<Exchange, 'orderBook'>;
  /** Levels per side of the snapshot. */
  readonly depth: number;
};

/** Pause before the first snapshot of a connection, so that an update arrives before it. */
const FIRST_MS = 200;
/** Pause before the next snapshot; it doubles with each snapshot until the book has stayed valid for a minute. */
const AGAIN_MS = 1_000;
const AGAIN_MAX_MS = 60_000;
const GOOD_AFTER_MS = 60_000;

/** Path and query of the combined stream of a symbol (web-socket-streams.md, General WSS information). */
export const combinedStreamPath = (symbol: string): string =>
  `/stream?streams=${symbol.toLowerCase()}@depth@100ms/${symbol.toLowerCase()}@trade`;

/** Creates the stream; it connects at `start`. The exchange sends a ping every 20 s. */
export function spotStream(options: SpotStreamOptions): MarketStream {
  return new CombinedStream(options);
}

class CombinedStream implements MarketStream {
  readonly #options: SpotStreamOptions;
  readonly #stream: ReconnectingStream;
  readonly #levels: DepthBook;
  #timer: Timer | null = null;
  #isReading = false;
  /**
   * Number that increases when a connection opens or is lost, so that a snapshot that was requested earlier is not
   * used.
   */
  #connection = 0;
  /** Number of requested snapshots since the book last stayed valid for a minute. */
  #snapshots = 0;
  #goodSince: Millis | null = null;

  constructor(options: SpotStreamOptions) {
    this.#options = options;
    this.#levels = new DepthBook(options.book);
    this.#stream = new ReconnectingStream(options, {
      open: () => this.#opened(),
      newsOf: text => this.#newsOf(text),
      lost: () => this.#forget(),
    });
  }

  start(listener: (news: StreamNews) => void): void {
    this.#stream.start(listener);
  }

  restart(reason: string): void {
    this.#stream.restart(reason);
  }

  close(): void {
    this.#timer?.stop();
    this.#stream.close();
  }

  /** The address names the streams, so an open connection is subscribed. */
  #opened(): void {
    this.#connection++;
    this.#stream.notify(this.#stream.up());
    this.#readSoon(FIRST_MS);
  }

  #forget(): void {
    this.#connection++;
    this.#timer?.stop();
    this.#timer = null;
    this.#goodSince = null;
    this.#levels.reset();
  }

  #newsOf(text: string): StreamNews | null {
    const frame = wire.row(parsedFrame(text), 'frame');
    const of = frame['stream'] === undefined ? frame : wire.row(frame['data'], 'data');
    const kind = of['e'];
    if (kind === 'serverShutdown') {
      this.#stream.lose('the exchange announced that its server shuts down');
      return null;
    }
    if (kind !== 'depthUpdate' && kind !== 'trade') return null;
    const { symbol } = this.#options;
    if (of['s'] !== symbol) throw wire.fault('s', symbol, of['s']);
    if (kind === 'trade') return { kind: 'trades', trades: [this.#tradeOf(of)] };
    try {
      return this.#newsOfStep(this.#levels.take(depthUpdateOf(of)));
    } catch (problem) {
      // An update that cannot be read leaves the book unknown.
      if (problem instanceof wire.WireFault) this.#lostBook();
      throw problem;
    }
  }

  #tradeOf(of: Row): StreamTrade {
    return {
      book: this.#options.book,
      tid: wire.integer(of, 't').toString(),
      createdAt: wire.count(of, 'T'),
      price: wire.decimal(of, 'p'),
      amount: wire.decimal(of, 'q'),
      // `m`: whether the buyer is the maker.
      makerSide: wire.flag(of, 'm') ? 'buy' : 'sell',
    };
  }

  #newsOfStep(step: DepthStep): StreamNews | null {
    if (step === 'waiting' || step === 'old') return null;
    if ('lost' in step) {
      this.#lostBook();
      return this.#stream.fault(step.lost);
    }
    const now = this.#options.clock.elapsed();
    this.#goodSince ??= now;
    if (now - this.#goodSince >= GOOD_AFTER_MS) this.#snapshots = 0;
    return { kind: 'book', ...step };
  }

  #lostBook(): void {
    this.#goodSince = null;
    if (!this.#levels.isWaiting) this.#levels.reset();
    this.#readSoon(this.#pauseMs());
  }

  #pauseMs(): Millis {
    return this.#snapshots === 0 ? FIRST_MS : Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** Math.min(this.#snapshots - 1, 10));
  }

  #readSoon(ms: Millis): void {
    if (this.#timer !== null || this.#isReading) return;
    this.#timer = this.#options.clock.after(ms, () => {
      this.#timer = null;
      void this.#readSnapshot();
    });
  }

  /** Reads a snapshot, and reads again after a pause until the book can continue from one. Never rejects. */
  async #readSnapshot(): Promise<void> {
    const { book, depth, exchange } = this.#options;
    const connection = this.#connection;
    this.#isReading = true;
    this.#snapshots++;
    const outcome = await exchange.orderBook(book, false);
    this.#isReading = false;
    if (this.#stream.isClosed) return;
    if (connection !== this.#connection || !this.#levels.isWaiting) {
      if (this.#levels.isWaiting && this.#stream.isUp) this.#readSoon(this.#pauseMs());
      return;
    }
    const step = outcome.kind === 'done' ? this.#levels.seed(outcome.value, depth) : null;
    const news = step === null ? null : this.#newsOfStep(step);
    if (news !== null) this.#stream.notify(news);
    if (this.#levels.isWaiting) this.#readSoon(this.#pauseMs());
  }
}

const depthUpdateOf = (of: Row): DepthUpdate => ({
  first: wire.integer(of, 'U'),
  last: wire.integer(of, 'u'),
  sentAt: wire.count(of, 'E'),
  bids: wire.list(of['b'], depthLevel, 'b'),
  asks: wire.list(of['a'], depthLevel, 'a'),
});
