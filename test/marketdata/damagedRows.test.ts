/** Polled books of any rules, with one row made huge, tiny or unreadable: what is shown of the others, and when the book is not used. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEPTH_LEVELS,
  emptyDepth,
  instrumentOf,
  moneyOf,
  OrderBook,
  textOfMoney,
  UNITS_MAX,
  type Money,
} from '../../src/core/index.ts';
import { orderBook } from '../../src/exchange/bitso/wire/marketReplies.ts';
import { WireFault } from '../../src/exchange/wire/wire.ts';
import { writeLevels } from '../../src/marketdata/index.ts';
import { runsOf } from '../many.ts';

/** A power of ten as text. */
const power = (exponent: number): string =>
  exponent >= 0 ? `1${'0'.repeat(exponent)}` : `0.${'0'.repeat(-exponent - 1)}1`;

const rules = fc
  .record({
    tick: fc.integer({ min: -12, max: 4 }),
    minimum: fc.integer({ min: -8, max: 6 }),
    span: fc.integer({ min: 0, max: 12 }),
  })
  .map(({ tick, minimum, span }) => ({
    book: 'pepe_mxn',
    tickSize: power(tick),
    minimumAmount: power(minimum),
    maximumAmount: power(minimum + span),
    minimumPrice: power(tick),
    maximumPrice: power(Math.min(19, tick + 12)),
    minimumValue: '1',
    maximumValue: '1000000000',
  }));

/** Unreadable as a price, and as an amount. */
const UNREADABLE = fc.constantFrom<unknown>(
  null,
  undefined,
  '',
  'NaN',
  '-1',
  '1e3',
  5,
  {},
  [],
  true,
  '1'.repeat(21),
  '0x10',
);
const damage = fc.oneof(
  fc.record({
    field: fc.constant('amount' as const),
    to: fc.oneof(UNREADABLE, fc.constantFrom('9'.repeat(20), '150000000', '0.000000000000000001')),
  }),
  fc.record({ field: fc.constant('price' as const), to: UNREADABLE }),
  fc.record({ field: fc.constant('price' as const), to: fc.constantFrom('9'.repeat(20), '0.000000000000000001', '0') }),
  fc.record({
    field: fc.constant('row' as const),
    to: fc.constantFrom<unknown>(null, [], 'row', 7, { book: 'btc_mxn', price: '1', amount: '1' }),
  }),
);

const FAR = DEPTH_LEVELS + 5;

describe('a polled book with one damaged row', () => {
  it('is used with every other amount exact, unless the place of the row may be within the used depth', () => {
    fc.assert(
      fc.property(
        rules,
        fc.constantFrom('bids' as const, 'asks' as const),
        fc.integer({ min: 0, max: FAR - 1 }),
        damage,
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2 * FAR, maxLength: 2 * FAR }),
        (row, side, at, { field, to }, lots) => {
          const i = instrumentOf(row);
          const price = (ticks: number) => textOfMoney((BigInt(ticks) * i.tickMoney) as Money);
          const amount = (n: number) => textOfMoney((BigInt(lots[n]!) * i.lotMoney) as Money);
          const bids = Array.from({ length: FAR }, (_, n) => ({
            book: row.book,
            price: price(1_000 - n),
            amount: amount(n),
          }));
          const asks = Array.from({ length: FAR }, (_, n) => ({
            book: row.book,
            price: price(1_001 + n),
            amount: amount(FAR + n),
          }));
          const damaged: Record<'bids' | 'asks', unknown[]> = { bids: [...bids], asks: [...asks] };
          damaged[side][at] = field === 'row' ? to : { ...(side === 'bids' ? bids : asks)[at]!, [field]: to };
          const payload = { sequence: 5, updated_at: '2026-02-11T16:05:09+00:00', ...damaged };
          const book = new OrderBook();
          const unfit = taken(() => writeLevels(orderBook(row.book)(payload), i, book));
          if (field !== 'amount' && at < DEPTH_LEVELS) expect(unfit).toContain(side);
          // A price out of order makes the row before it doubtful too.
          else if (field !== 'amount' && at === DEPTH_LEVELS) expect(unfit ?? side).toContain(side);
          else expect(unfit).toBe(null);
          if (unfit !== null) return;
          const depth = emptyDepth(DEPTH_LEVELS);
          book.depth(depth);
          for (const of of ['bids', 'asks'] as const) {
            const [prices, amounts] =
              of === 'bids' ? [depth.bidPrices, depth.bidAmounts] : [depth.askPrices, depth.askAmounts];
            for (let n = 0; n < DEPTH_LEVELS; n++) {
              expect(prices[n]).toBe(of === 'bids' ? 1_000 - n : 1_001 + n);
              const isDamaged = of === side && n === at;
              const expected = isDamaged ? shown(to, i.lotMoney) : BigInt(lots[of === 'bids' ? n : FAR + n]!);
              expect(BigInt(amounts[n]!)).toBe(expected);
            }
          }
        },
      ),
      runsOf(400, 130),
    );
  });
});

/** A side without one row that proves its place is a fault of the reply, which names it too. */
function taken(take: () => string | null): string | null {
  try {
    return take();
  } catch (error) {
    if (error instanceof WireFault) return error.message;
    throw error;
  }
}

/** Lots of an amount as it is shown: one where it cannot be read, and where it is less. */
function shown(text: unknown, lot: bigint): bigint {
  if (typeof text !== 'string' || !/^\d{1,20}(\.\d{1,18})?$/.test(text)) return 1n;
  const lots = moneyOf(text) / lot;
  return lots < 1n ? 1n : lots > UNITS_MAX ? BigInt(UNITS_MAX) : lots;
}
