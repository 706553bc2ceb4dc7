/** The price of a hedge on another exchange: never better than what the order brings at its limit, and the figures of E17. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  atOtherMid,
  emptyDepth,
  instrumentOf,
  latencyRiskBps,
  money,
  moneyOf,
  priceElsewhere,
  sweepCost,
  type Depth,
  type ElsewhereTerms,
  type Money,
  type Value,
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

/** Bounds for laws of prices that are far from the mid price here. */
const WITHOUT_COLLAR = { ...terms().bounds, collarBps: 1e40 };

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

/** Levels of a side at growing distances: each step in ticks leads from one price to the next. */
function levelsFrom(of: readonly Level[], from: number, sign: number): Level[] {
  let at = from;
  return of.map(([step, size]) => [(at += sign * step), size]);
}

test('a book whose mid price, at the rate, is beyond the collar around that of the bot never gets an order, at any cost limit', () => {
  const worlds = fc.record({
    sells: fc.boolean(),
    collarBps: fc.integer({ min: 1, max: 5_000 }),
    /** Mid price there, at the rate, as a part in a million of the mid price here. */
    parts: fc.oneof(fc.integer({ min: 1, max: 100_000_000 }), fc.integer({ min: 900_000, max: 1_100_000 })),
    scalesRate: fc.boolean(),
    costMaxBps: fc.integer({ min: 1, max: 10_000 }),
  });
  const seen = { priced: 0, refused: 0 };
  fc.assert(
    fc.property(worlds, ({ sells, collarBps, parts, scalesRate, costMaxBps }) => {
      const fair = moneyOf('18');
      const scaled = money((fair * BigInt(parts)) / 1_000_000n);
      // A wrong rate, or a wrong book: the mid price here is that of another currency.
      const more = scalesRate
        ? { rate: scaled }
        : { midHere: money((moneyOf('1199250') * 1_000_000n) / BigInt(parts)) };
      const bounds = { ...terms().bounds, collarBps, costMaxBps };
      const amount = money((sells ? 1n : -1n) * moneyOf('0.02'));
      const route = priceElsewhere('mxn', BOOK, amount, terms({ ...more, bounds }));
      const isFar = Math.abs(parts / 1_000_000 - 1) > collarBps / 10_000 + 1e-6;
      seen[isFar ? 'refused' : 'priced']++;
      if (isFar) expect('out' in route ? null : route.unavailableReason).toContain('(limits.collarBps)');
      else if (Math.abs(parts / 1_000_000 - 1) < collarBps / 10_000 - 1e-6 && !('out' in route))
        expect(route.unavailableReason).not.toContain('the mid price on the other exchange');
    }),
    runsOf(3_000, 300),
  );
  expect(Math.min(seen.priced, seen.refused)).toBeGreaterThan(0);
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
      const depth = depthOf(levelsFrom(bids, 6_660_000, -1), levelsFrom(asks, 6_660_000, 1));
      const at = terms({ rate: money(rate), ...costs, bounds: WITHOUT_COLLAR });
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

/** A small book there, in ticks of 0.5 and lots of 0.01, whose smallest value and both price bounds are within reach. */
const narrow = instrumentOf(
  { ...RULES, tickSize: '0.5', minimumAmount: '0.02', minimumPrice: '90', maximumPrice: '104', minimumValue: '10' },
  '0.01',
);
const RATE_ONE = 100_000_000n;
const ceilDiv = (sum: bigint, by: bigint): bigint => (sum + by - 1n) / by;

test('an order there has the limit, the amounts, the risk and the maximum cost of a model, or the first reason against it', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 30 })), { maxLength: 4 });
  // Some costs are invalid. Each is a multiple of 1/64 bps, which floats express exactly.
  const cost = fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 60_000 }).map(n => n / 64) },
    { weight: 1, arbitrary: fc.constantFrom(-1, 10_000, Number.NaN) },
  );
  const worlds = fc.record({
    sells: fc.boolean(),
    bids: steps,
    asks: steps,
    gap: fc.integer({ min: -1, max: 4 }),
    lots: fc.integer({ min: 8, max: 14 }),
    takerRate: fc.constantFrom(0, 100_000, 123_456.5),
    rate: fc.oneof(fc.constant(0n), { weight: 12, arbitrary: fc.bigInt({ min: 1n, max: 40n * ONE }) }),
    /** Mid price here as a part in a hundred of 100 there, at the rate. */
    part: fc.oneof(
      { weight: 1, arbitrary: fc.bigInt({ min: 80n, max: 120n }) },
      { weight: 3, arbitrary: fc.bigInt({ min: 95n, max: 105n }) },
    ),
    marginBps: cost,
    riskBps: cost,
    backBps: cost,
  });
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(worlds, ({ sells, bids, asks, gap, lots, rate, part, takerRate, ...costs }) => {
      const midHere = rate * part;
      const depth = depthOf(levelsFrom(bids, 200, -1), levelsFrom(asks, 198 + gap, 1));
      const amount = money((sells ? 1n : -1n) * BigInt(lots) * narrow.lotMoney);
      const bounds = { costMaxBps: 900, collarBps: 900, orderValueMax: (10n ** 18n) as never, room: 10 ** 9 };
      const at = { instrument: narrow, takerRate, rate: money(rate), midHere: money(midHere), ...costs, bounds };
      const route = priceElsewhere('mxn', depth, amount, at);
      const found = 'out' in route ? route : route.unavailableReason;
      const count = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
      const refused = (reason: string): void => {
        count(reason);
        expect(found).toBe(reason);
      };
      if (rate === 0n) return refused('no exchange rate is known for the quote currency on the other exchange');
      if (bids.length === 0 || asks.length === 0) return refused('the book on the other exchange has an empty side');
      const [bid, ask] = [depth.bidPrices[0]!, depth.askPrices[0]!];
      if (bid >= ask) return refused('the book on the other exchange is crossed');
      if (Object.values(costs).some(bps => Number.isNaN(bps) || bps < 0 || bps >= 10_000))
        return refused('the price risk or another cost of the hedge is unknown');
      const mid = money((BigInt(bid + ask) * narrow.tickMoney) / 2n);
      const distance = (mid * rate) / ONE - midHere;
      if ((distance < 0n ? -distance : distance) * 10_000n > midHere * 900n)
        return refused(
          "the mid price on the other exchange differs by more than 900 bps (limits.collarBps) from that of the bot's book",
        );
      // The smallest value counts at the limit, below.
      const cheap = { ...narrow, valueMin: 0n as Value };
      const { take, ...swept } = sweepCost(cheap, depth, amount, takerRate, mid, bounds);
      if ('unavailableReason' in swept) return refused(swept.unavailableReason);
      // The limit, tick by tick, as far as the margin and the bounds of the book allow.
      const parts = (bps: number) => BigInt(bps * 64);
      const margin = parts(costs.marginBps);
      const isAllowed = (ticks: number) =>
        sells
          ? BigInt(ticks) * 640_000n >= BigInt(take!.price) * (640_000n - margin) && ticks >= 180
          : BigInt(ticks) * 640_000n <= BigInt(take!.price) * (640_000n + margin) && ticks <= 208;
      let price: number = take!.price;
      while (isAllowed(price + (sells ? -1 : 1))) price += sells ? -1 : 1;
      price = Math.min(208, Math.max(180, price));
      const [base, paid] = [BigInt(take!.amount) * narrow.lotMoney, BigInt(take!.amount * price) * narrow.tickLotMoney];
      if (paid < 10n * ONE) return refused('the available amount is below the minimum order amount or value');
      count('priced');
      const fee = BigInt(Math.ceil(takerRate));
      const left = (sum: bigint) => (sum * (RATE_ONE - fee)) / RATE_ONE;
      const here = (sum: bigint) => (sells ? (sum * rate) / ONE : ceilDiv(sum * rate, ONE));
      const moved = sells ? base : left(base);
      const fair = (moved * midHere) / ONE;
      const extra = (bps: number) => ceilDiv(fair * parts(bps), 640_000n);
      const worst = sells ? fair - here(left(paid)) : here(paid) - fair;
      expect(found).toMatchObject({
        take: { ...take, price },
        out: {
          way: 'elsewhere',
          risk: extra(costs.riskBps) + extra(costs.backBps),
          costMax: worst + extra(costs.backBps),
        },
      });
      if (typeof found === 'string') return;
      const [coins, cash] = sells ? [found.out.give, found.out.get] : [found.out.get, found.out.give];
      const there = moneyOf((sells ? swept.get : swept.give).amount);
      expect([coins.currency, moneyOf(coins.amount), cash.currency, moneyOf(cash.amount)]).toEqual([
        'btc',
        moved,
        'mxn',
        here(there),
      ]);
    }),
    runsOf(20_000, 1_500),
  );
  expect(seen.size).toBe(7);
  expect(seen.get('priced')).toBeGreaterThan(100);
});

