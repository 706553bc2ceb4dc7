/**
 * Market stream client: subscribes, checks that frames keep arriving, and reconnects after every loss (public facts
 * 12.1).
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
import { streamFrame, type StreamFrame } from './streamFrames.ts';
import { WireFault } from '../../wire/wire.ts';

export type StreamOptions = {
  readonly transport: StreamTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly book: string;
  /** Time without any frame after which the connection counts as lost. The exchange sends a `ka` frame every 20 s. */
  readonly silenceMs?: Millis;
  /**
   * Pause before the first reconnect. The pause doubles with each further reconnect, and is then shortened by a random
   * share of up to half.
   */
  readonly backoffMinMs?: Millis;
  /** Maximum pause before a reconnect, before the random share is subtracted. */
  readonly backoffMaxMs?: Millis;
};

/** Counts since the stream was created, for tests and operators. */
export type StreamCounts = {
  readonly connections: number;
  readonly frames: number;
  /** Number of frames with a type or book that was not subscribed. */
  readonly ignored: number;
  readonly faults: number;
};

const CHANNELS = ['diff-orders', 'trades'] as const;
/** Duration of a connection after which the next reconnect pause starts again at `backoffMinMs`. */
const GOOD_AFTER_MS = 60_000;
const CHECKS_PER_SILENCE = 12;

/**
 * Creates the stream of trades and diff-orders of one book. The stream connects at `start`, which throws if called
 * twice. By default, a connection counts as lost after 60 s without a frame. The pauses before reconnects grow from 1 s
 * to 30 s by default, each shortened by a random share of up to half.
 */
export function marketStream(options: StreamOptions): MarketStream & { counts(): StreamCounts } {
  return new Subscription(options);
}

class Subscription implements MarketStream {
  readonly #options: Required<StreamOptions>;
  #listener: ((news: StreamNews) => void) | null = null;
  #connection: StreamConnection | null = null;
  /** Number that increases with every connection; events of earlier connections are ignored. */
  #generation = 0;
  #missing = new Set<string>();
  #isUp = false;
  #pauses = 0;
  #connectedAt: Millis = 0;
  #lastFrameAt: Millis = 0;
  #watch: Timer | null = null;
  #again: Timer | null = null;
  #closed = false;
  readonly #counts = { connections: 0, frames: 0, ignored: 0, faults: 0 };

  constructor(options: StreamOptions) {
    this.#options = { silenceMs: 60_000, backoffMinMs: 1_000, backoffMaxMs: 30_000, ...options };
  }

  start(listener: (news: StreamNews) => void): void {
    if (this.#listener) throw new Error('the stream was started twice');
    this.#listener = listener;
    this.#connect();
  }

  restart(reason: string): void {
    if (!this.#closed && this.#connection) this.#onConnectionLost(reason);
  }

  close(): void {
    this.#closed = true;
    this.#generation++;
    this.#watch?.stop();
    this.#again?.stop();
    this.#connection?.close();
    this.#connection = null;
  }

  counts(): StreamCounts {
    return { ...this.#counts };
  }

  #connect(): void {
    const { clock, transport } = this.#options;
    const generation = ++this.#generation;
    const isCurrent = () => generation === this.#generation;
    this.#again = null;
    this.#missing = new Set(CHANNELS);
    this.#connectedAt = clock.elapsed();
    this.#lastFrameAt = clock.elapsed();
    this.#counts.connections++;
    this.#connection = transport.connect({
      open: () => void (isCurrent() && this.#subscribe()),
      text: frame => void (isCurrent() && this.#onFrame(frame)),
      closed: why => void (isCurrent() && this.#onConnectionLost(why)),
    });
    this.#watchSilence();
  }

  #subscribe(): void {
    const { book } = this.#options;
    for (const type of CHANNELS) this.#connection?.send(JSON.stringify({ action: 'subscribe', book, type }));
  }

  /**
   * Ends a connection on which no frame arrives. Runs from the start of the connection, and so also limits the
   * handshake and the subscriptions.
   */
  #watchSilence(): void {
    const { clock, silenceMs } = this.#options;
    this.#watch = clock.after(silenceMs / CHECKS_PER_SILENCE, () => {
      const now = clock.elapsed();
      if (now - this.#lastFrameAt >= silenceMs) this.#onConnectionLost(`no frame was received for ${silenceMs} ms`);
      else if (!this.#isUp && now - this.#connectedAt >= silenceMs)
        this.#onConnectionLost(`the subscriptions were not confirmed within ${silenceMs} ms`);
      else this.#watchSilence();
    });
  }

  #onFrame(text: string): void {
    this.#lastFrameAt = this.#options.clock.elapsed();
    this.#counts.frames++;
    try {
      const news = this.#newsOf(text);
      if (news !== null) this.#notify(news);
    } catch (error) {
      if (!(error instanceof WireFault)) throw error;
      this.#counts.faults++;
      this.#notify({ kind: 'fault', reason: error.message });
    }
  }

  #newsOf(text: string): StreamNews | null {
    const { book } = this.#options;
    const frame = streamFrame(text);
    switch (frame.kind) {
      case 'keep alive':
        return { kind: 'alive' };
      case 'answer':
        return this.#answered(frame);
      case 'diff':
        return frame.diff.book === book ? frame : this.#ignore();
      case 'trades':
        if (frame.book !== book) return this.#ignore();
        return this.#tradesOf(frame);
      case 'other':
        return this.#ignore();
    }
  }

  /**
   * Returns the readable trades of a frame. If other trades of the frame may be missing, reports the readable trades
   * itself and returns a fault.
   */
  #tradesOf({ trades, unreadable }: Extract<StreamFrame, { kind: 'trades' }>): StreamNews {
    const [row] = unreadable;
    if (row === undefined) return { kind: 'trades', trades };
    if (trades.length > 0) this.#notify({ kind: 'trades', trades });
    this.#counts.faults++;
    return { kind: 'fault', reason: row.why };
  }

  #answered({ action, type, error }: { action?: string; type?: string; error?: string }): StreamNews | null {
    if (error !== undefined) {
      this.#onConnectionLost(`the exchange reported: ${shownText(error.slice(0, 300))}`);
      return null;
    }
    if (action !== 'subscribe' || type === undefined || !this.#missing.delete(type) || this.#missing.size > 0)
      return null;
    this.#isUp = true;
    return { kind: 'up' };
  }

  #ignore(): null {
    this.#counts.ignored++;
    return null;
  }

  #onConnectionLost(reason: string): void {
    const { clock, random, backoffMinMs, backoffMaxMs } = this.#options;
    const connection = this.#connection;
    this.#generation++;
    this.#connection = null;
    this.#watch?.stop();
    connection?.close();
    if (this.#isUp && clock.elapsed() - this.#connectedAt >= GOOD_AFTER_MS) this.#pauses = 0;
    this.#isUp = false;
    const pause = Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(this.#pauses++, 30));
    this.#again?.stop();
    this.#again = clock.after(pause * (1 - random.next() / 2), () => this.#connect());
    this.#notify({ kind: 'down', reason });
  }

  #notify(news: StreamNews): void {
    if (!this.#closed) this.#listener?.(news);
  }
}
