/** The public stream as a pure session machine: text frames go in and out, time is the venue's clock, and no socket is known here. */
import type { Millis, Random, Timer } from '../../core/index.ts';
import { EngineQueue } from '../matching/engineQueue.ts';
import { CHANNELS, diffFrame, KEEP_ALIVE, ordersFrame, ordersPayload, tradesFrame, whole } from './streamFrames.ts';
import type { Channel } from './streamFrames.ts';
import type { Venue } from '../venue/venue.ts';
import type { BookEvent } from '../venue/venueBook.ts';

/** One client, as the machine's caller drives it. */
export type StreamSession = {
  receive(text: string): void;
  /** The connection ended; nothing is sent any more. */
  gone(): void;
};

export type Stream = {
  /** `send` and `close` must not call back into the session before they return. */
  connect(send: (text: string) => void, close: (code: number) => void): StreamSession;
  /** Ends every session. */
  close(): void;
};

/** Sessions at once; one more is closed with 1013. None is published. */
export const SESSIONS_MAX = 1_000;
/** Frames that a client may send in ten seconds; 108 in a burst are accepted (public-facts 12.1), 1000 are our bound. */
export const RECEIVED_MAX = 1_000;
const RECEIVED_WINDOW_MS = 10_000;
/** "Within about half a second" (public-facts 12.1). */
const NO_BOOK_CLOSE_MS = 250;
const QUIET_CHECK_MS = 20_000;

type Session = {
  readonly send: (text: string) => void;
  readonly close: (code: number) => void;
  readonly topics: Set<string>;
  readonly timers: Set<Timer>;
  received: number;
  windowStart: Millis;
  /** Data frames sent. */
  frames: number;
  open: boolean;
};

/**
 * `random` draws the feed's delays. Closes with 1001 at its end, 1008 on too many frames, 1011 without a book (public-facts 12.1), 1013 when full.
 */
