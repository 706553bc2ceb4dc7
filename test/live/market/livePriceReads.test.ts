import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock, type EngineEvent, type LiveReading } from '../../../src/core/index.ts';
import { averagePrice, LivePriceReads, readLivePrices } from '../../../src/live/market/livePriceReads.ts';
import type { BookAge, LivePriceNews, LivePriceSource } from '../../../src/live/market/livePriceSource.ts';
import { feedPriceSource } from '../../../src/live/market/polledPriceSource.ts';
import type { FeedReading } from '../../../src/live/market/feed.ts';
import { memoryLog } from '../../memoryLog.ts';

const START = 1_700_000_000_000;
type SourceEvent = Extract<EngineEvent, { kind: 'source' }>;

/** A source that says what the test says. */
function speaking() {
  let listener: ((news: LivePriceNews) => void) | null = null;
  let isClosed = false;
  const rejected: string[] = [];
  const source: LivePriceSource = {
    name: 'far',
    rejectAsUnreliable: reason => void rejected.push(reason),
    start: onNews => void (listener = onNews),
    close: () => Promise.resolve(void (isClosed = true)),
  };
  return { source, rejected, says: (news: LivePriceNews) => listener?.(news), isClosed: () => isClosed };
}
type Levels = Pick<Extract<LivePriceNews, { kind: 'book' }>, 'bids' | 'asks'>;
const book = (bid: number, more: Partial<Levels> & Partial<BookAge> = {}): LivePriceNews => {
  const { sentAt = null, ageMs = 0, ...levels } = more;
  const age: BookAge = sentAt === null ? { sentAt, ageMs } : { sentAt, ageMs: 0 };
  return { kind: 'book', bids: [[bid, 1]], asks: [[bid + 2, 1]], ...levels, ...age };
};

function reading(confirmEveryMs = 1_000, amount: number | null = null) {
  const clock = new VirtualClock();
  const events: SourceEvent[] = [];
  const { log, texts } = memoryLog();
  const { source, rejected, says, isClosed } = speaking();
  const host = { isWaking: false };
  const reads = new LivePriceReads(
    [{ key: 'far btc_mxn', source, amount, confirmEveryMs }],
    { clock, log, time: () => START + clock.elapsed(), step: event => void events.push(event as SourceEvent) },
    {
      onTurn: () => undefined,
      isWaking: () => host.isWaking,
      onBroken: error => {
        throw error;
      },
    },
  );
  reads.start();
  const bids = () => events.map(({ reading: what }) => (typeof what === 'string' ? what : what.bid));
  return { clock, events, bids, texts, says, host, reads, rejected, isClosed };
}

test('a new price is an event in the same call; a repeated book only now and then, as young as its last confirmation', async () => {
  const { clock, events, bids, says } = reading();
  says(book(100));
  says(book(101));
  expect(bids()).toEqual([100, 101]);
  for (let n = 0; n < 25; n++) {
    await clock.advance(100);
    says(book(101));
  }
  expect(events.slice(2).map(({ at, startedAt }) => [at - START, startedAt - START])).toEqual([
    [1_000, 1_000],
    [2_000, 2_000],
  ]);
});

test('a changed amount comes within the time of a confirmation, even if nothing follows', async () => {
  const { clock, events, says } = reading();
  says(book(100));
  says(book(100, { bids: [[100, 7]] }));
  expect(events).toHaveLength(1);
  await clock.advance(1_500);
  expect(events.map(({ reading: what }) => (what as LiveReading).bidAmount)).toEqual([1, 7]);
});

test('a new price does not wait behind a changed amount', async () => {
  const { clock, bids, says } = reading();
  says(book(100));
  says(book(100, { bids: [[100, 7]] }));
  await clock.advance(10);
  says(book(101));
  expect(bids()).toEqual([100, 101]);
  await clock.advance(5_000);
  expect(bids()).toEqual([100, 101]);
});

