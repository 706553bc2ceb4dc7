/** The book of the stream: whatever frames are lost, doubled or late, it equals the book of the exchange. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  randomOf,
  settle,
  VirtualClock,
  type BookEntry,
  type BookSnapshot,
  type StreamListener,
  type StreamNews,
} from '../../../src/core/index.ts';
import { DepthBook, type DepthUpdate } from '../../../src/exchange/binance/stream/depthBook.ts';
import { spotStream } from '../../../src/exchange/binance/stream/stream.ts';
import { inProcessStream } from '../../../src/sandbox/index.ts';
import { runsOf } from '../../many.ts';
import { deskOn } from './fakes.ts';

/** The true book, with prices as whole numbers; bids are below 100, asks above. */
class TrueBook {
  readonly levels = new Map<number, number>();
  sequence = 10n;

  change(price: number, amount: number): DepthUpdate {
    if (amount === 0) this.levels.delete(price);
    else this.levels.set(price, amount);
    this.sequence++;
    const entry: BookEntry = { price: String(price), amount: String(amount) };
    const [bids, asks] = price < 100 ? [[entry], []] : [[], [entry]];
    return { first: this.sequence, last: this.sequence, sentAt: 0, bids, asks };
  }

  snapshot(depth: number): BookSnapshot {
    const side = (isBid: boolean) =>
      [...this.levels]
        .filter(([price]) => price < 100 === isBid)
        .sort(([a], [b]) => (isBid ? b - a : a - b))
        .slice(0, depth)
        .map(([price, amount]): BookEntry => ({ price: String(price), amount: String(amount) }));
    return { book: 'btc_usdt', sequence: this.sequence, updatedAt: 0, bids: side(true), asks: side(false) };
  }
}

const joined = (a: DepthUpdate, b: DepthUpdate): DepthUpdate => ({
  ...{ first: a.first, last: b.last, sentAt: b.sentAt, bids: [...a.bids, ...b.bids], asks: [...a.asks, ...b.asks] },
});

