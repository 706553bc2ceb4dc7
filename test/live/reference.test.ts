import { expect, test } from 'vitest';
import { legsOf, settle, VirtualClock } from '../../src/core/index.ts';
import type { BookSnapshot, EngineEvent, Exchange, Outcome } from '../../src/core/index.ts';
import { ReferenceReads } from '../../src/live/reference.ts';
import { btcMxn } from '../core/market.ts';

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

function reading() {
  const clock = new VirtualClock();
  const events: EngineEvent[] = [];
  const noted: string[] = [];
  const answers = { btc_usd: bookOf('btc_usd', '79999', '80001'), usd_mxn: bookOf('usd_mxn', '18.4', '18.6') };
  const exchange = {
    orderBook: async (book: keyof typeof answers) => {
      await new Promise<void>(resolve => clock.after(100, resolve));
      return answers[book];
    },
  } as unknown as Exchange;
  const reads = new ReferenceReads({
    exchange,
    clock,
    instrument: () => btcMxn,
    time: () => clock.elapsed(),
    step: event => void events.push(event),
    note: what => void noted.push(what),
    onBroken: error => {
      throw error;
    },
    legs: legsOf('btc_mxn', ['btc_usd', 'usd_mxn'])!,
    everyMs: 1_000,
  });
  return { clock, events, noted, answers, reads };
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
