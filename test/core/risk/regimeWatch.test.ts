/** The regime's measures: each load against its limit, the strongest of them named, and what is told of a change. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amount,
  moneyOf,
  RegimeWatch,
  type Money,
  type Quote,
  type RegimeRules,
  type RegimeState,
  type RiskRefusal,
} from '../../../src/core/index.ts';
import { depthOf } from '../market.ts';

const T = 1.7e12;
const CALM_MS = 5_000;
const rules = (changes: Partial<RegimeRules>): RegimeRules => ({
  ...{ leaveShare: 0.5, calmMs: CALM_MS, wide: null, reduceOnly: null },
  ...changes,
});

/** A watch, looked at once a second with a quiet market and no inventory unless told otherwise. */
function watched(of: RegimeRules | null | undefined) {
  const told: [RegimeState, RegimeState][] = [];
  const watch = new RegimeWatch(of, (to, from) => told.push([to, from]));
  let at = T;
  type Seen = { bid?: number; ask?: number; lots?: number; refusal?: RiskRefusal | null; position?: number };
  const look = (
    { bid = 9_990, ask = 10_010, lots = 50, refusal = null, position = 0 }: Seen = {},
    fell: Money | null = null,
  ) => {
    at += 1_000;
    const depth = depthOf([[bid, lots]], [[ask, lots + 1]]);
    watch.look(at, depth, refusal, position, 200, fell);
    return [watch.state.regime, watch.state.why];
  };
  return { watch, told, look };
}
const NORMAL = ['normal', 'no restriction applies'];

describe('the market', () => {
  it('is wide from its limit on, and calm again when it was below the share of the limit for the whole time', () => {
    // 40 bps of the middle of 10,000 are 40 ticks.
    const { look } = watched(rules({ wide: { factor: 2, marketSpreadBps: 40 } }));
    const spread = (ticks: number) => look({ bid: 10_000 - ticks / 2, ask: 10_000 + ticks / 2 });
    expect(spread(39)).toEqual(NORMAL);
    expect(spread(40)).toEqual(['wide', 'the market is wide']);
    for (let second = 0; second < CALM_MS / 1_000; second++) expect(spread(19)[0]).toBe('wide');
    expect(spread(19)).toEqual(NORMAL);
  });

  it('is thin from where the side with less has its limit within reach, counting what lies exactly there', () => {
    const { watch } = watched(rules({ wide: { factor: 2, thin: { lots: 30, withinBps: 20 } } }));
    const state = (at: number, bids: [number, number][], asks: [number, number][]) => {
      watch.look(T + at, depthOf(bids, asks), null, 0, 200, null);
      return watch.state.why;
    };
    const calm = 'no restriction applies';
    // 20 bps of 10,000 reach 20 ticks.
    const far: [number, number] = [10_021, 900];
    expect(
      state(
        0,
        [
          [9_999, 11],
          [9_980, 20],
        ],
        [[10_001, 40], far],
      ),
    ).toBe(calm);
    expect(state(1, [[9_999, 40]], [[10_001, 11], [10_020, 20], far])).toBe(calm);
    for (const [n, [bids, asks]] of (
      [
        [
          [
            [9_999, 11],
            [9_979, 900],
          ],
          [[10_001, 40]],
        ],
        [[[9_999, 40]], [[10_001, 30], far]],
        [[[9_970, 900]], [[10_030, 900]]],
      ] as [[number, number][], [number, number][]][]
    ).entries()) {
      const once = watched(rules({ wide: { factor: 2, thin: { lots: 30, withinBps: 20 } } }));
      once.watch.look(T + n, depthOf(bids, asks), null, 0, 200, null);
      expect([n, once.watch.state.why]).toEqual([n, 'the book is thin']);
    }
  });

  it('moves fast from its hourly standard deviation on, sampled every two seconds', () => {
    // One move of 1% in 2 s, of which a memory of 20 s keeps 1 - e^-0.1, is 0.218 % a root second, and 131 bps times 1 an hour.
    const hourly = Math.sqrt(((1 - Math.exp(-0.1)) * 0.01 ** 2) / 2) * 60 * 10_000;
    for (const [bps, regime] of [
      [hourly * 0.999, 'wide'],
      [hourly * 1.001, 'normal'],
    ] as const) {
      const { look } = watched(rules({ wide: { factor: 2, volatility: { bps, memoryMs: 20_000 } } }));
      look();
      // A second later nothing is sampled.
      expect(look({ bid: 30_000, ask: 30_020 })).toEqual(NORMAL);
      expect(look({ bid: 10_090, ask: 10_110 })[0]).toBe(regime);
    }
  });

  it('is called by the strongest of its loads, whichever it is, and what is not known hides the others', () => {
    const wide = { factor: 2, marketSpreadBps: 40, thin: { lots: 30, withinBps: 200 } };
    const strongest = (ticks: number, lots: number) =>
      watched(rules({ wide })).look({ bid: 10_000 - ticks / 2, ask: 10_000 + ticks / 2, lots })[1];
    expect([strongest(60, 25), strongest(60, 15), strongest(42, 29)]).toEqual([
      ...['the market is wide', 'the book is thin'],
      'the market is wide',
    ]);
    const { look } = watched(rules({ wide }));
    expect(look({ bid: Number.NaN })).toEqual(NORMAL);
    expect(look({ lots: 1 })[0]).toBe('wide');
    for (let n = 0; n < 20; n++) expect(look({ bid: Number.NaN })[0]).toBe('wide');
  });

  it('that cannot be quoted is neither calm nor a storm, and is not measured', () => {
    const { look } = watched(rules({ wide: { factor: 2, marketSpreadBps: 40 } }));
    expect(look({ ask: 20_000, refusal: 'book stale' })).toEqual(['paused', 'book stale']);
    expect(look()).toEqual(NORMAL);
    look({ ask: 10_100 });
    for (let n = 0; n < 20; n++) look({ refusal: 'private data stale' });
    expect(look()).toEqual(['wide', 'the market is wide']);
  });
});

