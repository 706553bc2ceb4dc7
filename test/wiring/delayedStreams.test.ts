/** The streams of all exchanges on connections that become slow: an old book is never told as current, and a prompt connection is not disturbed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  randomOf,
  sleep,
  VirtualClock,
  type BookSnapshot,
  type MarketStream,
  type StreamListener,
  type StreamTransport,
} from '../../src/core/index.ts';
import { spotStream } from '../../src/exchange/binance/stream/stream.ts';
import { marketStream } from '../../src/exchange/bitso/stream/stream.ts';
import { LevelBook } from '../../src/exchange/kraken/stream/levelBook.ts';
import { krakenStream } from '../../src/exchange/kraken/stream/stream.ts';
import { VenuePriceSource } from '../../src/live/market/venuePriceSource.ts';
import { bookRules } from '../core/market.ts';
import { between } from '../draws.ts';
import { runsOf } from '../many.ts';

const BOOK = 'btc_usd';
/** Time of a frame on a prompt connection, and of a request and of its answer. */
const TRANSIT_MS = 30;
/** Maximum delay of a frame that is told as current, beyond that of the fastest frame of its connection. */
const LAG_MAX_MS = 2_000;
/** Unit of the send times. */
const UNIT_MS = 1;
const POLL_MS = 5_000;

/** Exchange with one bid, whose price grows with each change, and one ask. */
class Truth {
  readonly clock = new VirtualClock(1_700_000_000_000);
  /** Local time at which each version of the book was replaced by the next. */
  readonly replacedAt: number[] = [];
  readonly clockAheadMs: number;

  constructor(clockAheadMs: number) {
    this.clockAheadMs = clockAheadMs;
  }

  get version(): number {
    return this.replacedAt.length;
  }

  /** Time on the clock of the exchange. */
  get now(): number {
    return Math.floor(this.clock.now()) + this.clockAheadMs;
  }

  /** `hasOrders`: whether the book lists orders with ids, not levels. */
  snapshot(sequence: bigint, hasOrders: boolean): BookSnapshot {
    const [bid, ask] = [`b${this.version}`, 'a'].map(oid => (hasOrders ? { oid } : {}));
    return {
      ...{ book: BOOK, sequence, updatedAt: this.now },
      bids: [{ price: priceOf(this.version), amount: '1', ...bid }],
      asks: [{ price: '90000.1', amount: '1', ...ask }],
    };
  }
}

const priceOf = (version: number): string => `${30_000 + version}.1`;
const versionOf = (bid: number): number => Math.round(bid - 30_000.1);

type Venue = {
  readonly name: string;
  readonly stream: (
    truth: Truth,
    transport: StreamTransport,
    orderBook: () => Promise<{ readonly kind: 'done'; readonly value: BookSnapshot }>,
  ) => MarketStream;
  /** Sequence number of a polled book that is requested now. */
  readonly sequence: (truth: Truth) => bigint;
  /** Answers to a frame of the client; the first `''` is sent at the opening. */
  readonly answers: (truth: Truth, sent: string) => readonly object[];
  /** Frame of the change to the current version. */
  readonly change: (truth: Truth) => object;
  /** Frame without content and send time; `null` for a ping of the protocol. */
  readonly idle: (truth: Truth) => object | null;
};

const counted = ({ version }: Truth): bigint => BigInt(version + 1);

const bidsOf = (truth: Truth): { readonly bids: object[]; readonly checksum: number } => {
  const levels = new LevelBook(10);
  levels.replace({
    bids: [{ price: priceOf(truth.version), amount: '1' }],
    asks: [{ price: '90000.1', amount: '1' }],
  });
  const bid = (version: number, qty: number) => ({ price: Number(priceOf(version)), qty });
  const gone = truth.version > 0 ? [bid(truth.version - 1, 0)] : [];
  return { bids: [...gone, bid(truth.version, 1)], checksum: levels.checksum({ price: 1, amount: 8 }) };
};

