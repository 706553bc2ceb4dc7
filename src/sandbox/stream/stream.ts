/** Public stream as a state machine of sessions: text frames in and out, on the venue's clock, without sockets. */
import type { Millis, Random, Timer } from '../../core/index.ts';
import { EngineQueue } from '../matching/engineQueue.ts';
import {
  CHANNELS,
  diffFrame,
  KEEP_ALIVE,
  ordersFrame,
  ordersPayload,
  tradesFrame,
  wholeMs,
  type Channel,
} from './streamFrames.ts';
import type { Venue } from '../venue/venue.ts';
import type { BookEvent } from '../venue/venueBook.ts';

/** Client session, as driven by the transport. */
export type StreamSession = {
  receive(text: string): void;
  /** Reports that the connection has ended; no frames follow. */
  gone(): void;
  /** Reports a pong frame; absent if the stream sends no ping frames. */
  pong?(): void;
};

/** Properties of the socket below a session. */
export type SessionSocket = {
  /** Path and query with which the client connected. */
  readonly target: string;
  /** Sends a ping frame; absent if the transport has no frames, as in process. */
  readonly ping?: (payload: string) => void;
};

export type Stream = {
  /** Opens a session. `send` and `close` must not call back into the session before they return. */
  connect(send: (text: string) => void, close: (code: number) => void, socket?: SessionSocket): StreamSession;
  /** Ends every session. */
  close(): void;
};

/** Maximum number of sessions; a further session is closed with 1013. The exchange publishes no limit. */
export const SESSIONS_MAX = 1_000;
/**
 * Maximum number of frames from a client in ten seconds. The exchange accepts a burst of 108 (public-facts 12.1); 1,000
 * is Puntas's choice.
 */
export const RECEIVED_MAX = 1_000;
const RECEIVED_WINDOW_MS = 10_000;
/**
 * Delay until a session without a book is closed, in ms. Documented as "within about half a second" (public-facts
 * 12.1).
 */
const NO_BOOK_CLOSE_MS = 250;
const QUIET_CHECK_MS = 20_000;

type Session = {
  readonly send: (text: string) => void;
  readonly close: (code: number) => void;
  readonly topics: Set<string>;
  readonly timers: Set<Timer>;
  received: number;
  windowStart: Millis;
  /** Number of data frames sent. */
  frames: number;
  open: boolean;
};

/**
 * Creates the public stream of a venue. `random` sets the feed delays. Close codes: 1001 when the stream ends, 1008 on
 * too many frames, 1011 without a book (public-facts 12.1), 1013 at the maximum number of sessions.
 */
export const streamOf = (venue: Venue, random: Random): Stream => new PublicStream(venue, random);

class PublicStream implements Stream {
  readonly #venue: Venue;
  readonly #random: Random;
  readonly #sessions = new Set<Session>();
  /** Subscribed sessions by topic. Empty sets are removed, so an empty map means no subscriptions. */
  readonly #topics = new Map<string, Set<Session>>();
  readonly #queue: EngineQueue<() => void>;
  /** Last payload of the channel `orders`, by book. */
  readonly #shown = new Map<string, string>();
  #stopListening: (() => void) | null = null;
  #diffs = 0;

  constructor(venue: Venue, random: Random) {
    this.#venue = venue;
    this.#random = random;
    this.#queue = new EngineQueue(venue.clock, publish => publish());
  }

  connect(send: (text: string) => void, close: (code: number) => void): StreamSession {
    const session: Session = {
      send,
      close,
      topics: new Set(),
      timers: new Set(),
      received: 0,
      windowStart: this.#venue.clock.elapsed(),
      frames: 0,
      open: true,
    };
    if (this.#sessions.size >= SESSIONS_MAX) {
      session.open = false;
      close(1013);
    } else {
      this.#sessions.add(session);
      this.#keepAlive(session);
    }
    return { receive: text => this.#receive(session, text), gone: () => this.#end(session, null) };
  }

  close(): void {
    for (const session of [...this.#sessions]) this.#end(session, 1001);
    this.#queue.close();
  }

  #end(session: Session, code: number | null): void {
    if (!session.open) return;
    session.open = false;
    for (const timer of session.timers) timer.stop();
    for (const topic of session.topics) this.#leave(session, topic);
    this.#sessions.delete(session);
    if (code !== null) session.close(code);
  }

  #leave(session: Session, topic: string): void {
    session.topics.delete(topic);
    const listeners = this.#topics.get(topic);
    listeners?.delete(session);
    if (listeners?.size !== 0) return;
    this.#topics.delete(topic);
    if (topic.startsWith('orders:')) this.#shown.delete(topic.slice('orders:'.length));
    if (this.#topics.size > 0) return;
    // Without a listener, the books create no events, so the stream stops listening when no subscription is left.
    this.#stopListening?.();
    this.#stopListening = null;
  }

  #join(session: Session, topic: string): void {
    session.topics.add(topic);
    const listeners = this.#topics.get(topic);
    if (listeners) listeners.add(session);
    else this.#topics.set(topic, new Set([session]));
    this.#stopListening ??= this.#venue.onBookEvent(event => this.#publishLater(event));
  }

  #publishLater(event: BookEvent): void {
    const { book } = event;
    const withOrders = this.#topics.has(topicOf('orders', book)) ? this.#changedOrders(book) : null;
    if (
      withOrders === null &&
      !this.#topics.has(topicOf('trades', book)) &&
      !this.#topics.has(topicOf('diff-orders', book))
    )
      return;
    if (this.#queue.full) {
      // A dropped event would leave a gap in the sequence, so every session is ended and its client must reconnect.
      for (const session of [...this.#sessions]) this.#end(session, 1011);
      return;
    }
    const { clock, switches, books } = this.#venue;
    const { feedDelayMinMs, feedDelayMaxMs } = switches;
    const delay = feedDelayMaxMs === 0 ? 0 : this.#random.integer(feedDelayMinMs, feedDelayMaxMs);
    const feed = books.get(book)?.feed;
    const least = feed === undefined ? 0 : Math.max(feed.delayMs, feed.silentUntil - clock.elapsed());
    this.#queue.submit(Math.max(delay, least), () => this.#publish(event, withOrders));
  }

  #changedOrders(name: string): string | null {
    const book = this.#venue.books.get(name);
    if (!book) return null;
    const payload = ordersPayload(book);
    if (this.#shown.get(name) === payload) return null;
    this.#shown.set(name, payload);
    return payload;
  }

  #publish(event: BookEvent, withOrders: string | null): void {
    const sent = this.#venue.clock.now();
    const { switches } = this.#venue;
    if (event.trades.length > 0) this.#spread('trades', event.book, 1, () => tradesFrame(event, sent));
    this.#spread('diff-orders', event.book, this.#copiesToSend(), () =>
      diffFrame(event, sent, switches.cancelledAmounts),
    );
    if (withOrders !== null) this.#spread('orders', event.book, 1, () => ordersFrame(event.book, withOrders, sent));
  }

