import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { DEFAULT_CRITERIA, readCriteria } from '../../../../backtest/app/promote/criteria.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-criteria-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('every path of criteria starts at the folder of their file, and every key left out has its default', () => {
  const dir = join(root, 'below');
  mkdirSync(dir);
  const file = join(dir, 'criteria.yaml');
  const tapes = [{ path: 'day' }, { path: '/data/day' }, { flow: { seconds: 300, seed: 3 } }];
  const reference = { btc_usd: '../usd', usd_mxn: '/data/mxn' };
  writeFileSync(file, stringify({ replay: { tapes, reference }, paper: { hoursLeast: 3 } }));
  const flow = { flow: { seconds: 300, seed: 3, driftBpsPerHour: 0 } };
  expect(readCriteria(file)).toEqual({
    ...DEFAULT_CRITERIA,
    replay: {
      ...DEFAULT_CRITERIA.replay,
      tapes: [{ path: join(dir, 'day') }, { path: '/data/day' }, flow],
      reference: { btc_usd: join(root, 'usd'), usd_mxn: '/data/mxn' },
    },
    paper: { ...DEFAULT_CRITERIA.paper, hoursLeast: 3 },
  });
});
