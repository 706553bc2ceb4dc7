/** Amount and route of a hedge: never above the limit, never more than asked, and the cheapest. */
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
  instrumentOf,
  type Amount,
  type HedgeRules,
  type Instrument,
  type Price,
  type TakerLimits,
  type Value,
  type RouteOption,
} from '../../../src/core/index.ts';
import { bookRules, btcMxn, depthOf, plain } from '../market.ts';
import { runsOf } from '../../many.ts';

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
  ...(way === 'book' ? { comparisonOnlyReason: 'the bot may not take liquidity in its book' } : {}),
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

describe('what should leave, as a law', () => {
  test('is all beyond the rest once the band is passed or carrying costs anything, and else nothing', () => {
    const sum = fc.integer({ min: 0, max: 9 });
    const anyInventory = fc.integer({ min: -12, max: 12 });
    const carry = fc.constantFrom(0, 0, 2.5);
    fc.assert(
      fc.property(anyInventory, sum, sum, carry, (inventory, band, residual, carryBpsPerHour) => {
        const leaves = amountToHedge(money(BigInt(inventory)), {
          ...rules,
          band: money(BigInt(band)),
          residual: money(BigInt(residual)),
          carryBpsPerHour,
        });
        const size = Math.abs(inventory);
        const isBeyond = size > residual && (size > band || carryBpsPerHour > 0);
        expect(Number(leaves)).toBe(isBeyond ? Math.sign(inventory) * (size - residual) : 0);
      }),
      { numRuns: 400 },
    );
  });
});

