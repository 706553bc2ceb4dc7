/**
 * Market data stream of Kraken, version 2: finds the book in the list of instruments, subscribes to its levels and
 * trades, checks the checksum of every frame of levels, and reconnects after every loss.
 */
import { shownText, type MarketStream, type Millis, type StreamNews } from '../../../core/index.ts';
import { ReconnectingStream, type ReconnectOptions } from '../../transport/reconnectingStream.ts';
import { WireFault } from '../../wire/wire.ts';
import { timedSequence } from '../wire/sequence.ts';
import { krakenFrame, type InstrumentPair, type KrakenFrame, type SymbolTrade } from './frames.ts';
import { LevelBook } from './levelBook.ts';

export type KrakenStreamOptions = Omit<ReconnectOptions, 'upWithinMs'> & {
  readonly book: string;
  /** Levels per side. */
  readonly depth: 10 | 25 | 100 | 500 | 1_000;
};

/** Time without any frame after which the connection counts as lost. Heartbeats arrive about every second. */
const SILENCE_MS: Millis = 10_000;
/**
 * Time without a frame that has a send time, and without a ping, after which a ping requests one: at each check of a
 * quiet book, more often than such a book would be polled.
 */
const PING_AFTER_MS: Millis = 750;
/** Delay from which a frame of levels shows that those of the subscription arrive late, although pongs may not. */
const LATE_MS: Millis = 2_000;
/**
 * Number of crossed books and wrong checksums after which a connection is dropped. Until then, only the book is
 * requested again.
 */
const WRONG_MAX = 3;

type Waiting = 'instrument' | 'book' | 'trade' | 'levels';

/**
 * Creates the stream of one book, which connects at `start`. By default, a connection counts as lost after 10 s without
 * a frame, and the pauses before reconnects grow from 1 s to 30 s.
 */
export function krakenStream(options: KrakenStreamOptions): MarketStream {
  return new KrakenSubscription(options);
}

class KrakenSubscription implements MarketStream {
  readonly #options: KrakenStreamOptions;
  readonly #stream: ReconnectingStream;
  readonly #nextSequence: () => bigint;
  /** Answers and data that have not arrived yet. The stream is up as soon as none is missing. */
  #missing = new Set<Waiting>();
  #pair: InstrumentPair | null = null;
  /** Levels of the book; `null` before the first snapshot, and from a fault until the next snapshot. */
  #levels: LevelBook | null = null;
  /** Time of the last request for a snapshot. */
  #askedAt: Millis = 0;
  /**
   * Highest difference (exchange's time in a frame minus local time of its arrival) on this connection. It belongs to
   * the least delayed frame.
   */
  #ahead: Millis = -Infinity;
  /** Exchange's time of the last frame of levels; `undefined` if the frame had none. */
  #levelsAt: Millis | undefined;
  /** Whether the last frame of levels arrived late. Until a prompt one, pongs prove nothing about the book. */
  #isLate = false;
  #wrong = 0;
  /** Time of the last ping or frame with a send time. */
  #timedAt: Millis = 0;

  constructor(options: KrakenStreamOptions) {
    this.#options = options;
    this.#nextSequence = timedSequence(options.clock);
    const { silenceMs = SILENCE_MS } = options;
    this.#stream = new ReconnectingStream(
      // Twice the silence limit, because the list of instruments must arrive before the subscriptions are sent.
      { ...options, silenceMs, upWithinMs: 2 * silenceMs },
      {
        open: () => this.#opened(),
        newsOf: text => this.#newsOf(text),
        lost: () => (this.#levels = null),
        checked: () => this.#check(),
      },
    );
  }

  start(listener: (news: StreamNews) => void): void {
    this.#stream.start(listener);
  }

  restart(reason: string): void {
    this.#stream.restart(reason);
  }

  close(): void {
    this.#stream.close();
  }