test('a burst is limited, and its last price always comes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 9 })), {
        minLength: 1,
        maxLength: 200,
      }),
      async prices => {
        const { clock, events, bids, says } = reading();
        for (const [passed, bid] of prices) {
          await clock.advance(passed);
          says(book(bid));
        }
        await clock.advance(100);
        expect(bids().at(-1)).toBe(prices.at(-1)![1]);
        for (const { at } of events) {
          const within = events.filter(other => other.at > at - 1_000 && other.at <= at).length;
          expect(within).toBeLessThanOrEqual(41);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test('a frame that waited is as old as its delay beyond the fastest one, and its lag is shown', async () => {
  const { clock, events, says } = reading();
  // The exchange's clock is 50 ms behind.
  says(book(100, { sentAt: START - 50 }));
  await clock.advance(1_000);
  says(book(101, { sentAt: START + 650, ageMs: 0 }));
  await clock.advance(1_000);
  says(book(102, { ageMs: 40 }));
  expect(events.map(({ at, startedAt, reading: what }) => [at - startedAt, (what as LiveReading).lagMs])).toEqual([
    [0, 50],
    [300, 350],
    [40, 350],
  ]);
});

test('after any reconnect, a prompt frame has the age 0, whatever the clock of the exchange did', async () => {
  const connection = fc.record({
    /** Difference of the exchange's clock from ours, and the delay of the connection, in ms. */
    clockMs: fc.integer({ min: -600_000, max: 600_000 }),
    delayMs: fc.integer({ min: 0, max: 5_000 }),
    waits: fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 4 }),
    how: fc.constantFrom('connected', 'lost', 'slept'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(connection, { minLength: 1, maxLength: 6 }), async connections => {
      const { clock, events, says, reads } = reading();
      let bid = 100;
      for (const { clockMs, delayMs, waits, how } of connections) {
        if (how === 'slept') reads.rejectAsUnreliable('this process was suspended');
        else says(how === 'lost' ? { kind: 'lost', reason: 'cut' } : { kind: 'connected' });
        for (const waited of [0, ...waits]) {
          await clock.advance(1_000);
          says(book((bid += 1), { sentAt: START + clock.elapsed() + clockMs - delayMs - waited }));
          const { at, startedAt } = events.at(-1)!;
          expect(at - startedAt).toBe(waited);
        }
      }
    }),
    { numRuns: 50 },
  );
});

test('a loss is an event at once and one line of the log, and so is its end', () => {
  const { bids, says, texts } = reading();
  says(book(100));
  for (let n = 0; n < 3; n++) says({ kind: 'lost', reason: 'cut' });
  says(book(100));
  expect(bids()).toEqual([100, 'cut', 100]);
  expect(texts()).toEqual(['the source far btc_mxn has no price: cut', 'the source far btc_mxn has prices again']);
});

test('nothing is heard while the process may be working off what waited, or after the stop', async () => {
  const { clock, bids, says, host, reads, rejected, isClosed } = reading();
  says(book(100));
  says(book(100, { bids: [[100, 7]] }));
  host.isWaking = true;
  says(book(101));
  host.isWaking = false;
  reads.rejectAsUnreliable('suspended');
  expect(rejected).toEqual(['suspended']);
  await clock.advance(5_000);
  expect(bids()).toEqual([100]);
  says(book(102));
  await reads.stop();
  says(book(103));
  await clock.advance(5_000);
  expect([bids(), isClosed()]).toEqual([[100, 102], true]);
});

describe('the average price of an amount', () => {
  test('is that of the levels that it takes; 0 if they are too few', () => {
    const levels = [
      [100, 1],
      [99, 2],
    ] as const;
    expect(averagePrice(levels, 2)).toBe(99.5);
    expect(averagePrice(levels, 3.01)).toBe(0);
    expect(averagePrice([], 1)).toBe(0);
    expect(
      averagePrice(
        [
          [100, Number.NaN],
          [99, 2],
        ],
        1,
      ),
    ).toBe(99);
    // A level without a usable price is no free purchase.
    for (const price of [Number.NaN, Infinity, -1, 0])
      expect([
        averagePrice(
          [
            [price, 1],
            [99, 2],
          ],
          1,
        ),
        averagePrice([[price, 1]], 1),
      ]).toEqual([99, 0]);
    const { events, says } = reading(1_000, 2);
    says(book(100, { bids: levels, asks: [[103, 1]] }));
    expect(events[0]!.reading).toMatchObject({ bid: 100, ask: 103, sell: 99.5, buy: 0 });
  });

  test('is between the best and the worst price that it takes', () => {
    const level = fc.tuple(
      fc.double({ min: 1, max: 1e6, noNaN: true }),
      fc.double({ min: 1e-8, max: 1e3, noNaN: true }),
    );
    fc.assert(
      fc.property(
        fc.array(level, { minLength: 1, maxLength: 20 }),
        fc.double({ min: 1e-6, max: 1e4, noNaN: true }),
        (levels, amount) => {
          const sorted = levels.toSorted(([a], [b]) => b - a);
          const average = averagePrice(sorted, amount);
          const all = levels.reduce((sum, [, each]) => sum + each, 0);
          if (average === 0) expect(all).toBeLessThan(amount * (1 + 1e-9));
          else {
            expect(average).toBeLessThanOrEqual(sorted[0]![0] * (1 + 1e-9));
            expect(average).toBeGreaterThanOrEqual(sorted.at(-1)![0] * (1 - 1e-9));
          }
        },
      ),
    );
  });
});

test('a feed is read at its interval; bid and ask are kept, a failure is a loss', async () => {
  const clock = new VirtualClock();
  let answer: FeedReading = { kind: 'price', price: 11, bid: 10, ask: 12, ageMs: 40 };
  let isClosed = false;
  const feed = {
    name: 'far',
    read: () => Promise.resolve(answer),
    close: () => Promise.resolve(void (isClosed = true)),
  };
  const source = feedPriceSource(feed, clock, 500);
  const heard: LivePriceNews[] = [];
  source.start(news => void heard.push(news));
  expect(heard).toEqual([]);
  await clock.advance(600);
  answer = { kind: 'failed', why: 'gone' };
  await clock.advance(500);
  answer = { kind: 'price', price: 7, ageMs: 0 };
  await clock.advance(500);
  await source.close();
  await clock.advance(5_000);
  const ten = { kind: 'book', bids: [[10, 0]], asks: [[12, 0]], sentAt: null, ageMs: 40 };
  const seven = { ...ten, bids: [[7, 0]], asks: [[7, 0]], ageMs: 0 };
  expect(heard).toEqual([ten, ten, { kind: 'lost', reason: 'gone' }, seven]);
  expect(isClosed).toBe(true);
});

test('a first reading of all books waits for each of them, but not longer than five seconds', async () => {
  const clock = new VirtualClock();
  const { log } = memoryLog();
  const [one, two] = [speaking(), speaking()];
  const feeds = [one, two].map(({ source }, i) => ({ key: `${i}`, source, amount: null, confirmEveryMs: 100 }));
  let events: readonly EngineEvent[] | null = null;
  const all = readLivePrices(feeds, { clock, log, time: () => START + clock.elapsed() }).then(
    found => (events = found),
  );
  one.says(book(100));
  await clock.advance(4_000);
  expect(events).toBeNull();
  await clock.advance(1_500);
  await all;
  expect(events).toHaveLength(1);
  expect([one.isClosed(), two.isClosed()]).toEqual([true, true]);
});

test('each figure of a book comes from its own side and level, and a change of any of them is told; an equal book waits', async () => {
  const levels = (...of: (readonly [number, number])[]) => of;
  const first = { bids: levels([100, 3], [90, 5]), asks: levels([103, 2], [113, 7]) };
  for (const amount of [null, 4])
    for (const [change, isTold] of [
      [first, false],
      [{ ...first, bids: levels([100, 4], [90, 5]) }, true],
      [{ ...first, asks: levels([103, 1], [113, 7]) }, true],
      // Only the average price of an amount depends on deeper levels.
      [{ ...first, bids: levels([100, 3], [80, 5]) }, amount !== null],
      [{ ...first, asks: levels([103, 2], [123, 7]) }, amount !== null],
    ] as const) {
      const { clock, events, says } = reading(1_000, amount);
      says(book(0, first));
      says(book(0, change));
      expect(events).toHaveLength(1);
      expect(events[0]!.reading).toEqual({
        ...{ bid: 100, ask: 103, bidAmount: 3, askAmount: 2, lagMs: null },
        ...(amount === null ? { sell: 100, buy: 103 } : { sell: 97.5, buy: 108 }),
      });
      await clock.advance(1_000);
      expect(events).toHaveLength(isTold ? 2 : 1);
    }
});

test('a loss is told once, and the prices after it at once; no change from before it follows', async () => {
  const { clock, bids, texts, says } = reading();
  says(book(100));
  says(book(100, { bids: [[100, 7]] }));
  for (const reason of ['gone', 'gone', 'away']) says({ kind: 'lost', reason });
  await clock.advance(5_000);
  expect(bids()).toEqual([100, 'gone', 'away']);
  says(book(100));
  says(book(101));
  expect(bids()).toEqual([100, 'gone', 'away', 100, 101]);
  expect(texts()).toHaveLength(3);
});
