/** Backtests with the fill model of a file of `puntas calibrate --fills`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backtest } from '../../../../backtest/app/backtest/backtest.ts';
import { describeBacktest } from '../../../../backtest/app/backtest/backtestText.ts';
import { recordFlow, reportPage } from '../../../../backtest/index.ts';
import { FITTED_KIND, type WeightedHypothesis } from '../../../../src/fills/index.ts';
import { readShipped } from '../../../../src/wiring/configFile.ts';
import { readFittedFile, type FittedFile } from '../../../../src/wiring/fitted/fittedFile.ts';
import { pageParts } from '../../../../src/wiring/outFiles.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

const BOOK = 'btc_mxn';
const TAPE = recordFlow(BOOK, 3, 1_800);
const FRONT: WeightedHypothesis = { cancels: 'power2', shown: 0, own: 0, weight: 1 };
const EXPECTED: WeightedHypothesis = { ...FRONT, shown: 1 };
const BEHIND: WeightedHypothesis = { cancels: 'behind', shown: 1, own: 500, weight: 0.5 };

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-fitted-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function fileWith(content: object | string): string {
  const file = join(dir, 'fills.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function fitOf(hypotheses: readonly WeightedHypothesis[], fallback: string | null = null): FittedFile {
  const found = readFittedFile(fileWith({ kind: FITTED_KIND, book: BOOK, fallback, hypotheses }), BOOK);
  if (typeof found === 'string') throw new Error(found);
  return found;
}

const constant = (ms: number) => ({ kind: 'constant', ms }) as const;

function ran(fitted: FittedFile) {
  const sandbox = readShipped('sandbox');
  const strategy = {
    ...sandbox.strategy,
    halfSpreadBps: 6,
    levels: 5,
    levelSpacingBps: 0.7,
    minEdgeBps: -20,
  } as typeof sandbox.strategy;
  return backtest({
    ...{ config: { ...sandbox, strategy }, configText: '', version: '', tape: TAPE, seed: 3, flowSeconds: 0 },
    ...{ flowDrift: 0, models: ['expected'], fitted, threads: 1, files: null, progress: NO_PROGRESS },
    latencies: { orders: constant(25), cancels: constant(25), answers: constant(25), feed: constant(0) },
    latencyText: { latencyMs: '25', feedLatencyMs: '0' },
  });
}

const without = ({ model: _, hash: __, ...rest }: Awaited<ReturnType<typeof ran>>['models'][number]) => rest;

describe('a backtest with a fitted fill model', () => {
  test('runs it after the others, and has the hash of its file in the report and on the page', async () => {
    const fit = fitOf([FRONT]);
    const report = await ran(fit);
    expect(report.models.map(({ model }) => model)).toEqual(['expected', 'fitted']);
    expect(report.fitted).toEqual({ hash: fit.hash, fallback: null });
    expect(reportPage(report, pageParts())).toContain(fit.hash);
    expect(report.models[1]!.fills).toBeGreaterThan(0);
  });

  test('with the hypothesis of expected, and without a usable fit, gives what expected gives', async () => {
    for (const fit of [fitOf([EXPECTED]), fitOf([FRONT], 'too few fills: 3 of 60')]) {
      const [expected, fitted] = (await ran(fit)).models;
      expect(without(fitted!)).toEqual(without(expected!));
    }
    expect(describeBacktest(await ran(fitOf([FRONT], 'too few fills: 3 of 60')))).toContain(
      'fitted works like expected: too few fills: 3 of 60',
    );
  });

  test('gives the same run again for the same seed, although each order has a drawn hypothesis', async () => {
    const fit = fitOf([{ ...FRONT, weight: 0.5 }, BEHIND]);
    const [first, second] = [await ran(fit), await ran(fit)];
    expect(first.models[1]).toEqual(second.models[1]);
    expect(first.hash).toBe(second.hash);
    expect(first.models[1]!.hash).not.toBe((await ran(fitOf([FRONT]))).models[1]!.hash);
  });
});

describe('the file of a fit', () => {
  test.each([
    ['that is missing', () => join(dir, 'nothing.json'), 'nothing.json'],
    ['without JSON', () => fileWith('{'), 'JSON'],
    ['that is another', () => fileWith({}), 'is not a file of puntas calibrate --fills'],
    ['of another book', () => fileWith({ kind: FITTED_KIND, book: 'eth_mxn' }), 'was fitted on "eth_mxn"'],
  ])('%s is refused in one line with its name', (_name, file, reason) => {
    const found = readFittedFile(file(), BOOK);
    expect(found).toContain(reason);
    expect(found).toMatch(/^\/.*\.json: [^\n]*$/);
  });
});
