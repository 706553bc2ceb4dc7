import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AdverseSelection,
  exponential,
  normal,
  price,
  randomOf,
  type AdverseSelectionOptions,
  type Side,
  type Strategy,
  type View,
} from '../../../src/core/index.ts';
import { markouts } from '../../../src/config/sections/markouts.ts';
import { studentQuantile } from '../../../src/core/estimators/student.ts';
import { ToyExchange } from '../toyExchange.ts';
import { runsOf } from '../../many.ts';

const MINUTE = 60_000;
const OPTIONS: AdverseSelectionOptions = {
  horizonMs: 15_000,
  halfLifeMs: 6 * 60 * MINUTE,
  minFills: 20,
  standardErrors: 2.5,
  toleratedBps: 2,
  widenBpsMax: 10,
};

type Flow = {
  readonly fills: number;
  readonly side?: Side;
  /** Of the move against us in the 15 s after a fill, in bps. */
  readonly meanBps: number;
  readonly deviationBps?: number;
};

/** One fill a minute at 100,000, 5 bps from the middle, and a market that moves against it within ten seconds. */
function lived(
  { fills, side = 'buy', meanBps, deviationBps = 4 }: Flow,
  options: Partial<AdverseSelectionOptions> = {},
) {
  const adverse = new AdverseSelection({ ...OPTIONS, ...options }, '1');
  const random = randomOf(7);
  const away = side === 'buy' ? 1 : -1;
  for (let n = 0; n < fills; n++) {
    const at = n * MINUTE;
    const middle = 100_000 + away * 50;
    adverse.market(at, middle);
    adverse.fill('', side, price(100_000), 1, at, at);
    const moved = middle - away * 10 * (meanBps + deviationBps * normal(random));
    for (let second = 10; second <= 20; second += 5) adverse.market(at + second * 1_000, moved);
  }
  return { adverse, at: fills * MINUTE };
}

