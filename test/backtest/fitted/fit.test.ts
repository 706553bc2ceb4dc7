import { describe, expect, test } from 'vitest';
import {
  fillChance,
  fittedMixture,
  isFilled,
  logLikelihood,
  singleMixture,
  weightedHypotheses,
} from '../../../backtest/fitted/fit.ts';
import { fittedReport, heldOutFills } from '../../../backtest/fitted/fittedReport.ts';
import { fittedPage } from '../../../backtest/fitted/fittedPage.ts';
import { fittedLines } from '../../../backtest/fitted/fittedText.ts';
import { OwnLives, type OwnLife } from '../../../backtest/fitted/ownLives.ts';
import { fillScores } from '../../../backtest/fitted/scores.ts';
import { newMemory } from '../../../backtest/shadow/memory.ts';
import { Shadow } from '../../../backtest/shadow/shadow.ts';
import { randomOf } from '../../../src/core/index.ts';
import { BOUNDS, levelModel, parsedHypotheses, QUEUE_HYPOTHESES } from '../../../src/fills/index.ts';
import { pageParts } from '../../../src/wiring/outFiles.ts';
import { few, sized } from '../../many.ts';
import { INSTRUMENT, runShadowWorld } from '../shadow/world.ts';
import { ownFills } from './ownFillsMarket.ts';

const ENTRIES = QUEUE_HYPOTHESES.length + BOUNDS.length;
const entryOf = (own: number, cancels = 'power2'): number =>
  QUEUE_HYPOTHESES.findIndex(one => one.shown === 1 && one.own === own && one.cancels === cancels);

/**
 * Lives of a known rule: each order follows one of two hypotheses, the second with the probability `share`, and is
 * canceled after a drawn time.
 */
function drawnLives(seed: number, count: number, share: number): readonly OwnLife[] {
  const random = randomOf(seed);
  const wait = (mean: number): number => -mean * Math.log(1 - random.next());
  return Array.from({ length: count }, (_, i) => {
    const [first, second] = [wait(20_000), wait(60_000)];
    const reached = new Float64Array(ENTRIES).fill(Infinity);
    for (const [j, { own }] of QUEUE_HYPOTHESES.entries()) reached[j] = own === 0 ? first : first + second;
    reached.fill(first, QUEUE_HYPOTHESES.length);
    const filled = random.next() < share ? first + second : first;
    const canceled = wait(40_000);
    const filledAfter = filled <= canceled ? filled : Infinity;
    // An order that was canceled has left, so no model can fill it later.
    if (filledAfter === Infinity) for (const [j, at] of reached.entries()) if (at > canceled) reached[j] = Infinity;
    return { arrivedAt: i * 1_000, filledAfter, endedAfter: Math.min(filledAfter, canceled), reached };
  });
}

/** Share of the weight on hypotheses with hidden lots. */
const hiddenShare = (weights: readonly number[]): number =>
  QUEUE_HYPOTHESES.reduce((sum, { own }, j) => (own > 0 ? sum + weights[j]! : sum), 0);

