import { describe, expect, test } from 'vitest';
import { amount, exponential, normal, price, randomOf } from '../../src/core/index.ts';
import { marketParameters, RollingMarket } from '../../strategies/market.ts';
import { MID, viewOf } from './examples.ts';

const START = { volatilityBps: 15, arrivalsPerMinute: 6, decayPerBps: 0.2, memory: '1h' };

/** Hours of a market that is not what was configured; looked at each second. */
function lived(
  changes: object,
  truth: { volatilityBps: number; perMinute: number; decayPerBps: number },
  hearsTrades = true,
) {
  const market = new RollingMarket(marketParameters.parse({ ...START, ...changes }));
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
  return {
    volatilityBps: market.sigma * 60 * 10_000,
    perMinute: market.a * 60,
    decayPerBps: market.k / 10_000,
    from: market.arrivalsFrom,
  };
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
    expect(lived({}, truth, false).from).toBe('held, trades are not heard');
    expect(lived({ estimate: 'fixed' }, truth).from).toBe('configured');
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
