/** The band while it runs: what is seen moves it, within bounds, and what leaving costs is asked for again. */
import { describe, expect, test } from 'vitest';
import {
  compareRoutes,
  money,
  moneyOf,
  randomOf,
  type HedgeRules,
  type Money,
  type RouteOption,
} from '../../src/core/index.ts';
import { BandFollower } from '../../src/hedge/bandFollower.ts';

const model = {
  ...{ order: moneyOf('0.01'), ordersMax: 100, risk: 100, volatilityBps: 57, fillsPerMinute: 1, decayPerBps: 0.19 },
};
const MID = moneyOf('1500000');
const HOUR = 3_600_000;
const COST_MAX = 40;
const bandsOf = (): BandFollower => new BandFollower(model, COST_MAX);
/** Orders that are held. */
const held = (bands: BandFollower, at: number, mid = MID): number =>
  Number(bands.rules(at, mid).residual) / Number(model.order);

/** An hour of looks, with fills of both sides so often a minute and a price that moves by so many bps an hour. */
function after(fillsPerMinute: number, volatilityBps: number): number {
  const bands = bandsOf();
  const random = randomOf(7);
  const step = volatilityBps / 10_000 / Math.sqrt(360);
  let mid = Number(MID);
  for (let at = 0; at <= HOUR; at += 10_000) {
    mid *= 1 + step * (random.next() < 0.5 ? 1 : -1);
    bands.rules(at, money(BigInt(Math.round(mid))));
    if (at % 60_000 === 0) for (let i = 0; i < 2 * fillsPerMinute; i++) bands.fill(at, model.order);
    bands.recordCost(at, 20);
  }
  return held(bands, HOUR, money(BigInt(Math.round(mid))));
}

describe('the band that follows', () => {
  test('widens with fills and narrows with volatility, as both are seen', () => {
    const usual = after(1, 57);
    expect(after(4, 57)).toBeGreaterThan(usual);
    expect(after(0, 57)).toBeLessThan(usual);
    expect(after(1, 200)).toBeLessThan(usual);
    expect(after(1, 15)).toBeGreaterThan(usual);
  });

  test('stays where the start put it while what is seen agrees with it', () => {
    const bands = bandsOf();
    bands.recordCost(0, 20);
    expect(Math.abs(after(1, 57) - held(bands, 0))).toBeLessThanOrEqual(1);
  });

  test('widens with what leaving costs; what it costs is asked for at half of it, at first and after ten minutes', () => {
    const at = (...bps: number[]): BandFollower => {
      const bands = bandsOf();
      for (const each of bps) bands.recordCost(0, each);
      return bands;
    };
    const [half, whole] = [held(at(10), 1), held(at(20), 1)];
    expect(whole).toBeGreaterThan(half);
    expect(held(at(), 1)).toBe(held(at(COST_MAX / 2), 1));
    expect(held(at(20), 599_999)).toBe(whole);
    expect(held(at(20), 600_000)).toBe(half);
    // The mean of the last and those before.
    expect(held(at(10, 30), 1)).toBe(whole);
  });

  test('begins half an order beyond what stays, and holds everything where no limit would', () => {
    const bands = bandsOf();
    const { band, residual } = bands.rules(0, MID);
    expect(band - residual).toBe(model.order / 2n);
    const careless = new BandFollower({ ...model, risk: 1e9 }, COST_MAX).rules(0, MID);
    expect(careless.band).toBeGreaterThan(model.order * 1_000n);
  });

  test('prices waiting by the order: all of leaving outside, less and less inside', () => {
    const bands = bandsOf();
    bands.recordCost(0, 20);
    const { residual } = bands.rules(1, MID);
    const orders = (count: number): Money => money(BigInt(Math.round(count * 100)) * 10n ** 14n);
    const b = Number(residual) / Number(model.order);
    expect(bands.waitBps(orders(b + 3), orders(2.5))).toBeCloseTo(20, 9);
    expect(bands.waitBps(money(-orders(b + 3)), money(-orders(2.5)))).toBeCloseTo(20, 9);
    // Beyond the inventory for which the band is computed, too.
    expect(bands.waitBps(orders(model.ordersMax + 3), orders(2))).toBeCloseTo(20, 9);
    const inside = [1, 2, 3].map(q => bands.waitBps(orders(q), orders(1)));
    expect(inside).toEqual(inside.toSorted((x, y) => x - y));
    expect(inside[2]).toBeLessThan(20);
    expect(bands.waitBps(orders(2), orders(2))).toBeCloseTo((inside[0]! + inside[1]!) / 2, 9);
    expect(bands.waitBps(orders(1.5), orders(1))).toBeCloseTo((inside[0]! + inside[1]!) / 2, 9);
  });

  test('prices waiting at nothing before anything is known, or for nothing', () => {
    const bands = bandsOf();
    expect(bands.waitBps(moneyOf('1'), moneyOf('1'))).toBe(0);
    bands.rules(1, MID);
    expect(bands.waitBps(moneyOf('1'), money(0n))).toBe(0);
  });

  test('counts fills the less the older they are, and no time twice when a clock goes back', () => {
    const at = 1_700_000_000_000;
    const filled = (fillAt: number): number => {
      const bands = bandsOf();
      bands.rules(at, MID);
      for (let n = 0; n < 600; n++) bands.fill(at + fillAt, model.order);
      return held(bands, at + 2 * HOUR);
    };
    expect(filled(2 * HOUR)).toBeGreaterThan(filled(HOUR));
    expect(filled(HOUR)).toBeGreaterThan(filled(0));
    const steps = (back: number): number => {
      const bands = bandsOf();
      bands.rules(at, MID);
      for (let n = 0; n < 20; n++) {
        bands.rules(at + HOUR, MID);
        bands.fill(at + HOUR - back, model.order);
      }
      return held(bands, at + HOUR);
    };
    expect(steps(HOUR)).toBe(steps(0));
  });

  test('is computed anew once an input moved by more than a hundredth', () => {
    const bands = bandsOf();
    const outside = (): number => {
      bands.rules(1, MID);
      return bands.waitBps(moneyOf('0.99'), moneyOf('0.01'));
    };
    bands.recordCost(0, 20);
    expect(outside()).toBeCloseTo(20, 9);
    // The mean is 20.1, then 20.3.
    bands.recordCost(0, 20.2);
    expect(outside()).toBeCloseTo(20, 9);
    bands.recordCost(0, 20.5);
    expect(outside()).toBeCloseTo(20.3, 9);
  });
});

