import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CANCEL_RULES,
  EXPECTED_HYPOTHESIS,
  FITTED_KIND,
  fittedModel,
  hypothesisQueue,
  levelModel,
  parsedHypotheses,
  QUEUE_HYPOTHESES,
  type WeightedHypothesis,
} from '../../src/fills/index.ts';
import { runsOf } from '../many.ts';
import { frontsOf, orderAt, step } from './fronts.ts';

/** Queue places are floating-point numbers. */
const ROUNDING = 1e-6;
const expected: WeightedHypothesis = { ...EXPECTED_HYPOTHESIS, weight: 1 };

describe('a fitted fill model', () => {
  test('with all its weight on the default hypothesis keeps every order in the place of expected', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.array(step, { maxLength: 20 }), (displayed, steps) => {
        const fitted = frontsOf(fittedModel([expected], () => 0.5).queue, displayed, steps);
        expect(fitted).toEqual(frontsOf(levelModel('expected').queue, displayed, steps));
      }),
      runsOf(500, 100),
    );
  });

  test('never has fewer lots ahead under more hidden lots, and hides none that the level shows', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...QUEUE_HYPOTHESES.filter(({ shown, own }) => shown >= 1 && own === 0)),
        fc.nat(50),
        fc.array(step, { maxLength: 20 }),
        ({ cancels }, displayed, steps) => {
          const fronts = [0, 1, 4].map(own => frontsOf(hypothesisQueue({ cancels, shown: 1, own }), displayed, steps));
          for (const [i, front] of fronts[0]!.entries()) {
            expect(fronts[1]![i]).toBeGreaterThanOrEqual(front - ROUNDING);
            expect(fronts[2]![i]).toBeGreaterThanOrEqual(fronts[1]![i]! - ROUNDING);
            expect(fronts[2]![i]! - Math.max(0, front)).toBeLessThanOrEqual(40 + ROUNDING);
          }
        },
      ),
      runsOf(500, 100),
    );
  });

  test('keeps hidden lots ahead under any cancels', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CANCEL_RULES),
        fc.nat(50),
        fc.array(fc.nat(60), { maxLength: 20 }),
        (cancels, displayed, levels) => {
          const steps = levels.map(after => ({ traded: 0, after }));
          for (const front of frontsOf(hypothesisQueue({ cancels, shown: 1, own: 2 }), displayed, steps))
            expect(front).toBeGreaterThanOrEqual(20);
        },
      ),
      runsOf(500, 100),
    );
  });

  test('draws one hypothesis for each order, by the weights, and keeps it when the queue is seen again', () => {
    const hypotheses: readonly WeightedHypothesis[] = [
      { cancels: 'power2', shown: 0, own: 0, weight: 0.25 },
      { cancels: 'power2', shown: 1, own: 0, weight: 0.75 },
    ];
    const draws = [0.2, 0.3, 0.9];
    const { queue } = fittedModel(hypotheses, () => draws.shift() ?? 0);
    const orders = [1, 2, 3].map(place => orderAt(place));
    const joined = (): readonly number[] =>
      orders.map(order => {
        queue.joined(order, 40);
        return order.front;
      });
    expect(joined()).toEqual([0, 40, 40]);
    expect(joined()).toEqual([0, 40, 40]);
    expect(draws).toEqual([]);
  });

  test('draws again for an object that a replay uses for another order', () => {
    const hypotheses: readonly WeightedHypothesis[] = [
      { cancels: 'ahead', shown: 0.5, own: 0, weight: 0.5 },
      { cancels: 'ahead', shown: 1, own: 2, weight: 0.5 },
    ];
    const draws = [0.1, 0.6];
    const { queue } = fittedModel(hypotheses, () => draws.shift()!);
    const order = { ...orderAt(7), restedAt: 1 };
    queue.joined(order, 40);
    expect(order.front).toBe(20);
    order.restedAt = 2;
    queue.joined(order, 40);
    expect(order.front).toBe(60);
  });

  test('has an unknown queue until it is seen, and hidden lots also after that', () => {
    const queue = hypothesisQueue({ cancels: 'behind', shown: 1, own: 2 });
    const order = orderAt(7);
    queue.joinedUnseen(order, 30);
    expect(order.front).toBe(Infinity);
    queue.shown!(order, 30);
    expect(order.front).toBe(50);
    queue.shown!(order, 10);
    expect(order.front).toBe(30);
    queue.changed(order, 10, 0, 0);
    expect(order.front).toBe(20);
  });
});

describe('a parameter file', () => {
  const file = { kind: FITTED_KIND, book: 'btc_mxn', hypotheses: [expected] };

  test('is read as it was written', () => {
    expect(parsedHypotheses(JSON.parse(JSON.stringify(file)), 'btc_mxn')).toEqual([expected]);
  });

  test.each([
    ['another file', { book: 'btc_mxn' }, 'is not a file of puntas calibrate --fills'],
    ['no object', null, 'is not a file of puntas calibrate --fills'],
    ['another book', { ...file, book: 'eth_mxn' }, 'was fitted on "eth_mxn", expected btc_mxn'],
    ['no hypothesis', { ...file, hypotheses: [] }, 'hypotheses: expected 1 to 200 entries'],
    ['an unknown rule', { ...file, hypotheses: [{ ...expected, cancels: 'x' }] }, 'hypotheses.0.cancels: expected one'],
    ['a negative factor', { ...file, hypotheses: [{ ...expected, own: -1 }] }, 'hypotheses.0.own: expected a number'],
    ['no number', { ...file, hypotheses: [{ ...expected, shown: '1' }] }, 'hypotheses.0.shown: expected a number'],
    ['a wrong sum', { ...file, hypotheses: [{ ...expected, weight: 0.5 }] }, 'expected weights with the sum 1'],
  ])('is refused with %s', (_name, given, reason) => {
    expect(parsedHypotheses(given, 'btc_mxn')).toContain(reason);
  });
});
