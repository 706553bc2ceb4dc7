/** Evidence of a paper stage whose bot was stopped and killed several times, beside what the paper account has. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tradedStage } from '../../../../backtest/app/promote/runEvidence.ts';
import { VirtualClock } from '../../../../src/core/index.ts';
import { recordingsIn } from '../../../../src/live/recording/recordings.ts';
import { paperWorld } from '../../../live/paperWorld.ts';
import { sized } from '../../../many.ts';

test('a paper stage over stops and kills counts every run, and its ledger equals the one account of all runs', async () => {
  const world = await paperWorld({ seed: 3 });
  const spells = sized(8, 4);
  for (let i = 0; i < spells; i++) {
    await world.clock.advance(sized(120_000, 45_000));
    // An absence of 500 ms is too short for a kill to count as unseen; one of 5 s is not.
    if (i % 2 === 0) await world.kill(i % 4 === 0 ? 500 : 5_000);
    else await world.restart(3_600_000);
  }
  await world.clock.advance(45_000);
  const { summary, left } = await world.end(true);
  const dir = world.stateDir;
  try {
    expect([summary.ledgerMatches, left, world.broken]).toEqual([true, [], []]);
    const { evidence } = await tradedStage({
      ...{ dir, config: world.config, since: new VirtualClock().now(), clock: world.clock },
      onInput: () => undefined,
    });
    expect(evidence.runs.map(({ run }) => run)).toEqual(recordingsIn(dir).map(({ run }) => run));
    expect(evidence.runs.length).toBeGreaterThan(spells);
    expect(evidence.runs.every(({ difference }) => difference === null)).toBe(true);
    expect(evidence).toMatchObject({ isPaper: true, others: 0, halts: [], model: 'pessimistic' });
    // One account of the embedded exchange has the trades of all runs: none is lost, and none counts twice.
    const { exchange, account } = world.paper;
    const own = exchange.truth().accounts.get(account.id)!;
    const orders = new Set(own.trades.map(({ order }) => order.oid));
    expect(orders.size).toBeGreaterThan(2);
    expect(evidence.fills).toBe(own.trades.length);
    expect(evidence.ledger).toMatchObject({ differences: {} });
    expect(evidence.hours * 3_600_000).toBeGreaterThan(spells * 40_000);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
