/** Whatever a strategy wants, what comes out is legal by every bound of the book, or refused by name. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amount,
  bestOf,
  instrumentOf,
  normalizeQuote,
  valueOf,
  type Instrument,
  type Level,
  type LevelRefusal,
} from '../../../src/core/index.ts';
import { bookRules, depthOf, plain } from '../market.ts';
import { runsOf } from '../../many.ts';
import { between } from '../../draws.ts';

const REFUSALS: readonly LevelRefusal[] = [
  'price is not a number',
  'amount is not a number',
  'price below the minimum',
  'price above the maximum',
  'below the minimum amount',
  'below the minimum value',
  'merged into the next level',
  'cut to the maximum amount',
  'cut to the maximum value',
];

const bounds = (max: number) =>
  fc
    .tuple(fc.integer({ min: 1, max }), fc.integer({ min: 1, max }))
    .map(pair => [...pair].sort((a, b) => a - b).map(String));
const anyInstrument: fc.Arbitrary<Instrument> = fc
  .record({
    tickSize: fc.constantFrom('1', '0.01', '5', '0.25', '10'),
    lot: fc.constantFrom('1', '0.00000001', '0.001'),
    price: bounds(100_000),
    amount: bounds(10_000),
    value: bounds(1_000_000_000),
  })
  .map(({ tickSize, lot, price, amount: amounts, value }) =>
    instrumentOf(
      bookRules({
        tickSize,
        minimumPrice: price[0]!,
        maximumPrice: price[1]!,
        minimumAmount: amounts[0]!,
        maximumAmount: amounts[1]!,
        minimumValue: value[0]!,
        maximumValue: value[1]!,
      }),
      lot,
    ),
  );

const anyNumber = fc.oneof(
  fc.constantFrom(Number.NaN, Infinity, -Infinity, 0, -0, -1, 2 ** 53, 1e300, -1e300, 5e-324, Number.MAX_SAFE_INTEGER),
  fc.integer({ min: 1, max: 10_000_000 }),
  between(0, 10_000_000),
  fc.double(),
);
const anyLevel: fc.Arbitrary<Level> = fc
  .tuple(anyNumber, anyNumber)
  .map(([price, lots]) => ({ price, amount: lots as never, why: [{ name: 'wanted', ticks: price }] }));
const anyDepth = fc
  .tuple(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 1, max: 1000 }), fc.boolean(), fc.boolean())
  .map(([bid, spread, hasBid, hasAsk]) => depthOf(hasBid ? [[bid, 1]] : [], hasAsk ? [[bid + spread, 1]] : []));

const wants = (levels: readonly (readonly [number, number])[]): Level[] =>
  levels.map(([price, lots]) => ({ price, amount: amount(lots), why: [{ name: 'wanted', ticks: price }] }));
const empty = depthOf([], []);

describe('normalized levels', () => {
  it('are within every bound of any instrument, whatever was wanted, and the rest is refused by name', () => {
    fc.assert(
      fc.property(
        anyInstrument,
        anyDepth,
        fc.array(anyLevel, { maxLength: 6 }),
        fc.array(anyLevel, { maxLength: 6 }),
        (i, depth, bids, asks) => {
          const { levels, refusals } = normalizeQuote(i, depth, { bids, asks });
          for (const level of levels) {
            expect(Number.isSafeInteger(level.price) && Number.isSafeInteger(level.amount)).toBe(true);
            expect(level.price >= i.priceMin && level.price <= i.priceMax).toBe(true);
            expect(level.amount >= i.amountMin && level.amount <= i.amountMax).toBe(true);
            const value = valueOf(level.price, level.amount);
            expect(value >= i.valueMin && value <= i.valueMax).toBe(true);
            const other = bestOf(depth, level.side === 'buy' ? 'sell' : 'buy');
            if (other > 0) expect(level.side === 'buy' ? level.price < other : level.price > other).toBe(true);
          }
          for (const { side, index, reason } of refusals) {
            expect(REFUSALS).toContain(reason);
            expect(index).toBeLessThan(side === 'buy' ? bids.length : asks.length);
          }
          // Every wanted level is answered: by a level of its own, or by a refusal.
          for (const side of ['buy', 'sell'] as const) {
            const named = new Set(
              refusals.filter(r => r.side === side && !r.reason.startsWith('cut')).map(r => r.index),
            );
            const shown = levels.filter(level => level.side === side).length;
            expect(shown + named.size).toBe(side === 'buy' ? bids.length : asks.length);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('never bid above and never ask below what was wanted', () => {
    fc.assert(
      fc.property(anyInstrument, anyDepth, anyLevel, anyLevel, (i, depth, bid, ask) => {
        for (const level of normalizeQuote(i, depth, { bids: [bid], asks: [ask] }).levels) {
          if (level.side === 'buy') expect(level.price).toBeLessThanOrEqual(bid.price);
          else expect(level.price).toBeGreaterThanOrEqual(ask.price);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('are the nearest tick away from the market when nothing else moves them', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1_000_000, noNaN: true }), price => {
        const side = wants([[price, 5]]);
        const { levels } = normalizeQuote(plain, empty, { bids: side, asks: side });
        expect(levels.map(level => level.price)).toEqual([Math.floor(price), Math.ceil(price)]);
      }),
    );
  });

  it('stop one tick short of the other side, and say so in a step', () => {
    const depth = depthOf([[99, 1]], [[101, 1]]);
    const { levels } = normalizeQuote(plain, depth, { bids: wants([[105, 5]]), asks: wants([[95.5, 5]]) });
    expect(levels.map(({ side, price }) => [side, price])).toEqual([
      ['buy', 100],
      ['sell', 100],
    ]);
    expect(levels[0]!.why).toEqual([
      { name: 'wanted', ticks: 105 },
      { name: 'legal price', ticks: -5 },
    ]);
  });

  it('have steps that add up to their price', () => {
    const tick = between(-1000, 1000);
    fc.assert(
      fc.property(
        anyDepth,
        fc.integer({ min: 2000, max: 900_000 }),
        fc.array(tick, { maxLength: 5 }),
        fc.boolean(),
        (depth, start, shifts, isBid) => {
          const steps = [start, ...shifts].map((ticks, n) => ({ name: `step ${n}`, ticks }));
          const price = steps.reduce((sum, step) => sum + step.ticks, 0);
          const level = [{ price, amount: amount(5), why: steps }];
          const { levels } = normalizeQuote(plain, depth, { bids: isBid ? level : [], asks: isBid ? [] : level });
          for (const { price: legal, why } of levels) {
            expect(why.reduce((sum, step) => sum + step.ticks, 0)).toBeCloseTo(legal, 6);
          }
        },
      ),
    );
  });
});

describe('amounts too small for an order of their own', () => {
  const i = instrumentOf(
    bookRules({
      tickSize: '1',
      minimumPrice: '1',
      maximumPrice: '1000',
      minimumAmount: '10',
      maximumAmount: '1000000',
      minimumValue: '1',
      maximumValue: '1000000000',
    }),
    '1',
  );

  it('are carried to the next level out, and none is lost when no bound cuts it', () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(amounts, fc.boolean(), fc.boolean(), (lots, isBid, isDense) => {
        const step = isDense ? 0.4 : 3;
        const side = wants(lots.map((n, k) => [500 + (isBid ? -k : k) * step, n]));
        const { levels, refusals } = normalizeQuote(i, empty, { bids: isBid ? side : [], asks: isBid ? [] : side });
        const shown = levels.reduce((sum, level) => sum + level.amount, 0);
        const wanted = lots.reduce((sum, n) => sum + n, 0);
        const small = refusals.filter(r => r.reason === 'below the minimum amount');
        const lost = small.reduce((sum, r) => sum + lots[r.index]!, 0);
        expect(shown + lost).toBe(wanted);
        expect(lost).toBeLessThan(10);
        expect(new Set(levels.map(level => level.price)).size).toBe(levels.length);
      }),
    );
  });

  it('at the end, with nothing legal after them, are refused and not called merged', () => {
    const { levels, refusals } = normalizeQuote(i, empty, {
      bids: wants([
        [500, 20],
        [499, 4],
        [0.5, 50],
      ]),
      asks: [],
    });
    expect(levels.map(level => level.amount)).toEqual([20]);
    expect(refusals).toEqual([
      { side: 'buy', index: 2, reason: 'price below the minimum' },
      { side: 'buy', index: 1, reason: 'below the minimum amount' },
    ]);
  });
});

describe('each level', () => {
  const i = instrumentOf(
    bookRules({
      ...{ tickSize: '1', minimumPrice: '490', maximumPrice: '510' },
      ...{ minimumAmount: '10', maximumAmount: '60', minimumValue: '6000', maximumValue: '25000' },
    }),
    '1',
  );
  const anyWanted = fc.array(
    fc.record({
      away: fc.constantFrom(-1, 0, 0.4, 1, 2, 3, 9, 10, 11),
      lots: fc.constantFrom(0, 3, 5.9, 9, 10, 11, 12, 13, 49, 50, 51, 60, 61, 1_000, Number.NaN, -1),
      hasAmounts: fc.boolean(),
    }),
    { maxLength: 6 },
  );

  /** Maximum of an order at this price: 60 lots, and a value of 25,000. */
  const mostAt = (price: number) => Math.min(60, Math.floor(25_000 / price));

  it('becomes an order of its own, part of another, or a refusal, with its index, its steps and its amount', () => {
    fc.assert(
      fc.property(anyWanted, fc.boolean(), (wanted, isBid) => {
        const [side, away] = isBid ? (['buy', -1] as const) : (['sell', 1] as const);
        const levels: Level[] = wanted.map(({ away: ticks, lots, hasAmounts }) => ({
          price: 500 + away * ticks,
          amount: lots as never,
          why: [{ name: 'wanted', ticks: 500 + away * ticks }],
          ...(hasAmounts && { amounts: [{ name: 'amount', lots }] }),
        }));
        const expected: { index: number; price: number; lots: number; parts: number }[] = [];
        const refused: [number, string][] = [];
        let small: number[] = [];
        let carried = 0;
        const whyOf: Record<number, string> = {};
        for (const [index, { price: wish, amount: lots }] of levels.entries()) {
          const price = isBid ? Math.floor(wish) : Math.ceil(wish);
          if (price < 490) refused.push([index, 'price below the minimum']);
          else if (price > 510) refused.push([index, 'price above the maximum']);
          else if (!(lots >= 0)) refused.push([index, 'amount is not a number']);
          else {
            const last = expected.at(-1);
            const isSame = last?.price === price;
            const all = Math.floor(lots) + (isSame ? last.lots : carried);
            if (all > 60) refused.push([index, 'cut to the maximum amount']);
            if (Math.min(60, all) * price > 25_000) refused.push([index, 'cut to the maximum value']);
            const cut = Math.min(all, mostAt(price));
            if (isSame) {
              [last.lots, last.parts] = [cut, last.parts + 1];
              refused.push([index, 'merged into the next level']);
            } else if (cut >= 10 && cut * price >= 6_000) {
              expected.push({ index, price, lots: cut, parts: 1 + small.length });
              for (const one of small) refused.push([one, 'merged into the next level']);
              [small, carried] = [[], 0];
            } else {
              small.push(index);
              carried = cut;
              whyOf[index] = cut < 10 ? 'below the minimum amount' : 'below the minimum value';
            }
          }
        }
        for (const one of small) refused.push([one, whyOf[one]!]);
        const depth = depthOf([[480, 1]], [[520, 1]]);
        const result = normalizeQuote(i, depth, { bids: isBid ? levels : [], asks: isBid ? [] : levels });
        expect(result.levels.map(one => [one.index, one.price, one.amount, one.parts ?? 1])).toEqual(
          expected.map(one => [one.index, one.price, one.lots, one.parts]),
        );
        expect(result.refusals).toEqual(refused.map(([index, reason]) => ({ side, index, reason })));
        for (const one of result.levels) {
          const from = levels[one.index]!;
          const shift = one.price - from.price;
          expect(one.why).toEqual(shift === 0 ? from.why : [...from.why, { name: 'legal price', ticks: shift }]);
          expect([one.side, one.amounts]).toEqual([side, from.amounts]);
        }
      }),
      runsOf(5_000, 400),
    );
  });

  it('of both sides is judged alike, bids first, and not by the bounds of another instrument', () => {
    const large = instrumentOf(bookRules({ ...LARGE }), '1');
    const quote = { bids: wants([[500, 20]]), asks: wants([[500, 20]]) };
    for (const instrument of [i, large, i, large]) {
      const { levels } = normalizeQuote(instrument, empty, quote);
      expect(levels.map(({ side }) => side)).toEqual(instrument === i ? ['buy', 'sell'] : []);
    }
  });
  const LARGE = {
    ...{ tickSize: '1', minimumPrice: '1', maximumPrice: '1000000' },
    ...{ minimumAmount: '1', maximumAmount: '1000000', minimumValue: '10001', maximumValue: '1000000000000' },
  };

  it('is judged exactly where its value is beyond 2^53', () => {
    // 2^53 = 9,007,199,254,740,992; with a price of 3 the value next to it is 9,007,199,254,740,993.
    const [price, lots] = [3, 3_002_399_751_580_331];
    const at = (minimumValue: string, maximumValue: string) =>
      normalizeQuote(
        instrumentOf(
          bookRules({
            ...{ tickSize: '1', minimumPrice: '1', maximumPrice: '1000000' },
            ...{ minimumAmount: '1', maximumAmount: '9007199254740991', minimumValue, maximumValue },
          }),
          '1',
        ),
        empty,
        { bids: wants([[price, lots]]), asks: [] },
      );
    const value = '9007199254740993';
    expect(at('1', value).levels[0]!.amount).toBe(lots);
    expect(at('1', '9007199254740992').levels[0]!.amount).toBe(lots - 1);
    expect(at('1', '9007199254740992').refusals).toMatchObject([{ reason: 'cut to the maximum value' }]);
    expect(at(value, '9007199254740999').levels[0]!.amount).toBe(lots);
    expect(at('9007199254740994', '9007199254740999').refusals).toMatchObject([{ reason: 'below the minimum value' }]);
    // Bounds beyond 2^53 bound nothing that is below.
    const below = normalizeQuote(
      instrumentOf(
        bookRules({
          ...{ tickSize: '1', minimumPrice: '1', maximumPrice: '1000000' },
          ...{ minimumAmount: '1', maximumAmount: '9007199254740991', minimumValue: value, maximumValue: value },
        }),
        '1',
      ),
      empty,
      { bids: wants([[3, 5]]), asks: [] },
    );
    expect(below.refusals).toMatchObject([{ reason: 'below the minimum value' }]);
  });
});
