/** Where the engine's book comes from, answer by answer: what is told as the book of now, and what bad data may do. */
import { describe, expect, test } from 'vitest';
import {
  bestOf,
  emptyDepth,
  instrumentOf,
  VirtualClock,
  type BookSnapshot,
  type EngineEvent,
  type Exchange,
  type Outcome,
  type StreamNews,
} from '../../../src/core/index.ts';
import { MarketData } from '../../../src/live/market/marketData.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { bookRules } from '../../core/market.ts';

const instrument = instrumentOf(bookRules({ tickSize: '1' }));

const snapshot = (sequence: bigint, bid: string): BookSnapshot => ({
  book: 'btc_mxn',
  sequence,
  updatedAt: 0,
  bids: [{ price: bid, amount: '1', oid: `b${bid}` }],
  asks: [{ price: '110', amount: '1', oid: 'a110' }],
});

/** Market data over an exchange that answers when the test says so. */
function market() {
  const clock = new VirtualClock();
  const told: EngineEvent[] = [];
  const broken: unknown[] = [];
  const noted: string[] = [];
  const answers: ((of: Outcome<BookSnapshot>) => void)[] = [];
  const trades = { value: [{ price: '105' }] as unknown };
  let hear: (news: StreamNews) => void = () => undefined;
  const exchange = {
    limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
    orderBook: () => new Promise(resolve => answers.push(resolve)),
    trades: async () => ({ kind: 'done', value: trades.value }),
    budget: () => ({ public: 60, private: 300 }),
  } as unknown as Exchange;
  const data = new MarketData({
    run: {
      clock,
      time: () => clock.elapsed(),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      step: event => void told.push(event),
    },
    bot: { book: 'btc_mxn', instance: 'mm' },
    venue: {
      exchange,
      stream: { start: listener => void (hear = listener), restart: () => undefined, close: () => undefined },
    },
    engine: { liveOrders: [] },
    account: {
      reads: new Reads(exchange, 'btc_mxn', undefined, () => clock.elapsed()),
      readTrades: async () => undefined,
      readBalances: async () => undefined,
      look: async () => undefined,
    },
    instrument: () => instrument,
    bookPollMs: 1_000,
    note: (what, failed) => void noted.push(`${what} ${failed.kind === 'refused' ? failed.code : failed.reason}`),
    host: {
      onTurn: () => undefined,
      isWaking: () => false,
      onBroken: error => void broken.push(error),
    },
  });
  data.start();
  const answer = async (value: BookSnapshot) => {
    answers.shift()!({ kind: 'done', value });
    await clock.advance(0);
  };
  return { clock, told, broken, noted, trades, data, answer, hear: (news: StreamNews) => hear(news) };
}

const placed = (oid: string): EngineEvent => ({
  kind: 'placed',
  at: 0,
  id: 'mm-1-1',
  outcome: { kind: 'done', value: { oid } },
});

describe('market data', () => {
  test('never tells a polled book, with our orders in it, for the book of the stream, which is without them', async () => {
    const { clock, told, data, answer, hear } = market();
    hear({ kind: 'up' });
    await clock.advance(50);
    await answer(snapshot(5n, '100'));
    await clock.advance(1_500);
    const poll = data.poll();
    await clock.advance(100);
    // The stream gives a sign of life while a newer book than its own is on its way.
    hear({ kind: 'alive' });
    await answer(snapshot(6n, '101'));
    await poll;
    const before = told.length;
    expect(told[before - 1]).toMatchObject({ kind: 'book', startedAt: 1_550 });
    data.learn(placed('b100'));
    expect(told.slice(before)).toEqual([]);
    await data.stop();
  });

  test('moves what is off the tick grid, as after a change of the tick, towards the other side, and quotes on it', async () => {
    const { told, data, answer } = market();
    const poll = data.poll();
    const { bids, asks, ...rest } = snapshot(5n, '100');
    await answer({
      ...rest,
      bids: [{ price: '100.5', amount: '1' }, ...bids],
      asks: [{ price: '109.5', amount: '1' }, ...asks],
    });
    await poll;
    const depth = emptyDepth(1);
    for (const event of told) if (event.kind === 'book') event.book.depth(depth);
    expect([bestOf(depth, 'buy'), bestOf(depth, 'sell')]).toEqual([101, 109]);
    await data.stop();
  });

  test('passes over a book and a trade with impossible prices, and breaks nothing', async () => {
    const { clock, told, broken, noted, trades, data, answer } = market();
    trades.value = [{ price: '99999999999999999999' }];
    const poll = data.poll();
    await answer(snapshot(5n, '0'));
    await poll;
    expect(told).toEqual([]);
    expect(noted).toEqual(['order_book passed over']);
    trades.value = [{ price: '105' }];
    await clock.advance(30_000);
    const next = data.poll();
    await answer(snapshot(6n, '100'));
    await next;
    expect(told.map(({ kind }) => kind)).toEqual(['book', 'public trade']);
    expect(broken).toEqual([]);
    await data.stop();
  });

  test('takes a book that counts from the beginning after a minute of growing ones, and none that is only old', async () => {
    const { clock, told, noted, data, answer } = market();
    const read = async (sequence: bigint) => {
      await clock.advance(5_000);
      const poll = data.poll();
      await answer(snapshot(sequence, '100'));
      await poll;
      return told.filter(({ kind }) => kind === 'book').length;
    };
    expect(await read(9_000n)).toBe(1);
    // Held on their way, again and again.
    for (let i = 0; i < 30; i++) expect(await read(8_000n)).toBe(1);
    for (let i = 0; i < 30; i++) expect(await read(i % 5 === 4 ? 9_000n : 8_000n + BigInt(i))).toBeLessThanOrEqual(7);
    const books = () => told.filter(({ kind }) => kind === 'book').length;
    const before = books();
    let reads = 0;
    while (books() === before && reads < 100) await read(BigInt(++reads));
    expect(reads * 5_000).toBeGreaterThanOrEqual(60_000);
    expect(reads * 5_000).toBeLessThanOrEqual(75_000);
    expect(await read(BigInt(reads + 1))).toBe(before + 2);
    expect(noted.length).toBeGreaterThan(0);
    await data.stop();
  });
});
