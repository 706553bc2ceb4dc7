/**
 * Stream of the second exchange as a state machine of sessions: raw and combined streams of depth, best prices and
 * trades. Source: web-socket-streams.md of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import type { Millis, Price, Side, Timer } from '../../core/index.ts';
import { EngineQueue } from '../matching/engineQueue.ts';
import { parsedMessage, type SessionSocket, type Stream, type StreamSession } from '../stream/stream.ts';
import type { TradeRow } from '../venue/tradeHistory.ts';
import type { BookEvent, VenueBook } from '../venue/venueBook.ts';
import type { BinanceWorld } from './binanceRoute.ts';
import { aggregateFields, tradeRuns } from './marketRoutes.ts';
import { wholeTime } from './orderAnswers.ts';
import { bestFields, levelTexts, price8, quantity8, symbolOf } from './symbols.ts';

/** Maximum number of sessions; a further session is closed with 1013. Puntas chose the limit. */
const SESSIONS_MAX = 300;
/** Maximum number of streams of a session. */
const STREAMS_MAX = 1_024;
/** Update intervals of depth streams, in ms. */
const FAST_MS = 100;
const SLOW_MS = 1_000;

type Session = {
  readonly send: (text: string) => void;
  readonly close: (code: number) => void;
  readonly topics: Set<string>;
  readonly timers: Set<Timer>;
  combined: boolean;
  open: boolean;
  frames: number;
  received: number;
  windowStart: Millis;
  pongAt: Millis;
};

/**
 * Depth feed of one book at one interval: the prices that changed since the last frame, and the last update id of that
 * frame (`last`).
 */
type DepthFeed = {
  readonly book: VenueBook;
  readonly everyMs: number;
  readonly changed: Readonly<Record<Side, Set<Price>>>;
  last: number;
};

/**
 * Returns the stream of the exchange. Close codes: 1001, 1008, 1011 and 1013, as in the stream of the first exchange.
 */
export const binanceStream = (world: BinanceWorld): Stream => new BinanceStream(world);

class BinanceStream implements Stream {
  readonly #world: BinanceWorld;
  readonly #sessions = new Set<Session>();
  readonly #topics = new Map<string, Set<Session>>();
  /** Depth feeds by book and interval, for books with a subscriber. */
  readonly #feeds = new Map<string, DepthFeed>();
  readonly #best = new Map<string, string>();
  readonly #queue: EngineQueue<() => void>;
  #stopListening: (() => void) | null = null;
  #timer: Timer | null = null;
  #ticks = 0;
  #depthFrames = 0;

  constructor(world: BinanceWorld) {
    this.#world = world;
    this.#queue = new EngineQueue(world.clock, publish => publish());
  }

  connect(send: (text: string) => void, close: (code: number) => void, socket?: SessionSocket): StreamSession {
    const { clock, switches } = this.#world;
    const [path = '', query = ''] = (socket?.target ?? '/ws').split('?', 2);
    const session: Session = {
      send,
      close,
      topics: new Set(),
      timers: new Set(),
      combined: path.startsWith('/stream'),
      open: true,
      frames: 0,
      received: 0,
      windowStart: clock.elapsed(),
      pongAt: clock.elapsed(),
    };
    if (this.#sessions.size >= SESSIONS_MAX) {
      session.open = false;
      close(1013);
    } else {
      this.#sessions.add(session);
      const named = path.startsWith('/ws/')
        ? path.slice('/ws/'.length)
        : (new URLSearchParams(query).get('streams') ?? '');
      for (const topic of named.split('/')) if (topic !== '') this.#join(session, topic);
      this.#later(session, switches.streamLifeMs, () => this.#end(session, 1001));
      if (socket?.ping) this.#ping(session, socket.ping);
    }
    return {
      receive: text => this.#receive(session, text),
      gone: () => this.#end(session, null),
      pong: () => {
        session.pongAt = clock.elapsed();
      },
    };
  }

