/** Connection of a market data stream: reports its state as news, watches for silence, and reconnects after every loss. */
import {
  textOfError,
  type Clock,
  type Millis,
  type Random,
  type StreamConnection,
  type StreamNews,
  type StreamTransport,
  type Timer,
} from '../../core/index.ts';
import { WireFault } from '../wire/wire.ts';

export type ReconnectOptions = {
  readonly transport: StreamTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** Time without any frame or ping after which the connection counts as lost. */
  readonly silenceMs?: Millis;
  /** Time within which a connection must be subscribed. Default: `silenceMs`. */
  readonly upWithinMs?: Millis;
  /**
   * Pause before the first reconnect. The pause doubles with each further reconnect, and is then shortened by a random
   * share of up to half.
   */
  readonly backoffMinMs?: Millis;
  /** Maximum pause before a reconnect, before the random share is subtracted. */
  readonly backoffMaxMs?: Millis;
};

/** Protocol of one exchange on a connection. */
export type StreamProtocol = {
  /** Called when a connection has opened. */
  open(): void;
  /**
   * Returns the news of a frame; `null` if there is none. A WireFault becomes news of a fault; any other error ends the
   * connection.
   */
  newsOf(frame: string): StreamNews | null;
  /** Called after every loss of a connection, before the loss is reported as news. */
  lost?(): void;
  /** Called at each check of a connection that is not lost; may end the connection. */
  checked?(): void;
};

/** Duration of a connection after which the next reconnect pause starts again at `backoffMinMs`. */
const GOOD_AFTER_MS = 60_000;
const CHECKS_PER_SILENCE = 12;

export class ReconnectingStream {
  readonly #options: Required<ReconnectOptions>;
  readonly #protocol: StreamProtocol;
  #listener: ((news: StreamNews) => void) | null = null;
  #connection: StreamConnection | null = null;
  /** Number that increases with every connection; events of earlier connections are ignored. */
  #generation = 0;
  #isUp = false;
  #pauses = 0;
  #connectedAt: Millis = 0;
  #lastFrameAt: Millis = 0;
  #watch: Timer | null = null;
  #again: Timer | null = null;
  #closed = false;
  /**
   * Whether the listener has thrown an error. The error does not come from a frame, so it is rethrown instead of
   * handled.
   */
  #listenerFailed = false;
  readonly #counts = { connections: 0, frames: 0, faults: 0 };

  /**
   * Creates a stream, which connects at `start`. By default, a connection counts as lost after 60 s without a frame. The
   * pauses before reconnects grow from 1 s to 30 s by default, each shortened by a random share of up to half.
   */
  constructor(options: ReconnectOptions, protocol: StreamProtocol) {
    const { silenceMs = 60_000 } = options;
    this.#options = { silenceMs, upWithinMs: silenceMs, backoffMinMs: 1_000, backoffMaxMs: 30_000, ...options };
    this.#protocol = protocol;
  }

  /** Connects. Throws if called twice. */
  start(listener: (news: StreamNews) => void): void {
    if (this.#listener) throw new Error('the stream was started twice');
    this.#listener = listener;
    this.#connect();
  }

  /** Drops the connection, if there is one, and opens a new one after a pause. */
  restart(reason: string): void {
    if (!this.#closed && this.#connection) this.lose(reason);
  }

  close(): void {
    this.#closed = true;
    this.#generation++;
    this.#watch?.stop();
    this.#again?.stop();
    this.#connection?.close();
    this.#connection = null;
  }

  /** Whether a connection is subscribed. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Counts of connections, frames and unreadable frames. */
  counts(): { readonly connections: number; readonly frames: number; readonly faults: number } {
    return { ...this.#counts };
  }

  send(frame: string): void {
    this.#connection?.send(frame);
  }

  /** Records that the connection is subscribed, and returns that as news. */
  up(): StreamNews {
    this.#isUp = true;
    return { kind: 'up' };
  }

  /** Counts a frame that could not be read completely, and returns the fault as news. */
  fault(reason: string): StreamNews {
    this.#counts.faults++;
    return { kind: 'fault', reason };
  }

  notify(news: StreamNews): void {
    if (this.#closed) return;
    try {
      this.#listener?.(news);
    } catch (error) {
      this.#listenerFailed = true;
      throw error;
    }
  }

  /** Ends the connection for a reason, and opens a new one after a pause. */
  lose(reason: string): void {
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
    this.#protocol.lost?.();
    this.notify({ kind: 'down', reason });
  }

  #connect(): void {
    const { clock, transport } = this.#options;
    const generation = ++this.#generation;
    const isCurrent = () => generation === this.#generation;
    this.#again = null;
    this.#connectedAt = clock.elapsed();
    this.#lastFrameAt = clock.elapsed();
    this.#counts.connections++;
    this.#connection = transport.connect({
      open: () => void (isCurrent() && this.#protocol.open()),
      text: frame => void (isCurrent() && this.#onFrame(frame)),
      ping: () => void (isCurrent() && this.#onPing()),
      closed: why => void (isCurrent() && this.lose(why)),
    });
    this.#watchSilence();
  }

  /**
   * Ends a connection on which no frame arrives. Runs from the start of the connection, and so also limits the
   * handshake and the subscriptions.
   */
  #watchSilence(): void {
    const { clock, silenceMs, upWithinMs } = this.#options;
    this.#watch = clock.after(silenceMs / CHECKS_PER_SILENCE, () => {
      const now = clock.elapsed();
      if (now - this.#lastFrameAt >= silenceMs) return this.lose(`no frame was received for ${silenceMs} ms`);
      if (!this.#isUp && now - this.#connectedAt >= upWithinMs)
        return this.lose(`the subscriptions were not confirmed within ${upWithinMs} ms`);
      const generation = this.#generation;
      this.#protocol.checked?.();
      if (generation === this.#generation) this.#watchSilence();
    });
  }

  #onPing(): void {
    this.#lastFrameAt = this.#options.clock.elapsed();
    if (this.#isUp) this.notify({ kind: 'alive' });
  }

  #onFrame(text: string): void {
    this.#lastFrameAt = this.#options.clock.elapsed();
    this.#counts.frames++;
    let news: StreamNews | null;
    try {
      news = this.#protocol.newsOf(text);
    } catch (error) {
      if (this.#listenerFailed) throw error;
      if (error instanceof WireFault) return this.notify(this.fault(error.message));
      // Any other error may leave the state of the protocol half changed.
      return this.lose(`a stream frame could not be read: ${textOfError(error)}`);
    }
    if (news !== null) this.notify(news);
  }
}
