import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config.ts';
import { fragment } from '../../backtest/app/calibrate/calibrate.ts';
import {
  amount,
  normalizeQuote,
  micropriceAdjustment,
  price,
  type Fair,
  type Quote,
  type Strategy,
  type View,
} from '../../src/core/index.ts';
import type { Calibration } from '../../src/tape/index.ts';
import { fairValueParameters, fairValueProblem, kindOf, withFairValue } from '../../strategies/index.ts';
import { fairValueReachBps } from '../../strategies/fairValue.ts';
import { ToyExchange, quoteAround } from '../core/toyExchange.ts';
import { depthOf, plain } from '../core/market.ts';
import { runsOf } from '../many.ts';
import { anyView, COIN, instrument, MID, NAMES, strategyOf, viewOf } from './examples.ts';

const TABLE = {
  tick: '10',
  imbalanceBuckets: 4,
  spreadsTicks: [12],
  adjustTicks: [
    [-3, -1, 1, 3],
    [-6, null, null, 6],
  ],
};
const ALL = {
  withinBps: 100,
  mid: {},
  weightedMid: { weight: 2 },
  microprice: TABLE,
  lastTrades: {},
  reference: { weight: 0.5 },
  depthImbalance: {},
  orderFlowImbalance: { bpsPerUnit: 1 },
};

/** Asks for the fair value and says it back: null when it was not asked. */
function around(section: object): { readonly look: (view: View) => Fair | string; readonly strategy: Strategy } {
  let seen: Fair | undefined;
  const inner: Strategy = {
    quote: view => {
      seen = view.fair ?? { price: view.mid, steps: [] };
      return { bids: [], asks: [] };
    },
  };
  const strategy = withFairValue(fairValueParameters.parse(section), inner, instrument);
  return {
    strategy,
    look: view => {
      seen = undefined;
      const { noBid, noAsk } = strategy.quote(view);
      expect(noBid).toBe(noAsk);
      expect((seen === undefined) !== (noBid === undefined)).toBe(true);
      expect(noBid ?? 'no fair value: ').toMatch(/^no fair value: /);
      return seen ?? noBid?.slice('no fair value: '.length) ?? '';
    },
  };
}

const priceOf = (found: Fair | string): number => (typeof found === 'string' ? Number.NaN : found.price);
const trade = { at: 1_000_000, price: price(MID + 4), amount: amount(COIN), side: 'buy' as const };
/** Bid 149,995 with three coins, ask 150,005 with one. */
const leaning = viewOf({ depth: depthOf([[MID - 5, 3 * COIN]], [[MID + 5, COIN]]) });

