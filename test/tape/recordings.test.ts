import { describe, expect } from 'vitest';
import { KIND, SIDE, openTape, type Tape } from '../../src/tape/index.ts';
import { itOnRecording } from './folder.ts';
import { statisticsOf } from './statistics.ts';

const tradesOf = (tape: Tape) => tape.columns.kind.reduce((sum, kind) => sum + (kind === KIND.trade ? 1 : 0), 0);
const dirtOf = (tape: Tape) => Object.fromEntries(tape.flaws.map(entry => [entry.what, entry.count]));

describe('the recordings', () => {
  itOnRecording('gemini-ethusd-2021-07-01-l1-trades', 'Gemini: a clean day with 25,222 trades', async dir => {
    const tape = await openTape(dir);
    expect(tape.instrument.symbol).toBe('eth_usd');
    expect(tradesOf(tape)).toBe(25_222);
    expect(Object.keys(dirtOf(tape))).toEqual(['missing book rows after seconds with trades']);
    const { spreadBps, seconds } = statisticsOf(tape);
    expect(seconds).toBeGreaterThan(86_000);
    expect(spreadBps.median).toBeCloseTo(4.65, 1);
  });

  itOnRecording('bitstamp-btcusd-2015-05-01-book-orders-trades', 'Bitstamp: nearly every taker is found', async dir => {
    const tape = await openTape(dir);
    expect(tape.instrument.symbol).toBe('btc_usd');
    expect(tradesOf(tape)).toBe(285);
    const dirt = dirtOf(tape);
    expect(dirt['trades before the first book']).toBe(1);
    expect(dirt['trades without a taker side']).toBeLessThan(10);
    expect(dirt['crossed books']).toBeUndefined();
    const adds = tape.columns.kind.reduce((sum, kind) => sum + (kind === KIND.add ? 1 : 0), 0);
    expect(adds).toBe(10_772);
  });

  itOnRecording(
    'hyperliquid-2025-09-04-l2-trades',
    'Hyperliquid: the gap and the repeated trades are found',
    async dir => {
      const tape = await openTape(dir, { book: 'eth_usd' });
      expect(tape.gaps.map(gap => Math.floor((gap.to - gap.from) / 1000))).toEqual([17]);
      expect(dirtOf(tape)['trades sent again after a reconnect']).toBe(17);
      expect(dirtOf(tape)['crossed books']).toBeUndefined();
    },
  );

  itOnRecording(
    'binance-spot-2024-08-08',
    'Binance: the diff before the snapshot is applied, so no book is crossed',
    async dir => {
      for (const book of ['btc_usdt', 'eth_usdt']) {
        const tape = await openTape(dir, { book });
        expect(dirtOf(tape)['crossed books']).toBeUndefined();
        expect(dirtOf(tape)['locked books']).toBeUndefined();
        expect(tape.gaps).toEqual([]);
        if (book === 'btc_usdt') expect(dirtOf(tape)['diffs written before their snapshot']).toBe(1);
      }
    },
  );

  itOnRecording(
    'standx-btcusd-2026-01-dirty-l2-trades',
    'StandX: doubled rows, locked books and unknown sides are named',
    async dir => {
      const tape = await openTape(dir);
      const dirt = dirtOf(tape);
      expect(dirt['repeated book rows']).toBe(10_386);
      expect(dirt['locked books']).toBeGreaterThan(5000);
      expect(dirt['trades without a taker side']).toBe(9_933);
      expect(dirt['crossed books']).toBeUndefined();
      expect(tape.columns.side.some((side, i) => tape.columns.kind[i] === KIND.trade && side !== SIDE.unknown)).toBe(
        false,
      );
    },
  );

  itOnRecording('bitso-bbo-1s', 'Bitso quotes: usable for the spread only', async dir => {
    const tape = await openTape(dir, { book: 'btc_mxn' });
    expect(tape.quotesOnly).toBe(true);
    expect(statisticsOf(tape).spreadBps.median).toBeCloseTo(17.2, 1);
    expect(Number.isNaN(statisticsOf(tape).depth.touch)).toBe(true);
    expect((await openTape(dir, { book: 'btc_mxn-sandbox' })).gaps.length).toBe(1);
  });
});
