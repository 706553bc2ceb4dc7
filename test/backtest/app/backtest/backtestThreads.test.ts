import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MODEL_NAMES, recordFlow, type LatencySpec } from '../../../../backtest/index.ts';
import { simulatedAccountOf } from '../../../../backtest/app/backtest/backtest.ts';
import { runJobs, type ModelJob } from '../../../../backtest/app/backtest/backtestModel.ts';
import { groupsOf } from '../../../../backtest/app/backtest/backtestThreads.ts';
import { marketOf, spanOf } from '../../../../backtest/app/backtest/market.ts';
import { loadConfig, type Config } from '../../../../src/config.ts';

const BOOK = 'btc_mxn';
const SEED = 7;

/** Every shipped configuration that trades only the book, hedges and external references among them. */
function shipped(): readonly Config[] {
  const dir = 'config';
  const files = readdirSync(dir).filter(file => file.endsWith('.yaml') && file !== 'tune.yaml');
  return files.flatMap(file => {
    const { config } = loadConfig(readFileSync(join(dir, file), 'utf8'), file) as { config: Config | null };
    return config?.book === BOOK && config.books === undefined ? [config] : [];
  });
}

test('the shipped configurations, side by side, report what each reports alone', async () => {
  const tape = recordFlow(BOOK, SEED, 180);
  const feed: LatencySpec = { kind: 'exponential', least: 2, mean: 15 };
  const constant = (ms: number): LatencySpec => ({ kind: 'constant', ms });
  const { rows, instrument, firstTicks } = marketOf(tape, {
    latencies: { orders: feed, cancels: feed, answers: feed, feed },
    seed: SEED,
  });
  const models = MODEL_NAMES.filter(name => name !== 'exact');
  const jobs = shipped().map((config, i): ModelJob => ({
    ...{ config, instrument, seed: SEED, csv: null, gaps: [], routes: [], model: models[i % models.length]! },
    ...simulatedAccountOf(config, instrument, firstTicks),
    ...spanOf(tape),
    latencies: { orders: constant(10 + 9 * i), cancels: constant(20), answers: constant(5 + i), feed },
  }));
  expect(jobs.length).toBeGreaterThan(4);
  const together = await runJobs(jobs, rows, () => undefined);
  for (const [i, job] of jobs.entries()) expect([together[i]]).toEqual(await runJobs([job], rows, () => undefined));
  expect(new Set(together.map(({ hash }) => hash)).size).toBeGreaterThan(3);
});

test('jobs are grouped in their order, with who hears the same, and no thread is without while others have several', () => {
  const feed = (ms: number) => ({ kind: 'constant', ms }) as const;
  const job = fc.record({ seed: fc.integer({ min: 1, max: 2 }), ms: fc.integer({ min: 1, max: 2 }) });
  fc.assert(
    fc.property(fc.array(job, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (drawn, threads) => {
      const jobs = drawn.map(({ seed, ms }) => ({
        seed,
        latencies: { orders: feed(1), cancels: feed(1), answers: feed(1), feed: feed(ms) },
      }));
      const groups = groupsOf(jobs, threads);
      expect(groups.flat()).toEqual(jobs);
      expect(groups.length).toBeGreaterThanOrEqual(
        Math.min(Math.ceil(jobs.length / Math.ceil(jobs.length / threads)), jobs.length),
      );
      for (const group of groups) {
        expect(group.length).toBeLessThanOrEqual(16);
        expect(new Set(group.map(({ seed, latencies }) => `${seed} ${latencies.feed.ms}`)).size).toBe(1);
      }
    }),
  );
});