describe('a part of the fair value', () => {
  test.each<[string, object, number]>([
    ['mid is the middle of the touch', { mid: {} }, 0],
    ['nothing at all is the middle', {}, 0],
    [
      'weightedMid lies three quarters of the way to the ask under three quarters of the amounts',
      { weightedMid: {} },
      2.5,
    ],
    ['microprice adds what the table says of this imbalance and spread', { microprice: TABLE }, 3],
    ['reference is the price from elsewhere', { reference: {} }, 2],
    ['reference with a basis begins at our own price', { reference: { basisMemory: '1h' } }, 0],
    // (0.5 - 0) / 0.3 deviations of 2 bps; one bps is 15 ticks.
    ['depthImbalance leans by deviations from the usual', { depthImbalance: {} }, (0.5 / 0.3) * 30],
    ['prices share by their weights', { mid: { weight: 3 }, weightedMid: { weight: 1 } }, 2.5 / 4],
    [
      'what is added is added to the mean of the prices',
      { weightedMid: {}, depthImbalance: {} },
      2.5 + (0.5 / 0.3) * 30,
    ],
  ])('%s', (_, section, away) => {
    expect(priceOf(around(section).look(leaning))).toBeCloseTo(MID + away, 6);
  });

  test('lastTrades is the mean of what was heard', () => {
    const { strategy, look } = around({ lastTrades: {} });
    expect(look(viewOf())).toBe('no trade was received yet');
    strategy.trade?.(trade);
    expect(priceOf(look(viewOf()))).toBe(MID + 4);
    expect(look(viewOf({ at: trade.at + 60_001 }))).toBe('the last trade is too old');
  });

  test('orderFlowImbalance adds its coefficient times the flow, at most maxBps', () => {
    const { look } = around({ orderFlowImbalance: { bpsPerUnit: 2, maxBps: 7 } });
    const more = (at: number, coins: number) =>
      viewOf({ at, depth: depthOf([[MID - 5, coins * COIN]], [[MID + 5, COIN]]) });
    expect(priceOf(look(more(0, 1)))).toBe(MID);
    expect(priceOf(look(more(0, 3)))).toBeCloseTo(MID + 2 * 2 * 15, 6);
    expect(priceOf(look(more(0, 9)))).toBeCloseTo(MID + 7 * 15, 6);
    expect(priceOf(look(more(10_000, 9)))).toBeCloseTo(MID + (2 * 8 * 15) / Math.E, 6);
  });

  test('is a step in ticks, of its share; one with a memory says so until it has looked that long', () => {
    const { look, strategy } = around(ALL);
    strategy.trade?.(trade);
    const first = look(leaning);
    expect(first).toMatchObject({
      steps: [
        { name: 'fair value: mid', ticks: MID },
        { name: 'weighted mid', ticks: (2 / 5.5) * 2.5 },
        { name: 'microprice', ticks: (1 / 5.5) * 3 },
        { name: 'last trades', ticks: (1 / 5.5) * 4 },
        { name: 'reference', ticks: (0.5 / 5.5) * 2 },
        { name: 'depth imbalance (starting anew)' },
        { name: 'order flow (starting anew)', ticks: 0 },
      ],
    });
    const later = look({ ...leaning, at: 1_000_000 + 10_000 });
    expect((later as Fair).steps.map(({ name }) => name).slice(-2)).toEqual([
      'depth imbalance (starting anew)',
      'order flow',
    ]);
  });
});

describe('a fair value that cannot be computed means no quote, by name:', () => {
  test.each<[string, object, Partial<View>]>([
    ['no reference was received yet', { reference: {} }, { reference: null }],
    ['the reference is stale', { reference: { maxAgeMs: 500 } }, { reference: { at: 999_499, price: MID } }],
    ['the reference is not a positive number', { reference: {} }, { reference: { at: 1_000_000, price: Number.NaN } }],
    ['the reference is not a positive number', { reference: {} }, { reference: { at: 1_000_000, price: -MID } }],
    [
      'the reference is further than maxDivergenceBps from the mid price',
      { mid: {}, reference: {} },
      { reference: { at: 1_000_000, price: MID * 1.011 } },
    ],
    [
      'the fair value is further than withinBps from the mid price',
      { reference: {} },
      { reference: { at: 1_000_000, price: MID * 1.009 } },
    ],
    ['the amounts at the best prices are not known', { weightedMid: {} }, { depth: depthOf([], []) }],
    ['the amounts at the best prices are not known', { microprice: TABLE }, { depth: depthOf([], [[MID + 5, 1]]) }],
    [
      'the microprice table has no value for this imbalance and spread',
      { microprice: TABLE },
      { depth: depthOf([[MID - 10, COIN]], [[MID + 10, COIN]]) },
    ],
    ['the order flow is not known', { orderFlowImbalance: { bpsPerUnit: 1 } }, { depth: depthOf([], []) }],
    ['the fair value is not known', { weightedMid: {} }, { mid: Number.NaN }],
  ])('%s', (why, section, changes) => {
    expect(around(section).look(viewOf(changes))).toBe(why);
  });

  test('a part that fails takes nothing from the others, and one that can be told again quotes again', () => {
    const { look } = around({ weightedMid: {}, reference: {} });
    expect(look(viewOf({ reference: null }))).toBe('no reference was received yet');
    expect(priceOf(look(leaning))).toBeCloseTo(MID + 2.25, 9);
  });
});

