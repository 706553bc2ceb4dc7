import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aversionFor, askDistance, bidDistance, closedForm, shiftPerOrder } from '../../strategies/glft/formula.ts';
import { fullLots, shiftFor, usualOrders } from '../../strategies/riskAversion.ts';
import { COIN, strategyOf, viewOf } from './examples.ts';
import { between } from '../draws.ts';

const market = { volatilityBps: 80, arrivalsPerMinute: 8, decayPerBps: 0.15, estimate: 'fixed' };
const glft = (risk: object) => strategyOf('glft', { amount: '0.004', levels: 1, risk, market });
const figuresOf = (risk: object): Record<string, number> =>
  Object.fromEntries((glft(risk).quote(viewOf()).figures ?? []).map(({ name, value }) => [name, value]));

describe('risk in money and time', () => {
  test('at full inventory one standard deviation over the time costs the amount', () => {
    const { 'full inventory': full } = figuresOf({ amount: '2000 mxn', per: '1h' });
    // 80 bps of 1,500,000 mxn a coin.
    expect(full! * 1_500_000 * 0.008).toBeCloseTo(2_000, 6);
    expect(fullLots(200, 900, 0.0001, 1_000)).toBeCloseTo(200 / (0.0001 * 30 * 1_000), 9);
  });

  test('the same risk over four times the time is twice the money', () => {
    const [one, four] = [figuresOf({ amount: '500 mxn', per: '1h' }), figuresOf({ amount: '1000 mxn', per: '4h' })];
    expect(four['full inventory']).toBeCloseTo(one['full inventory']!, 9);
  });

  test('less risk is more aversion', () => {
    const gammas = ['4000 mxn', '1000 mxn', '250 mxn'].map(amount => figuresOf({ amount, per: '1d' })['gamma']!);
    expect(gammas[1]).toBeGreaterThan(gammas[0]!);
    expect(gammas[2]).toBeGreaterThan(gammas[1]!);
  });

  test('inventory is never built up beyond it, also where the limit would allow more', () => {
    const { 'full inventory': full } = figuresOf({ amount: '600 mxn', per: '1h' });
    const lots = full! * COIN;
    const strategy = glft({ amount: '600 mxn', per: '1h' });
    expect(strategy.quote(viewOf({ position: lots + 1 })).noBid).toBe(
      'inventory is at the maximum for the configured risk',
    );
    const near = strategy.quote(viewOf({ position: Math.floor(lots) - 200_000 }));
    expect(near.bids.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(200_001);
  });
});

describe('the lean that follows', () => {
  const cases = fc.record({
    k: between(500, 5_000),
    full: between(3, 60),
    fills: fc.double({ min: 1e-4, max: 1, noNaN: true }),
    per: fc.double({ min: 60, max: 86_400, noNaN: true }),
    sigma: between(1e-5, 1e-3),
  });

  test('is such that inventory stays three deviations inside, by the balance of fills at the quotes of GLFT', () => {
    fc.assert(
      fc.property(cases, ({ k, full, fills, per, sigma }) => {
        const shift = shiftFor(k, full, fills, per);
        const m = { sigma, a: fills * Math.E, k, drift: 0, adverse: 0, fee: 0 };
        const gamma = aversionFor(m, shift);
        fc.pre(gamma < 1e6 * k);
        expect(shiftPerOrder(m, gamma) / shift).toBeCloseTo(1, 6);
        // pi(q + 1) / pi(q) = fills of bids at q over fills of asks at q + 1.
        let [weight, total, squares] = [1, 1, 0];
        for (let q = 0; q < 400; q++) {
          const bid = bidDistance(closedForm(m, gamma, q).bid);
          const ask = askDistance(closedForm(m, gamma, q + 1).ask);
          weight *= Math.exp(-k * (bid - ask));
          total += 2 * weight;
          squares += 2 * weight * (q + 1) ** 2;
        }
        const deviation = Math.sqrt(squares / total);
        // On whole orders the normal law is a little narrower or as wide.
        expect(deviation).toBeLessThanOrEqual(usualOrders(k, shift) * 1.01);
        expect(usualOrders(k, shift)).toBeLessThanOrEqual((full / 3) * 1.000_001);
      }),
    );
  });

  test('brings inventory back within the time of the risk, or leans by the whole edge an order where fills are too rare for that', () => {
    fc.assert(
      fc.property(cases, ({ k, full, fills, per }) => {
        const shift = shiftFor(k, full, fills, per);
        const backWithin = 1 / (2 * k * shift * fills);
        if (backWithin > per * 1.000_001) expect(shift * k).toBeCloseTo(Math.max(1, 9 / (2 * full * full)), 9);
      }),
    );
    // Hardly a fill an age: the quotes stay in the market.
    expect(shiftFor(0.5, 10, 1e-12, 3_600)).toBe(2);
  });
});
