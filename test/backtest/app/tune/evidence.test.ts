/** Evidence about the best trial: what it depends on, and what it must not depend on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evidenceOf, type EvidenceTerms } from '../../../../backtest/app/tune/evidence.ts';
import type { TrialRecord } from '../../../../backtest/app/tune/registry.ts';
import { expectedMaximumSharpe } from '../../../../backtest/tune/judge/sharpe.ts';
import { runsOf } from '../../../many.ts';

const T0 = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const BLOCKS = 6;
/** Two pieces, of which the second was recorded first. */
const pieces = [T0 + 50 * HOUR_MS, T0].map(
  from => ({ tape: 'one', from, to: from + BLOCKS * HOUR_MS, blocks: BLOCKS, gaps: [] }) as never,
);
const termsOf = (trials: number): EvidenceTerms => ({
  ...{ trials, space: [], pieces, embargoMs: 0, objective: 'net60s', neighbours: [] },
});
const trialOf = (blocks: readonly number[], number: number): TrialRecord =>
  ({ kind: 'trial', number, config: `config ${number}`, state: 'done', point: {}, measures: null, blocks }) as never;

const rows = fc.array(
  fc.array(fc.integer({ min: -50, max: 60 }), { minLength: 2 * BLOCKS, maxLength: 2 * BLOCKS }),
  { minLength: 1, maxLength: 5 }, // prettier-ignore
);
const isSteady = (row: readonly number[]): boolean => new Set(row).size < 3;

test('luck is judged by all configurations ever tried on these hours, not by those that are feasible', () => {
  fc.assert(
    fc.property(rows, fc.nat(), fc.integer({ min: 10, max: 1_000 }), (drawn, nth, trials) => {
      fc.pre(!drawn.some(isSteady));
      const feasible = drawn.map(trialOf);
      const best = feasible[nth % feasible.length]!;
      const evidence = evidenceOf(best, feasible, termsOf(trials));
      const { deflated, gains, net, sharpe } = evidence;
      // Blocks are in the order of time, and those of the best trial, wherever it is in the list.
      expect(gains).toEqual([...best.blocks.slice(BLOCKS), ...best.blocks.slice(0, BLOCKS)]);
      expect(net).toBe(gains.reduce((sum, gain) => sum + gain, 0));
      expect(Math.sign(sharpe)).toBe(Math.sign(net));
      // Without another candidate, the variance is that of ratios without skill; more candidates never raise it.
      const most = expectedMaximumSharpe(trials, 1 / (2 * BLOCKS - 1));
      expect(deflated.trials).toBe(trials);
      expect(deflated.threshold).toBeLessThanOrEqual(most);
      if (feasible.length === 1) expect(deflated.threshold).toBe(most);
      // The ratio is probably above what luck reaches only if it is above the threshold.
      expect(deflated.probability > 0.5).toBe(sharpe > deflated.threshold);
      const more = evidenceOf(best, feasible, termsOf(10 * trials)).deflated;
      if (deflated.threshold > 0) expect(more.threshold).toBeGreaterThan(deflated.threshold);
      expect(more.probability).toBeLessThanOrEqual(deflated.probability);
      // A configuration that was tried twice is one candidate.
      expect(evidenceOf(best, [...feasible, ...feasible], termsOf(trials))).toEqual(evidence);
    }),
    runsOf(1_000, 40),
  );
});