describe('the fit of own fills', () => {
  test.each([0, 0.3, 0.8])('finds the share of a hypothesis in spite of censoring: %d', share => {
    const { weights, unexplained } = fittedMixture(drawnLives(7, 4_000, share));
    expect(Math.abs(hiddenShare(weights) - share)).toBeLessThan(0.03);
    expect(unexplained).toBeLessThan(0.01);
    expect(weights.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 9);
  });

  test('never has a lower likelihood than any of its hypotheses alone, on the lives of the fit', () => {
    const lives = drawnLives(8, 1_500, 0.4);
    const sumOf = (mixture: Parameters<typeof logLikelihood>[1]): number =>
      lives.reduce((sum, life) => sum + logLikelihood(life, mixture), 0);
    const fitted = sumOf(fittedMixture(lives));
    for (const entry of [entryOf(0), entryOf(1), entryOf(4, 'ahead')])
      expect(fitted).toBeGreaterThan(sumOf(singleMixture(lives, entry)));
  });

  test('is nearly the default without lives, and one fill changes at most half of it', () => {
    expect(fittedMixture([]).weights[entryOf(0)]).toBeGreaterThan(0.8);
    const [life] = drawnLives(9, 100, 1).filter(isFilled);
    expect(fittedMixture([life!]).weights[entryOf(0)]).toBeGreaterThan(0.4);
  });

  test('counts a fill that no hypothesis explains as unexplained', () => {
    const lives = drawnLives(10, 1_000, 0).map((life, i) =>
      i % 10 === 0
        ? { ...life, filledAfter: 500, endedAfter: 500, reached: life.reached.slice().fill(Infinity) }
        : life,
    );
    expect(Math.abs(fittedMixture(lives).unexplained - 0.1)).toBeLessThan(0.03);
  });

  test('gives probabilities that never fall with time', () => {
    const lives = drawnLives(11, 500, 0.5);
    const mixture = fittedMixture(lives);
    for (const life of lives.slice(0, 100)) {
      const chances = [0, 1_000, 10_000, 60_000, 600_000].map(after => fillChance(life, mixture, after));
      for (const [i, chance] of chances.entries()) {
        expect(chance).toBeGreaterThanOrEqual(chances[i - 1] ?? 0);
        expect(chance).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('the scores of a fill model', () => {
  const lives = drawnLives(12, 3_000, 0.5);
  const [first, last] = [lives.slice(0, 2_000), lives.slice(2_000)];

  test('are better for the rule of the fills than for a wrong rule', () => {
    const right = fillScores(last, fittedMixture(first));
    const wrong = fillScores(last, singleMixture(first, entryOf(0)));
    expect(right.logLikelihood).toBeGreaterThan(wrong.logLikelihood);
    expect(right.brier!).toBeLessThan(wrong.brier!);
    expect(right.cIndex!).toBeGreaterThan(0.8);
    expect(right.reliability!.error).toBeLessThan(0.02);
    expect(wrong.reliability!.error).toBeGreaterThan(right.reliability!.error);
  });

  test('do not depend on the share of canceled orders', () => {
    const mixture = fittedMixture(first);
    const random = randomOf(5);
    const censored = last.map(life => {
      const canceled = -30_000 * Math.log(1 - random.next());
      return canceled < life.endedAfter ? { ...life, filledAfter: Infinity, endedAfter: canceled } : life;
    });
    const [all, some] = [fillScores(last, mixture), fillScores(censored, mixture)];
    expect(some.reliability!.error).toBeLessThan(0.05);
    expect(Math.abs(some.cIndex! - all.cIndex!)).toBeLessThan(0.05);
  });
});

describe('fills of the embedded exchange with lots ahead that no book shows', () => {
  test.each(few([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1))(
    'are predicted better than by every shipped model, on the last third, by likelihood and Brier score: seed %d',
    seed => {
      const lives = ownFills({ seed, seconds: sized(21_600, 10_800), lots: 20_000, hidden: 10 });
      const cut = Math.floor((lives.length * 2) / 3);
      const { models, gain } = heldOutFills(lives.slice(0, cut), lives.slice(cut), randomOf(seed));
      const fitted = models.find(({ model }) => model === 'fitted')!;
      expect(fitted.reliability!.error).toBeLessThan(0.02);
      expect(gain.value).toBeGreaterThan(0);
      for (const other of models.filter(({ model }) => model !== 'fitted')) {
        expect(fitted.logLikelihood).toBeGreaterThan(other.logLikelihood);
        expect(fitted.brier!).toBeLessThan(other.brier!);
      }
    },
  );
});

/** Lives that the shadow of a run observes. */
function shadowedLives(options: { seed: number; minutes: number; hiddenLots?: number }): OwnLives {
  const { seed, minutes, hiddenLots = 0 } = options;
  const observer = new OwnLives();
  const shadow = new Shadow({
    ...{ run: 1, instrument: INSTRUMENT, model: levelModel('expected'), memory: newMemory(), observer },
  });
  runShadowWorld({ seed, minutes, planted: { hiddenLots }, see: (event, commands) => shadow.see(event, commands) });
  shadow.end();
  return observer;
}

describe('the lives in a recording', () => {
  test('have each order that rested, with its first execution and the fills of the models', () => {
    const { lives, unused } = shadowedLives({ seed: 3, minutes: sized(240, 60) });
    const filled = lives.filter(isFilled);
    expect(lives.length).toBeGreaterThan(100);
    expect(filled.length).toBeGreaterThan(20);
    expect(unused).toBeLessThan(lives.length / 2);
    for (const { filledAfter, endedAfter, reached } of lives) {
      expect(endedAfter).toBeGreaterThanOrEqual(0);
      expect(filledAfter === Infinity || filledAfter === endedAfter).toBe(true);
      expect(reached).toHaveLength(ENTRIES);
    }
    // Here a queue is first come, first served, so most fills are at the time of expected.
    const entry = QUEUE_HYPOTHESES.length + BOUNDS.indexOf('expected');
    const near = filled.filter(({ reached, filledAfter }) => Math.abs(reached[entry]! - filledAfter) < 2_000);
    expect(near.length / filled.length).toBeGreaterThan(0.7);
  });
});

describe('the report of a fit', () => {
  test('says how many fills are missing, and falls back to expected', () => {
    const report = fittedReport('btc_mxn', drawnLives(1, 60, 0.5), 3, randomOf(1));
    expect(report.fallback).toMatch(/^too few fills: \d+ of 60 filled orders/);
    expect(report.heldOut).toBeNull();
    expect(report.hypotheses).toEqual([{ cancels: 'power2', shown: 1, own: 0, weight: 1 }]);
    expect(fittedLines(report)[0]).toMatch(/^No fit: too few fills/);
  });

  test('falls back to expected when a shipped model predicts as well', () => {
    const report = fittedReport('btc_mxn', drawnLives(2, 2_000, 0), 0, randomOf(1));
    expect(report.fallback).toMatch(
      /^on the last third of the orders, a fit is not better than \w+ with 95% confidence$/,
    );
    expect(report.hypotheses).toHaveLength(1);
    expect(report.heldOut).not.toBeNull();
  });

  test('works without orders', () => {
    expect(fittedReport('btc_mxn', [], 0, randomOf(1))).toMatchObject({ from: null, to: null, orders: 0 });
  });

  test('has the parameters that a backtest reads, with errors', () => {
    const lives = drawnLives(3, 2_000, 0.5);
    const report = fittedReport('btc_mxn', lives, 0, randomOf(1));
    expect(report.fallback).toBeNull();
    expect(parsedHypotheses(JSON.parse(JSON.stringify(report)), 'btc_mxn')).toEqual(report.hypotheses);
    const more = report.parameters.find(({ name }) => name === 'more lots ahead than displayed')!;
    expect(Math.abs(more.value - 0.5)).toBeLessThan(3 * more.error! + 0.01);
    expect(more.error!).toBeGreaterThan(0.005);
    expect(more.error!).toBeLessThan(0.05);
    expect(weightedHypotheses(fittedMixture(lives))).toEqual(report.hypotheses);
    const page = fittedPage(report, pageParts());
    for (const shown of ['Reliability of the fitted model', 'C-index', more.name, fittedLines(report)[0]!])
      expect(page).toContain(shown);
    expect(fittedPage({ ...report, book: '<b>' }, pageParts())).not.toContain('<b>');
  });
});
