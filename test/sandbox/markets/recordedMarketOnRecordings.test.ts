import { describe, expect } from 'vitest';
import { VirtualClock, randomOf } from '../../../src/core/index.ts';
import { tapeMarket } from '../../../src/sandbox/markets/recordedMarket.ts';
import { RecordedBook, openTape, type Tape } from '../../../src/tape/index.ts';
import { few } from '../../many.ts';
import { itOnRecording } from '../../tape/folder.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';

/** Plays `seconds` of a tape with a user who quotes a small amount at the touch, and looks each second whether it still is there; returns what came of it. */
function play(tape: Tape, seconds: number) {
  const clock = new VirtualClock();
  const exchange = new ReferenceMarketplace(tape.instrument, clock, randomOf(1));
  let userFills = 0;
  exchange.onFill = fill => (userFills += fill.maker === 'user' ? 1 : 0);
  const market = tapeMarket(tape, { loop: true });
  market.start(exchange);
  const live = { buy: { id: 0, at: 0 }, sell: { id: 0, at: 0 } };
  let next = 1000;
  let timers = 0;
  for (; clock.nextDue()! <= seconds * 1000; timers++) {
    clock.runNext();
    const [bid, ask] = [exchange.bestBid(), exchange.bestAsk()];
    if (bid > 0 && ask > 0) expect(bid).toBeLessThan(ask);
    if (clock.elapsed() < next) continue;
    next += 1000;
    for (const [side, best] of [
      ['buy', bid],
      ['sell', ask],
    ] as const) {
      const { id, at } = live[side];
      if (best === 0 || (best === at && exchange.amountOf('user', side, best) > 0)) continue;
      exchange.cancel(id);
      live[side] = { id: exchange.placeFor('user', side, best, 1000, 'GTC').id, at: best };
    }
  }
  for (const { id } of [live.buy, live.sell]) exchange.cancel(id);
  market.stop();
  return { exchange, userFills, timers, counts: market.counts(), played: clock.elapsed() };
}

/** The house shows nothing that the recording does not show at that time. */
function expectNoMoreThanRecorded(tape: Tape, { exchange, played }: ReturnType<typeof play>): void {
  const book = new RecordedBook(tape.columns);
  let first = 0;
  while (!book.concerns(first)) first++;
  const until = tape.columns.at[first]! + played;
  for (let row = 0; row < tape.columns.length && tape.columns.at[row]! <= until; row++) book.apply(row);
  for (const side of ['buy', 'sell'] as const) {
    const levels = side === 'buy' ? book.bids : book.asks;
    const seen = new Set(exchange.book[side].map(order => order.price));
    expect(seen.size).toBeGreaterThan(0);
    for (const price of seen) expect(exchange.amountAt(side, price)).toBeLessThanOrEqual(levels.amountOf(price));
  }
}

const SETS: readonly (readonly [string, string, number, number])[] = [
  ['hyperliquid-2025-09-04-l2-trades', 'btc_usd', 300, 1],
  ['gemini-ethusd-2021-07-01-l1-trades', 'eth_usd', 3600, 20],
  ['bitstamp-btcusd-2015-05-01-book-orders-trades', 'btc_usd', 3600, 3],
  ['hyperliquid-2025-09-04-l2-trades', 'eth_usd', 300, 1],
  ['binance-spot-2024-08-08', 'btc_usdt', 15, 0],
  ['standx-btcusd-2026-01-dirty-l2-trades', 'btc_usd', 120, 1],
];

describe('a real recording', () => {
  for (const [set, book, seconds, fills] of few(SETS, 1)) {
    itOnRecording(set, `${book} of ${set} replays: never crossed, and quotes at the touch are filled`, async dir => {
      const tape = await openTape(dir, { book });
      const result = play(tape, seconds);
      expect(result.userFills).toBeGreaterThanOrEqual(fills);
      expect(result.counts.trades).toBeGreaterThan(0);
      expectNoMoreThanRecorded(tape, result);
    });
  }
});