describe('any mixture', () => {
  const sections = fc.record(
    {
      mid: fc.constant({ weight: 2 }),
      weightedMid: fc.record({ weight: fc.integer({ min: 1, max: 9 }) }),
      microprice: fc.constant(TABLE),
      lastTrades: fc.constant({}),
      reference: fc.record({ weight: fc.integer({ min: 1, max: 9 }), basisMemory: fc.constantFrom('1m', '1h') }),
      depthImbalance: fc.record({ bpsPerDeviation: fc.integer({ min: 0, max: 20 }) }),
      orderFlowImbalance: fc.record({ bpsPerUnit: fc.integer({ min: -50, max: 50 }) }),
      withinBps: fc.integer({ min: 1, max: 200 }),
    },
    { requiredKeys: ['withinBps'] },
  );
  const views = fc.array(anyView, { minLength: 1, maxLength: 6 });

  test('lies within its bound of the middle or is refused, its steps add up to it, and its prices alone lie between the least and the most of them', () => {
    let found = 0;
    fc.assert(
      fc.property(sections, views, (section, list) => {
        const { look, strategy } = around(section);
        list.forEach((view, i) => {
          const now = view.at + 1_000 * i;
          strategy.trade?.({ at: now, price: price(Math.ceil(view.mid)), amount: amount(5), side: 'sell' });
          const fair = look({ ...view, at: now, reference: view.reference && { ...view.reference, at: now } });
          if (typeof fair === 'string') {
            expect(fair.length).toBeGreaterThan(10);
            return;
          }
          found++;
          expect(Math.abs(fair.price - view.mid)).toBeLessThanOrEqual((section.withinBps * view.mid) / 10_000);
          if (fair.steps.length > 0) expect(fair.steps.reduce((sum, { ticks }) => sum + ticks, 0)).toBe(fair.price);
        });
      }),
      { numRuns: 200 },
    );
    expect(found).toBeGreaterThan(50);
  });

  test('of prices lies between the least and the most of them', () => {
    const names = ['mid', 'weightedMid', 'microprice', 'reference'] as const;
    const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 4, maxLength: 4 });
    let found = 0;
    fc.assert(
      fc.property(weights, anyView, fc.integer({ min: 1, max: 15 }), (of, view, chosen) => {
        const parts = names.flatMap((name, i) =>
          (chosen & (1 << i)) === 0
            ? []
            : [[name, { ...(name === 'microprice' ? TABLE : {}), weight: of[i] }] as const],
        );
        const wide = { withinBps: 5_000 };
        const all = priceOf(around({ ...wide, ...Object.fromEntries(parts) }).look(view));
        const each = parts.map(([name, part]) => priceOf(around({ ...wide, [name]: part }).look(view)));
        if ([all, ...each].some(Number.isNaN)) return;
        found++;
        const slack = 1e-9 * view.mid;
        expect(all).toBeGreaterThanOrEqual(Math.min(...each) - slack);
        expect(all).toBeLessThanOrEqual(Math.max(...each) + slack);
      }),
    );
    expect(found).toBeGreaterThan(20);
  });

  test('is, while all of it is known, what it would be had the reference never been away', () => {
    const others = sections.map(({ lastTrades: _, ...section }) => ({ ...section, reference: {} }));
    const turns = fc.array(fc.record({ view: anyView, isAway: fc.boolean() }), { minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(others, turns, (section, list) => {
        const [here, away] = [around(section), around(section)];
        list.forEach(({ view, isAway }, i) => {
          const at = 1_000_000 + 700 * i;
          // The reference price equals the mid price, so it is accepted.
          const now = { ...view, at, reference: { at, price: view.mid } };
          const fair = here.look(now);
          if (isAway) expect(away.look({ ...now, reference: null })).toEqual(expect.any(String));
          else expect(away.look(now)).toEqual(fair);
        });
      }),
      runsOf(2_000, 100),
    );
  });

  test('breaks at no number that is none, and is itself again afterwards', () => {
    for (const bad of [Number.NaN, Infinity, -Infinity]) {
      const { look, strategy } = around(ALL);
      const broken: readonly Partial<View>[] = [
        { mid: bad },
        { at: bad },
        { reference: { at: bad, price: MID } },
        { reference: { at: 1_000_000, price: bad } },
        { depth: { ...leaning.depth, bidAmounts: new Float64Array(50).fill(bad) } },
        { depth: { ...leaning.depth, askPrices: new Float64Array(50).fill(bad) } },
      ];
      for (const changes of broken) {
        strategy.trade?.({ ...trade, at: bad });
        strategy.trade?.({ ...trade, price: bad as never });
        strategy.trade?.(trade);
        const found = look({ ...leaning, ...changes });
        expect(typeof found === 'string' || Number.isFinite(found.price)).toBe(true);
        expect(priceOf(look(leaning))).toBeGreaterThan(0);
      }
    }
  });

  test.each(NAMES)('is what %s quotes around: steps add up, and nothing is quoted without it', name => {
    const inner = strategyOf(name);
    const strategy = withFairValue(fairValueParameters.parse(ALL), inner, instrument);
    strategy.trade?.(trade);
    const quote = strategy.quote(leaning);
    expect(quote.bids.length * quote.asks.length).toBeGreaterThan(0);
    expect(normalizeQuote(instrument, leaning.depth, quote).levels.length).toBeGreaterThan(0);
    for (const { price: at, why } of [...quote.bids, ...quote.asks])
      expect(why.reduce((sum, { ticks }) => sum + ticks, 0)).toBeCloseTo(at, 6);
    const names = quote.bids[0]?.why.map(step => step.name);
    expect(names).toEqual(
      expect.arrayContaining(kindOf({ name }).needsReference ? ['fair value: reference'] : ['weighted mid']),
    );
    expect(strategy.quote({ ...leaning, reference: null })).toMatchObject({
      bids: [],
      noBid: 'no fair value: no reference was received yet',
    });
  });
});

