/** Levels of Kraken's stream: the kept book and its checksum equal those of a simple book. */
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LevelBook, type StreamLevel } from '../../../src/exchange/kraken/stream/levelBook.ts';
import { runsOf } from '../../many.ts';

const DEPTH = 25;
const PRECISION = { price: 1, amount: 8 };
const priceText = (tick: number): string => `${Math.floor(tick / 10)}.${tick % 10}`;
const amountText = (lots: number): string => (lots / 1e8).toFixed(8);

/** Changes of levels in ticks and lots; zero lots remove a level. Bids are below 1,000 ticks, asks above. */
const change = fc.record({
  isBid: fc.boolean(),
  tick: fc.integer({ min: 1, max: 60 }),
  lots: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000_000_000 })),
});

test('the kept levels and the checksum are those of a map of levels, after any changes', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 30 }), frames => {
      const book = new LevelBook(DEPTH);
      const simple = { bids: new Map<number, number>(), asks: new Map<number, number>() };
      for (const frame of frames) {
        const sent = { bids: [] as StreamLevel[], asks: [] as StreamLevel[] };
        for (const { isBid, tick, lots } of frame) {
          const [side, price] = [isBid ? 'bids' : 'asks', isBid ? 1_000 - tick : 1_000 + tick] as const;
          sent[side].push({ price: priceText(price), amount: amountText(lots) });
          if (lots === 0) simple[side].delete(price);
          else simple[side].set(price, lots);
        }
        book.update(sent);
        // The exchange sends no more changes of levels beyond the depth.
        const [bids, asks] = [sorted(simple.bids, -1), sorted(simple.asks, 1)];
        simple.bids = new Map(bids);
        simple.asks = new Map(asks);
        expect(book.side('bids')).toEqual(
          bids.map(([price, lots]) => ({ price: priceText(price), amount: amountText(lots) })),
        );
        expect(book.side('asks')).toEqual(
          asks.map(([price, lots]) => ({ price: priceText(price), amount: amountText(lots) })),
        );
        // Whole ticks and lots have the digits of the checksum.
        const digits = [...asks.slice(0, 10), ...bids.slice(0, 10)].map(([price, lots]) => `${price}${lots}`).join('');
        expect(book.checksum(PRECISION)).toBe(crc32(digits));
      }
    }),
    runsOf(3_000, 150),
  );
});

const sorted = (levels: ReadonlyMap<number, number>, direction: 1 | -1): [number, number][] =>
  [...levels].sort(([a], [b]) => direction * (a - b)).slice(0, DEPTH);

test('the checksum of the documents is reproduced, with and without trailing zeros', () => {
  // Source: docs.kraken.com/exchange/guides/websockets/book-checksum-v2.
  const bids = [
    ...[
      ['45283.5', '0.10000000'],
      ['45283.4', '1.54582015'],
      ['45282.1', '0.10000000'],
      ['45281.0', '0.10000000'],
    ],
    ...[
      ['45280.3', '1.54592586'],
      ['45279.0', '0.07990000'],
      ['45277.6', '0.03310103'],
      ['45277.5', '0.30000000'],
    ],
    ...[
      ['45277.3', '1.54602737'],
      ['45276.6', '0.15445238'],
    ],
  ];
  const asks = [
    ...[
      ['45285.2', '0.00100000'],
      ['45286.4', '1.54571953'],
      ['45286.6', '1.54571109'],
      ['45289.6', '1.54560911'],
    ],
    ...[
      ['45290.2', '0.15890660'],
      ['45291.8', '1.54553491'],
      ['45294.7', '0.04454749'],
      ['45296.1', '0.35380000'],
    ],
    ...[
      ['45297.5', '0.09945542'],
      ['45299.5', '0.18772827'],
    ],
  ];
  for (const shorten of [(text: string) => text, (text: string) => text.replace(/\.?0+$/, '')]) {
    const levels = (rows: readonly (readonly string[])[]) =>
      rows.map(([price = '', amount = '']) => ({ price: shorten(price), amount: shorten(amount) }));
    const book = new LevelBook(DEPTH);
    book.replace({ bids: levels(bids), asks: levels(asks) });
    expect(book.checksum(PRECISION)).toBe(3_310_070_434);
  }
});

test('a level with more decimals than the book, or a price that is sent twice, is a fault', () => {
  const book = new LevelBook(DEPTH);
  const level = { price: '100.25', amount: '1' };
  book.replace({ bids: [level], asks: [] });
  expect(() => book.checksum(PRECISION)).toThrow('at most 1 decimal,');
  expect(() => book.replace({ bids: [level, { ...level, amount: '2' }], asks: [] })).toThrow('each price once');
  expect(book.isCrossed).toBe(false);
  book.replace({ bids: [level], asks: [{ price: '100.25', amount: '1' }] });
  expect(book.isCrossed).toBe(true);
});