test('an order there is worth at most the maximum values, at its limit and at any price that it takes, and takes all that they allow', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 30 })), {
    minLength: 1,
    maxLength: 4,
  });
  const worlds = fc.record({
    sells: fc.boolean(),
    ...{ bids: steps, asks: steps },
    lots: fc.integer({ min: 8, max: 90 }),
    marginBps: fc.integer({ min: 0, max: 800 }),
    orderValueMax: fc.integer({ min: 1_000, max: 20_000 }),
    valueMax: fc.integer({ min: 1_000, max: 20_000 }),
  });
  let limited = 0;
  fc.assert(
    fc.property(worlds, ({ sells, bids, asks, lots, marginBps, orderValueMax, valueMax }) => {
      const [below, above] = [levelsFrom(bids, 200, -1), levelsFrom(asks, 200, 1)];
      const amount = money((sells ? 1n : -1n) * BigInt(lots) * narrow.lotMoney);
      const bounds = {
        costMaxBps: 5_000,
        collarBps: 5_000,
        orderValueMax: BigInt(orderValueMax) as Value,
        room: 10 ** 9,
      };
      const instrument = { ...narrow, valueMin: 0n as Value, valueMax: BigInt(valueMax) as Value };
      const costs = { takerRate: 0, rate: money(ONE), midHere: money(100n * ONE), marginBps, riskBps: 0, backBps: 0 };
      const found = priceElsewhere('mxn', depthOf(below, above), amount, { instrument, ...costs, bounds });
      const most = Math.min(orderValueMax, valueMax);
      const limitOf = (level: number): number => {
        const exact = level * (1 + ((sells ? -1 : 1) * marginBps) / 10_000);
        return Math.min(208, Math.max(180, sells ? Math.ceil(exact - 1e-9) : Math.floor(exact + 1e-9)));
      };
      const levels = sells ? below : above;
      const best = sells ? levels[0]![0] : 0;
      let [taken, price] = [0, 0];
      for (const [at, size] of levels)
        for (let n = 0; n < size && taken < lots; n++) {
          if (Math.max(at, best, limitOf(at)) * (taken + 1) > most) {
            limited++;
            break;
          }
          [taken, price] = [taken + 1, limitOf(at)];
        }
      if (taken < 2) expect(found).toHaveProperty('unavailableReason');
      else expect(found).toHaveProperty('take', { side: sells ? 'sell' : 'buy', price, amount: taken });
    }),
    runsOf(20_000, 1_500),
  );
  expect(limited).toBeGreaterThan(100);
});

test('a priced hedge at another mid price costs what it would have cost if it had been priced there, at most a unit more', () => {
  const mids = fc.bigInt({ min: 1n, max: 2_000_000n * ONE }).map(units => money(units));
  fc.assert(
    fc.property(fc.boolean(), mids, mids, (sells, before, now) => {
      const priced = (midHere: Money) => {
        const route = priceElsewhere(
          'mxn',
          BOOK,
          money((sells ? 1n : -1n) * moneyOf('0.05')),
          terms({ midHere, bounds: WITHOUT_COLLAR }),
        );
        if (!('out' in route)) throw new Error(route.unavailableReason);
        return route.out;
      };
      const { costMax = 0n, ...moved } = atOtherMid(priced(before), sells, before, now);
      const { costMax: fresh = 0n, ...others } = priced(now);
      expect(moved).toEqual(others);
      expect(costMax - fresh >= 0n && costMax - fresh <= 2n).toBe(true);
    }),
    runsOf(1_000, 100),
  );
  const leg = { currency: 'btc', amount: '1' };
  const firm = { way: 'rfq', give: leg, get: leg } as const;
  expect(atOtherMid(firm, true, money(1n), money(2n))).toBe(firm);
});
