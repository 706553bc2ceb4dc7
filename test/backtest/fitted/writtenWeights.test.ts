/** Weights of a fitted parameter file: whatever was fitted, the file is one that a backtest reads. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { weightedHypotheses } from '../../../backtest/fitted/fit.ts';
import { FITTED_KIND, parsedHypotheses, QUEUE_HYPOTHESES } from '../../../src/fills/index.ts';

test('add up to 1 in a file, in the ratios of the fit, also if many are too small to be written', () => {
  // Sizes over some decades, so that several weights are below the minimum of a file.
  const sizes = fc.array(fc.integer({ min: 0, max: 4 }), {
    minLength: QUEUE_HYPOTHESES.length,
    maxLength: QUEUE_HYPOTHESES.length,
  });
  fc.assert(
    fc.property(sizes, of => {
      const masses = of.map(size => 10 ** -size);
      const sum = masses.reduce((all, one) => all + one, 0);
      const weights = masses.map(one => one / sum);
      const written = weightedHypotheses({ weights, unexplained: 0.02, rate: 1 });
      const file = { kind: FITTED_KIND, book: 'btc_mxn', hypotheses: written };
      expect(parsedHypotheses(file, 'btc_mxn')).toEqual(written);
      expect(written.reduce((all, { weight }) => all + weight, 0)).toBeCloseTo(1, 3);
      const largest = written[0]!.weight;
      expect(written.every(({ weight }) => weight <= largest)).toBe(true);
      const kept = weights.filter(one => one >= 0.001).reduce((all, one) => all + one, 0);
      expect(largest).toBeCloseTo(Math.max(...weights) / kept, 5);
    }),
  );
});