export function streamOf(venue: Venue, random: Random): Stream {
  const { clock } = venue;
  const sessions = new Set<Session>();
  /** Who listens to what; empty sets are removed, so that an empty map means that nobody listens. */
  const topics = new Map<string, Set<Session>>();
  const queue = new EngineQueue(clock);
  /** What the channel `orders` showed last, by book. */
  const shown = new Map<string, string>();
  let stopListening: (() => void) | null = null;
  let diffs = 0;

  const end = (session: Session, code: number | null): void => {
    if (!session.open) return;
    session.open = false;
    for (const timer of session.timers) timer.stop();
    for (const topic of session.topics) leave(session, topic);
    sessions.delete(session);
    if (code !== null) session.close(code);
  };

  const leave = (session: Session, topic: string): void => {
    session.topics.delete(topic);
    const listeners = topics.get(topic);
    listeners?.delete(session);
    if (listeners?.size !== 0) return;
    topics.delete(topic);
    if (topic.startsWith('orders:')) shown.delete(topic.slice('orders:'.length));
    if (topics.size > 0) return;
    // Without listeners the books build no events at all.
    stopListening?.();
    stopListening = null;
  };

  const join = (session: Session, topic: string): void => {
    session.topics.add(topic);
    const listeners = topics.get(topic);
    if (listeners) listeners.add(session);
    else topics.set(topic, new Set([session]));
    stopListening ??= venue.onBookEvent(publishLater);
  };

  const publishLater = (event: BookEvent): void => {
    const { book } = event;
    const withOrders = topics.has(topicOf('orders', book)) ? changedOrders(book) : null;
    if (withOrders === null && !topics.has(topicOf('trades', book)) && !topics.has(topicOf('diff-orders', book)))
      return;
    if (queue.full) {
      // What cannot be kept cannot be sent in sequence either: everybody starts over.
      for (const session of [...sessions]) end(session, 1011);
      return;
    }
    const { feedDelayMinMs, feedDelayMaxMs } = venue.switches;
    const delay = feedDelayMaxMs === 0 ? 0 : random.integer(feedDelayMinMs, feedDelayMaxMs);
    queue.submit(delay, () => publish(event, withOrders));
  };

  const changedOrders = (name: string): string | null => {
    const book = venue.books.get(name);
    if (!book) return null;
    const payload = ordersPayload(book);
    if (shown.get(name) === payload) return null;
    shown.set(name, payload);
    return payload;
  };

  const publish = (event: BookEvent, withOrders: string | null): void => {
    const sent = clock.now();
    const { switches } = venue;
    if (event.trades.length > 0) spread('trades', event.book, 1, () => tradesFrame(event, sent));
    spread('diff-orders', event.book, timesOf(), () => diffFrame(event, sent, switches.cancelledAmounts));
    if (withOrders !== null) spread('orders', event.book, 1, () => ordersFrame(event.book, withOrders, sent));
  };

  /** How often this diff-orders frame is sent: 0 when it is to be lost, 2 when it is to be repeated. */
  const timesOf = (): number => {
    diffs++;
    const { streamDropEvery, streamRepeatEvery } = venue.switches;
    if (streamDropEvery > 0 && diffs % streamDropEvery === 0) return 0;
    return streamRepeatEvery > 0 && diffs % streamRepeatEvery === 0 ? 2 : 1;
  };

  const spread = (channel: Channel, book: string, times: number, make: () => string): void => {
    const listeners = topics.get(topicOf(channel, book));
    if (!listeners || venue.switches.streamFrames === 'withheld') return;
    const text = make();
    const { streamCloseEvery } = venue.switches;
    for (const session of [...listeners]) {
      for (let i = 0; i < times && session.open; i++) session.send(text);
      session.frames++;
      if (streamCloseEvery > 0 && session.frames % streamCloseEvery === 0) end(session, 1011);
    }
  };

  const keepAlive = (session: Session): void => {
    const every = venue.switches.streamKeepAliveMs;
    later(session, every > 0 ? every : QUIET_CHECK_MS, () => {
      if (every > 0 && venue.switches.streamFrames === 'sent') session.send(KEEP_ALIVE);
      keepAlive(session);
    });
  };

  const later = (session: Session, ms: Millis, call: () => void): void => {
    if (!session.open) return;
    const timer = clock.after(ms, () => {
      session.timers.delete(timer);
      if (session.open) call();
    });
    session.timers.add(timer);
  };

  const receive = (session: Session, text: string): void => {
    if (!session.open) return;
    if (clock.elapsed() - session.windowStart >= RECEIVED_WINDOW_MS) {
      session.windowStart = clock.elapsed();
      session.received = 0;
    }
    if (++session.received > RECEIVED_MAX) {
      end(session, 1008);
      return;
    }
    const time = whole(clock.now());
    const answer = (fields: object) => session.send(JSON.stringify(fields));
    const asked = objectOf(text);
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
      later(session, NO_BOOK_CLOSE_MS, () => end(session, 1011));
      return;
    }
    const channel = CHANNELS.find(name => name === type);
    if (channel === undefined) {
      refuse(`This type of channel is not supported - ${shownText(type)}`);
      return;
    }
    if (typeof book !== 'string' || !venue.books.has(book)) {
      refuse(`This book is not supported - ${shownText(book)}`);
      return;
    }
    const topic = topicOf(channel, book);
    const repeated = action === 'subscribe' && session.topics.has(topic);
    if (action === 'unsubscribe') leave(session, topic);
    else if (!repeated) join(session, topic);
    const response = repeated ? `Already subscribed to channel: ${topic}` : 'ok';
    answer({ action, response, time, type: channel, book });
  };

  return {
    connect: (send, close) => {
      const session: Session = {
        send,
        close,
        topics: new Set(),
        timers: new Set(),
        received: 0,
        windowStart: clock.elapsed(),
        frames: 0,
        open: true,
      };
      if (sessions.size >= SESSIONS_MAX) {
        session.open = false;
        close(1013);
      } else {
        sessions.add(session);
        keepAlive(session);
      }
      return { receive: text => receive(session, text), gone: () => end(session, null) };
    },
    close: () => {
      for (const session of [...sessions]) end(session, 1001);
      queue.close();
    },
  };
}

const topicOf = (channel: Channel, book: string): string => `${channel}:${book}`;

/** The fields of a JSON object; null for anything else. */
function objectOf(text: string): Readonly<Record<string, unknown>> | null {
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
