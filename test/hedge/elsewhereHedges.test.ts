/** Orders for another exchange: of which side and size each is, and that what the operator states ends it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  emptyDepth,
  instrumentOf,
  money,
  moneyOf,
  moneyOfValue,
  valueOf,
  VirtualClock,
  type HedgeRow,
  type Side,
} from '../../src/core/index.ts';
import { ElsewhereDesk } from '../../src/hedge/index.ts';
import { ElsewhereHedges } from '../../src/hedge/elsewhereHedges.ts';
import { bookRules } from '../core/market.ts';
import { runsOf } from '../many.ts';

const there = instrumentOf(bookRules({ book: 'btc_usdt', tickSize: '0.01', minimumValue: '1' }), '0.001');
const here = instrumentOf(bookRules());
const LOT = there.lotMoney;
const CLOSED = { buy: 'no buys now', sell: 'no sales now' };

type Drawn = {
  readonly sizes: readonly number[];
  readonly step: number;
  readonly marginBps: number;
  readonly baseLots: number;
  readonly quote: number;
  readonly closed: readonly Side[];
};

function hedges({ sizes, step, marginBps, baseLots, quote, closed }: Drawn): ElsewhereHedges {
  const depth = emptyDepth(50);
  for (const [i, size] of sizes.entries()) {
    [depth.bidPrices[i], depth.askPrices[i]] = [100_000 - step * i, 100_010 + step * i];
    [depth.bidAmounts[i], depth.askAmounts[i]] = [size, size];
  }
  Object.assign(depth, { bids: sizes.length, asks: sizes.length });
  const setup = {
    ...{ desk: { isOpen: false, depth: async () => ({ depth, startedAt: 0 }) }, instrument: there, takerRate: 100_000 },
    ...{ rate: () => moneyOf('20'), latencyMs: 0, riskZ: 0, perRootSecond: () => 0, valueMin: 0n, smallestUntil: 0 },
    funds: (currency: string) =>
      currency === 'btc' ? money(BigInt(baseLots) * LOT) : moneyOf(currency === 'usdt' ? String(quote) : '0'),
    closedBecause: (side: Side) => (closed.includes(side) ? CLOSED[side] : null),
    ...{ marginBps, backBps: 0 },
    bounds: { costMaxBps: 9_000, collarBps: 9_000, orderValueMax: 10n ** 30n, room: 10 ** 9 },
  };
  return new ElsewhereHedges(setup as never, { time: () => 0, step: () => undefined });
}

test('an order is of the wanted side, which may be open while the other is closed, and costs at its limit at most the funds there', async () => {
  let orders = 0;
  const drawn = fc.record({
    sizes: fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 6 }),
    step: fc.constantFrom(1, 100, 10_000),
    marginBps: fc.constantFrom(0, 10, 50),
    baseLots: fc.nat(2_000),
    quote: fc.nat(2_000),
    closed: fc.subarray<Side>(['buy', 'sell']),
  });
  await fc.assert(
    fc.asyncProperty(drawn, fc.integer({ min: 1, max: 2_000 }), fc.boolean(), async (book, lots, sells) => {
      const side = sells ? 'sell' : 'buy';
      const amount = money((sells ? 1n : -1n) * BigInt(lots) * LOT);
      const view = { instrument: here, mid: moneyOf('20000') } as never;
      const route = await hedges(book).price(view, amount, { completed: 0, isAll: true });
      if (route.by !== 'elsewhere') {
        const why = 'unavailableReason' in route.out ? route.out.unavailableReason : '';
        expect(why === CLOSED[side]).toBe(book.closed.includes(side));
        return;
      }
      orders++;
      const { take } = route;
      expect([take.side, book.closed.includes(side)]).toEqual([side, false]);
      expect(take.amount).toBeLessThanOrEqual(lots);
      if (sells) expect(take.amount).toBeLessThanOrEqual(book.baseLots);
      else expect(moneyOfValue(there, valueOf(take.price, take.amount)) <= moneyOf(String(book.quote))).toBe(true);
    }),
    runsOf(2_000, 200),
  );
  expect(orders).toBeGreaterThan(20);
});

test.each([
  ['not executed', null],
  ['executed', { base: LOT, quote: LOT, fee: 0n, feeCurrency: 'usdt' }],
])(
  'after the operator has stated its outcome (%s), the order is looked up no more, and another may be sent',
  (_, stated) => {
    const times = { requestDelayMaxMs: 1, tradeReportDelayMaxMs: 1 };
    const desk = new ElsewhereDesk({ client: {}, clock: new VirtualClock(), instrument: () => there, times } as never);
    const hedges = new ElsewhereHedges({ desk } as never, { time: () => 0, step: () => undefined });
    const order = { id: 'h1', book: 'btc_usdt', side: 'buy', price: '1000', amount: '0.001' };
    const row = { id: 'h1', elsewhere: { place: 'there', order, rate: '20' } } as never as HedgeRow;
    desk.restore(order as never);
    expect(desk.isOpen).toBe(true);
    const { trades } = hedges.endAsStated(row, stated as never);
    expect([desk.isOpen, trades.length]).toEqual([false, stated === null ? 0 : 1]);
  },
);
