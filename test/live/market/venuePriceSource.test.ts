import { expect, test } from 'vitest';
import { VirtualClock, type BookSnapshot, type MarketStream, type StreamNews } from '../../../src/core/index.ts';
import type { LivePriceNews } from '../../../src/live/market/livePriceSource.ts';
import { VenuePriceSource } from '../../../src/live/market/venuePriceSource.ts';
import { bookRules } from '../../core/market.ts';

const bookOf = (sequence: number, bid: number): BookSnapshot => ({
  ...{ book: 'btc_mxn', sequence: BigInt(sequence), updatedAt: 0 },
  bids: [{ price: String(bid), amount: '1', oid: 'b' }],
  asks: [{ price: String(bid + 10), amount: '1', oid: 'a' }],
});

/** Returns a source of an exchange whose polled book is `rest`, with all its news. */
async function opened() {
  const clock = new VirtualClock();
  const told: { readonly bid: number; readonly sentAt: number | null; readonly ageMs: number }[] = [];
  const restarts: string[] = [];
  const rest = { sequence: 1, bid: 100 };
  let hear: (news: StreamNews) => void = () => undefined;
  const stream: MarketStream = {
    start: listener => void (hear = listener),
    restart: reason => {
      restarts.push(reason);
      hear({ kind: 'down', reason });
    },
    close: () => undefined,
  };
  const source = new VenuePriceSource({
    ...{ name: 'far', book: 'btc_mxn', clock, pollMs: 1_000, levels: 1 },
    exchange: {
      availableBooks: async () => ({ kind: 'done', value: [{ ...bookRules({ tickSize: '1' }), fees: null }] }) as never,
      orderBook: () =>
        new Promise(resolve =>
          clock.after(40, () => resolve({ kind: 'done', value: bookOf(rest.sequence, rest.bid) })),
        ),
    },
    newStream: () => stream,
  });
  source.start((news: LivePriceNews) => {
    if (news.kind === 'book') told.push({ bid: news.bids[0]![0], sentAt: news.sentAt, ageMs: news.ageMs });
  });
  await clock.advance(1);
  hear({ kind: 'up' });
  const step = (sequence: number, sentAt: number) =>
    hear({ kind: 'diff', diff: { book: 'btc_mxn', sequence: BigInt(sequence), changes: [], sentAt } });
  await clock.advance(200);
  return { clock, source, told: () => told.splice(0), restarts, rest, step, hear: (news: StreamNews) => hear(news) };
}

test("a frame has the exchange's time, and no book that follows it has the time of that frame", async () => {
  const { clock, told, rest, step, hear, source } = await opened();
  expect(told().map(({ sentAt }) => sentAt)).toEqual([null, null]);
  step(2, clock.elapsed() - 5);
  expect(told()).toEqual([{ bid: 100, sentAt: clock.elapsed() - 5, ageMs: 0 }]);
  hear({ kind: 'alive' });
  expect(told()).toEqual([{ bid: 100, sentAt: null, ageMs: 0 }]);
  // This frame waited too long to confirm its book.
  step(3, clock.elapsed() - 10_000);
  expect(told()).toEqual([]);
  Object.assign(rest, { sequence: 3 });
  await clock.advance(1_100);
  expect(told()).toEqual([{ bid: 100, sentAt: null, ageMs: 40 }]);
  step(4, clock.elapsed() - 10_000);
  Object.assign(rest, { sequence: 5, bid: 200 });
  await clock.advance(1_100);
  expect(told()).toEqual([{ bid: 200, sentAt: null, ageMs: 40 }]);
  await source.close();
});

test('after a suspension, the stream is replaced, and no queued frame confirms the book before', async () => {
  const { clock, told, restarts, step, hear, source } = await opened();
  told();
  source.rejectAsUnreliable('this process was suspended');
  expect(restarts).toEqual(['this process was suspended']);
  step(2, clock.elapsed());
  hear({ kind: 'alive' });
  expect(told()).toEqual([]);
  await clock.advance(1_100);
  expect(told().map(({ ageMs }) => ageMs)).toEqual([40]);
  await source.close();
  source.rejectAsUnreliable('this process was suspended');
  expect(restarts).toHaveLength(1);
});
