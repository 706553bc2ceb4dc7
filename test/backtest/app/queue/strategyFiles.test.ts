import { expect, test } from 'vitest';
import { strategyFileRefusal } from '../../../../backtest/app/queue/trialWorker.ts';
import type { TrialJob } from '../../../../backtest/app/queue/trialJob.ts';

test('a worker runs the code of a study only if its operator allows it', () => {
  const plain = {} as TrialJob;
  const coded = { strategyText: 'export default 1;' } as TrialJob;
  expect([strategyFileRefusal(plain, false), strategyFileRefusal(coded, true)]).toEqual([null, null]);
  expect(strategyFileRefusal(coded, false)).toMatch(/only with --strategy-files; start the worker with this flag$/);
});
