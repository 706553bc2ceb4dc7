/** Evidence about the best trial: what it depends on, and what it must not depend on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evidenceOf, spansInTime, type EvidenceTerms } from '../../../../backtest/app/tune/evidence.ts';
import type { TrialRecord } from '../../../../backtest/app/tune/registry.ts';
import { expectedMaximumSharpe } from '../../../../backtest/tune/judge/sharpe.ts';
import { walkForwardSplits } from '../../../../backtest/tune/judge/timeSplits.ts';
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

test('walking forward names the trial that was best before, and a configuration that was tried again, whenever it was, changes nothing', () => {
  const order = [
    ...Array.from({ length: BLOCKS }, (_, i) => BLOCKS + i),
    ...Array.from({ length: BLOCKS }, (_, i) => i),
  ];
  // The only span before the first fold ends too late to choose by.
  const folds = walkForwardSplits(spansInTime(pieces).spans, { folds: 6 }).filter(({ train }) => train.length > 0);
  expect(folds).toHaveLength(5);
  fc.assert(
    fc.property(rows, fc.array(fc.nat(), { maxLength: 8 }), (drawn, again) => {
      fc.pre(!drawn.some(isSteady));
      const once = drawn.map((row, i) => trialOf(row, 7 + 3 * i));
      // Each of the repeated trials comes at a place after the first of its configuration, with a number of its own.
      const all: TrialRecord[] = [...once];
      for (const [i, nth] of again.entries()) {
        const first = all[nth % all.length]!;
        const at = all.indexOf(first) + 1 + (nth % (all.length - all.indexOf(first)));
        all.splice(at, 0, { ...first, number: 100 + i });
      }
      const [best] = once;
      const plain = evidenceOf(best!, once, termsOf(20));
      // Also the names are the same: of a configuration it is the first trial.
      const repeated = evidenceOf(best!, all, termsOf(20));
      expect(repeated).toEqual(plain);
      expect(plain.walkForward).toHaveLength(once.length < 2 ? 0 : folds.length);
      repeated.walkForward.forEach(({ chosen, net }, fold) => {
        const { train, test: tested } = folds[fold]!;
        const sumOf = ({ blocks }: TrialRecord, over: readonly number[]): number =>
          over.reduce((sum, span) => sum + blocks[order[span]!]!, 0);
        const trial = all.find(({ number }) => number === chosen)!;
        expect(net).toBe(sumOf(trial, tested));
        expect(sumOf(trial, train)).toBe(Math.max(...all.map(one => sumOf(one, train))));
      });
    }),
    runsOf(1_000, 60),
  );
});
