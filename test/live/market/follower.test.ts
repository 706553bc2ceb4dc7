import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amount,
  instrumentOf,
  price,
  randomOf,
  VirtualClock,
  type Exchange,
  type Price,
  type StreamTransport,
} from '../../../src/core/index.ts';
import { exchangeClient, marketStream } from '../../../src/exchange/index.ts';
import { Follower } from '../../../src/live/market/follower.ts';
import { createVenue, inProcessStream } from '../../../src/sandbox/index.ts';
import { bookRules } from '../../core/market.ts';
import { memoryLog } from '../../memoryLog.ts';
import { wireTo } from '../inProcess.ts';

const BOOK = 'btc_mxn';
const SECOND = 1_000;

/** A follower of a book in which only the test acts, and everything that it tells. */
async function following(way: (inner: StreamTransport, clock: VirtualClock) => StreamTransport) {
  const clock = new VirtualClock();
  const exchange = createVenue({ clock, switches: { feedDelayMinMs: 0, feedDelayMaxMs: 0 } });
  const house = exchange.marketplace(BOOK);
  house.place('buy', price(149_900), amount(50_000), 'GTC');
  house.place('sell', price(150_100), amount(50_000), 'GTC');
  const random = randomOf(1);
  const client = exchangeClient({ clock, random, transport: wireTo({ exchange, clock, random, latencyMs: [5, 5] }) });
  const transport = way(inProcessStream(exchange.stream, clock, 5), clock);
  const told: string[] = [];
  const follower = new Follower({
    exchange: client,
    stream: marketStream({ transport, clock, random, book: BOOK }),
    sink: {
      clear: () => void told.push('clear'),
      set: (side, at, lots) => void told.push(`${side} ${at}: ${lots}`),
      flush: () => void told.push('flush'),
      mark: () => 0,
      trade: (taker, at, lots) => void told.push(`${taker} trade ${at}: ${lots}`),
    },
    clock,
    log: memoryLog().log,
    instrument: house.instrument,
    pollMs: 1_250,
    readsPerMinute: 54,
    onFresh: isFresh => void told.push(isFresh ? 'fresh' : 'stale'),
    onBroken: error => {
      throw error;
    },
  });
  follower.start();
  await clock.advance(10 * SECOND);
  told.length = 0;
  return { clock, exchange, house, follower, told };
}

/** Frames of one kind come late, or never. */
const changed =
  (type: string, delayMs: number | null) =>
  (inner: StreamTransport, clock: VirtualClock): StreamTransport => ({
    connect: listener =>
      inner.connect({
        ...listener,
        text: frame => {
          if (!frame.includes(`"type":"${type}"`) || frame.includes('"action"')) listener.text(frame);
          else if (delayMs !== null) clock.after(delayMs, () => listener.text(frame));
        },
      }),
  });

describe('a follower', () => {
  test.each(['trades', 'diff-orders'])(
    'tells of an execution before the level that it changed, also when the %s frames come later',
    async type => {
      const { clock, house, told } = await following(changed(type, 100));
      house.place('buy', price(150_100), amount(20_000), 'IOC');
      await clock.advance(SECOND);
      expect(told).toEqual(['buy trade 150100: 20000', 'sell 150100: 30000', 'flush']);
    },
  );

  test('waits for no trade when an order is canceled, and not for ever when a trade never comes', async () => {
    const { clock, house, told } = await following(changed('trades', null));
    const { id } = house.place('sell', price(150_200), amount(10_000), 'GTC');
    house.cancel(id);
    await clock.advance(20);
    expect(told).toEqual(['sell 150200: 10000', 'flush', 'sell 150200: 0', 'flush']);
    house.place('buy', price(150_100), amount(20_000), 'IOC');
    await clock.advance(200);
    expect(told.length).toBe(4);
    await clock.advance(100);
    expect(told.slice(4)).toEqual(['sell 150100: 30000', 'flush']);
  });

  test('is fresh while a quiet book is confirmed, and stale soon after nobody answers', async () => {
    const { clock, exchange, follower, told } = await following(inner => inner);
    await clock.advance(60 * SECOND);
    expect([follower.isFresh, told]).toEqual([true, []]);
    // Neither frames nor answers: every request is refused.
    exchange.close();
    exchange.venue.closeBook(BOOK);
    await clock.advance(5 * SECOND);
    expect([follower.isFresh, told]).toEqual([false, ['stale']]);
  });
});

test('without a stream, the followed market is the polled book: what a side that is read in full no longer has is gone, and levels beyond a cut side remain', async () => {
  const DEPTH = 3;
  const side = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: DEPTH });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(side, side), { minLength: 2, maxLength: 6 }), async books => {
      const clock = new VirtualClock();
      let now = books[0]!;
      let sequence = 0n;
      const level = (at: number) => ({ price: String(at), amount: '1' });
      const exchange = {
        limits: { ordersPage: 500, tradesPage: 100, depth: DEPTH },
        trades: async () => ({ kind: 'done', value: [] }),
        orderBook: async () => {
          const [bids, asks] = now;
          const levels = {
            bids: bids.toSorted((a, b) => b - a).map(away => level(100 + away)),
            asks: asks.toSorted((a, b) => a - b).map(away => level(200 + away)),
          };
          return { kind: 'done', value: { book: BOOK, sequence: ++sequence, updatedAt: 0, ...levels } };
        },
      } as Partial<Exchange> as Exchange;
      const sink = { buy: new Set<number>(), sell: new Set<number>() };
      const follower = new Follower({
        ...{ exchange, clock, log: memoryLog().log, instrument: instrumentOf(bookRules({ tickSize: '1' })) },
        ...{ pollMs: 1_000, readsPerMinute: 600, onFresh: () => undefined },
        sink: {
          clear: (reach = { buy: 0 as Price, sell: Infinity as Price }) => {
            for (const at of sink.buy) if (at >= reach.buy) sink.buy.delete(at);
            for (const at of sink.sell) if (at <= reach.sell) sink.sell.delete(at);
          },
          set: (of, at) => void sink[of].add(at),
          flush: () => undefined,
          mark: () => 0,
          trade: () => undefined,
        },
        onBroken: error => {
          throw error;
        },
      });
      follower.start();
      const known = { buy: new Set<number>(), sell: new Set<number>() };
      for (const book of books) {
        now = book;
        await clock.advance(1_000);
        const [bids, asks] = [now[0].map(away => 100 + away), now[1].map(away => 200 + away)];
        const kept = (of: 'buy' | 'sell', read: readonly number[], isBeyond: (at: number) => boolean) =>
          new Set([...read, ...[...known[of]].filter(at => read.length === DEPTH && isBeyond(at))]);
        known.buy = kept('buy', bids, at => at < Math.min(...bids));
        known.sell = kept('sell', asks, at => at > Math.max(...asks));
        expect(sink).toEqual(known);
      }
      await follower.stop();
    }),
    { numRuns: 40 },
  );
});