test('has the rest of the correction by other books of the account as its last step, within its reach', () => {
  const { look } = around({ withinBps: 10, weightedMid: {} });
  const alone = (look(leaning) as Fair).price;
  const reach = MID / 1_000;
  const corrected = (ticks: number): Fair => {
    const steps = [
      { name: 'fair value: mid', ticks: MID },
      { name: 'cross rates', ticks },
    ];
    return look({ ...leaning, fair: { price: MID + ticks, steps } }) as Fair;
  };
  expect(alone).toBeCloseTo(MID + 2.5, 9);
  expect(corrected(7).price).toBeCloseTo(MID + 7, 9);
  expect(corrected(7).steps.at(-1)).toEqual({ name: 'cross rates', ticks: expect.closeTo(4.5, 9) as number });
  expect(corrected(2).price).toBe(alone);
  expect(corrected(-7).price).toBeCloseTo(alone - 7, 9);
  fc.assert(
    fc.property(fc.integer({ min: -1_000, max: 1_000 }), ticks => {
      const { price: at } = corrected(ticks);
      expect(Math.abs(at - MID)).toBeLessThanOrEqual(reach + 1e-6);
      // The price is between that of the parts and the corrected one, or beyond neither.
      expect(Math.abs(at - alone)).toBeLessThanOrEqual(Math.abs(ticks) + 1e-6);
    }),
    runsOf(300, 40),
  );
});

test('of the middle alone costs nothing: the strategy is left as it is', () => {
  const inner = strategyOf('ladder');
  for (const section of [undefined, {}, { mid: {} }, { withinBps: 5 }])
    expect(withFairValue(section && fairValueParameters.parse(section), inner, instrument)).toBe(inner);
});

test('does not see our own orders: with them in the book it is as without', () => {
  const section = { weightedMid: {}, depthImbalance: {}, orderFlowImbalance: { bpsPerUnit: 1 } };
  const quotes = [true, false].map(showsOwn => {
    const seen: Quote[] = [];
    const inner: Strategy = {
      quote: view => quoteAround(20).quote({ ...view, mid: Math.round(view.fair?.price ?? Number.NaN) }),
    };
    const strategy = withFairValue(fairValueParameters.parse(section), inner, plain);
    const toy = new ToyExchange({ strategy, tolerance: { priceBps: 0, amountShare: 0, maxAgeMs: 3_600_000 } }).open();
    toy.showsOwn = showsOwn;
    for (let round = 0; round < 40; round++) {
      const drift = Math.round(30 * Math.sin(round / 5));
      toy.bids = [[99_990 + drift, 50 + ((7 * round) % 40)]];
      toy.asks = [[100_010 + drift, 50 + ((11 * round) % 40)]];
      toy.round();
      seen.push(toy.engine.book.preview(toy.now).quote);
      if (round > 2) expect(toy.live.length).toBeGreaterThan(0);
    }
    return seen;
  });
  expect(quotes[0]).toEqual(quotes[1]);
  expect(new Set(quotes[0]?.map(quote => quote.bids[0]?.price)).size).toBeGreaterThan(10);
});

