/** What leaves, and by which way: never above the limit, never more than asked, and the cheapest. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  carryCost,
  hedgeCostMax,
  money,
  moneyOf,
  textOfMoney,
  sweepCost,
  amountToHedge,
  compareRoutes,
  type HedgeRules,
  type Instrument,
  type TakerLimits,
  type Value,
  type RouteOption,
} from '../../../src/core/index.ts';
import { btcMxn, depthOf, plain } from '../market.ts';

const rules: HedgeRules = {
  band: moneyOf('1'),
  residual: moneyOf('0.2'),
  costMaxBps: 50,
  carryBpsPerHour: 0,
  unwindMs: 3_600_000,
};
const middle = moneyOf('1000');
const sale = (way: 'rfq' | 'conversion' | 'book', minor: string, major = '1'): RouteOption => ({
  way,
  ...(way === 'book' ? { comparisonOnlyReason: 'orders of ours never take liquidity' } : {}),
  give: { currency: 'btc', amount: major },
  get: { currency: 'mxn', amount: minor },
});
const decide = (
  ways: readonly RouteOption[],
  inventory = '1.2',
  changes: Partial<HedgeRules> = {},
  of: Instrument = btcMxn,
) => compareRoutes(of, moneyOf('1'), moneyOf(inventory), middle, ways, { ...rules, ...changes });

describe('what should leave', () => {
  test.each([
    ['1', '0'],
    ['1.00001', '0.80001'],
    ['-3', '-2.8'],
    ['0', '0'],
  ])('of %s past a band of 1 with a rest of 0.2 is %s', (inventory, amount) => {
    expect(textOfMoney(amountToHedge(moneyOf(inventory), rules))).toBe(amount);
  });

  test('below the band is something only where carrying has a price', () => {
    expect(amountToHedge(moneyOf('0.5'), rules)).toBe(0n);
    expect(textOfMoney(amountToHedge(moneyOf('0.5'), { ...rules, carryBpsPerHour: 1 }))).toBe('0.3');
  });
});

describe('the limit of what leaving may cost', () => {
  test('is the whole of the basis points that are allowed, and not one unit more', () => {
    const hundredths = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 22n }), hundredths, (major, bps) => {
        const allowed = ((major * middle) / 10n ** 18n) * BigInt(bps);
        const limit = hedgeCostMax(major, middle, { ...rules, costMaxBps: bps / 100 });
        expect(limit * 1_000_000n).toBeLessThanOrEqual(allowed);
        expect((limit + 1n) * 1_000_000n).toBeGreaterThan(allowed);
      }),
    );
  });
});

describe('the way out', () => {
  test('of a part is compared as if all left at its price: a small dear part does not win by being small', () => {
    const { taken, compared } = decide([sale('rfq', '99', '0.1'), sale('conversion', '996')]);
    expect(taken).toBe('conversion');
    expect(compared[0]).toMatchObject({ way: 'rfq', bps: 100, rejectedReason: 'more than 50 bps' });
  });

  test('costs no more than is left of the day', () => {
    const of = (dayLeft: string) =>
      compareRoutes(btcMxn, moneyOf('1'), moneyOf('1.2'), middle, [sale('rfq', '998')], rules, moneyOf(dayLeft));
    expect(of('2')).toMatchObject({ taken: 'rfq', costMax: moneyOf('2') });
    expect(of('1.999999')).toMatchObject({ taken: 'wait', costMax: 0n });
    expect(of('1.999999').compared[0]?.rejectedReason).toBe('more than is left for today');
  });

  test('is not taken when the most that it can cost is above the limit, however cheap it looks', () => {
    const of = (most: string) => decide([{ ...sale('rfq', '999'), costMax: moneyOf(most) }]);
    expect(of('5')).toMatchObject({ taken: 'rfq', costMax: moneyOf('5') });
    expect(of('5.000001').taken).toBe('wait');
    expect(of('5.000001').compared[0]?.rejectedReason).toBe('more than 50 bps');
  });

  test('is the cheapest within the limit, and every other says why not', () => {
    const { taken, compared } = decide([sale('rfq', '998'), sale('conversion', '997'), sale('book', '999')]);
    expect(taken).toBe('rfq');
    expect(compared.map(({ way, bps, rejectedReason }) => [way, bps, rejectedReason])).toEqual([
      ['rfq', 20, null],
      ['conversion', 30, 'another route costs less'],
      ['book', 10, 'orders of ours never take liquidity'],
      ['wait', 0, 'inventory is beyond its band'],
    ]);
  });

  test('is none when all cost more than the limit, past the band too', () => {
    const { taken, compared } = decide([sale('rfq', '994.9'), { way: 'conversion', unavailableReason: 'no answer' }]);
    expect(taken).toBe('wait');
    expect(compared.map(({ rejectedReason }) => rejectedReason)).toEqual(['more than 50 bps', 'no answer', null]);
  });

  test('below the band is taken when it costs less than carrying', () => {
    // 1 of a band of 1, an hour at 30 bps an hour: 30 bps.
    const carrying = { carryBpsPerHour: 30 };
    expect(decide([sale('rfq', '998')], '0.9', carrying).taken).toBe('rfq');
    expect(decide([sale('rfq', '996.9')], '0.9', carrying).taken).toBe('wait');
    expect(textOfMoney(carryCost(moneyOf('1'), middle, { ...rules, ...carrying }))).toBe('3');
  });

  test('of other currencies, of nothing, or of more than was asked for is none', () => {
    for (const way of [
      { ...sale('rfq', '999'), get: { currency: 'usd', amount: '999' } },
      sale('rfq', '0', '0'),
      sale('rfq', '1200', '1.2'),
    ])
      expect(decide([way]).taken).toBe('wait');
  });

  test('never costs more than the limit, and none that is offered costs less', () => {
    const bps = fc.integer({ min: -100, max: 200 });
    fc.assert(
      fc.property(bps, bps, fc.boolean(), (rfq, conversion, buys) => {
        const amount = moneyOf(buys ? '-1' : '1');
        const way = (name: 'rfq' | 'conversion', cost: number): RouteOption => {
          const [major, minor] = [
            { currency: 'btc', amount: '1' },
            {
              currency: 'mxn',
              amount: textOfMoney(money((middle * BigInt(10_000 + (buys ? cost : -cost))) / 10_000n)),
            },
          ];
          return buys ? { way: name, give: minor, get: major } : { way: name, give: major, get: minor };
        };
        const inventory = moneyOf(buys ? '-2' : '2');
        const { taken } = compareRoutes(
          btcMxn,
          amount,
          inventory,
          middle,
          [way('rfq', rfq), way('conversion', conversion)],
          rules,
        );
        const least = Math.min(rfq, conversion);
        expect(taken === 'wait').toBe(least > rules.costMaxBps);
        if (taken !== 'wait') expect(taken === 'rfq' ? rfq : conversion).toBe(least);
      }),
    );
  });
});

describe('the book as a way out', () => {
  const wide: TakerLimits = {
    costMaxBps: 5_000,
    collarBps: 5_000,
    orderValueMax: (10n ** 18n) as Value,
    room: Infinity,
  };
  const depth = depthOf(
    [
      [999, 5],
      [998, 50],
    ],
    [
      [1001, 5],
      [1002, 50],
    ],
  );
  // One lot is one, one tick is one; 1 % fee.
  const through = (amount: string, bounds: Partial<TakerLimits> = {}, rate = 1_000_000) =>
    sweepCost(plain, depth, moneyOf(amount), rate, middle, { ...wide, ...bounds });

  test('takes level after level at the price of the last one, and the fee from what is received', () => {
    expect(through('10')).toEqual({
      way: 'book',
      give: { currency: 'btc', amount: '10' },
      get: { currency: 'mxn', amount: textOfMoney(moneyOf(String((5 * 999 + 5 * 998) * 0.99))) },
      costMax: moneyOf('119.8'),
      take: { side: 'sell', price: 998, amount: 10 },
    });
    expect(through('-10')).toMatchObject({
      give: { currency: 'mxn', amount: String(5 * 1001 + 5 * 1002) },
      get: { currency: 'btc', amount: '9.9' },
      take: { side: 'buy', price: 1002, amount: 10 },
    });
  });

  test('is of no more than is seen, than one order may be worth, than has room, and not beyond the collar', () => {
    expect(through('100')).toMatchObject({ take: { amount: 55 } });
    expect(through('10', { orderValueMax: 5_000n as Value })).toMatchObject({ take: { price: 999, amount: 5 } });
    expect(through('10', { room: 3 })).toMatchObject({ take: { amount: 3 } });
    expect(through('10', { collarBps: 10 })).toMatchObject({ take: { price: 999, amount: 5 } });
    expect(through('10', { collarBps: 5 })).toMatchObject({
      unavailableReason: 'no visible level is within the limits',
    });
  });

  test('never costs more than its limit, at whatever of its prices it trades', () => {
    const lots = fc.integer({ min: 1, max: 100 });
    const away = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(away, lots), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 0, max: 2_000_000 }),
        fc.integer({ min: 1, max: 400 }),
        fc.boolean(),
        (levels, wanted, rate, costMaxBps, sells) => {
          const sorted = [...new Map(levels)].sort((a, b) => a[0] - b[0]);
          const side = sorted.map(([off, n]): [number, number] => [sells ? 1000 - off : 1000 + off, n]);
          const seen = sells ? depthOf(side, []) : depthOf([], side);
          const amount = moneyOf(String(sells ? wanted : -wanted));
          const way = sweepCost(plain, seen, amount, rate, middle, { ...wide, costMaxBps });
          if ('unavailableReason' in way) return;
          const major = moneyOf(sells ? way.give.amount : way.get.amount);
          expect(way.costMax).toBeLessThanOrEqual(hedgeCostMax(major, middle, { ...rules, costMaxBps }) + 2n);
          const at = compareRoutes(plain, amount, amount, middle, [way], {
            ...rules,
            costMaxBps,
            band: moneyOf('0.5'),
          });
          expect(at.costMax).toBeLessThanOrEqual(hedgeCostMax(major, middle, { ...rules, costMaxBps }));
        },
      ),
    );
  });
});
