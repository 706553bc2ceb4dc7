import { describe, expect, test } from 'vitest';
import { amount, exponential, normal, price, randomOf } from '../../src/core/index.ts';
import { marketParameters, RollingMarket } from '../../strategies/rollingMarket.ts';
import { COIN, MID, strategyOf, viewOf } from './examples.ts';

const START = { volatilityBps: 15, arrivalsPerMinute: 6, decayPerBps: 0.2, memory: '1h' };

type Truth = { readonly volatilityBps: number; readonly perMinute: number; readonly decayPerBps: number };

/** Hours of a market that is not what was configured; looked at each second. */
function lived(changes: object, truth: Truth, hearsTrades = true) {
  const market = new RollingMarket(marketParameters.parse({ ...START, ...changes }));
  live(market, truth, hearsTrades);
  return {
    volatilityBps: market.sigma * 60 * 10_000,
    perMinute: market.a * 60,
    decayPerBps: market.k / 10_000,
    from: market.arrivalsFrom,
  };
}

function live(market: RollingMarket, truth: Truth, hearsTrades = true): void {
  const random = randomOf(4);
  let fair = MID;
  let next = 0;
  for (let second = 0; second < 6 * 3_600; second++) {
    for (; next < second; next += exponential(random, 30 / truth.perMinute)) {
      const away = exponential(random, 1 / truth.decayPerBps) * 1e-4 * fair;
      const side = random.next() < 0.5 ? 'buy' : 'sell';
      const at = price(Math.round(fair + (side === 'buy' ? away : -away)));
      market.trade({ at: next * 1_000, price: at, amount: amount(10 ** 12), side });
    }
    fair *= 1 + (truth.volatilityBps / 10_000 / 60) * normal(random);
    market.look(viewOf({ at: second * 1_000, mid: fair, hearsTrades }), fair);
  }
}

describe('the rolling market', () => {
  const truth = { volatilityBps: 5, perMinute: 12, decayPerBps: 0.12 };

  test('follows volatility and arrivals that are not what was configured', () => {
    const found = lived({ withinFactor: 20 }, truth);
    expect(found.volatilityBps / truth.volatilityBps).toBeGreaterThan(0.9);
    expect(found.volatilityBps / truth.volatilityBps).toBeLessThan(1.1);
    // The configured arrivals weigh about as much as a half of what an hour remembers.
    expect(found.perMinute).toBeGreaterThan(8);
    expect(found.perMinute).toBeLessThan(13);
    expect(found.decayPerBps).toBeGreaterThan(0.11);
    expect(found.decayPerBps).toBeLessThan(0.15);
  });

  test('says where its arrivals come from, and keeps the configured ones while too few were seen', () => {
    expect(lived({}, truth).from).toBe('followed');
    const quiet = lived({}, { ...truth, perMinute: 0.02 });
    expect(quiet).toMatchObject({ from: 'configured, too few arrivals' });
    expect(quiet.perMinute).toBeCloseTo(6, 9);
    expect(quiet.decayPerBps).toBeCloseTo(0.2, 9);
    expect(lived({}, truth, false).from).toBe('held, no trades received');
    expect(lived({ estimate: 'fixed' }, truth).from).toBe('configured');
  });

  test('returns to the configured arrivals once too few are seen', () => {
    const market = new RollingMarket(marketParameters.parse(START));
    live(market, truth);
    const { a, k } = market;
    expect([a * 60 > 7, k / 10_000 < 0.18]).toEqual([true, true]);
    for (let second = 6 * 3_600; second < 24 * 3_600; second += 10)
      market.look(viewOf({ at: second * 1_000, mid: MID }), MID);
    expect([market.arrivalsFrom, market.a * 60, market.k / 10_000]).toEqual([
      'configured, too few arrivals',
      expect.closeTo(6, 9),
      expect.closeTo(0.2, 9),
    ]);
  });

  test('stays within its bounds', () => {
    const found = lived({ withinFactor: 1.2 }, truth);
    expect(found.volatilityBps).toBeGreaterThanOrEqual(15 / 1.2);
    // What moved by less than a twentieth is not followed.
    expect(found.volatilityBps).toBeLessThan((15 / 1.2) * 1.06);
    expect(found.perMinute).toBeCloseTo(6 * 1.2, 6);
    expect(found.decayPerBps).toBeCloseTo(0.2 / 1.2, 6);
  });

  test('keeps the configured arrivals while it does not hear every trade', () => {
    expect(lived({ withinFactor: 20 }, truth, false)).toMatchObject({ perMinute: 6, decayPerBps: 0.2 });
  });

  test('that is fixed does not move', () => {
    const found = lived({ estimate: 'fixed' }, truth);
    expect(found.volatilityBps).toBeCloseTo(15, 9);
    expect(found).toMatchObject({ perMinute: 6, decayPerBps: 0.2 });
  });
});

