/** Which folders are recordings of their own, and which are parts of one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recordFlow } from '../../../../backtest/index.ts';
import { findTapes, tradedGaps } from '../../../../backtest/app/compare/compareTapes.ts';
import { TapeWriter } from '../../../../src/tape/index.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-tapes-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function store(path: string, source: string, seed = 1): void {
  const flow = recordFlow('btc_mxn', seed, 60);
  const writer = new TapeWriter({ dir: path, rules: flow.rules, source });
  writer.append(flow.columns);
  writer.close();
}

test.each([
  ['/data/bitstamp-btcusd-2015-05-01-books.csv.gz', 'bitstamp-btcusd btc_mxn'],
  ['http://127.0.0.1:8080/api', 'may btc_mxn'],
  ['https://api.bitso.com/api/v3', 'may btc_mxn'],
  ['state of main', 'may btc_mxn'],
])('a tape from %s is called %s: by its file, or by its folder', async (source, name) => {
  const path = join(dir, 'named', encodeURIComponent(source), 'may');
  store(path, source);
  expect((await findTapes([path], NO_PROGRESS)).found.map(tape => tape.name)).toEqual([name]);
  rmSync(join(dir, 'named'), { recursive: true });
});

test('stored tapes are one each, also where their names could be hours of one recording', async () => {
  for (const [i, name] of ['1', '2', '2026-01-03'].entries()) store(join(dir, name), 'flow', i + 1);
  const { found, leftOut } = await findTapes([dir], NO_PROGRESS);
  expect(leftOut).toEqual([]);
  expect(found.map(({ path }) => path)).toEqual(['1', '2', '2026-01-03'].map(name => join(dir, name)));
});

test('gaps count only inside the traded time', () => {
  const gaps = [
    { from: 0, to: 2_000, why: 'before' },
    { from: 3_000, to: 5_000, why: 'over the start' },
    { from: 8_000, to: 12_000, why: 'over the end' },
    { from: 13_000, to: 14_000, why: 'after' },
  ];
  expect(tradedGaps(gaps, 4_000, 10_000)).toEqual({ count: 2, seconds: 3 });
});