/** `hasTimes`: whether snapshots and updates without a change have a send time. */
const kraken = (hasTimes: boolean): Venue => {
  const iso = (truth: Truth): string => new Date(truth.now).toISOString();
  const pair = { symbol: 'BTC/USD', base: 'BTC', quote: 'USD', status: 'online', price_precision: 1, qty_precision: 8 };
  return {
    name: hasTimes ? 'kraken' : 'kraken, with frames of levels without a time,',
    stream: ({ clock }, transport) => krakenStream({ transport, clock, random: randomOf(1), book: BOOK, depth: 10 }),
    sequence: ({ clock }) => BigInt(Math.floor(clock.elapsed() * 1_000)),
    answers: (truth, sent) => {
      if (sent === '') return [];
      const { method, params } = JSON.parse(sent) as { readonly method: string; readonly params?: { channel: string } };
      if (method === 'ping') return [{ method: 'pong', time_in: iso(truth), time_out: iso(truth) }];
      if (params!.channel === 'instrument')
        return [{ channel: 'instrument', type: 'snapshot', data: { pairs: [pair] } }];
      const asks = [{ price: 90_000.1, qty: 1 }];
      const { bids, checksum } = bidsOf(truth);
      const time = hasTimes ? { timestamp: iso(truth) } : {};
      const data = [{ symbol: 'BTC/USD', bids: bids.slice(-1), asks, checksum, ...time }];
      const book = { channel: 'book', type: 'snapshot', data };
      const answer = { method, success: true, result: { channel: params!.channel } };
      return params!.channel === 'book' ? [answer, book] : [answer];
    },
    change: truth => ({
      ...{ channel: 'book', type: 'update' },
      data: [{ symbol: 'BTC/USD', asks: [], ...bidsOf(truth), timestamp: iso(truth) }],
    }),
    idle: truth => {
      if (hasTimes) return { channel: 'heartbeat' };
      const data = [{ symbol: 'BTC/USD', bids: [], asks: [], checksum: bidsOf(truth).checksum }];
      return { channel: 'book', type: 'update', data };
    },
  };
};

const VENUES: readonly Venue[] = [
  kraken(true),
  kraken(false),
  {
    name: 'binance',
    stream: ({ clock }, transport, orderBook) =>
      spotStream({
        ...{ transport, clock, random: randomOf(1), book: BOOK, symbol: 'BTCUSD', depth: 100 },
        exchange: { orderBook },
      }),
    sequence: counted,
    answers: () => [],
    change: truth => {
      const id = Number(counted(truth));
      const bids = [
        [priceOf(truth.version - 1), '0'],
        [priceOf(truth.version), '1'],
      ];
      return { e: 'depthUpdate', E: truth.now, s: 'BTCUSD', U: id, u: id, b: bids, a: [] };
    },
    idle: () => null,
  },
  {
    name: 'bitso',
    stream: ({ clock }, transport) => marketStream({ transport, clock, random: randomOf(1), book: BOOK }),
    sequence: counted,
    answers: (_, sent) => {
      if (sent === '') return [];
      const { type } = JSON.parse(sent) as { readonly type: string };
      return [{ action: 'subscribe', response: 'ok', time: 1, type }];
    },
    change: truth => ({
      ...{ type: 'diff-orders', book: BOOK, sequence: Number(counted(truth)), sent: truth.now },
      payload: [
        { o: `b${truth.version - 1}`, s: 'cancelled', t: 0, r: priceOf(truth.version - 1) },
        { o: `b${truth.version}`, s: 'open', t: 0, r: priceOf(truth.version), a: '1' },
      ],
    }),
    idle: () => ({ type: 'ka' }),
  },
];

type Told = { readonly at: number; readonly version: number; readonly ageMs: number };

