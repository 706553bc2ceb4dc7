/** Where the engine's book comes from, answer by answer: what is told as the book of now, and what bad data may do. */
import { describe, expect, test } from 'vitest';
import { instrumentOf, OrderBook, VirtualClock } from '../../src/core/index.ts';
import type { BookSnapshot, Engine, EngineEvent, Exchange, Outcome, StreamNews } from '../../src/core/index.ts';
import { MarketData } from '../../src/live/marketData.ts';
import { Reads } from '../../src/live/reads.ts';
import { bookRules } from '../core/market.ts';

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
  const book = new OrderBook();
  const told: EngineEvent[] = [];
  const broken: unknown[] = [];
  const answers: ((of: Outcome<BookSnapshot>) => void)[] = [];
  const trades = { value: [{ price: '105' }] as unknown };
  let hear: (news: StreamNews) => void = () => undefined;
  const exchange = {
    orderBook: () => new Promise(resolve => answers.push(resolve)),
    trades: async () => ({ kind: 'done', value: trades.value }),
    budget: () => ({ public: 60, private: 300 }),
  } as unknown as Exchange;
  const data = new MarketData({
    clock,
    engine: { book, liveOrders: [] } as unknown as Engine,
    exchange,
    stream: { start: listener => void (hear = listener), restart: () => undefined, close: () => undefined },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    book: 'btc_mxn',
    instance: 'mm',
    reads: new Reads(exchange, 'btc_mxn', undefined, () => clock.elapsed()),
    timing: { bookPollMs: 1_000 },
    instrument: () => instrument,
    time: () => clock.elapsed(),
    step: event => void told.push(event),
    note: () => undefined,
    onBroken: error => void broken.push(error),
    readTrades: async () => undefined,
    readBalances: async () => undefined,
    look: async () => undefined,
  });
  data.start();
  const answer = async (value: BookSnapshot) => {
    answers.shift()!({ kind: 'done', value });
    await clock.advance(0);
  };
  return { clock, book, told, broken, trades, data, answer, hear: (news: StreamNews) => hear(news) };
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
    const { book, data, answer } = market();
    const poll = data.poll();
    const { bids, asks, ...rest } = snapshot(5n, '100');
    await answer({
      ...rest,
      bids: [{ price: '100.5', amount: '1' }, ...bids],
      asks: [{ price: '109.5', amount: '1' }, ...asks],
    });
    await poll;
    const [bid, ask] = [book.best('buy'), book.best('sell')];
    expect([bid, ask]).toEqual([101, 109]);
    await data.stop();
  });

  test('passes over a book and a trade with impossible prices, and breaks nothing', async () => {
    const { clock, book, told, broken, trades, data, answer } = market();
    trades.value = [{ price: '99999999999999999999' }];
    const poll = data.poll();
    await answer(snapshot(5n, '0'));
    await poll;
    expect(told).toEqual([]);
    expect(book.levels('sell')).toBe(0);
    trades.value = [{ price: '105' }];
    await clock.advance(30_000);
    const next = data.poll();
    await answer(snapshot(6n, '100'));
    await next;
    expect(told.map(({ kind }) => kind)).toEqual(['book', 'public trade']);
    expect(broken).toEqual([]);
    await data.stop();
  });
});
