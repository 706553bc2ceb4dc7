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
import { ReferenceReads } from '../../../src/live/market/reference.ts';
import { btcMxn } from '../../core/market.ts';
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

test('a feed stands in for a book of the chain, and the price is as old as the oldest part of it', async () => {
  const feed = saying({ kind: 'price', price: 90_000, ageMs: 700 });
  const { clock, events, reads } = reading(new Map([['btc_usd', feed]]));
  reads.start();
  await clock.advance(150);
  expect(events).toEqual([{ kind: 'reference', at: 100, startedAt: -700, price: 166_500_000 }]);
  await reads.stop();
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
  expect(texts().slice(2)).toEqual(['the feeds have prices again']);
  expect(events).toHaveLength(3);
  await reads.stop();
});