/** Of a slope that is no more than chance. */
const FORETOLD = {
  slope: { value: 0.5, error: 0.1 },
  low: 0.3,
  high: 0.7,
  r: 0.1,
  rLater: -0.1,
  gainLater: -0.1,
  holds: false,
  firstRatio: 1,
};

describe('what puntas calibrate writes', () => {
  const found: Calibration = {
    seconds: 3_600,
    trades: 100,
    volatilityBps: { value: 60, error: 1 },
    arrivals: null,
    adverseBps: null,
    microprice: {
      table: {
        imbalanceBuckets: 4,
        spreadsTicks: [12],
        adjustTicks: [
          [-3.25, -1e-7, 1e-7, 3.25],
          [-6, 0, 0, 6],
        ],
      },
      errors: [
        [1, 1, 1, 1],
        [1, 1, 1, 1],
      ],
      seen: [
        [50, 50, 50, 50],
        [12, 2, 2, 12],
      ],
      samples: 1_000,
    },
    signals: {
      orderFlow: { ...FORETOLD, holds: true },
      memoryMs: 10_000,
      imbalances: [{ depthBps: 30, foretold: FORETOLD }],
      imbalanceMemoryMs: 600_000,
      aheadMs: 10_000,
    },
  };
  const text = fragment(found, { symbol: 'btc_mxn', tick: '10' }, 'a tape');
  const section = text.slice(text.indexOf('fairValue:'));
  const file = readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8');

  test('is read when it is put at the end of a configuration as it stands, and quoted by', () => {
    const loaded = loadConfig(`${file}\n${section}`, 'a.yaml');
    expect(loaded.ok ? null : loaded.errors).toBeNull();
    if (!loaded.ok) return;
    const { fairValue } = loaded.config;
    expect(fairValue?.orderFlowImbalance).toMatchObject({ bpsPerUnit: 0.5, memory: '10s' });
    expect(fairValue?.depthImbalance).toBeUndefined();
    const fair = around(fairValue ?? {}).look(leaning);
    const states = { bidAmount: 3, askAmount: 1, spread: 10 };
    expect(priceOf(fair)).toBeCloseTo(MID + micropriceAdjustment(found.microprice!.table, states), 9);
    expect(around(fairValue ?? {}).look(viewOf({ depth: depthOf([[MID - 10, COIN]], [[MID + 10, COIN]]) }))).toBe(
      'the microprice table has no value for this imbalance and spread',
    );
  });

  test('of another tick is refused', () => {
    const other = fairValueParameters.parse({ microprice: { ...TABLE, tick: '0.01' } });
    expect(fairValueProblem(other, instrument)).toBe(
      'fairValue.microprice.tick: the table is for tick size 0.01, but btc_mxn has tick size 10; run puntas calibrate again',
    );
    expect(
      fairValueProblem(fairValueParameters.parse({ microprice: { ...TABLE, tick: '10.0' } }), instrument),
    ).toBeNull();
  });

  test.each<[string, object, string]>([
    [
      'rows that are missing',
      { microprice: { ...TABLE, spreadsTicks: [12, 14] } },
      'fairValue.microprice.adjustTicks: expected 3 rows, one more than spreadsTicks, found a list',
    ],
    [
      'columns that are missing',
      { microprice: { ...TABLE, imbalanceBuckets: 5 } },
      'fairValue.microprice.adjustTicks: expected 5 numbers in each row, one per imbalance bucket, found a list',
    ],
    [
      'a part that wants a reference where none is read',
      { reference: {} },
      'fairValue.reference: this part of the fair value needs a reference price; add reference: { books: [...] }',
    ],
    [
      'a reach beyond the collar',
      { withinBps: 190, weightedMid: {} },
      'strategy.levelSpacingBps: the last level can be 228 bps from the mid price, beyond limits.collarBps 200',
    ],
    ['a weight of nothing', { mid: { weight: 0 } }, 'fairValue.mid.weight: expected more than 0, found 0'],
    ['a part that is none', { midd: {} }, 'fairValue.midd: unknown key; did you mean mid?'],
  ])('%s', (_, fairValue, line) => {
    const loaded = loadConfig(`${file}\n${stringify({ fairValue })}`, 'a.yaml');
    expect(loaded.ok ? [] : loaded.errors.map(error => error.replace(/^a\.yaml:\d+:\d+ /, ''))).toEqual([line]);
  });

  test('trades that nobody hears are not waited for', () => {
    const text = `${file.replace('exchange:\n', 'exchange:\n  stream: false\n')}\n${stringify({ fairValue: { lastTrades: {} } })}`;
    const loaded = loadConfig(text, 'a.yaml');
    expect(loaded.ok ? [] : loaded.errors[0]).toContain(
      'fairValue.lastTrades: needs the stream, which reports every trade, but exchange.stream is false; enable the stream, or remove this key',
    );
  });

  test('two words for what the ladder counts from are one too many', () => {
    const both = `${file.replace('reference: mid', 'reference: weightedMid')}\n${stringify({ fairValue: { mid: {} } })}`;
    const loaded = loadConfig(both, 'a.yaml');
    expect(loaded.ok ? [] : loaded.errors[0]).toContain(
      'strategy.reference: weightedMid and a section fairValue or crossRates both set the price to quote around; remove one of them (fairValue: { weightedMid: { weight: 1 } } has nearly the same effect)',
    );
  });
});