  #opened(): void {
    this.#missing = new Set<Waiting>(['instrument', 'book', 'trade', 'levels']);
    this.#pair = null;
    this.#wrong = 0;
    this.#ahead = -Infinity;
    this.#isLate = false;
    this.#ping();
    this.#send('subscribe', { channel: 'instrument', snapshot: true });
  }

  #send(method: string, params?: object): void {
    this.#stream.send(JSON.stringify({ method, ...(params === undefined ? {} : { params }) }));
  }

  /**
   * Drops the connection if a requested snapshot does not arrive although other frames do; otherwise pings it when due.
   */
  #check(): void {
    const now = this.#options.clock.elapsed();
    const { silenceMs = SILENCE_MS } = this.#options;
    if (this.#stream.isUp && this.#levels === null && now - this.#askedAt >= silenceMs)
      return this.#stream.lose(`no snapshot of the book was received for ${silenceMs} ms`);
    if (now - this.#timedAt >= PING_AFTER_MS) this.#ping();
  }

  #ping(): void {
    this.#timedAt = this.#options.clock.elapsed();
    this.#send('ping');
  }

  /** Records the exchange's time in a frame. */
  #timed(at: Millis): void {
    const { clock } = this.#options;
    this.#timedAt = clock.elapsed();
    this.#ahead = Math.max(this.#ahead, at - clock.now());
  }

  /**
   * Reports every event of a frame directly and always returns `null`, because a return value could hold only one
   * event.
   */
  #newsOf(text: string): null {
    try {
      this.#take(krakenFrame(text));
    } catch (error) {
      if (!(error instanceof WireFault)) throw error;
      this.#stream.notify(this.#stream.fault(error.message));
      // The unreadable frame may have had changes of the book, so the book is requested again.
      this.#resubscribe();
    }
    return null;
  }

  #take(frame: KrakenFrame): void {
    switch (frame.kind) {
      case 'heartbeat':
        // A heartbeat has no send time, so it may be delayed and confirms no book.
        return this.#stream.notify({ kind: 'alive' });
      case 'pong':
        this.#stream.notify({ kind: 'alive' });
        if (frame.at === undefined) return;
        this.#timed(frame.at);
        // Frames arrive in order, so the known book is current as of this frame.
        return this.#isLate ? undefined : this.#tellBook(frame.at);
      case 'answer':
        return this.#answered(frame);
      case 'instruments':
        return this.#instruments(frame.pairs);
      case 'levels':
        return this.#onLevels(frame);
      case 'trades':
        return this.#trades(frame.trades);
      case 'status':
        if (frame.system === 'maintenance') this.#stream.lose('the exchange reports maintenance');
        return;
      case 'other':
        return;
    }
  }

  #answered({ method, channel, error }: Extract<KrakenFrame, { kind: 'answer' }>): void {
    if (method === 'unsubscribe') return;
    if (error !== undefined) return this.#stream.lose(`the exchange reported: ${shownText(error.slice(0, 300))}`);
    if (channel === 'book' || channel === 'trade') this.#arrived(channel);
  }

  #instruments(pairs: readonly InstrumentPair[]): void {
    const { book } = this.#options;
    const found = pairs.filter(pair => pair.book === book);
    const isFirst = this.#missing.has('instrument');
    if (found.length > 1) return this.#stream.lose(`the exchange lists several instruments with the name ${book}`);
    const pair = found[0] ?? null;
    if (pair === null) return isFirst ? this.#stream.lose(`the exchange does not list ${book}`) : undefined;
    const before = this.#pair;
    this.#pair = pair;
    this.#arrived('instrument');
    if (isFirst) {
      this.#subscribe('book');
      this.#subscribe('trade');
    } else if (before?.precision.price !== pair.precision.price || before.precision.amount !== pair.precision.amount) {
      this.#resubscribe();
    }
  }

  #subscribe(channel: 'book' | 'trade'): void {
    this.#send('subscribe', this.#subscription(channel));
  }

  #subscription(channel: 'book' | 'trade'): object {
    const symbol = [this.#pair?.symbol];
    return channel === 'book'
      ? { channel, symbol, depth: this.#options.depth, snapshot: true }
      : { channel, symbol, snapshot: false };
  }

  #onLevels(frame: Extract<KrakenFrame, { kind: 'levels' }>): void {
    const pair = this.#pair;
    if (pair === null || frame.symbol !== pair.symbol) return;
    if (frame.isSnapshot) {
      this.#levels = new LevelBook(this.#options.depth);
      this.#levels.replace(frame);
    } else if (this.#levels === null) {
      return;
    } else {
      this.#levels.update(frame);
    }
    if (this.#levels.checksum(pair.precision) !== frame.checksum || this.#levels.isCrossed) {
      this.#wrong++;
      if (this.#wrong >= WRONG_MAX)
        return this.#stream.lose(`the book was crossed or differed from its checksum ${WRONG_MAX} times`);
      this.#stream.notify(this.#stream.fault('the book is crossed or differs from its checksum'));
      return this.#resubscribe();
    }
    this.#levelsAt = frame.at;
    if (frame.at !== undefined) {
      this.#timed(frame.at);
      this.#isLate = this.#options.clock.now() + this.#ahead - frame.at >= LATE_MS;
    }
    this.#arrived('levels');
    this.#tellBook(frame.at);
  }

  /** Requests the book again. Until its snapshot arrives, no book is reported. */
  #resubscribe(): void {
    if (this.#levels === null || this.#pair === null) return;
    this.#levels = null;
    this.#askedAt = this.#options.clock.elapsed();
    const { snapshot: _, ...subscription } = this.#subscription('book') as { snapshot: boolean };
    this.#send('unsubscribe', subscription);
    this.#subscribe('book');
  }

  #arrived(what: Waiting): void {
    this.#missing.delete(what);
    if (this.#stream.isUp || this.#missing.size > 0) return;
    this.#stream.notify(this.#stream.up());
    if (what !== 'levels') this.#tellBook(this.#levelsAt);
  }

  /**
   * Reports the book. If the frame has no time, estimates `updatedAt` as if the frame had no delay, and omits `sentAt`.
   */
  #tellBook(at?: Millis): void {
    const levels = this.#levels;
    if (!this.#stream.isUp || levels === null) return;
    const { book, clock } = this.#options;
    const ahead = Number.isFinite(this.#ahead) ? this.#ahead : 0;
    const [sequence, updatedAt] = [this.#nextSequence(), at ?? clock.now() + ahead];
    const [bids, asks] = [levels.side('bids'), levels.side('asks')];
    const snapshot = { book, sequence, updatedAt, bids, asks };
    this.#stream.notify({ kind: 'book', snapshot, ...(at === undefined ? {} : { sentAt: at }) });
  }

  #trades(found: readonly SymbolTrade[]): void {
    const symbol = this.#pair?.symbol;
    const { book } = this.#options;
    const trades = found
      .filter(trade => trade.symbol === symbol)
      .map(({ symbol: _, ...trade }) => ({ ...trade, book }));
    if (trades.length > 0) this.#stream.notify({ kind: 'trades', trades });
  }
}
