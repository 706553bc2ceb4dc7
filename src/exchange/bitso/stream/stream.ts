/**
 * Market data stream of one book: subscribes to orders and trades, and reconnects after every loss (public facts 12.1).
 */
import { shownText, type MarketStream, type StreamNews } from '../../../core/index.ts';
import { ReconnectingStream, type ReconnectOptions } from '../../transport/reconnectingStream.ts';
import { streamFrame, type StreamFrame } from './streamFrames.ts';

/** Options of the stream. The exchange sends a `ka` frame every 20 s. */
export type StreamOptions = ReconnectOptions & { readonly book: string };

/** Counts since the stream was created, for tests and operators. */
export type StreamCounts = {
  readonly connections: number;
  readonly frames: number;
  /** Number of frames with a type or book that was not subscribed. */
  readonly ignored: number;
  readonly faults: number;
};

const CHANNELS = ['diff-orders', 'trades'] as const;

/**
 * Creates the stream of trades and diff-orders of one book. The stream connects at `start`, which throws if called
 * twice. By default, a connection counts as lost after 60 s without a frame. The pauses before reconnects grow from 1 s
 * to 30 s by default, each shortened by a random share of up to half.
 */
export function marketStream(options: StreamOptions): MarketStream & { counts(): StreamCounts } {
  return new Subscription(options);
}

class Subscription implements MarketStream {
  readonly #book: string;
  readonly #stream: ReconnectingStream;
  #missing = new Set<string>();
  #ignored = 0;

  constructor({ book, ...options }: StreamOptions) {
    this.#book = book;
    this.#stream = new ReconnectingStream(options, {
      open: () => this.#subscribe(),
      newsOf: text => this.#newsOf(text),
    });
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

  counts(): StreamCounts {
    const { connections, frames, faults } = this.#stream.counts();
    return { connections, frames, ignored: this.#ignored, faults };
  }

  #subscribe(): void {
    this.#missing = new Set(CHANNELS);
    for (const type of CHANNELS) this.#stream.send(JSON.stringify({ action: 'subscribe', book: this.#book, type }));
  }

  #newsOf(text: string): StreamNews | null {
    const frame = streamFrame(text);
    switch (frame.kind) {
      case 'keep alive':
        return { kind: 'alive' };
      case 'answer':
        return this.#answered(frame);
      case 'diff':
        return frame.diff.book === this.#book ? frame : this.#ignore();
      case 'trades':
        if (frame.book !== this.#book) return this.#ignore();
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
    if (trades.length > 0) this.#stream.notify({ kind: 'trades', trades });
    return this.#stream.fault(row.why);
  }

  #answered({ action, type, error }: { action?: string; type?: string; error?: string }): StreamNews | null {
    if (error !== undefined) {
      this.#stream.lose(`the exchange reported: ${shownText(error.slice(0, 300))}`);
      return null;
    }
    if (action !== 'subscribe' || type === undefined || !this.#missing.delete(type) || this.#missing.size > 0)
      return null;
    return this.#stream.up();
  }

  #ignore(): null {
    this.#ignored++;
    return null;
  }
}