test('kinds of strategies know how far the fair value can lie', () => {
  const limits = { positionMax: '1', ordersMax: 20, collarBps: 100 };
  const p = { halfSpreadBps: 60, levels: 1, amount: '0.1' };
  const parameters = kindOf({ name: 'imbalance' });
  expect(
    parameters.limitProblems(
      { ...p, levelSpacingBps: 0, skewBpsAtLimit: 0, bpsPerDeviation: 0 } as never,
      limits,
      'btc_mxn',
    ),
  ).toEqual([]);
  expect(
    parameters.limitProblems(
      { ...p, levelSpacingBps: 0, skewBpsAtLimit: 0, bpsPerDeviation: 0 } as never,
      { ...limits, fairValueBps: 50 },
      'btc_mxn',
    ),
  ).toHaveLength(1);
});

describe('the cost of leaving a fill at a source', () => {
  const there = { price: 1_199_300, sell: 1_198_880, buy: 1_199_720 };
  const status = (more: object = {}) => ({
    ...{ name: 'fast', refusal: null, detail: null, ageMs: 0, lagMs: 0, basisBps: null, basisErrorBps: null },
    ...{ feeBps: 10, quoteRate: null, ...there, ...more },
  });
  /** A reference at the price there times e^basis; `source` changes the only source. */
  const referenceAt = (basis: number, source: object = {}) => ({
    ...{ at: 1_000_000, price: there.price * Math.exp(basis) },
    live: { there: there.price, sources: [status(source)] },
  });
  /** Quotes at the fair value itself, one level a side. */
  const flat: Strategy = {
    quote: ({ fair }) => {
      const level = { price: fair!.price, amount: amount(COIN), why: fair!.steps };
      return { bids: [level], asks: [level] };
    },
  };
  const withLeave = (leave: object): Strategy =>
    withFairValue(
      fairValueParameters.parse({ withinBps: 5_000, reference: { maxDivergenceBps: 5_000, leave } }),
      flat,
      instrument,
    );
  const around = { depth: depthOf([[1_199_290, COIN]], [[1_199_310, COIN]]), mid: 1_199_300 };
  const quoteOf = (leave: object, basis: number, source: object = {}): Quote =>
    withLeave(leave).quote(viewOf({ ...around, reference: referenceAt(basis, source) }));

  test.each([
    [0, 1_196_483.7383, 1_202_122.442603],
    [0.0012, 1_197_920.380599, 1_203_565.855408],
  ])('with a basis of %s, the quotes are those of E17 once the maker fee here is added', (basis, bid, ask) => {
    const { bids, asks } = quoteOf({ riskZ: 0, edgeBps: 5 }, basis);
    expect(bids[0]!.price * (1 - 5e-4)).toBeCloseTo(bid, 5);
    expect(asks[0]!.price / (1 - 5e-4)).toBeCloseTo(ask, 5);
    for (const level of [bids[0]!, asks[0]!]) {
      expect(level.why.map(({ name }) => name)).toEqual([
        ...['fair value: mid', 'price there', 'basis'],
        ...['depth there', 'fee there', 'risk until it is left', 'edge'],
      ]);
      expect(level.why.reduce((sum, { ticks }) => sum + ticks, 0)).toBeCloseTo(level.price, 6);
    }
  });

  test('the risk is the quantile times volatility times the root of the time', () => {
    const { bids } = quoteOf({ riskZ: 1.6448536269514722, volatilityBps: 2, latencyMs: 1_500 }, 0);
    const risk = bids[0]!.why.find(({ name }) => name === 'risk until it is left')!;
    // 4.029 bps in E17.
    expect((-risk.ticks / there.price) * 10_000).toBeCloseTo(4.029052087597, 9);
  });

  test('a larger measured volatility counts instead of the configured minimum', () => {
    const strategy = withLeave({ riskZ: 1, volatilityBps: 1, latencyMs: 1_000, memory: '1m' });
    const riskAt = (second: number): number => {
      const moved = { ...referenceAt(second % 2 === 0 ? 0 : 0.001), at: 1_000_000 + second * 1_000 };
      const { bids } = strategy.quote(viewOf({ ...around, at: moved.at, reference: moved }));
      return -bids[0]!.why.find(({ name }) => name === 'risk until it is left')!.ticks / moved.price;
    };
    const first = riskAt(0);
    expect(first).toBeCloseTo(1e-4, 12);
    for (let second = 1; second < 300; second++) riskAt(second);
    expect(riskAt(300)).toBeGreaterThan(9e-4);
    expect(riskAt(301)).toBeLessThan(11e-4);
  });

  test('no quote is farther from the mid price than the configured reach, and some come near it', () => {
    let nearest = Infinity;
    fc.assert(
      fc.property(fc.integer({ min: -40, max: 40 }), fc.integer({ min: 0, max: 30 }), (basisBps, edgeBps) => {
        const leave = { riskZ: 0, edgeBps, costMaxBps: 40 };
        const p = fairValueParameters.parse({ withinBps: 40, reference: { maxDivergenceBps: 5_000, leave } });
        const reference = referenceAt(basisBps / 10_000);
        const { bids, asks } = withFairValue(p, flat, instrument).quote(viewOf({ ...around, reference }));
        for (const { price } of [...bids, ...asks]) {
          const awayBps = (Math.abs(price - around.mid) / around.mid) * 10_000;
          expect(awayBps).toBeLessThanOrEqual(fairValueReachBps(p) * 1.01);
          nearest = Math.min(nearest, fairValueReachBps(p) - awayBps);
        }
      }),
      runsOf(1_000, 200),
    );
    expect(nearest).toBeLessThan(15);
  });

  test('the measured volatility includes moves while no source can be used', () => {
    const riskAfter = (outage: object): number => {
      const strategy = withLeave({ riskZ: 1, volatilityBps: 1, latencyMs: 1_000, memory: '1m' });
      const at = (second: number) => 1_000_000 + second * 1_000;
      const quoteAt = (second: number, source: object) =>
        strategy.quote(
          viewOf({
            ...{ ...around, at: at(second) },
            reference: { ...referenceAt(second % 2 === 0 ? 0 : 0.001, source), at: at(second) },
          }),
        );
      quoteAt(0, {});
      for (let second = 1; second < 30; second++) quoteAt(second, outage);
      return quoteAt(30, {}).bids[0]!.why.find(({ name }) => name === 'risk until it is left')!.ticks;
    };
    expect(riskAfter({ refusal: 'lost' })).toBe(riskAfter({}));
  });

  test.each<[string, object, object, string]>([
    ['the source is not used', {}, { refusal: 'stale' }, 'any source (no usable price)'],
    ['the named source is not used', { source: 'fast' }, { refusal: 'stale' }, 'fast (stale)'],
    ['the levels there are too few', {}, { sell: null, buy: null }, 'levels at fast have less than the amount'],
    ['it costs more than the maximum', { costMaxBps: 12, riskZ: 0 }, {}, 'costs 13.5 bps, more than costMaxBps 12'],
  ])('nothing is quoted, and the reason is given, if %s', (_, leave, source, why) => {
    const { bids, asks, noBid, noAsk } = quoteOf(leave, 0, source);
    expect([bids, asks]).toEqual([[], []]);
    for (const words of [noBid, noAsk]) {
      expect(words).toContain(why);
      expect(words).toMatch(/^no fair value: /);
    }
  });
});
