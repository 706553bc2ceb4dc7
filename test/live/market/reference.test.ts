import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  legsOf,
  settle,
  VirtualClock,
  type BookSnapshot,
  type EngineEvent,
  type Exchange,
  type Outcome,
} from '../../../src/core/index.ts';
import type { Feed, FeedReading } from '../../../src/live/market/feed.ts';
import { ReferenceReads, readReference } from '../../../src/live/market/reference.ts';
import { btcMxn } from '../../core/market.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';

const bookOf = (book: string, bid: string, ask: string): Outcome<BookSnapshot> => ({
  kind: 'done',
  value: {
    book,
    sequence: 1n,
    updatedAt: 0,
    bids: [{ price: bid, amount: '1' }],
    asks: ask === '' ? [] : [{ price: ask, amount: '1' }],
  },
});

function reading(feeds: ReadonlyMap<string, Feed> = new Map(), books = ['btc_usd', 'usd_mxn']) {
  const clock = new VirtualClock();
  const events: EngineEvent[] = [];
  const noted: string[] = [];
  const { log, texts } = memoryLog();
  const answers = { btc_usd: bookOf('btc_usd', '79999', '80001'), usd_mxn: bookOf('usd_mxn', '18.4', '18.6') };
  const exchange = {
    orderBook: async (book: keyof typeof answers) => {
      await new Promise<void>(resolve => clock.after(100, resolve));
      return answers[book];
    },
  } as unknown as Exchange;
  const setup = { legs: legsOf('btc_mxn', books)!, feeds, everyMs: 1_000 };
  const reads = new ReferenceReads(setup, {
    run: { clock, log, time: () => clock.elapsed(), step: event => void events.push(event) },
    exchange,
    instrument: () => btcMxn,
    note: what => void noted.push(what),
    onBroken: error => {
      throw error;
    },
  });
  return { clock, events, noted, texts, answers, reads };
}

test('the price through other books is told in our ticks, as old as the first of its readings, at every interval', async () => {
  const { clock, events, reads } = reading();
  reads.start();
  await clock.advance(2_250);
  // Ticks of 0.01.
  expect(events).toEqual(
    [0, 1_000, 2_000].map(startedAt => ({
      kind: 'reference',
      at: startedAt + 200,
      startedAt,
      price: 148_000_000,
    })),
  );
  await reads.stop();
});

test('a book with one side, and a reading that fails, tell nothing: the last price grows old', async () => {
  const { clock, events, noted, answers, reads } = reading();
  answers.usd_mxn = bookOf('usd_mxn', '18.4', '');
  reads.start();
  await clock.advance(500);
  answers.btc_usd = { kind: 'unknown', reason: 'no answer' };
  await clock.advance(1_000);
  expect([events, noted]).toEqual([[], ['order_book']]);
  await reads.stop();
});

test('nothing is read and told after the stop', async () => {
  const { clock, events, reads } = reading();
  reads.start();
  const stopped = reads.stop();
  await clock.advance(5_000);
  await stopped;
  await settle();
  expect(events).toEqual([]);
});

/** A feed that says what it is told to. */
function saying(reading: FeedReading) {
  const feed = { reading, name: 'far', read: () => Promise.resolve(feed.reading), close: () => Promise.resolve() };
  return feed;
}

test('the price over any legs is as old as the oldest part of it; one leg that fails or has one side leaves none', async () => {
  const CHAIN = ['btc_usd', 'eur_usd', 'eur_mxn'];
  const legs = legsOf('btc_mxn', CHAIN)!;
  const leg = fc.record({
    from: fc.constantFrom('book', 'book', 'feed', 'feed', 'feed', 'one side', 'no answer', 'no feed'),
    tookMs: fc.integer({ min: 0, max: 900 }),
    ageMs: fc.integer({ min: 0, max: 2_000 }),
    price: fc.integer({ min: 1, max: 99 }),
  });
  type Part = typeof leg extends fc.Arbitrary<infer T> ? T : never;
  await fc.assert(
    fc.asyncProperty(fc.tuple(leg, leg, leg), async parts => {
      const clock = new VirtualClock();
      const time = () => 1_700_000_000_000 + clock.elapsed();
      const start = time();
      const began: number[] = [];
      const read = async <T>({ tookMs }: Part, answer: T): Promise<T> => {
        began.push(time());
        await new Promise<void>(resolve => clock.after(tookMs, resolve));
        return answer;
      };
      const partOf = (book: string) => parts[CHAIN.indexOf(book)]!;
      const exchange = {
        orderBook: (book: string) => {
          const part = partOf(book);
          if (part.from === 'no answer') return read(part, { kind: 'unknown', reason: book });
          return read(part, bookOf(book, `${part.price - 0.5}`, part.from === 'one side' ? '' : `${part.price + 0.5}`));
        },
      } as unknown as Exchange;
      const feeds = new Map(
        CHAIN.filter(book => partOf(book).from.endsWith('feed')).map((book): [string, Feed] => {
          const { from, price, ageMs } = partOf(book);
          const reading: FeedReading =
            from === 'feed' ? { kind: 'price', price, ageMs } : { kind: 'failed', why: 'gone' };
          return [book, { name: book, read: () => read(partOf(book), reading), close: async () => undefined }];
        }),
      );
      const whole = readReference({ exchange, instrument: () => btcMxn, time }, { legs, feeds });
      await clock.advance(5_000);
      const found = await whole;
      const failed = parts.findIndex(({ from }) => from.startsWith('no '));
      if (failed >= 0) {
        // The first one that failed is named, and no other is read after it.
        expect(found).toMatchObject(
          parts[failed]!.from === 'no feed' ? { name: CHAIN[failed] } : { reason: CHAIN[failed] },
        );
        expect(began).toHaveLength(failed + 1);
      } else if (parts.some(({ from }) => from === 'one side')) expect(found).toBeNull();
      else {
        const ages = parts.map(({ from, ageMs }, i) => (from === 'feed' ? began[i]! - ageMs : start));
        const [usd, eurUsd, eur] = parts.map(({ price }) => price) as [number, number, number];
        expect(found).toEqual({
          kind: 'reference',
          at: start + parts.reduce((sum, { tookMs }) => sum + tookMs, 0),
          startedAt: Math.min(start, ...ages),
          price: expect.closeTo((usd / eurUsd) * eur * 100, 6) as number,
        });
      }
    }),
    runsOf(500, 100),
  );
});

test('a feed may tell the price of our own book, without a request to the exchange', async () => {
  const feed = saying({ kind: 'price', price: 1_500_000, ageMs: 0 });
  const { events, reads } = reading(new Map([['btc_mxn', feed]]), ['btc_mxn']);
  reads.start();
  await settle();
  expect(events).toEqual([{ kind: 'reference', at: 0, startedAt: 0, price: 150_000_000 }]);
  await reads.stop();
});

test('a feed that fails tells the engine nothing; it is said once a minute, and once when all is well again', async () => {
  const feed = saying({ kind: 'failed', why: 'gone' });
  const { clock, events, texts, noted, reads } = reading(new Map([['btc_mxn', feed]]), ['btc_mxn']);
  reads.start();
  await clock.advance(59_500);
  expect([events, noted, texts()]).toEqual([[], [], ['the feed far has no price: gone']]);
  await clock.advance(1_000);
  expect(texts()).toHaveLength(2);
  feed.reading = { kind: 'price', price: 1, ageMs: 0 };
  await clock.advance(3_000);
  expect(texts().slice(2)).toEqual(['the price feeds have prices again']);
  expect(events).toHaveLength(3);
  await reads.stop();
});
