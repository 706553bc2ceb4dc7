import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock, type BookSnapshot, type MarketStream, type StreamNews } from '../../../src/core/index.ts';
import type { LivePriceNews } from '../../../src/live/market/livePriceSource.ts';
import { feedPriceSource } from '../../../src/live/market/polledPriceSource.ts';
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
  const kinds: string[] = [];
  const rest = { sequence: 1, bid: 100, fails: false };
  /** Time of the last book. */
  let readAt = 0;
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
          clock.after(40, () =>
            resolve(
              rest.fails
                ? { kind: 'unknown', reason: 'no answer' }
                : { kind: 'done', value: bookOf(rest.sequence, rest.bid) },
            ),
          ),
        ),
    },
    newStream: () => stream,
  });
  source.start((news: LivePriceNews) => {
    kinds.push(news.kind);
    if (news.kind === 'book') readAt = clock.elapsed();
    if (news.kind === 'book') told.push({ bid: news.bids[0]![0], sentAt: news.sentAt, ageMs: news.ageMs });
  });
  await clock.advance(1);
  hear({ kind: 'up' });
  const step = (sequence: number, sentAt: number) =>
    hear({ kind: 'diff', diff: { book: 'btc_mxn', sequence: BigInt(sequence), changes: [], sentAt } });
  await clock.advance(200);
  return {
    clock,
    source,
    told: () => told.splice(0),
    readAt: () => readAt,
    restarts,
    kinds,
    rest,
    step,
    hear: (news: StreamNews) => hear(news),
  };
}

type Opened = Awaited<ReturnType<typeof opened>>;

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

test('a new connection is news, so that the delay of its frames is measured anew', async () => {
  const { clock, source, hear, kinds, step } = await opened();
  const count = kinds.length;
  hear({ kind: 'down', reason: 'cut' });
  hear({ kind: 'up' });
  expect(kinds.slice(count)).toEqual(['connected']);
  await clock.advance(1_100);
  step(2, clock.elapsed());
  expect(kinds.filter(kind => kind === 'connected')).toHaveLength(2);
  await source.close();
  const atEnd = kinds.length;
  hear({ kind: 'up' });
  expect(kinds).toHaveLength(atEnd);
});

test('a price is lost after two failed reads in a row, whatever failed before a good one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 3, maxLength: 12 }), async reads => {
      const { clock, source, hear, kinds, rest } = await opened();
      hear({ kind: 'down', reason: 'cut' });
      await clock.advance(60);
      let failed = 0;
      for (const fails of reads) {
        rest.fails = fails;
        failed = fails ? failed + 1 : 0;
        const before = kinds.length;
        await clock.advance(1_000);
        expect(kinds.slice(before)).toEqual(fails ? (failed >= 2 ? ['lost'] : []) : ['book']);
      }
      await source.close();
    }),
    { numRuns: 20 },
  );
});

test.each([
  ['its connection is gone', ({ hear }: Opened) => hear({ kind: 'down', reason: 'cut' })],
  ['a frame cannot be read', ({ hear }: Opened) => hear({ kind: 'fault', reason: 'not JSON' })],
  ['a frame is missing', ({ step, clock }: Opened) => step(9, clock.elapsed())],
  ['the process was suspended', ({ source }: Opened) => source.rejectAsUnreliable('suspended')],
])('hedges are priced on no book of a stream from when %s until the next book', async (_, loses) => {
  const at = await opened();
  const { clock, rest, source, step, told, readAt } = at;
  step(2, clock.elapsed());
  expect(source.exactBook).toMatchObject({ at: clock.elapsed() });
  Object.assign(rest, { sequence: 20, bid: 300 });
  loses(at);
  expect(source.exactBook).toBeNull();
  await clock.advance(1_100);
  const book = source.exactBook;
  // The age counts from the start of the read, which took 40 ms.
  expect([told().at(-1)?.ageMs, book?.at]).toEqual([40, readAt() - 40]);
  expect([book?.depth.bids, book?.depth.bidPrices[0]]).toEqual([1, 300]);
  await source.close();
});

