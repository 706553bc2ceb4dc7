/** Backtests with the fill model of a file. */
import { describe, expect, test } from 'vitest';
import { backtest } from '../../../../backtest/app/backtest/backtest.ts';
import { recordFlow, reportPage, type FillModelFile } from '../../../../backtest/index.ts';
import { strategyFileOf } from '../../../../strategies/index.ts';
import { readShipped } from '../../../../src/wiring/configFile.ts';
import { pageParts } from '../../../../src/wiring/outFiles.ts';
import { UsageError } from '../../../../src/wiring/usageError.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { EXPECTED_FILE, ownFile } from '../../../strategies/ownFillModels.ts';

const TAPE = recordFlow('btc_mxn', 3, 1_800);
const constant = (ms: number) => ({ kind: 'constant', ms }) as const;

function ran(code: string) {
  const fillModel: FillModelFile = strategyFileOf('models/own.ts', code);
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
    ...{ flowDrift: 0, models: ['expected'], fillModel, threads: 1, files: null, progress: NO_PROGRESS },
    latencies: { orders: constant(25), cancels: constant(25), answers: constant(25), feed: constant(0) },
    latencyText: { latencyMs: '25', feedLatencyMs: '0' },
  });
}

describe('a backtest with a fill model file', () => {
  test('with the rule of expected, gives what expected gives, and names the file and its hash', async () => {
    const report = await ran(EXPECTED_FILE);
    const { sha256, name } = strategyFileOf('models/own.ts', EXPECTED_FILE);
    const [expected, own] = report.models.map(({ model: _, hash: __, ...rest }) => rest);
    expect(own).toEqual(expected);
    expect(report.models.map(({ model }) => model)).toEqual(['expected', name]);
    expect(report.fillModel).toEqual({ file: 'models/own.ts', sha256 });
    expect(reportPage(report, pageParts())).toContain(sha256);
  });

  test('fills less with more lots ahead, and the same again for a seed although the file draws numbers', async () => {
    const hidden = ownFile(
      'make: ({ random }) => ({ ahead: ({ displayed, amount }) => displayed + amount * (1 + 9 * random()), canceledBehind: () => 1 })',
    );
    const [first, second] = [await ran(hidden), await ran(hidden)];
    expect(first.models[1]).toEqual(second.models[1]);
    expect(first.models[1]!.fills).toBeGreaterThan(0);
    expect(first.models[1]!.fills).toBeLessThan(first.models[0]!.fills);
  });

  test.each([
    ['ahead: () => Number.NaN', 'own.ts: ahead: expected a number of at least 0, found NaN; correct the file'],
    ['ahead: () => -1', 'ahead: expected a number of at least 0, found -1'],
    ["ahead: () => { throw new Error('no data') }", 'own.ts:4: ahead: no data; correct the file'],
    ['canceledBehind: () => 1.01', 'canceledBehind: expected a number from 0 to 1, found 1.01'],
    ["canceledBehind: () => '1'", 'canceledBehind: expected a number from 0 to 1, found "1"'],
    ['ahead: async () => 1', 'ahead: it returned a promise, but must return its result at once'],
  ])('ends with one line if the file has the fault %s', async (fault, line) => {
    const code = ownFile(`make: () => ({ ahead: ({ displayed }) => displayed, canceledBehind: () => 0.5,\n${fault} })`);
    const error: unknown = await ran(code).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(line);
    expect((error as UsageError).message).not.toContain('\n');
  });
});