  close(): void {
    for (const session of [...this.#sessions]) {
      const event = { e: 'serverShutdown', E: wholeTime(this.#world.clock.now()) };
      session.send(JSON.stringify(session.combined ? { stream: '!serverShutdown', data: event } : event));
      this.#end(session, 1001);
    }
    this.#queue.close();
  }

  #end(session: Session, code: number | null): void {
    if (!session.open) return;
    session.open = false;
    for (const timer of session.timers) timer.stop();
    for (const topic of [...session.topics]) this.#leave(session, topic);
    this.#sessions.delete(session);
    if (code !== null) session.close(code);
  }

  #later(session: Session, ms: Millis, call: () => void): void {
    const timer = this.#world.clock.after(ms, () => {
      session.timers.delete(timer);
      if (session.open) call();
    });
    session.timers.add(timer);
  }

  /** Sends ping frames, and ends the session if no pong comes back in time. */
  #ping(session: Session, ping: (payload: string) => void): void {
    const { clock, switches } = this.#world;
    this.#later(session, switches.streamPingMs === 0 ? SLOW_MS : switches.streamPingMs, () => {
      const now = clock.elapsed();
      if (this.#world.switches.streamPingMs === 0) session.pongAt = now;
      else if (now - session.pongAt > this.#world.switches.streamPongMs) return this.#end(session, 1008);
      else ping(String(wholeTime(clock.now())));
      this.#ping(session, ping);
    });
  }

  #join(session: Session, topic: string): void {
    if (session.topics.has(topic) || session.topics.size >= STREAMS_MAX) return;
    session.topics.add(topic);
    const listeners = this.#topics.get(topic);
    if (listeners) listeners.add(session);
    else this.#topics.set(topic, new Set([session]));
    const { venue } = this.#world;
    this.#stopListening ??= venue.onBookEvent(event => this.#onEvent(event));
    const asked = depthTopic(topic);
    const book = asked && this.#bookOf(asked.symbol);
    if (!book || asked.levels !== null) {
      this.#arm();
      return;
    }
    const name = feedName(book.rules.book, asked.everyMs);
    if (!this.#feeds.has(name)) {
      const changed = { buy: new Set<Price>(), sell: new Set<Price>() };
      this.#feeds.set(name, { book, everyMs: asked.everyMs, changed, last: book.engine.sequence });
    }
    this.#arm();
  }

  #leave(session: Session, topic: string): void {
    session.topics.delete(topic);
    const listeners = this.#topics.get(topic);
    listeners?.delete(session);
    if (listeners?.size !== 0) return;
    this.#topics.delete(topic);
    const asked = depthTopic(topic);
    if (asked?.levels === null) {
      const book = this.#bookOf(asked.symbol);
      const isAsked = [...this.#topics.keys()].some(other => {
        const found = depthTopic(other);
        return found?.levels === null && found.symbol === asked.symbol && found.everyMs === asked.everyMs;
      });
      if (book && !isAsked) this.#feeds.delete(feedName(book.rules.book, asked.everyMs));
    }
    if (this.#topics.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
    this.#timer?.stop();
    this.#timer = null;
    this.#best.clear();
  }

  #bookOf(symbol: string): VenueBook | undefined {
    for (const book of this.#world.venue.books.values())
      if (symbolOf(book.instrument).toLowerCase() === symbol) return book;
    return undefined;
  }

  #arm(): void {
    this.#timer ??= this.#world.clock.after(FAST_MS, () => {
      this.#timer = null;
      this.#ticks++;
      this.#flush(this.#ticks % (SLOW_MS / FAST_MS) === 0);
      if (this.#topics.size > 0) this.#arm();
    });
  }

  #onEvent(event: BookEvent): void {
    for (const everyMs of [FAST_MS, SLOW_MS]) {
      const feed = this.#feeds.get(feedName(event.book, everyMs));
      if (feed) for (const { side, price } of event.changes) feed.changed[side].add(price);
    }
    const symbol = symbolOf(event.instrument).toLowerCase();
    const E = wholeTime(event.at);
    if (event.trades.length > 0) this.#publishTrades(event, symbol, E);
    const topic = `${symbol}@bookTicker`;
    const book = this.#world.venue.books.get(event.book);
    if (!this.#topics.has(topic) || !book || this.#world.shown.isFrozen) return;
    const best = bestFields(book, this.#world.shown.of(book, 1));
    const key = Object.values(best).join(' ');
    if (this.#best.get(event.book) === key) return;
    this.#best.set(event.book, key);
    this.#spread(topic, JSON.stringify({ u: event.sequence, s: symbol.toUpperCase(), ...best }));
  }

  #publishTrades(event: BookEvent, symbol: string, E: number): void {
    const s = symbol.toUpperCase();
    const rows = event.trades.map(({ takerSide, ...trade }): TradeRow => {
      const makerSide = takerSide === 'buy' ? 'sell' : 'buy';
      return { ...trade, at: event.at, makerSide };
    });
    const { instrument: i } = event;
    if (this.#topics.has(`${symbol}@trade`)) {
      for (const { ordinal, price, amount, at, makerSide } of rows) {
        const sizes = { p: price8(i, price), q: quantity8(i, amount) };
        const trade = { e: 'trade', E, s, t: ordinal, ...sizes, T: wholeTime(at), m: makerSide === 'buy', M: true };
        this.#spread(`${symbol}@trade`, JSON.stringify(trade));
      }
    }
    if (!this.#topics.has(`${symbol}@aggTrade`)) return;
    for (const run of tradeRuns(rows))
      this.#spread(`${symbol}@aggTrade`, JSON.stringify({ e: 'aggTrade', E, s, ...aggregateFields(event, run) }));
  }

  #flush(isSlow: boolean): void {
    const { shown, switches, venue } = this.#world;
    if (shown.isFrozen) return;
    const E = wholeTime(this.#world.clock.now());
    for (const feed of this.#feeds.values()) {
      if (feed.everyMs === SLOW_MS && !isSlow) continue;
      const { book, changed, last } = feed;
      const u = book.engine.sequence;
      if (u === last || venue.books.get(book.rules.book) !== book) continue;
      feed.last = u;
      const { instrument: i, engine } = book;
      const levels = (side: Side) =>
        [...changed[side]].map(price => [price8(i, price), quantity8(i, engine.amountAt(side, price))]);
      const symbol = symbolOf(i);
      const update = { e: 'depthUpdate', E, s: symbol, U: last + 1, u, b: levels('buy'), a: levels('sell') };
      changed.buy.clear();
      changed.sell.clear();
      this.#depthFrames++;
      if (switches.streamDropEvery > 0 && this.#depthFrames % switches.streamDropEvery === 0) continue;
      const text = JSON.stringify(update);
      const suffixes = feed.everyMs === FAST_MS ? ['@100ms'] : ['', '@1000ms'];
      for (const suffix of suffixes) this.#spread(`${symbol.toLowerCase()}@depth${suffix}`, text);
    }
    for (const topic of this.#topics.keys()) {
      const asked = depthTopic(topic);
      if (!asked || asked.levels === null || (asked.everyMs === SLOW_MS && !isSlow)) continue;
      const book = this.#bookOf(asked.symbol);
      if (!book) continue;
      const { sequence, bids, asks } = shown.of(book, asked.levels);
      const { instrument: i } = book;
      const part = { lastUpdateId: sequence, bids: levelTexts(i, bids), asks: levelTexts(i, asks) };
      this.#spread(topic, JSON.stringify(part));
    }
  }

  #spread(topic: string, text: string): void {
    const listeners = this.#topics.get(topic);
    const { switches } = this.#world;
    if (!listeners || switches.streamFrames === 'withheld') return;
    if (this.#queue.full) {
      for (const session of [...this.#sessions]) this.#end(session, 1011);
      return;
    }
    const sessions = [...listeners];
    const combined = `{"stream":${JSON.stringify(topic)},"data":${text}}`;
    this.#queue.submit(switches.streamDelayMs, () => {
      for (const session of sessions) {
        if (!session.open) continue;
        session.send(session.combined ? combined : text);
        session.frames++;
        const every = this.#world.switches.streamCloseEvery;
        if (every > 0 && session.frames % every === 0) this.#end(session, 1011);
      }
    });
  }

  #receive(session: Session, text: string): void {
    if (!session.open) return;
    const now = this.#world.clock.elapsed();
    if (now - session.windowStart >= 1_000) {
      session.windowStart = now;
      session.received = 0;
    }
    if (++session.received > this.#world.switches.streamReceivedMax) {
      this.#end(session, 1008);
      return;
    }
    const answer = (fields: object) => session.send(JSON.stringify(fields));
    const refuse = (code: number, msg: string, id: unknown = null) => answer({ code, msg, id });
    const asked = parsedMessage(text);
    if (asked === null) return refuse(3, 'Invalid JSON: expected value at line 1 column 1');
    const { method, params, id } = asked;
    const isId =
      id === null ||
      (typeof id === 'number' && Number.isSafeInteger(id)) ||
      (typeof id === 'string' && /^[A-Za-z0-9]{1,36}$/.test(id));
    if (!isId) return refuse(2, 'Invalid request: request ID must be an unsigned integer');
    if (method === 'LIST_SUBSCRIPTIONS') return answer({ result: [...session.topics], id });
    const list: readonly unknown[] = Array.isArray(params) ? params : [];
    if (method === 'SUBSCRIBE' || method === 'UNSUBSCRIBE') {
      const topics = list.filter(each => typeof each === 'string');
      if (topics.length === 0 || topics.length !== list.length)
        return refuse(2, 'Invalid request: expected a list of stream names', id);
      for (const topic of topics) {
        if (method === 'SUBSCRIBE') this.#join(session, topic);
        else this.#leave(session, topic);
      }
      return answer({ result: null, id });
    }
    if (method !== 'SET_PROPERTY' && method !== 'GET_PROPERTY')
      return refuse(
        2,
        'Invalid request: unknown variant, expected one of `SUBSCRIBE`, `UNSUBSCRIBE`, `LIST_SUBSCRIPTIONS`, `SET_PROPERTY`, `GET_PROPERTY`',
        id,
      );
    if (list[0] !== 'combined') return refuse(0, 'Unknown property', id);
    if (method === 'GET_PROPERTY') return answer({ result: session.combined, id });
    if (typeof list[1] !== 'boolean') return refuse(1, 'Invalid value type: expected Boolean', id);
    session.combined = list[1];
    answer({ result: null, id });
  }
}

const feedName = (book: string, everyMs: number): string => `${book}@${everyMs}`;

/**
 * Parses the name of a depth stream. `levels` is `null` for a stream of changed levels. Returns `null` for other
 * streams.
 */
function depthTopic(
  topic: string,
): { readonly symbol: string; readonly levels: number | null; readonly everyMs: number } | null {
  const parts = /^([a-z0-9]+)@depth(5|10|20)?(?:@(100|1000)ms)?$/.exec(topic);
  if (!parts) return null;
  const [, symbol, levels, every] = parts;
  return {
    symbol: symbol!,
    levels: levels === undefined ? null : Number(levels),
    everyMs: every === undefined ? SLOW_MS : Number(every),
  };
}