describe('what carrying costs', () => {
  // Half of the band, three hours at 4 bps an hour: 4 x 3 x 0.5 = 6 bps of 500.
  const carrying = { ...rules, carryBpsPerHour: 4, unwindMs: 10_800_000 };
  test('is the rate, for as long as quotes need for that share of the band, of either sign of inventory', () => {
    expect(textOfMoney(carryCost(moneyOf('0.5'), middle, carrying))).toBe('0.3');
    expect(textOfMoney(carryCost(moneyOf('-0.5'), middle, carrying))).toBe('0.3');
    expect(textOfMoney(carryCost(moneyOf('0.5'), middle, { ...carrying, band: moneyOf('2') }))).toBe('0.15');
  });

  test('is nothing without a band', () => {
    expect(carryCost(moneyOf('0.5'), middle, { ...carrying, band: money(0n) })).toBe(0n);
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
    expect(compared[0]).toMatchObject({ way: 'rfq', bps: 100, rejectedReason: 'costs more than 50 bps' });
  });

  test('costs no more than is left of the day', () => {
    const of = (dayLeft: string) =>
      compareRoutes(btcMxn, moneyOf('1'), moneyOf('1.2'), middle, [sale('rfq', '998')], rules, moneyOf(dayLeft));
    expect(of('2')).toMatchObject({ taken: 'rfq', costMax: moneyOf('2') });
    expect(of('1.999999')).toMatchObject({ taken: 'wait', costMax: 0n });
    expect(of('1.999999').compared[0]?.rejectedReason).toBe('exceeds the remaining hedge budget (today)');
  });

  test('is not taken when the most that it can cost is above the limit, however cheap it looks', () => {
    const of = (most: string) => decide([{ ...sale('rfq', '999'), costMax: moneyOf(most) }]);
    expect(of('5')).toMatchObject({ taken: 'rfq', costMax: moneyOf('5') });
    expect(of('5.000001').taken).toBe('wait');
    expect(of('5.000001').compared[0]?.rejectedReason).toBe('costs more than 50 bps');
  });

  test('is the cheapest within the limit, and every other says why not', () => {
    const { taken, compared } = decide([sale('rfq', '998'), sale('conversion', '997'), sale('book', '999')]);
    expect(taken).toBe('rfq');
    expect(compared.map(({ way, bps, rejectedReason }) => [way, bps, rejectedReason])).toEqual([
      ['rfq', 20, null],
      ['conversion', 30, 'another route costs less'],
      ['book', 10, 'the bot may not take liquidity in its book'],
      ['wait', 0, 'inventory is beyond its band'],
    ]);
  });

  test('is none when all cost more than the limit, past the band too', () => {
    const { taken, compared } = decide([sale('rfq', '994.9'), { way: 'conversion', unavailableReason: 'no answer' }]);
    expect(taken).toBe('wait');
    expect(compared.map(({ rejectedReason }) => rejectedReason)).toEqual(['costs more than 50 bps', 'no answer', null]);
  });

  test('that costs as much as waiting is not taken, and of two that cost the same the first', () => {
    const equal = [sale('rfq', '998'), sale('conversion', '998')];
    expect(decide(equal).taken).toBe('rfq');
    const { taken, compared } = decide(equal, '0.9', { waitBps: 20 });
    expect(taken).toBe('wait');
    expect(compared.map(({ rejectedReason }) => rejectedReason)).toEqual([
      'waiting costs less',
      'waiting costs less',
      null,
    ]);
  });

  test('is taken at any cost within the limit beyond the band, and not at its very edge', () => {
    for (const sign of ['', '-'])
      expect(
        ['1', '1.000000000000000001'].map(inventory => decide([sale('rfq', '998')], `${sign}${inventory}`).taken),
      ).toEqual(['wait', 'rfq']);
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

/** One way as the law draws it: amounts in tenths, sums in whole units of the quote currency. */
const anyWay = fc.record({
  tenths: fc.integer({ min: 0, max: 11 }),
  cost: fc.integer({ min: -4, max: 6 }),
  risk: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  most: fc.option(fc.integer({ min: -2, max: 8 }), { nil: undefined }),
  flaw: fc.constantFrom('none', 'none', 'none', 'none', 'give', 'get', 'only compared', 'no price'),
});
const NAMES = ['rfq', 'conversion', 'book', 'rfq via usd'] as const;

describe('the choice of a way', () => {
  test('is the cheapest for the whole amount within every limit, by a model in whole numbers, and says why not of each other', () => {
    const tenths = (n: number) => textOfMoney(money(BigInt(n) * 10n ** 17n));
    fc.assert(
      fc.property(
        fc.array(anyWay, { maxLength: 4 }),
        fc.boolean(),
        fc.integer({ min: 4, max: 10 }),
        fc.integer({ min: 6, max: 14 }),
        fc.constantFrom(0, 80, 150),
        fc.option(fc.constantFrom(0, 30, 60), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
        (drawn, sells, size, held, costMaxBps, waitBps, dayLeft) => {
          const ways = drawn.map(({ tenths: n, cost, risk, most, flaw }, i): RouteOption => {
            const way = NAMES[i]!;
            if (flaw === 'no price') return { way, unavailableReason: 'no answer' };
            const major = { currency: 'btc', amount: tenths(n) };
            const minor = { currency: 'mxn', amount: String(Math.max(0, n * 100 + (sells ? -cost : cost))) };
            const [give, get] = sells ? [major, minor] : [minor, major];
            return {
              ...{ way, give, get },
              ...(flaw === 'give' || flaw === 'get' ? { [flaw]: { currency: 'usd', amount: '1' } } : {}),
              ...(flaw === 'only compared' ? { comparisonOnlyReason: 'only compared' } : {}),
              ...(risk === undefined ? {} : { risk: moneyOf(String(risk)) }),
              ...(most === undefined ? {} : { costMax: moneyOf(String(most)) }),
            };
          });
          // The model: costs as [numerator, denominator] of the whole amount.
          const isPast = held > 10;
          const limit = (n: number) => (n * 100 * costMaxBps) / 10_000;
          const judged = drawn.map(({ tenths: n, cost, risk = 0, most, flaw }) => {
            if (flaw === 'no price') return { why: 'no answer' };
            if (flaw === 'give' || flaw === 'get') return { why: 'the offer is for other currencies than requested' };
            if (n > size) return { why: 'the offer exceeds the requested amount' };
            if (n === 0) return { why: "the offer's amount is zero" };
            const own = cost + risk;
            const spends = Math.max(0, most ?? own);
            const why =
              flaw === 'only compared'
                ? flaw
                : own * size > limit(size) * n || spends > limit(n)
                  ? `costs more than ${costMaxBps} bps`
                  : dayLeft !== null && spends > dayLeft
                    ? 'exceeds the remaining hedge budget (the week)'
                    : null;
            return { n, own, spends, why };
          });
          const open = judged.flatMap((each, i) =>
            each.why === null && each.n !== undefined ? [{ ...each, way: NAMES[i]! }] : [],
          );
          const best = open.reduce<(typeof open)[number] | null>(
            (a, b) => (a === null || b.own * a.n < a.own * b.n ? b : a),
            null,
          );
          const waiting = (size * 100 * (waitBps ?? 0)) / 10_000;
          const leaves = best !== null && (isPast || best.own * size < waiting * best.n);

          const decision = compareRoutes(
            btcMxn,
            moneyOf(tenths(sells ? size : -size)),
            moneyOf(tenths(sells ? held : -held)),
            middle,
            ways,
            { ...rules, costMaxBps, waitBps: waitBps as number },
            dayLeft === null ? null : moneyOf(String(dayLeft)),
            'the week',
          );
          expect(decision.amount).toBe(moneyOf(tenths(sells ? size : -size)));
          expect(decision.taken).toBe(leaves ? best.way : 'wait');
          expect(decision.costMax).toBe(leaves ? moneyOf(String(best.spends)) : 0n);
          expect(decision.compared.map(({ way, rejectedReason }) => [way, rejectedReason])).toEqual([
            ...judged.map(({ why }, i) => [
              NAMES[i],
              leaves && best.way === NAMES[i]
                ? null
                : (why ?? (leaves ? 'another route costs less' : 'waiting costs less')),
            ]),
            ['wait', leaves ? (isPast ? 'inventory is beyond its band' : 'hedging costs less') : null],
          ]);
          decision.compared.forEach(({ cost, bps }, i) => {
            const of = i === judged.length ? { own: waiting, n: size } : judged[i]!;
            if (of.n === undefined) {
              expect([cost, bps]).toEqual([null, null]);
              return;
            }
            expect(Number(cost) / 1e18).toBeCloseTo((of.own * size) / of.n, 9);
            expect(bps).toBeCloseTo((of.own * 100) / of.n, 1);
          });
        },
      ),
      runsOf(5_000, 500),
    );
  });

  test('of an amount without a value has no share of it', () => {
    const atom = money(1n);
    const { compared, taken } = compareRoutes(btcMxn, atom, atom, money(1n), [], { ...rules, waitBps: 5 });
    expect([compared, taken]).toEqual([[{ way: 'wait', cost: 0n, bps: null, rejectedReason: null }], 'wait']);
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
      unavailableReason: 'no visible price level is within the limits of the order',
    });
  });

  test('is none without a known fee, where it is too small an order, and of levels that are none any more', () => {
    for (const rate of [Number.NaN, 100_000_000, -100_000_000])
      expect(through('10', {}, rate)).toEqual({ way: 'book', unavailableReason: 'the taker fee is unknown' });
    expect(through('10', {}, 99_999_999)).toHaveProperty(
      'unavailableReason',
      'no visible price level is within the limits of the order',
    );
    const least = instrumentOf(
      bookRules({ tickSize: '1', minimumAmount: '3', maximumAmount: '6', minimumValue: '3996' }),
      '1',
    );
    const of = (amount: string, seen = depth) => sweepCost(least, seen, moneyOf(amount), 0, middle, wide);
    const small = { way: 'book', unavailableReason: 'the available amount is below the minimum order amount or value' };
    expect(of('4')).toMatchObject({ take: { amount: 4, price: 999 } });
    expect(of('3')).toEqual(small);
    expect(of('-4')).toMatchObject({ take: { amount: 4 } });
    expect(of('-3')).toEqual(small);
    const cheap = instrumentOf(
      bookRules({ tickSize: '1', minimumAmount: '3', maximumAmount: '6', minimumValue: '1' }),
      '1',
    );
    const few = (amount: string) => sweepCost(cheap, depth, moneyOf(amount), 0, middle, wide);
    expect(few('3')).toMatchObject({ take: { amount: 3 } });
    expect(few('2')).toEqual(small);
    // No more than the book takes in one order; lots of which a part is over stay.
    expect(few('40')).toMatchObject({ take: { amount: 6, price: 998 } });
    expect(few('4.9')).toMatchObject({ take: { amount: 4 } });
    const old = { ...depth, bids: 1, asks: 1 };
    expect(of('40', old)).toMatchObject({ take: { amount: 5, price: 999 } });
    expect(of('-40', old)).toMatchObject({ take: { amount: 5, price: 1001 } });
    const empty = { ...depth, bids: 0, asks: 0 };
    expect(of('4', empty)).toHaveProperty(
      'unavailableReason',
      'no visible price level is within the limits of the order',
    );
  });

  test('takes as much as is within its limits and not one lot more, by exact fractions, and counts what it brings to the last digit', () => {
    const lots = fc.integer({ min: 1, max: 30 });
    const away = fc.integer({ min: 0, max: 60 });
    // Each limit is often out of the way, so that any one of the others is what ends the order.
    const limit = (min: number, max: number) =>
      fc.oneof({ weight: 2, arbitrary: fc.constant(max) }, { weight: 1, arbitrary: fc.integer({ min, max }) });
    const RATE = 100_000_000n;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(away, lots), { maxLength: 5 }),
        limit(1, 60),
        fc.integer({ min: -500_000, max: 1_500_000 }),
        limit(1, 600),
        limit(1, 600),
        limit(0, 70),
        fc.integer({ min: 2_000, max: 60_000 }),
        fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
        fc.option(fc.integer({ min: -5, max: 60 }), { nil: undefined }),
        fc.boolean(),
        (levels, wanted, rate, costMaxBps, collarBps, room, orderValueMax, amountMax, reach, sells) => {
          const sorted = [...new Map(levels)].sort((a, b) => a[0] - b[0]);
          const side = sorted.map(([off, n]): [number, number] => [sells ? 1000 - off : 1000 + off, n]);
          const seen = sells ? depthOf(side, []) : depthOf([], side);
          const amount = moneyOf(String(sells ? wanted : -wanted));
          const bounds = {
            ...{ costMaxBps, collarBps, orderValueMax: BigInt(orderValueMax) as Value, room },
            ...(amountMax === undefined ? {} : { orderAmountMax: amountMax as Amount }),
            ...(reach === undefined ? {} : { priceBound: (sells ? 1000 - reach : 1000 + reach) as Price }),
          };
          const way = sweepCost(plain, seen, amount, rate, middle, bounds);
          const [fee, price] = [BigInt(rate), (n: number) => BigInt(n)];
          // One unit at this price after the fee, against the middle of 1000: sums times 10^4 times 10^8.
          const isWithin = (at: number): boolean => {
            const spare = collarBps * 1000 - Math.abs(at - 1000) * 10_000;
            const cost = sells
              ? 1000n * RATE * 10_000n - price(at) * (RATE - fee) * 10_000n - 1000n * RATE * BigInt(costMaxBps)
              : price(at) * RATE * 10_000n - 1000n * (10_000n + BigInt(costMaxBps)) * (RATE - fee);
            // Exactly at a limit the last digit of a float decides.
            fc.pre(spare !== 0 && cost !== 0n);
            return spare > 0 && cost < 0n;
          };
          let [taken, worst, value] = [0, 0, 0];
          for (const [at, there] of side) {
            if (!isWithin(at) || Math.abs(at - 1000) > (reach ?? Infinity)) break;
            for (let n = 0; n < there; n++) {
              if (taken + 1 > wanted || taken + 1 > room || taken + 1 > (amountMax ?? Infinity)) break;
              // An order is worth its amount at the highest of its prices.
              if (Math.max(at, side[0]![0]) * (taken + 1) > orderValueMax) break;
              [taken, worst, value] = [taken + 1, at, value + at];
            }
          }
          if (taken === 0) {
            expect(way).toHaveProperty('unavailableReason');
            return;
          }
          expect(way).toHaveProperty('take', { side: sells ? 'sell' : 'buy', price: worst, amount: taken });
          if ('unavailableReason' in way) return;
          // The fee is taken from what is received, rounded against us.
          const net = (sum: bigint) => (sum * (RATE - fee) - ((((sum * (RATE - fee)) % RATE) + RATE) % RATE)) / RATE;
          const one = 10n ** 18n;
          const [paid, got] = sells
            ? [BigInt(taken) * one, net(BigInt(value) * one)]
            : [BigInt(value) * one, net(BigInt(taken) * one)];
          expect([way.give, way.get]).toEqual([
            { currency: sells ? 'btc' : 'mxn', amount: textOfMoney(money(paid)) },
            { currency: sells ? 'mxn' : 'btc', amount: textOfMoney(money(got)) },
          ]);
          const atWorst = BigInt(worst * taken) * one;
          expect(way.costMax).toBe(sells ? paid * 1000n - net(atWorst) : atWorst - got * 1000n);
        },
      ),
      runsOf(5_000, 400),
    );
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