describe('a choice with that band', () => {
  const way = (name: 'rfq' | 'conversion' | 'book', bps: number, more: object = {}): RouteOption => ({
    way: name,
    give: { currency: 'btc', amount: '0.1' },
    get: { currency: 'mxn', amount: String(150_000 * (1 - bps / 10_000)) },
    ...more,
  });
  const instrument = { major: 'btc', minor: 'mxn' } as never;
  const rules: HedgeRules = {
    ...{ band: moneyOf('0'), residual: moneyOf('0'), costMaxBps: COST_MAX, carryBpsPerHour: 0, unwindMs: 1 },
  };

  /** Decides for a tenth of the inventory; returns the decision and its rules. */
  function decided(ways: readonly RouteOption[], inventory: string, bands = bandsOf(), amount = '0.1') {
    const asked: Partial<HedgeRules>[] = [];
    const [all, part] = [moneyOf(inventory), moneyOf(amount)];
    const decision = bands.decideWith({ at: 1, mid: MID, inventory: all, amount: part, ways }, own => {
      asked.push(own);
      return compareRoutes(instrument, part, all, MID, ways, { ...rules, ...own });
    });
    return { decision, asked, bands };
  }
  const knowing = (bps: number): BandFollower => {
    const bands = bandsOf();
    bands.recordCost(1, bps);
    return bands;
  };

  test('knows the cost of the cheapest way that is open, and nothing where none is', () => {
    const shown = { comparisonOnlyReason: 'only compared' };
    const none: RouteOption = { way: 'rfq', unavailableReason: 'no answer' };
    const cases: readonly (readonly [readonly RouteOption[], number | null])[] = [
      [[way('rfq', 24), way('conversion', 16), way('book', 4, shown)], 16],
      // Too dear to be taken, and known all the same.
      [[way('rfq', 120), way('book', 4, shown)], 120],
      [[way('rfq', -8)], 0],
      [[none, way('book', 4, shown)], null],
      [[], null],
    ];
    for (const [ways, bps] of cases) {
      const { bands, asked } = decided(ways, '0.9');
      expect(asked).toHaveLength(2);
      expect(held(bands, 2)).toBe(held(bps === null ? bandsOf() : knowing(bps), 2));
    }
  });

  test('is by the band of that cost outside of it, and by waiting inside', () => {
    const band = knowing(16).rules(1, MID);
    const outside = decided([way('rfq', 16)], '0.9');
    expect(outside.asked).toEqual([{}, { ...band, waitBps: outside.bands.waitBps(moneyOf('0.9'), moneyOf('0.1')) }]);
    expect(outside.asked[1]!.waitBps).toBeCloseTo(16, 6);
    expect(outside.decision.taken).toBe('rfq');
    // A larger part than lies beyond the rest, and inventory within the band: only what is cheaper than waiting leaves.
    const size = Number(band.residual) / 1e18;
    for (const inventory of [String(size + 0.09), String(size)]) {
      const inside = decided([way('rfq', 16)], inventory);
      const waitBps = inside.bands.waitBps(moneyOf(inventory), moneyOf('0.1'));
      expect(inside.asked).toEqual([{}, { band: moneyOf(inventory), waitBps }]);
      expect(waitBps).toBeLessThan(16);
      expect(inside.decision.taken).toBe('wait');
    }
    const just = decided([way('rfq', 16)], String(size + 0.1));
    expect(just.decision.taken).toBe('rfq');
    // At the edge of the band, by a small part.
    const edge = Number(band.band) / 1e18;
    const small = decided(
      [
        {
          ...way('rfq', 16),
          ...{ give: { currency: 'btc', amount: '0.001' }, get: { currency: 'mxn', amount: '1497.6' } },
        },
      ],
      String(edge),
      bandsOf(),
      '0.001',
    );
    expect(small.asked[1]).toHaveProperty('band', moneyOf(String(edge)));
    expect(small.asked[1]).not.toHaveProperty('residual');
  });

  test('is the same of inventory that is short', () => {
    const short = (inventory: string) => decided([], `-${inventory}`, knowing(16), '-0.1').asked[1];
    const long = (inventory: string) => decided([], inventory, knowing(16)).asked[1];
    for (const inventory of ['0.9', '0.1', '0.05']) expect(short(inventory)).toEqual(long(inventory));
  });
});
