/** The price of a hedge on another exchange: never better than what the order brings at its limit, and the figures of E17. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  emptyDepth,
  instrumentOf,
  latencyRiskBps,
  money,
  moneyOf,
  priceElsewhere,
  type Depth,
  type ElsewhereTerms,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const RULES = {
  book: 'btc_usdt',
  tickSize: '0.01',
  minimumAmount: '0.00001',
  maximumAmount: '9000',
  minimumPrice: '0.01',
  maximumPrice: '1000000',
  minimumValue: '5',
  maximumValue: '9000000',
};
const there = instrumentOf(RULES, '0.00001');
const ONE = 10n ** 18n;

type Level = readonly [ticks: number, lots: number];
function depthOf(bids: readonly Level[], asks: readonly Level[]): Depth {
  const depth = emptyDepth(50);
  bids.forEach(([price, lots], i) => ((depth.bidPrices[i] = price), (depth.bidAmounts[i] = lots)));
  asks.forEach(([price, lots], i) => ((depth.askPrices[i] = price), (depth.askAmounts[i] = lots)));
  return Object.assign(depth, { bids: bids.length, asks: asks.length });
}

const terms = (more: Partial<ElsewhereTerms> = {}): ElsewhereTerms => ({
  instrument: there,
  takerRate: 100_000,
  rate: moneyOf('18'),
  midHere: moneyOf('1199250'),
  marginBps: 0,
  riskBps: 0,
  backBps: 0,
  bounds: { costMaxBps: 500, collarBps: 500, orderValueMax: (10n ** 18n) as never, room: 10 ** 9 },
  ...more,
});

const BOOK = depthOf(
  [
    [6_660_000, 2_000],
    [6_659_000, 5_000],
  ],
  [
    [6_665_000, 2_000],
    [6_666_000, 5_000],
  ],
);

test('a sale takes the levels there, pays the fee there, and is worth the rate, rounded down', () => {
  const route = priceElsewhere('mxn', BOOK, moneyOf('0.05'), terms());
  if (!('out' in route)) throw new Error(route.unavailableReason);
  // 0.02 at 66,600 and 0.03 at 66,590 are 3,329.70 usdt, minus 0.1%.
  expect(route.take).toEqual({ side: 'sell', price: 6_659_000, amount: 5_000 });
  expect(route.out.give).toEqual({ currency: 'btc', amount: '0.05' });
  expect(route.out.get).toEqual({ currency: 'mxn', amount: '59874.6654' });
  // At the limit price: 3,329.50 usdt, minus 0.1%, times 18; the mid price here makes 59,962.50.
  expect(route.out.costMax).toBe(moneyOf('59962.5') - moneyOf('59871.069'));
});

test('a purchase brings the amount without the fee, and its payment is rounded up', () => {
  const route = priceElsewhere('mxn', BOOK, money(-moneyOf('0.05')), terms({ rate: moneyOf('18.000000000000000001') }));
  if (!('out' in route)) throw new Error(route.unavailableReason);
  expect(route.take).toEqual({ side: 'buy', price: 6_666_000, amount: 5_000 });
  expect(route.out.get).toEqual({ currency: 'btc', amount: '0.04995' });
  expect(moneyOf(route.out.give.amount)).toBe(moneyOf('3332.8') * 18n + 3_333n);
});

test('the risk until the order arrives is the quantile of E17', () => {
  expect(latencyRiskBps(2e-4, 1_500, 1)).toBeCloseTo(2.449489742783, 11);
  expect(latencyRiskBps(2e-4, 1_500, 1.6448536269514722)).toBeCloseTo(4.029052087597, 11);
});

test('without a rate, a side or a known risk there is no price', () => {
  const refusalOf = (depth: Depth, more: Partial<ElsewhereTerms>) => {
    const route = priceElsewhere('mxn', depth, moneyOf('0.05'), terms(more));
    return 'out' in route ? null : route.unavailableReason;
  };
  expect(refusalOf(BOOK, { rate: money(0n) })).toBe(
    'no exchange rate is known for the quote currency on the other exchange',
  );
  expect(refusalOf(depthOf([], [[6_665_000, 1]]), {})).toBe('the book on the other exchange has an empty side');
  expect(refusalOf(depthOf([[6_665_000, 1]], [[6_665_000, 1]]), {})).toBe('the book on the other exchange is crossed');
  for (const bad of [Number.NaN, -1, Infinity])
    expect(refusalOf(BOOK, { riskBps: bad })).toBe('the price risk or another cost of the hedge is unknown');
  expect(refusalOf(depthOf([[6_660_000, 7]], [[6_665_000, 7]]), {})).toBe(
    'the available amount is below the minimum order amount or value',
  );
});

test('no fill within the limit of the order costs more than the stated maximum', () => {
  const levels = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 4_000 })), {
    minLength: 1,
    maxLength: 8,
  });
  const worlds = fc.record({
    sells: fc.boolean(),
    bids: levels,
    asks: levels,
    lots: fc.integer({ min: 1, max: 9_000 }),
    rate: fc.bigInt({ min: 1n, max: 40n * ONE }),
    marginBps: fc.integer({ min: 0, max: 50 }),
    backBps: fc.integer({ min: 0, max: 30 }),
    riskBps: fc.integer({ min: 0, max: 30 }),
    /** Part of the way from the best level to the limit at which the order fills. */
    part: fc.integer({ min: 0, max: 100 }),
  });
  let priced = 0;
  fc.assert(
    fc.property(worlds, ({ sells, bids, asks, lots, rate, part, ...costs }) => {
      const side = (of: readonly Level[], from: number, sign: number) => {
        let at = from;
        return of.map(([step, size]): Level => [(at += sign * step), size]);
      };
      const depth = depthOf(side(bids, 6_660_000, -1), side(asks, 6_660_000, 1));
      const at = terms({ rate: money(rate), ...costs });
      const amount = money((sells ? 1n : -1n) * BigInt(lots) * there.lotMoney);
      const route = priceElsewhere('mxn', depth, amount, at);
      if (!('out' in route)) return;
      priced++;
      const { out, take } = route;
      const best = sells ? depth.bidPrices[0]! : depth.askPrices[0]!;
      expect(sells ? take.price <= best : take.price >= best).toBe(true);
      expect(take.amount).toBeLessThanOrEqual(lots);
      const price = best + Math.trunc(((take.price - best) * part) / 100);
      const [base, quote] = [
        BigInt(take.amount) * there.lotMoney,
        BigInt(take.amount) * BigInt(price) * there.tickLotMoney,
      ];
      const fee = (sum: bigint) => (sum * 100_000n + 99_999_999n) / 100_000_000n;
      const fair = (sum: bigint) => (sum * at.midHere) / ONE;
      const cost = sells
        ? fair(base) - ((quote - fee(quote)) * rate) / ONE
        : (quote * rate + ONE - 1n) / ONE - fair(base - fee(base));
      // One unit of 10^-18 for each rounding of the fee.
      expect(cost).toBeLessThanOrEqual(out.costMax! + 2n + at.midHere / ONE);
    }),
    runsOf(20_000, 400),
  );
  expect(priced).toBeGreaterThan(50);
});