describe('a book of changes', () => {
  test('equals the true book after every step, whatever is lost, doubled and joined, and whenever snapshots are taken', () => {
    const step = fc.record({
      price: fc.oneof(fc.integer({ min: 80, max: 99 }), fc.integer({ min: 101, max: 120 })),
      amount: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9 })),
      then: fc.constantFrom('send', 'send', 'send', 'lose', 'double', 'join', 'snapshot', 'late snapshot'),
    });
    let compared = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), steps => {
        const truth = new TrueBook();
        const book = new DepthBook('btc_usdt');
        let [open, late]: [DepthUpdate | null, BookSnapshot | null] = [null, null];
        const check = (result: ReturnType<DepthBook['seed']>) => {
          if (result === null || typeof result === 'string' || 'lost' in result) return;
          compared++;
          // Changes that are still to be sent are in the truth only.
          if (open === null) expect({ ...result.snapshot, updatedAt: 0 }).toEqual(truth.snapshot(100));
        };
        for (const { price, amount, then } of steps) {
          const change = truth.change(price, amount);
          const update: DepthUpdate = open === null ? change : joined(open, change);
          open = then === 'join' ? update : null;
          if (then === 'join') continue;
          if (then === 'late snapshot') late = truth.snapshot(1_000);
          if (then !== 'lose') check(book.take(update));
          if (then === 'double') expect(['old', 'waiting']).toContain(book.take(update));
          if (then === 'snapshot' && book.isWaiting) {
            check(book.seed(late ?? truth.snapshot(1_000), 1_000));
            late = null;
          }
        }
      }),
      runsOf(2_000, 200),
    );
    expect(compared).toBeGreaterThan(1_000);
  });

  test('is lost at a gap, at crossed prices, and when the price leaves the levels of the snapshot', () => {
    const truth = new TrueBook();
    truth.change(99, 1);
    truth.change(101, 1);
    const book = new DepthBook('btc_usdt');
    expect(book.seed(truth.snapshot(1_000), 1_000)).toMatchObject({ snapshot: { bids: [{ price: '99' }] } });
    truth.change(98, 1);
    expect(book.take(truth.change(97, 1))).toEqual({ lost: 'updates 13 to 13 of the book are missing' });
    // The update after the gap waits; a snapshot from before the gap is too old for it.
    const old = { ...truth.snapshot(1_000), sequence: 12n };
    expect(book.seed(old, 1_000)).toBeNull();
    expect(book.seed({ ...old, sequence: 13n }, 1_000)).toMatchObject({ snapshot: { sequence: 14n } });
    const entry = (price: string): BookEntry => ({ price, amount: '1' });
    const crossed = { first: 15n, last: 15n, sentAt: 0, bids: [entry('102')], asks: [] };
    expect(book.take(crossed)).toEqual({ lost: 'the best bid of the book is at or above the best ask' });
  });

  const updateOf = (id: number, sentAt: number, changes: Partial<DepthUpdate> = {}): DepthUpdate => ({
    ...{ first: BigInt(id), last: BigInt(id), sentAt, bids: [], asks: [] },
    ...changes,
  });
  const wholeAt = (id: number, updatedAt: number): BookSnapshot => ({
    ...{ book: 'btc_usdt', sequence: BigInt(id), updatedAt },
    bids: [{ price: '99', amount: '1' }],
    asks: [{ price: '101', amount: '1' }],
  });

  test.each([
    [1_000, 10],
    [1_001, 11],
    [1_007, 17],
  ])('keeps of %i updates that wait the last thousand: a snapshot must have all before update %i', (count, first) => {
    for (const sequence of [first - 2, first - 1]) {
      const book = new DepthBook('btc_usdt');
      for (let n = 0; n < count; n++) expect(book.take(updateOf(10 + n, n))).toBe('waiting');
      const seeded = book.seed(wholeAt(sequence, 5), 1_000);
      if (sequence < first - 1) expect(seeded).toBeNull();
      else expect(seeded).toMatchObject({ snapshot: { sequence: BigInt(9 + count), updatedAt: count - 1 } });
      expect(book.isWaiting).toBe(sequence < first - 1);
    }
  });

  test('is as old as its last update, also if the snapshot has all of those that waited; only an update is sent', () => {
    const book = new DepthBook('btc_usdt');
    for (const id of [10, 11, 12]) book.take(updateOf(id, 100 * id));
    const seeded = book.seed(wholeAt(12, 5), 1_000);
    expect(seeded).toMatchObject({ snapshot: { sequence: 12n, updatedAt: 1_200 } });
    expect(seeded).not.toHaveProperty('sentAt');
    expect(book.take(updateOf(13, 1_310))).toMatchObject({ snapshot: { updatedAt: 1_310 }, sentAt: 1_310 });
    book.reset();
    expect(book.seed(wholeAt(20, 7), 1_000)).toMatchObject({ snapshot: { sequence: 20n, updatedAt: 7 } });
  });

  test.each(['bids', 'asks'] as const)(
    'forgets levels beyond four thousand per side, and then knows that it does: %s',
    side => {
      const levels = (count: number, amount: string) =>
        Array.from({ length: count }, (_, n) => ({
          price: String(side === 'bids' ? 98_000 - n : 102_000 + n),
          amount,
        }));
      const seeded = () => {
        const book = new DepthBook('btc_usdt');
        const [bids, asks] = [[{ price: '99000', amount: '1' }], [{ price: '101000', amount: '1' }]];
        book.seed({ ...wholeAt(1, 0), bids, asks }, 1_000);
        return book;
      };
      // With the level of the snapshot, these are one level more than are kept.
      for (const [added, gone, isLost] of [
        [4_000, 3_950, false],
        [4_000, 3_951, true],
        [3_999, 3_999, false],
      ] as const) {
        const book = seeded();
        expect(book.take(updateOf(2, 0, { [side]: levels(added, '1') }))).toHaveProperty('snapshot');
        const step = book.take(updateOf(3, 0, { [side]: levels(gone, '0') }));
        expect([added, gone, typeof step === 'object' && 'lost' in step]).toEqual([added, gone, isLost]);
      }
    },
  );

  test.each(['bids', 'asks'] as const)('knows each side as far as its snapshot goes: %s', side => {
    const entry = (price: string): BookEntry => ({ price, amount: '1' });
    const other = side === 'bids' ? 'asks' : 'bids';
    const levels = Array.from({ length: 60 }, (_, n) => entry(String(side === 'bids' ? 1_000 - n : 2_000 + n)));
    const few = [entry(side === 'bids' ? '2000' : '1000')];
    const gone = (of: typeof levels) => of.map(({ price }) => ({ price, amount: '0' }));
    const bookWith = (mine: typeof levels, depth: number) => {
      const book = new DepthBook('btc_usdt');
      const snapshot = { book: 'x', sequence: 1n, updatedAt: 0, [side]: mine, [other]: few } as unknown as BookSnapshot;
      expect(book.seed(snapshot, depth)).toMatchObject({ snapshot: { sequence: 1n } });
      return book;
    };
    const update = (name: string, changes: typeof levels) =>
      ({ first: 2n, last: 2n, sentAt: 0, bids: [], asks: [], [name]: changes }) as DepthUpdate;
    // A snapshot with as many levels as were asked for may lack some beyond.
    const cut = 'the price has moved beyond the price levels of the last snapshot';
    expect(bookWith(levels, 60).take(update(side, gone(levels.slice(0, 11))))).toEqual({ lost: cut });
    // The other side, and one with fewer levels, is complete.
    expect(bookWith(levels, 60).take(update(other, gone(few)))).toMatchObject({ snapshot: { sequence: 2n } });
    expect(bookWith(levels, 61).take(update(side, gone(levels)))).toMatchObject({ snapshot: { sequence: 2n } });
  });
});