  /** Returns how often to send this diff-orders frame: 0 to drop it, 1, or 2 to repeat it. */
  #copiesToSend(): number {
    this.#diffs++;
    const { streamDropEvery, streamRepeatEvery } = this.#venue.switches;
    if (streamDropEvery > 0 && this.#diffs % streamDropEvery === 0) return 0;
    return streamRepeatEvery > 0 && this.#diffs % streamRepeatEvery === 0 ? 2 : 1;
  }

  #spread(channel: Channel, book: string, times: number, make: () => string): void {
    const listeners = this.#topics.get(topicOf(channel, book));
    const { books, switches } = this.#venue;
    if (!listeners || switches.streamFrames === 'withheld' || books.get(book)?.feed.isWithheld === true) return;
    const text = make();
    const { streamCloseEvery } = switches;
    for (const session of [...listeners]) {
      for (let i = 0; i < times && session.open; i++) session.send(text);
      session.frames++;
      if (streamCloseEvery > 0 && session.frames % streamCloseEvery === 0) this.#end(session, 1011);
    }
  }

  #keepAlive(session: Session): void {
    const every = this.#venue.switches.streamKeepAliveMs;
    this.#later(session, every > 0 ? every : QUIET_CHECK_MS, () => {
      if (every > 0 && this.#venue.switches.streamFrames === 'sent' && !this.#isSilent(session))
        session.send(KEEP_ALIVE);
      this.#keepAlive(session);
    });
  }

  /**
   * Whether all books of the session publish no data now. A keep-alive frame would imply that their data is current.
   */
  #isSilent({ topics }: Session): boolean {
    const { books, clock } = this.#venue;
    const now = clock.elapsed();
    const isSilent = (topic: string): boolean => {
      const feed = books.get(topic.slice(topic.indexOf(':') + 1))?.feed;
      return feed !== undefined && (feed.isWithheld || now < feed.silentUntil);
    };
    return topics.size > 0 && [...topics].every(isSilent);
  }

  #later(session: Session, ms: Millis, call: () => void): void {
    if (!session.open) return;
    const timer = this.#venue.clock.after(ms, () => {
      session.timers.delete(timer);
      if (session.open) call();
    });
    session.timers.add(timer);
  }

  #receive(session: Session, text: string): void {
    if (!session.open) return;
    if (this.#venue.clock.elapsed() - session.windowStart >= RECEIVED_WINDOW_MS) {
      session.windowStart = this.#venue.clock.elapsed();
      session.received = 0;
    }
    if (++session.received > RECEIVED_MAX) {
      this.#end(session, 1008);
      return;
    }
    const time = wholeMs(this.#venue.clock.now());
    const answer = (fields: object) => session.send(JSON.stringify(fields));
    const asked = parsedMessage(text);
    if (asked === null) {
      answer({ error: 'invalid message', time });
      return;
    }
    const { action, type, book } = asked;
    const refuse = (error: string) => answer({ action, type, error, time });
    if (action !== 'subscribe' && action !== 'unsubscribe') {
      refuse('unknown subscription');
      return;
    }
    if (book === undefined) {
      this.#later(session, NO_BOOK_CLOSE_MS, () => this.#end(session, 1011));
      return;
    }
    const channel = CHANNELS.find(name => name === type);
    if (channel === undefined) {
      refuse(`This type of channel is not supported - ${shownText(type)}`);
      return;
    }
    if (typeof book !== 'string' || !this.#venue.books.has(book)) {
      refuse(`This book is not supported - ${shownText(book)}`);
      return;
    }
    const topic = topicOf(channel, book);
    const repeated = action === 'subscribe' && session.topics.has(topic);
    if (action === 'unsubscribe') this.#leave(session, topic);
    else if (!repeated) this.#join(session, topic);
    const response = repeated ? `Already subscribed to channel: ${topic}` : 'ok';
    answer({ action, response, time, type: channel, book });
  }
}

const topicOf = (channel: Channel, book: string): string => `${channel}:${book}`;

/** Parses a JSON object; null for anything else. */
export function parsedMessage(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

const shownText = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')).slice(0, 64);