describe('live markouts', () => {
  test('move out the side whose fills are followed by moves against them, and no other', () => {
    const { adverse, at } = lived({ fills: 100, meanBps: 10 });
    const { buy, sell } = adverse.widenBps(at);
    // About 86 of the 100 fills are remembered: 10 bps less 2, of which a band of 2.5 errors of 0.4 bps takes little, halved.
    expect(buy).toBeGreaterThan(3.2);
    expect(buy).toBeLessThan(4.4);
    expect(sell).toBe(0);
    const seen = adverse.curves().find(curve => curve.side === 'buy' && curve.level === null)!;
    expect(seen.bps[0]).toBeCloseTo(5, 9);
    expect(seen.bps[3]).toBeGreaterThan(-6);
    expect(seen.bps[3]).toBeLessThan(-4);
    expect(seen.fills[3]).toBe(100);
  });

  test.each([
    ['benign flow', { fills: 300, meanBps: 0 }],
    ['flow that moves for us', { fills: 300, meanBps: -8 }],
    ['flow within what is tolerated', { fills: 300, meanBps: 1.5 }],
    ['few fills, however toxic', { fills: 20, meanBps: 100 }],
    ['moves that are no more than chance', { fills: 60, meanBps: 5, deviationBps: 40 }],
    ['one outlier among many', { fills: 100, meanBps: 0, deviationBps: 0 }],
  ])('do nothing for %s', (what, flow) => {
    const { adverse, at } = lived(flow);
    if (what === 'one outlier among many') {
      adverse.market(at, 100_050);
      adverse.fill('', 'buy', price(100_000), 1, at, at);
      adverse.market(at + 10_000, 20_000);
      adverse.market(at + 15_000, 20_000);
      expect(adverse.curves()[1]!.fills[3]).toBe(101);
    }
    expect(adverse.widenBps(at + MINUTE)).toEqual({ buy: 0, sell: 0 });
  });

  test('come back by themselves where nothing is filled any more', () => {
    const { adverse, at } = lived({ fills: 200, meanBps: 30 });
    const after = (hours: number) => adverse.widenBps(at + hours * 60 * MINUTE).buy;
    expect(after(0)).toBe(10);
    for (let hours = 0; hours < 48; hours++) expect(after(hours + 1)).toBeLessThanOrEqual(after(hours));
    expect(after(24)).toBe(0);
  });

  const moves = fc.array(
    fc.record({
      side: fc.constantFrom<Side[]>('buy', 'sell'),
      passed: fc.integer({ min: 0, max: 3 * MINUTE }),
      weight: fc.integer({ min: 1, max: 100 }),
      // What a bound on single fills leaves alone.
      adverseBps: fc.integer({ min: -20, max: 20 }),
    }),
    { minLength: 1, maxLength: 80 },
  );
  const options = fc.record({
    horizonMs: fc.constantFrom(1_000, 15_000, 300_000),
    halfLifeMs: fc.integer({ min: MINUTE, max: 1e9 }),
    minFills: fc.integer({ min: 2, max: 30 }),
    standardErrors: fc.integer({ min: 0, max: 4 }),
    toleratedBps: fc.integer({ min: 0, max: 20 }),
    widenBpsMax: fc.integer({ min: 10, max: 50 }),
  });

  test('never ask for less when every fill was followed by a worse move, and stay within their bound', () => {
    fc.assert(
      fc.property(moves, options, fc.integer({ min: 1, max: 20 }), (life, limits, more) => {
        const widened = (worse: number) => {
          const adverse = new AdverseSelection(limits, '1');
          let at = 0;
          for (const { side, passed, weight, adverseBps } of life) {
            at += passed + 2 * limits.horizonMs;
            adverse.market(at, 100_000);
            adverse.fill('', side, price(100_000), weight, at, at);
            const against = (adverseBps + worse) * (side === 'buy' ? -10 : 10);
            adverse.market(at + limits.horizonMs, 100_000 + against);
          }
          return { ...adverse.widenBps(at) };
        };
        const [less, worse] = [widened(0), widened(more)];
        for (const side of ['buy', 'sell'] as const) {
          expect(worse[side]).toBeGreaterThanOrEqual(less[side]);
          expect(less[side]).toBeGreaterThanOrEqual(0);
          expect(worse[side]).toBeLessThanOrEqual(limits.widenBpsMax);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('are untouched by what is no number, and by a market that is not there', () => {
    const { adverse, at } = lived({ fills: 60, meanBps: 20 });
    const before = { ...adverse.widenBps(at) };
    adverse.fill('', 'buy', Number.NaN as never, 1, at, at);
    adverse.fill('', 'buy', price(100_000), Number.NaN, at, at);
    adverse.fill('', 'buy', price(100_000), 1, Number.NaN, at);
    adverse.fill('', 'buy', price(100_000), 1, at, at);
    adverse.market(at + 1_000, Number.NaN);
    adverse.market(at + 1_001, 0);
    adverse.market(at + 400_000, 0);
    expect(adverse.widenBps(at)).toEqual(before);
    expect(adverse.state().markouts.waiting).toEqual([]);
  });

  test('judge a fill that is heard of late by the market of its own time', () => {
    const adverse = new AdverseSelection(OPTIONS, '1');
    for (let second = 0; second <= 40; second++) adverse.market(second * 1_000, 100_000 + second);
    adverse.fill('', 'sell', price(100_010), 1, 10_500, 40_000);
    adverse.market(400_000, 7);
    const curve = adverse.curves()[2]!;
    // 0, 1, 5 and 15 s after it the middle was 100,010, 100,011, 100,015 and 100,025; after that the market was gone.
    expect(curve.bps.map(bps => (bps === null ? null : Math.round((bps * 100_010) / 10_000)))).toEqual([
      0,
      -1,
      -5,
      -15,
      null,
      null,
    ]);
  });

  test('go on from their state to the last digit, but not in other ticks', () => {
    const { adverse, at } = lived({ fills: 50, meanBps: 12 });
    const state = JSON.parse(JSON.stringify(adverse.state())) as ReturnType<AdverseSelection['state']>;
    const again = new AdverseSelection(OPTIONS, '1');
    again.restore(state);
    for (const one of [adverse, again]) {
      one.market(at, 100_000);
      one.fill('', 'buy', price(100_000), 1, at, at);
      one.market(at + 15_000, 99_000);
    }
    expect(again.state()).toEqual(adverse.state());
    expect(again.widenBps(at + MINUTE)).toEqual(adverse.widenBps(at + MINUTE));
    const other = new AdverseSelection(OPTIONS, '10');
    other.restore(state);
    expect(other.state().markouts.waiting).toEqual([]);
    expect(other.widenBps(at)).toEqual(lived({ fills: 50, meanBps: 12 }).adverse.widenBps(at));
  });
});

describe('the widening of a side', () => {
  const START = 1.7e12;
  const MIDDLE = 1_000_000;
  const free: AdverseSelectionOptions = { ...OPTIONS, halfLifeMs: Infinity, minFills: 2, standardErrors: 0 };

  /** A fill at the mid price, which is `bps` worse for the bot at the horizon, and something else just before and after. */
  function filled(adverse: AdverseSelection, side: Side, at: number, bps: number, horizonMs = free.horizonMs): void {
    adverse.market(at, MIDDLE);
    adverse.fill('', side, price(MIDDLE), 1, at, at);
    adverse.market(at + horizonMs - 1, 7 * MIDDLE);
    adverse.market(at + horizonMs, MIDDLE + (side === 'buy' ? -100 : 100) * bps);
    adverse.market(at + horizonMs + 1, 7 * MIDDLE);
  }
  /** Odd tenths of a bps, so that half of them is not at a step. */
  const oddTenths = (least: number, most: number) =>
    fc.integer({ min: least * 5, max: most * 5 }).map(n => (2 * n + 1) / 10);

  test('is half of what exceeds the tolerated part at the horizon, in steps of 0.1 bps, once there are fills of enough minutes', () => {
    const flow = fc.record({ minutes: fc.integer({ min: 0, max: 6 }), alike: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(
        fc.record({ buy: flow, sell: flow }),
        fc.record({ buy: oddTenths(-40, 130), sell: oddTenths(-40, 130) }),
        fc.record({
          horizonMs: fc.constantFrom(1_000, 15_000),
          minFills: fc.integer({ min: 1, max: 5 }),
          toleratedBps: fc.integer({ min: 0, max: 9 }),
          widenBpsMax: fc.integer({ min: 3, max: 20 }),
        }),
        (flows, bps, changes) => {
          const adverse = new AdverseSelection({ ...free, ...changes }, '1');
          const { minFills, toleratedBps, widenBpsMax, horizonMs } = changes;
          let minute = Math.ceil(START / MINUTE);
          for (const side of ['buy', 'sell'] as const)
            for (let n = 0; n < flows[side].minutes; n++, minute++)
              for (let k = 0; k < flows[side].alike; k++)
                filled(adverse, side, minute * MINUTE + k * (horizonMs + 2), bps[side], horizonMs);
          const widened = adverse.widenBps((minute + 1) * MINUTE);
          for (const side of ['buy', 'sell'] as const) {
            const { minutes } = flows[side];
            // A single outlier counts as no more than twice what widens to the maximum.
            const x = Math.min(bps[side], 2 * (toleratedBps + 2 * widenBpsMax));
            const half = Math.floor((x - toleratedBps) * 5 + 1e-9) / 10;
            const isKnown = minutes >= minFills && minutes > 1;
            const expected = isKnown && x > toleratedBps ? Math.min(half, widenBpsMax) : 0;
            expect([side, widened[side]]).toEqual([side, expected]);
          }
        },
      ),
      runsOf(1_000, 150),
    );
  });

  test('leaves out what chance explains, and more of it the longer nothing is filled', () => {
    fc.assert(
      fc.property(
        fc.record({
          count: fc.integer({ min: 4, max: 12 }).map(n => 2 * n),
          meanBps: fc.integer({ min: -5, max: 40 }),
          spreadBps: fc.integer({ min: 1, max: 25 }),
          toleratedBps: fc.integer({ min: 0, max: 4 }),
          standardErrors: fc.constantFrom(1, 2, 2.5),
          halfLives: fc.constantFrom(0, 0.5, 1),
        }),
        ({ count, meanBps, spreadBps, toleratedBps, standardErrors, halfLives }) => {
          const halfLifeMs = 1e9 * MINUTE;
          const adverse = new AdverseSelection(
            { ...free, halfLifeMs, toleratedBps, standardErrors, widenBpsMax: 30 },
            '1',
          );
          const minute = Math.ceil(START / MINUTE);
          for (let n = 0; n < count; n++)
            filled(adverse, 'sell', (minute + n) * MINUTE, meanBps + (n % 2 === 0 ? spreadBps : -spreadBps));
          const left = count * 0.5 ** halfLives;
          const error = spreadBps / Math.sqrt(count - 1) / Math.sqrt(0.5 ** halfLives);
          const band = studentQuantile(standardErrors, left - 1) * error;
          const beyond = meanBps - toleratedBps;
          const exact = left >= 2 && beyond > band ? Math.min(30, (beyond - band ** 2 / beyond) / 2) : 0;
          const { buy, sell } = adverse.widenBps((minute + count - 1) * MINUTE + halfLives * halfLifeMs);
          expect(buy).toBe(0);
          expect(sell).toBeGreaterThan(exact - 0.1001);
          expect(sell).toBeLessThan(exact + 0.0001);
        },
      ),
      runsOf(1_000, 100),
    );
  });

  test('bounds what a single fill counts, in both directions', () => {
    const limit = 2 * (free.toleratedBps + 2 * free.widenBpsMax);
    const after = (bps: number) => {
      const adverse = new AdverseSelection(free, '1');
      filled(adverse, 'buy', START, bps);
      return adverse.state().adverse;
    };
    for (const sign of [-1, 1]) {
      expect(after(sign * (limit + 5))).toEqual(after(sign * limit));
      expect(after(sign * (limit - 5))).not.toEqual(after(sign * limit));
    }
  });

  test('is kept over a restart only for the same horizon, and the markouts in any case', () => {
    const adverse = new AdverseSelection(free, '1');
    for (let n = 0; n < 3; n++) filled(adverse, 'sell', START + n * MINUTE, 12);
    const after = (changes: Partial<AdverseSelectionOptions>) => {
      const next = new AdverseSelection({ ...free, ...changes }, '1');
      next.restore(adverse.state());
      expect(next.curves()).toEqual(adverse.curves());
      return next.widenBps(START + 3 * MINUTE);
    };
    expect(after({})).toEqual({ buy: 0, sell: 5 });
    expect(after({ horizonMs: 60_000 })).toEqual({ buy: 0, sell: 0 });
  });
});

describe('the state of live markouts', () => {
  const START = 1.7e12;

  test('has a new version exactly when it changed', () => {
    const steps = fc.array(
      fc.record({
        passed: fc.constantFrom(0, 300, 1_000, 5_000, 60_000),
        isFill: fc.boolean(),
        mid: fc.constantFrom(0, 99_990, 100_000),
        weight: fc.constantFrom(0, 1, Number.NaN),
      }),
      { maxLength: 25 },
    );
    fc.assert(
      fc.property(steps, life => {
        const adverse = new AdverseSelection(OPTIONS, '1');
        let at = START;
        for (const { passed, isFill, mid, weight } of life) {
          at += passed;
          const [before, version] = [JSON.stringify(adverse.state()), adverse.version];
          if (isFill) adverse.fill('', 'buy', price(100_000), weight, at, at);
          else adverse.market(at, mid);
          const hasChanged = JSON.stringify(adverse.state()) !== before;
          expect(adverse.version > version).toBe(hasChanged);
        }
      }),
      runsOf(1_000, 100),
    );
  });

  test('has the level of an order from 1 until 2,000 others were placed after it', () => {
    const levelAfter = (others: number) => {
      const adverse = new AdverseSelection(OPTIONS, '1');
      adverse.placed('first', 2);
      for (let n = 0; n < others; n++) adverse.placed(`o-${n}`, 0);
      adverse.market(START, 100_000);
      adverse.fill('first', 'sell', price(100_000), 1, START, START);
      adverse.fill('o-0', 'buy', price(100_000), 1, START, START);
      adverse.market(START + 1_000, 100_000);
      return adverse.curves().flatMap(({ level, side, fills }) => (side !== null && fills[0] === 1 ? [level] : []));
    };
    expect(levelAfter(1_999)).toEqual([null, null, 1, 3]);
    expect(levelAfter(2_000)).toEqual([null, null, 1]);
  });

  test('takes a fill for no later than its report, also where the exchange says so', () => {
    const adverse = new AdverseSelection(OPTIONS, '1');
    adverse.market(START, 100_000);
    adverse.market(START + 1_000, 100_500);
    adverse.fill('', 'buy', price(100_000), 1, START + 9_000, START + 1_000);
    adverse.market(START + 2_000, 100_700);
    const { bps } = adverse.curves().find(({ side, level }) => side === 'buy' && level === null)!;
    expect(bps.slice(0, 3)).toEqual([50, 70, null]);
  });
});

describe('a day of a small book, with the defaults of the configuration', () => {
  const DAY = 24 * 60 * MINUTE;

  /** So many fills a day on both sides, of unequal value and at random times, and moves after them with heavy tails (Student's t, 5 degrees). True when a side moved out at any time of it. */
  function acted(seed: number, fills: number, meanBps: number): boolean {
    const defaults = markouts.parse({});
    const adverse = new AdverseSelection(defaults, '1');
    const random = randomOf(seed);
    let has = false;
    for (let at = exponential(random, DAY / fills); at < DAY; at += exponential(random, DAY / fills)) {
      const side = random.next() < 0.5 ? 'buy' : 'sell';
      const squares = Array.from({ length: 5 }, () => normal(random) ** 2).reduce((sum, x) => sum + x, 0);
      const moved = meanBps + (DEVIATION_BPS * normal(random) * Math.sqrt(3)) / Math.sqrt(squares);
      adverse.market(at, 100_000);
      adverse.fill('', side, price(100_000), random.integer(1, 10), at, at);
      adverse.market(at + defaults.horizonMs, Math.max(1, 100_000 + (side === 'buy' ? -10 : 10) * moved));
      const { buy, sell } = adverse.widenBps(at + defaults.horizonMs);
      has ||= buy > 0 || sell > 0;
    }
    return has;
  }
  /** Of the moves after fills; what a recorded day of Gemini has. */
  const DEVIATION_BPS = 12;
  const times = (fills: number, meanBps: number) =>
    Array.from({ length: 100 }, (_, seed) => acted(seed, fills, meanBps)).filter(Boolean).length;

  test.each([60, 260])('%i fills with 13 bps against them move a side out in at least 95 of 100 seeds', fills => {
    expect(times(fills, 13)).toBeGreaterThanOrEqual(95);
  });

  test.each([60, 260])('%i fills that are followed by chance alone do so in at most 5 of 100', fills => {
    expect(times(fills, 0)).toBeLessThanOrEqual(5);
  });
});

describe('an engine that follows markouts', () => {
  const widening: Strategy = {
    quote: ({ mid, widenBps }: View) => {
      const at = (sign: number, bps: number) => [
        {
          price: mid + sign * (2 + bps),
          amount: 10 as never,
          why: [{ name: 'wanted', ticks: mid + sign * (2 + bps) }],
        },
      ];
      return { bids: at(-1, widenBps.buy), asks: at(1, widenBps.sell) };
    },
  };

  /** A market in which somebody sells to our bid each minute, and `fall` bps later stands lower. */
  function deskOf(fall: number, minutes: number): ToyExchange {
    const toy = new ToyExchange({
      strategy: widening,
      limits: {
        positionMax: 1e6,
        orderValueMax: 10n ** 12n,
        ordersMax: 20,
        collarBps: 1000,
        staleAfterMs: 3000,
      } as never,
      adverseSelection: { ...OPTIONS, horizonMs: 5_000, minFills: 2, toleratedBps: 0, widenBpsMax: 8 },
    }).open();
    const around = (mid: number) => {
      toy.bids = [[mid - 3, 500]];
      toy.asks = [[mid + 3, 500]];
    };
    for (let minute = 0; minute < minutes; minute++) {
      around(100_000);
      toy.rounds(5, 1_000);
      for (const { id, side } of toy.live) if (side === 'buy') toy.fill(id, 10);
      toy.round(200);
      around(100_000 - fall * 10);
      toy.rounds(56, 1_000);
    }
    around(100_000);
    toy.rounds(4, 1_000);
    return toy;
  }

  test('quotes further away on the side that is picked off, and where it was when fills cost nothing', () => {
    const toxic = deskOf(30, 8);
    expect(toxic.prices('buy')).toEqual([100_000 - 10]);
    expect(toxic.prices('sell')).toEqual([100_000 + 2]);
    expect(toxic.engine.book.snapshot(toxic.now).markouts?.widenBps).toEqual({ buy: 8, sell: 0 });
    const [, buys, , first] = toxic.engine.book.snapshot(toxic.now).markouts!.curves;
    expect(buys!.fills[2]).toBe(8);
    expect(first).toMatchObject({ side: 'buy', level: 1, fills: buys!.fills });
    const benign = deskOf(0, 8);
    expect([benign.prices('buy'), benign.prices('sell')]).toEqual([[100_000 - 2], [100_000 + 2]]);
    expect(benign.engine.book.snapshot(benign.now).markouts?.curves[1]?.fills[2]).toBe(8);
  });
});