describe('inventory and losses', () => {
  it('only close from their share of the limit on, on both sides, until half of it', () => {
    // 0.4 of 200 lots.
    for (const sign of [1, -1]) {
      const { look } = watched(rules({ reduceOnly: { positionShare: 0.4 } }));
      expect(look({ position: sign * 79 })).toEqual(NORMAL);
      expect(look({ position: sign * 80 })).toEqual(['reduce only', 'inventory is near its limit']);
      expect(look({ position: sign * 40 })[0]).toBe('reduce only');
      expect(look({ position: sign * 39 })).toEqual(NORMAL);
    }
  });

  it('only close from the drawdown on, in words, until a resume; without a limit or a figure never', () => {
    const { watch, look } = watched(rules({ reduceOnly: { drawdown: moneyOf('50') } }));
    expect([look({}, null), look({ position: 1e6 }, moneyOf('49.99'))]).toEqual([NORMAL, NORMAL]);
    const lost = [
      'reduce only',
      'drawdown: profit fell 50 from its peak; from a drawdown of 50, orders only reduce inventory',
    ];
    expect([look({}, moneyOf('50')), look({}, moneyOf('0'))]).toEqual([lost, lost]);
    expect(watch.isReduceOnly).toBe(true);
    watch.apply({ kind: 'resume', at: T + 60_000 });
    expect([look({}, moneyOf('0')), watch.isReduceOnly]).toEqual([NORMAL, false]);
    expect(watched(rules({ reduceOnly: { positionShare: 1 } })).look({}, moneyOf('1000'))).toEqual(NORMAL);
  });
});

describe('without rules', () => {
  it('only what stands against quotes and what the operator says moves the regime', () => {
    for (const none of [null, undefined, rules({})]) {
      const { watch, look, told } = watched(none);
      expect(watch.state).toMatchObject({ regime: 'paused', why: 'not ready' });
      expect(look({ refusal: 'not ready', ask: 99_999 })).toEqual(['paused', 'not ready']);
      expect(told).toEqual([]);
      expect(look({ ask: 99_999, lots: 0, position: 1e9 }, moneyOf('1000000'))).toEqual(NORMAL);
      expect(look({ refusal: 'book stale' })).toEqual(['paused', 'book stale']);
      expect(look()).toEqual(NORMAL);
      expect(told.map(([to]) => to.why)).toEqual([NORMAL[1], 'book stale', NORMAL[1]]);
    }
  });
});

describe('a change of the regime', () => {
  it('is told once with both states, counted, and kept among the last fifty', () => {
    const refusals = fc.array(fc.constantFrom<RiskRefusal | null>(null, 'book stale', 'not ready'), {
      maxLength: 150,
      size: 'max',
    });
    fc.assert(
      fc.property(refusals, fc.boolean(), (all, hasRules) => {
        const { watch, look, told } = watched(hasRules ? rules({ wide: { factor: 2, marketSpreadBps: 400 } }) : null);
        let from = watch.state;
        const expected: [RegimeState, RegimeState][] = [];
        for (const refusal of all) {
          look({ refusal });
          if (watch.state.why !== from.why) expected.push([watch.state, from]);
          from = watch.state;
        }
        expect(told).toEqual(expected);
        expect(watch.changes).toEqual(expected.map(([to]) => to).slice(-50));
        const entered = (regime: string) => expected.filter(([to]) => to.regime === regime).length;
        expect(watch.counts).toEqual({
          ...{ normal: entered('normal'), wide: 0, 'reduce only': 0 },
          ...{ paused: entered('paused'), halted: 0 },
        });
      }),
      { numRuns: 20 },
    );
  });
});

describe('a quote', () => {
  const side = (price: number) => [{ price, amount: amount(5), why: [{ name: 'wanted', ticks: price }] }];
  const quote: Quote = { bids: side(9_990), asks: side(10_010) };
  const prices = ({ bids, asks }: Quote) => [...bids, ...asks].map(({ price }) => price);

  it('is left alone, made wide by the factor, and cut to what closes inventory, each where its cause is', () => {
    const { watch, look } = watched(
      rules({ wide: { factor: 3, marketSpreadBps: 400 }, reduceOnly: { positionShare: 0.5 } }),
    );
    look();
    expect(watch.shape(quote, 10_000, 7)).toBe(quote);
    look({ ask: 11_000 });
    expect(prices(watch.shape(quote, 10_000, 7))).toEqual([9_970, 10_030]);
    look({ ask: 11_000, position: 150 });
    expect(prices(watch.shape(quote, 10_000, 150))).toEqual([10_030]);
    expect(prices(watch.shape(quote, 10_000, -150))).toEqual([9_970]);
    // A pause hides the cause and does not end it.
    watch.apply({ kind: 'pause', at: T + 9_000, reason: 'lunch' });
    expect([watch.state.regime, watch.isReduceOnly]).toEqual(['paused', true]);
    expect(prices(watch.shape(quote, 10_000, 150))).toEqual([10_030]);
  });
});