describe('a profile of fills by distance', () => {
  const PROFILE = { distancesBps: [4, 8, 16, 32], fillsPerMinute: [6, 3, 1, 0.1], adverseBps: [3, 4, 5, 6] };
  const withProfile = (changes: object) =>
    marketParameters.safeParse({ ...START, profile: { ...PROFILE, ...changes } }).error?.issues.map(i => i.message);

  test('must have a number for each distance, ascending, with fills above zero, and says so in one line', () => {
    expect(withProfile({})).toBeUndefined();
    expect(withProfile({ adverseBps: [3, 4, 5] })).toEqual(['expected 4 numbers, as many as distancesBps; found 3']);
    expect(withProfile({ distancesBps: [4, 8, 8, 32] })).toEqual(['must ascend: 8 follows 8']);
    expect(withProfile({ fillsPerMinute: [6, 3, 0, 0.1] })).toHaveLength(1);
    expect(withProfile({ distancesBps: [4], fillsPerMinute: [1], adverseBps: [1] })).toHaveLength(1);
  });

  test('keeps its shape, and has the level of the arrivals that are followed', () => {
    const market = new RollingMarket(marketParameters.parse({ ...START, profile: PROFILE }));
    const before = market.curve(0.0002)!;
    const { distance } = before.calm;
    expect(before.rate(16e-4) * 60).toBeCloseTo(1, 9);
    live(market, { volatilityBps: 5, perMinute: 12, decayPerBps: 0.12 });
    const arrivals = (market.a / (START.arrivalsPerMinute / 60)) * Math.exp((0.2e4 - market.k) * distance);
    expect(arrivals).toBeGreaterThan(1.2);
    const after = market.curve(0.0002)!;
    for (const d of [2e-4, 8e-4, 20e-4]) expect(after.rate(d) / before.rate(d)).toBeCloseTo(Math.min(4, arrivals), 9);
    expect(after.calm.distance).toBeCloseTo(distance, 12);
  });

  test.each([
    ['glft', { solution: 'exact' }],
    ['glft', { solution: 'closed form' }],
    ['avellaneda-stoikov', {}],
    ['avellaneda-stoikov', { horizon: '1d' }],
  ] as const)(
    '%s %o quotes where it pays, and where nothing does is silent but for what it must get rid of',
    (name, more) => {
      const quote = (adverseBps: readonly number[], position = 0) =>
        strategyOf(name, {
          ...{ amount: '0.004', levels: 1, risk: { amount: '2000 mxn' }, ...more },
          market: { ...START, estimate: 'fixed', profile: { ...PROFILE, adverseBps } },
        }).quote(viewOf({ position, makerRate: 40_000 }));
      // The fee is 4 bps. Of 4, 8, 16 and 32 bps the third is best: 7 bps a fill.
      const paid = quote(PROFILE.adverseBps);
      expect((1 - paid.bids[0]!.price / MID) * 1e4).toBeGreaterThan(14);
      expect((1 - paid.bids[0]!.price / MID) * 1e4).toBeLessThan(20);

      const WHY = 'at every distance, maker fee and adverse selection cost more than a fill gains';
      const none = quote([3, 7, 15, 31]);
      expect(none).toMatchObject({ bids: [], asks: [], noBid: WHY, noAsk: WHY });
      expect(none.figures?.find(figure => figure.name === 'net per fill at best distance')?.value).toBeCloseTo(-3, 9);
      const long = quote([3, 7, 15, 31], 0.8 * 0.02 * COIN);
      expect(long).toMatchObject({ bids: [], noBid: WHY });
      expect(long.asks).toHaveLength(1);
    },
  );
});