describe('the stream', () => {
  test('of a market with lost and late frames shows only books that the exchange had, and the trades with their makers', async () => {
    const desk = deskOn({ streamDropEvery: 17, streamDelayMs: 30, streamCloseEvery: 150 });
    const { client, other, clock, exchange } = desk;
    const url = '/stream?streams=btcusdt@depth@100ms/btcusdt@trade';
    const stream = spotStream({
      ...{ transport: inProcessStream(exchange.stream, clock, 5, url), clock, random: randomOf(1) },
      ...{ book: 'btc_usdt', symbol: 'BTCUSDT', exchange: client, depth: 1_000 },
    });
    const news: StreamNews[] = [];
    stream.start(piece => void news.push(piece));
    const random = randomOf(7);
    const truths = new Map<bigint, string>();
    const remember = () => {
      const { sequence, bids, asks } = exchange.venue.books.get('btc_usdt')!.engine.sequence
        ? trueBookOf(exchange)
        : { sequence: 0n, bids: [], asks: [] };
      truths.set(sequence, JSON.stringify({ bids, asks }));
    };
    for (let n = 0; n < 150; n++) {
      const side = random.integer(0, 1) === 0 ? 'buy' : 'sell';
      const away = random.integer(-15, 30) / 100;
      const price = (side === 'buy' ? 30_000 - away : 30_000 + away).toFixed(2);
      const by = random.integer(0, 1) === 0 ? client : other;
      const placed = by.place({
        ...{ book: 'btc_usdt', side, price, major: '0.001', originId: `a-1-${n}`, timeInForce: 'good till canceled' },
      });
      await desk.run(placed);
      remember();
      await clock.advance(random.integer(300, 500));
    }
    await clock.advance(2_000);
    remember();
    const books = news.flatMap(piece => (piece.kind === 'book' ? [piece.snapshot] : []));
    expect(books.length).toBeGreaterThan(50);
    const known = books.filter(({ sequence }) => truths.has(sequence));
    expect(known.length).toBeGreaterThan(50);
    for (const { sequence, bids, asks } of known) expect(JSON.stringify({ bids, asks })).toBe(truths.get(sequence));
    const trades = news.flatMap(piece => (piece.kind === 'trades' ? piece.trades : []));
    expect(trades.length).toBeGreaterThan(10);
    expect(trades.every(({ makerOid }) => makerOid === undefined)).toBe(true);
    const kinds = new Set(news.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['up', 'down', 'book', 'trades', 'fault']));
    stream.close();
  });

  /** A stream over connections that the test feeds. */
  function fed(snapshots: BookSnapshot[] = []) {
    const clock = new VirtualClock();
    const made: StreamListener[] = [];
    const news: StreamNews[] = [];
    let reads = 0;
    const stream = spotStream({
      ...{ clock, random: randomOf(1), book: 'btc_usdt', symbol: 'BTCUSDT', depth: 1_000 },
      transport: {
        connect: listener => {
          made.push(listener);
          return { send: () => undefined, close: () => undefined };
        },
      },
      exchange: {
        orderBook: () => {
          reads++;
          const [value] = snapshots.splice(0, 1);
          return Promise.resolve(value ? { kind: 'done', value } : { kind: 'unknown', reason: 'none' });
        },
      },
    });
    stream.start(piece => void news.push(piece));
    const say = (data: object) => made.at(-1)!.text(JSON.stringify({ stream: 'x', data }));
    return { clock, made, news, say, stream, reads: () => reads, kinds: () => news.map(({ kind }) => kind) };
  }

  test('reconnects at once after the exchange announced the end of its server, and hears pings', async () => {
    const { clock, made, say, kinds, news } = fed();
    made[0]!.open();
    made[0]!.ping!();
    say({ e: 'serverShutdown', E: 1 });
    expect(kinds()).toEqual(['up', 'alive', 'down']);
    expect(news.at(-1)).toMatchObject({ reason: 'the exchange announced that its server shuts down' });
    await clock.advance(1_000);
    expect(made.length).toBe(2);
    // Pings keep a connection without frames.
    made[1]!.open();
    for (let n = 0; n < 10; n++) {
      await clock.advance(20_000);
      made[1]!.ping!();
    }
    expect(made.length).toBe(2);
    await clock.advance(66_000);
    expect(kinds().filter(kind => kind === 'down').length).toBe(2);
  });

  test('asks for snapshots less and less often while none is of use', async () => {
    const { clock, made, reads } = fed();
    made[0]!.open();
    for (let n = 0; n < 30; n++) {
      await clock.advance(20_000);
      made[0]!.ping!();
    }
    await settle();
    // 0.2, 1.2, 3.2, 7.2, 15.2, 31.2, 63.2 s, then each minute.
    expect(reads()).toBe(15);
  });

  test('tells a frame that it cannot read, and starts from a new snapshot after it', async () => {
    const empty: BookSnapshot = { book: 'btc_usdt', sequence: 5n, updatedAt: 0, bids: [], asks: [] };
    const { clock, made, say, kinds, news } = fed([empty, { ...empty, sequence: 9n }]);
    made[0]!.open();
    await clock.advance(300);
    expect(kinds()).toEqual(['up', 'book']);
    say({ e: 'depthUpdate', E: 1, s: 'BTCUSDT', U: 6, u: 6, b: [['1', 2]], a: [] });
    expect(news.at(-1)).toMatchObject({ kind: 'book', snapshot: { bids: [{ price: '1', amount: null }] } });
    say({ e: 'depthUpdate', E: 1, s: 'BTCUSDT', U: 7, u: 7, b: [[1, '2']], a: [] });
    expect(kinds().at(-1)).toBe('fault');
    say({ e: 'depthUpdate', E: 1, s: 'BTCUSDT', U: 10, u: 10, b: [], a: [] });
    await clock.advance(2_000);
    expect(news.at(-1)).toMatchObject({ kind: 'book', snapshot: { sequence: 10n } });
    say({ e: 'trade', s: 'ETHUSDT' });
    expect(kinds().at(-1)).toBe('fault');
    say({ e: 'other' });
    say({ result: null, id: 1 });
  });
});

/** The whole book of the exchange, with amounts as its answers show them. */
function trueBookOf(exchange: ReturnType<typeof deskOn>['exchange']): BookSnapshot {
  const reply = exchange.respond(
    { method: 'GET', target: '/api/v3/depth?symbol=BTCUSDT&limit=100', headers: {}, body: '' },
    '10.0.0.9',
  );
  const { lastUpdateId, bids, asks } = JSON.parse(reply.body) as {
    lastUpdateId: number;
    bids: [string, string][];
    asks: [string, string][];
  };
  const entries = (levels: [string, string][]) => levels.map(([price, amount]) => ({ price, amount }));
  return { book: 'btc_usdt', sequence: BigInt(lastUpdateId), updatedAt: 0, bids: entries(bids), asks: entries(asks) };
}
