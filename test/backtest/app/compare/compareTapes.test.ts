/** Which folders are recordings of their own, and which are parts of one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recordFlow } from '../../../../backtest/index.ts';
import { findTapes } from '../../../../backtest/app/compare/compareTapes.ts';
import { TapeWriter } from '../../../../src/tape/index.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-tapes-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('stored tapes are one each, also where their names could be hours of one recording', async () => {
  for (const [i, name] of ['1', '2', '2026-01-03'].entries()) {
    const flow = recordFlow('btc_mxn', i + 1, 60);
    const writer = new TapeWriter({ dir: join(dir, name), rules: flow.rules, source: 'flow' });
    writer.append(flow.columns);
    writer.close();
  }
  const { found, leftOut } = await findTapes([dir], NO_PROGRESS);
  expect(leftOut).toEqual([]);
  expect(found.map(({ path }) => path)).toEqual(['1', '2', '2026-01-03'].map(name => join(dir, name)));
});