/** Price source of a venue on a connection whose delay the test sets, with everything that the source tells. */
class World {
  readonly truth: Truth;
  readonly told: Told[] = [];
  polls = 0;
  /** Delay of frames that are sent from now on. */
  #delayMs = TRANSIT_MS;
  readonly #venue: Venue;
  readonly #source: VenuePriceSource;
  #listener: StreamListener | null = null;
  /** Whether a frame of a change has arrived on this connection, with which the delay of later frames is compared. */
  #isMeasured = false;
  #arrivesAt = 0;
  #changesLateMs = 0;

  constructor(venue: Venue, clockAheadMs: number) {
    this.#venue = venue;
    this.truth = new Truth(clockAheadMs);
    const { clock } = this.truth;
    const orderBook = async () => {
      this.polls++;
      await sleep(clock, TRANSIT_MS);
      const value = this.truth.snapshot(venue.sequence(this.truth), venue.name === 'bitso');
      await sleep(clock, TRANSIT_MS);
      return { kind: 'done', value } as const;
    };
    const rules = { ...bookRules({ tickSize: '0.1' }), book: BOOK, fees: null };
    this.#source = new VenuePriceSource({
      ...{ name: venue.name, book: BOOK, clock, pollMs: POLL_MS, levels: 1 },
      exchange: { availableBooks: () => Promise.resolve({ kind: 'done', value: [rules] }) as never, orderBook },
      newStream: () => venue.stream(this.truth, this.#transport(), orderBook),
    });
    this.#source.start(news => {
      if (news.kind !== 'book') return;
      this.told.push({ at: clock.elapsed(), version: versionOf(news.bids[0]![0]), ageMs: news.ageMs });
    });
  }

  #transport(): StreamTransport {
    return {
      connect: listener => {
        this.#listener = listener;
        this.#isMeasured = false;
        this.#delayMs = TRANSIT_MS;
        this.#arrivesAt = 0;
        this.#later(TRANSIT_MS, listener, () => {
          listener.open();
          this.#answer(listener, '');
        });
        return {
          send: text => this.#later(TRANSIT_MS, listener, () => this.#answer(listener, text)),
          close: () => {
            if (this.#listener === listener) this.#listener = null;
          },
        };
      },
    };
  }

  #later(ms: number, listener: StreamListener, work: () => void): void {
    this.truth.clock.after(ms, () => {
      if (this.#listener === listener) work();
    });
  }

  /** Delays only frames of changes, as an exchange does whose feed is behind its gateway. */
  delayChanges(ms: number): void {
    this.#changesLateMs = ms;
  }

  #answer(listener: StreamListener, sent: string): void {
    for (const frame of this.#venue.answers(this.truth, sent)) this.#send(listener, frame);
  }

  #send(listener: StreamListener, frame: object | null, isChange = false): void {
    const now = this.truth.clock.elapsed();
    this.#arrivesAt = Math.max(this.#arrivesAt, now + this.#delayMs);
    this.#later(this.#arrivesAt - now + (isChange ? this.#changesLateMs : 0), listener, () => {
      if (frame === null) listener.ping?.();
      else listener.text(JSON.stringify(frame));
      this.#isMeasured ||= isChange;
    });
  }

  change(): void {
    this.truth.replacedAt.push(this.truth.clock.elapsed());
    if (this.#listener !== null) this.#send(this.#listener, this.#venue.change(this.truth), true);
  }

  idle(): void {
    if (this.#listener !== null) this.#send(this.#listener, this.#venue.idle(this.truth));
  }

  delay(ms: number): void {
    if (this.#isMeasured) this.#delayMs = TRANSIT_MS + ms;
  }

  /** Connects, and receives some changes. */
  async begin(): Promise<void> {
    for (let n = 0; n < 10; n++) {
      await this.truth.clock.advance(200);
      this.change();
    }
    await this.truth.clock.advance(200);
    expect(this.told.at(-1)?.version).toBe(this.truth.version);
  }

  async end(): Promise<void> {
    const closed = this.#source.close();
    await this.truth.clock.advance(1_000);
    await closed;
  }
}

const clockAhead = fc.constantFrom(0, -3_600_000, 3_600_000);
const histories = fc.array(
  fc.record({
    ms: fc.oneof(between(0, 300), between(300, 3_000)),
    what: fc.constantFrom('change', 'change', 'idle', 'idle', 'idle', 'delay', 'prompt'),
    delayMs: fc.oneof(between(0, 3_000), between(3_000, 60_000)),
  }),
  { minLength: 5, maxLength: 60 },
);

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  'a book of %s that is older than the maximum lag is never told as current, whatever arrives late',
  async (_, venue) => {
    const seen = { late: 0, told: 0 };
    await fc.assert(
      fc.asyncProperty(histories, clockAhead, async (history, ahead) => {
        const world = new World(venue, ahead);
        await world.begin();
        for (const { ms, what, delayMs } of history) {
          await world.truth.clock.advance(ms);
          if (what === 'change') world.change();
          if (what === 'idle') world.idle();
          if (what === 'delay') world.delay(delayMs);
          if (what === 'prompt') world.delay(0);
          seen.late += Number(what === 'delay' && delayMs > LAG_MAX_MS);
        }
        await world.truth.clock.advance(70_000);
        for (const { at, version, ageMs } of world.told) {
          const replacedAt = world.truth.replacedAt[version] ?? Infinity;
          expect(at - ageMs - replacedAt).toBeLessThanOrEqual(LAG_MAX_MS + TRANSIT_MS + UNIT_MS);
        }
        seen.told += world.told.length;
        await world.end();
      }),
      runsOf(300, 30),
    );
    expect(Math.min(seen.late, seen.told)).toBeGreaterThan(0);
  },
);

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  'a prompt connection of %s tells each change when it arrives, and no price grows old',
  async (_, venue) => {
    await fc.assert(
      fc.asyncProperty(histories, clockAhead, async (history, ahead) => {
        const world = new World(venue, ahead);
        await world.begin();
        for (const { ms, what } of history) {
          for (let left = ms; left > 0; left -= 100) await world.truth.clock.advance(Math.min(100, left));
          const { at } = world.told.at(-1)!;
          expect(world.truth.clock.elapsed() - at).toBeLessThanOrEqual(POLL_MS + 200);
          if (what === 'change') world.change();
          else world.idle();
          await world.truth.clock.advance(TRANSIT_MS + 1);
          expect(world.told.at(-1)!.version).toBe(world.truth.version);
        }
        await world.end();
      }),
      runsOf(100, 15),
    );
  },
);

