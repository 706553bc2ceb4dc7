/**
 * Market data stream of Kraken, version 2: finds the book in the list of instruments, subscribes to its levels and
 * trades, checks the checksum of every frame of levels, and reconnects after every loss.
 */
import {
  shownText,
  type Clock,
  type MarketStream,
  type Millis,
  type Random,
  type StreamConnection,
  type StreamNews,
  type StreamTransport,
  type Timer,
} from '../../../core/index.ts';
import { WireFault } from '../../wire/wire.ts';
import { timedSequence } from '../wire/sequence.ts';
import { krakenFrame, type InstrumentPair, type KrakenFrame, type SymbolTrade } from './frames.ts';
import { LevelBook } from './levelBook.ts';

export type KrakenStreamOptions = {
  readonly transport: StreamTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly book: string;
  /** Time without any frame after which the connection counts as lost. Heartbeats arrive about every second. */
  readonly silenceMs?: Millis;
  /** Pause before the first reconnect. The pause doubles with each further reconnect, less a random share of half. */
  readonly backoffMinMs?: Millis;
  /** Maximum pause before a reconnect, before the random share is subtracted. */
  readonly backoffMaxMs?: Millis;
};

/** Levels per side: one of 10, 25, 100, 500 and 1000. */
const STREAM_DEPTH = 25;
/** Duration of a connection after which the next reconnect pause starts again at its minimum. */
const GOOD_AFTER_MS: Millis = 60_000;
/** Interval of pings, which keep proxies from closing the connection. */
const PING_EVERY_MS: Millis = 15_000;
/** Checks of silence within the time of silence. */
const CHECKS = 6;
/** Number of wrong checksums of one connection after which it is dropped. Before, only the book is subscribed again. */
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
  readonly #options: Required<KrakenStreamOptions>;
  readonly #nextSequence: () => bigint;
  #listener: ((news: StreamNews) => void) | null = null;
  #connection: StreamConnection | null = null;
  /** Number that increases with every connection; events of earlier connections are ignored. */
  #generation = 0;
  /** Answers and data that are missing before the stream is up. */
  #missing = new Set<Waiting>();
  #pair: InstrumentPair | null = null;
  /** Levels; `null` between a wrong checksum and the next snapshot. */
  #levels: LevelBook | null = null;
  /** Highest difference of a frame's time from its time of arrival on this connection: that of the least delayed one. */
  #ahead: Millis = -Infinity;
  #wrong = 0;
  #isUp = false;
  #pauses = 0;
  #connectedAt: Millis = 0;
  #lastFrameAt: Millis = 0;
  #lastPingAt: Millis = 0;
  #watch: Timer | null = null;
  #again: Timer | null = null;
  #closed = false;

  constructor(options: KrakenStreamOptions) {
    this.#options = { silenceMs: 10_000, backoffMinMs: 1_000, backoffMaxMs: 30_000, ...options };
    this.#nextSequence = timedSequence(options.clock);
  }

  start(listener: (news: StreamNews) => void): void {
    if (this.#listener) throw new Error('the stream was started twice');
    this.#listener = listener;
    this.#connect();
  }

  restart(reason: string): void {
    if (!this.#closed && this.#connection) this.#onLost(reason);
  }

  close(): void {
    this.#closed = true;
    this.#generation++;
    this.#watch?.stop();
    this.#again?.stop();
    this.#connection?.close();
    this.#connection = null;
  }

  #connect(): void {
    const { clock, transport } = this.#options;
    const generation = ++this.#generation;
    const isCurrent = () => generation === this.#generation;
    this.#again = null;
    this.#missing = new Set<Waiting>(['instrument', 'book', 'trade', 'levels']);
    this.#pair = null;
    this.#levels = null;
    this.#wrong = 0;
    this.#ahead = -Infinity;
    this.#connectedAt = this.#lastFrameAt = this.#lastPingAt = clock.elapsed();
    this.#connection = transport.connect({
      open: () => void (isCurrent() && this.#send('subscribe', { channel: 'instrument', snapshot: true })),
      text: frame => void (isCurrent() && this.#onFrame(frame)),
      closed: why => void (isCurrent() && this.#onLost(why)),
    });
    this.#watchSilence();
  }

  #send(method: string, params?: object): void {
    this.#connection?.send(JSON.stringify({ method, ...(params === undefined ? {} : { params }) }));
  }

  /**
   * Ends a connection on which no frame arrives, or which is not up in time, and sends pings. Runs from the start of the
   * connection, and so also limits the handshake.
   */
  #watchSilence(): void {
    const { clock, silenceMs } = this.#options;
    this.#watch = clock.after(silenceMs / CHECKS, () => {
      const now = clock.elapsed();
      if (now - this.#lastFrameAt >= silenceMs) return this.#onLost(`no frame was received for ${silenceMs} ms`);
      if (!this.#isUp && now - this.#connectedAt >= 2 * silenceMs)
        return this.#onLost(`no book was received within ${2 * silenceMs} ms`);
      if (now - this.#lastPingAt >= PING_EVERY_MS) {
        this.#lastPingAt = now;
        this.#send('ping');
      }
      this.#watchSilence();
    });
  }

  #onFrame(text: string): void {
    this.#lastFrameAt = this.#options.clock.elapsed();
    try {
      this.#take(krakenFrame(text));
    } catch (error) {
      if (!(error instanceof WireFault)) throw error;
      this.#notify({ kind: 'fault', reason: error.message });
      // The unread frame may have had levels.
      this.#resubscribe();
    }
  }

  #take(frame: KrakenFrame): void {
    switch (frame.kind) {
      case 'heartbeat':
      case 'pong':
        // Frames arrive in order, so the book has not changed until now.
        this.#notify({ kind: 'alive' });
        return this.#tellBook();
      case 'answer':
        return this.#answered(frame);
      case 'instruments':
        return this.#instruments(frame.pairs);
      case 'levels':
        return this.#onLevels(frame);
      case 'trades':
        return this.#trades(frame.trades);
      case 'status':
        if (frame.system === 'maintenance') this.#onLost('the exchange reports maintenance');
        return;
      case 'other':
        return;
    }
  }

  #answered({ method, channel, error }: Extract<KrakenFrame, { kind: 'answer' }>): void {
    if (method === 'unsubscribe') return;
    if (error !== undefined) return this.#onLost(`the exchange reported: ${shownText(error.slice(0, 300))}`);
    if (channel === 'book' || channel === 'trade') this.#arrived(channel);
  }

  #instruments(pairs: readonly InstrumentPair[]): void {
    const { book } = this.#options;
    const found = pairs.filter(pair => pair.book === book);
    const isFirst = this.#missing.has('instrument');
    if (found.length > 1) return this.#onLost(`the exchange lists several instruments that are ${book}`);
    const pair = found[0] ?? null;
    if (pair === null) return isFirst ? this.#onLost(`the exchange does not list ${book}`) : undefined;
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
      ? { channel, symbol, depth: STREAM_DEPTH, snapshot: true }
      : { channel, symbol, snapshot: false };
  }

  #onLevels(frame: Extract<KrakenFrame, { kind: 'levels' }>): void {
    const pair = this.#pair;
    if (pair === null || frame.symbol !== pair.symbol) return;
    if (frame.isSnapshot) {
      this.#levels = new LevelBook(STREAM_DEPTH);
      this.#levels.replace(frame);
    } else if (this.#levels === null) {
      return;
    } else {
      this.#levels.update(frame);
    }
    if (this.#levels.checksum(pair.precision) !== frame.checksum || this.#levels.isCrossed) {
      this.#wrong++;
      if (this.#wrong >= WRONG_MAX) return this.#onLost(`the book differed from its checksum ${WRONG_MAX} times`);
      this.#notify({ kind: 'fault', reason: 'the book differs from its checksum' });
      return this.#resubscribe();
    }
    if (frame.at !== undefined) this.#ahead = Math.max(this.#ahead, frame.at - this.#options.clock.now());
    this.#arrived('levels');
    this.#tellBook(frame.at);
  }

  /** Requests the book again. Until its snapshot arrives, no book is reported. */
  #resubscribe(): void {
    if (this.#levels === null || this.#pair === null) return;
    this.#levels = null;
    const { snapshot: _, ...subscription } = this.#subscription('book') as { snapshot: boolean };
    this.#send('unsubscribe', subscription);
    this.#subscribe('book');
  }

  #arrived(what: Waiting): void {
    this.#missing.delete(what);
    if (this.#isUp || this.#missing.size > 0) return;
    this.#isUp = true;
    this.#notify({ kind: 'up' });
    if (what !== 'levels') this.#tellBook();
  }

  /** Reports the book. Frames without a time get that of a frame without delay. */
  #tellBook(at?: Millis): void {
    const levels = this.#levels;
    if (!this.#isUp || levels === null) return;
    const { book, clock } = this.#options;
    const ahead = Number.isFinite(this.#ahead) ? this.#ahead : 0;
    const [sequence, updatedAt] = [this.#nextSequence(), at ?? clock.now() + ahead];
    const [bids, asks] = [levels.side('bids'), levels.side('asks')];
    this.#notify({ kind: 'book', snapshot: { book, sequence, updatedAt, bids, asks } });
  }

  #trades(found: readonly SymbolTrade[]): void {
    const symbol = this.#pair?.symbol;
    const { book } = this.#options;
    const trades = found
      .filter(trade => trade.symbol === symbol)
      .map(({ symbol: _, ...trade }) => ({ ...trade, book }));
    if (trades.length > 0) this.#notify({ kind: 'trades', trades });
  }

  #onLost(reason: string): void {
    const { clock, random, backoffMinMs, backoffMaxMs } = this.#options;
    const connection = this.#connection;
    this.#generation++;
    this.#connection = null;
    this.#watch?.stop();
    connection?.close();
    if (this.#isUp && clock.elapsed() - this.#connectedAt >= GOOD_AFTER_MS) this.#pauses = 0;
    this.#isUp = false;
    this.#levels = null;
    const pause = Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(this.#pauses++, 30));
    this.#again?.stop();
    this.#again = clock.after(pause * (1 - random.next() / 2), () => this.#connect());
    this.#notify({ kind: 'down', reason });
  }

  #notify(news: StreamNews): void {
    if (!this.#closed) this.#listener?.(news);
  }
}
