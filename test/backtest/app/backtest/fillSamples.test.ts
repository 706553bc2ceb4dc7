/** Fill samples through the whole bot: a strategy that is never filled gets fills to learn from, of minimum orders only. */
import { expect, test } from 'vitest';
import { backtest } from '../../../../backtest/app/backtest/backtest.ts';
import { recordFlow } from '../../../../backtest/index.ts';
import type { Config } from '../../../../src/config.ts';
import { readShipped } from '../../../../src/wiring/configFile.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

const TAPE = recordFlow('btc_mxn', 3, 3_600);
const constant = (ms: number) => ({ kind: 'constant', ms }) as const;

async function ran(fillSamples?: Config['fillSamples']) {
  const sandbox = readShipped('sandbox');
  const strategy = { ...sandbox.strategy, halfSpreadBps: 120, levels: 1 } as typeof sandbox.strategy;
  const report = await backtest({
    config: { ...sandbox, strategy, ...(fillSamples && { fillSamples }) },
    ...{ configText: '', version: '', tape: TAPE, seed: 3, flowSeconds: 0 },
    ...{ flowDrift: 0, models: ['expected'], threads: 1, files: null, progress: NO_PROGRESS },
    latencies: { orders: constant(25), cancels: constant(25), answers: constant(25), feed: constant(0) },
    latencyText: { latencyMs: '25', feedLatencyMs: '0' },
  });
  return report.models[0]!;
}

test('a strategy without fills has some with fill samples, in amounts that bound their risk, the same for each run', async () => {
  const rules = { perHour: 60, lifeMs: 60_000, withinBps: 3 };
  const [without, first, second] = [await ran(), await ran(rules), await ran(rules)];
  expect(without.fills).toBe(0);
  expect(first.fills).toBeGreaterThan(5);
  expect(first.fills).toBeLessThanOrEqual(60);
  // The minimum value of an order is 10 mxn.
  expect(Number(first.volume.minor) / first.fills).toBeLessThan(30);
  expect(first.orders.placed - without.orders.placed).toBeLessThanOrEqual(2 * 60);
  expect(second).toEqual(first);
});