test('while frames of changes of kraken arrive late, its prompt pongs confirm no book', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(between(100, 2_500), { minLength: 5, maxLength: 30 }),
      between(2_500, 20_000),
      async (gaps, lateMs) => {
        const world = new World(VENUES[0]!, 0);
        await world.begin();
        world.delayChanges(lateMs);
        world.change();
        await world.truth.clock.advance(lateMs + 100);
        const first = world.told.length;
        for (const ms of gaps) {
          world.change();
          world.idle();
          await world.truth.clock.advance(ms);
        }
        for (const { at, version, ageMs } of world.told.slice(first)) {
          const replacedAt = world.truth.replacedAt[version] ?? Infinity;
          expect(at - ageMs - replacedAt).toBeLessThanOrEqual(LAG_MAX_MS + TRANSIT_MS + UNIT_MS);
        }
        await world.end();
      },
    ),
    runsOf(200, 20),
  );
});

test('a prompt connection of kraken without changes is confirmed by its pongs alone, without a poll', async () => {
  const world = new World(VENUES[0]!, 0);
  await world.begin();
  const before = { polls: world.polls, told: world.told.length };
  for (let n = 0; n < 60; n++) {
    await world.truth.clock.advance(1_000);
    world.idle();
  }
  expect(world.polls).toBe(before.polls);
  expect(world.told.length - before.told).toBeGreaterThan(25);
  await world.end();
});