test('a source whose reads succeed and agree is never lost, and keeps its connection, over any time', async () => {
  const quiet = fc.record({
    kind: fc.constantFrom('streamed', 'polled', 'feed'),
    pollMs: fc.constantFrom(100, 1_500, 10_000, 60_000, 240_000),
    minutes: fc.integer({ min: 1, max: 40 }),
    latencyMs: fc.integer({ min: 0, max: 900 }),
  });
  await fc.assert(
    fc.asyncProperty(quiet, async ({ kind, pollMs, minutes, latencyMs }) => {
      const clock = new VirtualClock();
      const reads = { rules: 0, books: 0, restarts: 0 };
      let hear: (news: StreamNews) => void = () => undefined;
      const stream: MarketStream = {
        start: listener => void clock.after(1, () => (hear = listener)({ kind: 'up' })),
        restart: reason => {
          reads.restarts++;
          hear({ kind: 'down', reason });
          clock.after(50, () => hear({ kind: 'up' }));
        },
        close: () => undefined,
      };
      const later = <T>(value: T): Promise<T> => new Promise(resolve => clock.after(latencyMs, () => resolve(value)));
      const rules = { kind: 'done', value: [{ ...bookRules({ tickSize: '1' }), fees: null }] } as never;
      const source =
        kind === 'feed'
          ? feedPriceSource(
              {
                name: 'far',
                read: () => (reads.books++, later({ kind: 'price' as const, price: 100, ageMs: 0 })),
                close: () => Promise.resolve(),
              },
              clock,
              pollMs,
            )
          : new VenuePriceSource({
              ...{ name: 'far', book: 'btc_mxn', clock, pollMs, levels: 1 },
              exchange: {
                availableBooks: () => (reads.rules++, later(rules)),
                orderBook: () => (reads.books++, later({ kind: 'done', value: bookOf(1, 100) })),
              },
              newStream: () => (kind === 'streamed' ? stream : undefined),
            });
      const kinds: string[] = [];
      let newestAt = -Infinity;
      let worst = 0;
      source.start(news => {
        kinds.push(news.kind);
        if (news.kind !== 'book') return;
        if (newestAt > 0) worst = Math.max(worst, clock.elapsed() - newestAt);
        newestAt = clock.elapsed();
      });
      await clock.advance(minutes * 60_000);
      const closed = source.close();
      await clock.advance(5_000);
      await closed;
      expect(kinds).not.toContain('lost');
      expect(kinds).toContain('book');
      expect(worst).toBeLessThanOrEqual(pollMs + 2 * latencyMs + 3_000);
      expect([reads.rules, reads.restarts]).toEqual([kind === 'feed' ? 0 : 1, 0]);
    }),
    { numRuns: 40 },
  );
});

test('news and the exact book have the levels of each side, until the book is lost', async () => {
  const clock = new VirtualClock();
  const row = (price: string, amount: string) => ({ price, amount, oid: `o${price}` });
  const value = {
    ...{ book: 'btc_mxn', sequence: 1n, updatedAt: 0 },
    ...{ bids: [row('100', '3'), row('90', '5')], asks: [row('110', '7'), row('120', '11'), row('140', '13')] },
  };
  let fails = false;
  const source = new VenuePriceSource({
    ...{ name: 'far', book: 'btc_mxn', clock, pollMs: 1_000, levels: 5 },
    exchange: {
      availableBooks: async () => ({ kind: 'done', value: [bookRules({ tickSize: '5', lotSize: '0.5' })] }) as never,
      orderBook: async () => (fails ? { kind: 'unknown', reason: 'no answer' } : { kind: 'done', value }) as never,
    },
  });
  const news: LivePriceNews[] = [];
  source.start(one => news.push(one));
  await clock.advance(100);
  expect(news.at(-1)).toMatchObject({
    bids: [
      [100, 3],
      [90, 5],
    ],
    asks: [
      [110, 7],
      [120, 11],
      [140, 13],
    ],
  });
  const { depth } = source.exactBook!;
  expect([depth.bids, depth.asks, ...depth.askPrices.slice(0, 3), ...depth.askAmounts.slice(0, 3)]).toEqual([
    ...[2, 3, 22, 24, 28, 14, 22, 26],
  ]);
  fails = true;
  await clock.advance(5_000);
  expect([news.at(-1)!.kind, source.exactBook]).toEqual(['lost', null]);
  await source.close();
});

test('rules that cannot be read are those of the book unless their row names another book', async () => {
  for (const [unreadable, reason] of [
    [[{ why: 'no tick', book: 'eth_mxn' }], 'the exchange has no book btc_mxn'],
    [[{ why: 'no tick', book: 'btc_mxn' }], 'the rules of the book are unreadable: no tick'],
    [[{ why: 'no book' }], 'the rules of the book are unreadable: no book'],
  ] as const) {
    const clock = new VirtualClock();
    const exchange = {
      availableBooks: async () => ({ kind: 'done', value: [bookRules({ book: 'ltc_mxn' })], unreadable }) as never,
      orderBook: () => expect.unreachable(),
    };
    const options = { ...{ name: 'far', book: 'btc_mxn', clock, pollMs: 1_000, levels: 1 }, exchange };
    const source = new VenuePriceSource(options);
    const news: LivePriceNews[] = [];
    source.start(one => news.push(one));
    await clock.advance(100);
    expect(news).toEqual([{ kind: 'lost', reason }]);
    await source.close();
  }
});
