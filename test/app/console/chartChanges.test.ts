/** Changes of the configuration in the charts: each once, over all runs, and without values that may be addresses. */
import { expect, test } from 'vitest';
import { RunHistory } from '../../../src/app/console/runHistory.ts';
import type { ConfigChange } from '../../../src/config.ts';
import { btcMxn } from '../../core/market.ts';

const change = (key: string, from: string | null, to: string | null): ConfigChange => ({
  ...{ key, from, to },
  takesEffect: 'reload',
});

test('each change is kept over the runs in order, a run without one adds none, and an address is not shown', () => {
  const runs = [1, 2, 3].map(run => new RunHistory(btcMxn, run, run * 1_000));
  runs[1]!.changed([
    change('strategy.halfSpreadBps', '16', '13'),
    change('reference.feeds', null, '"https://a.example/key"'),
  ]);
  runs[1]!.follow(runs[0]!);
  runs[2]!.changed([]);
  runs[2]!.follow(runs[1]!);
  expect(runs[2]!.shown.changes).toMatchObject([
    { at: 2_000, run: 2, text: 'strategy.halfSpreadBps: 16 -> 13, reference.feeds' },
  ]);
  expect(runs[0]!.shown.changes).toEqual([]);
});

test('the text of a change and the number of changes are bounded', () => {
  let last = new RunHistory(btcMxn, 0, 0);
  for (let run = 1; run <= 120; run++) {
    const next = new RunHistory(btcMxn, run, run);
    next.changed(Array.from({ length: 60 }, () => change('strategy.halfSpreadBps', '16', '13')));
    next.follow(last);
    last = next;
  }
  expect(last.shown.changes).toHaveLength(100);
  expect(last.shown.changes.every(({ text }) => text.length <= 300)).toBe(true);
});
