import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recordFlow } from '../../backtest/index.ts';
import { KIND, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { tapeTrades } from '../../src/wiring/history/tapeTrades.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-tape-trades-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a tape gives a strategy its trades since a time, each with its number, and refuses other units', () => {
  const tape = recordFlow('btc_mxn', 3, 300);
  const writer = new TapeWriter({ dir, rules: tape.rules, source: 'flow', blockRows: 700 });
  writer.append(tape.columns);
  writer.close();
  const { columns, instrument } = tape;
  const rows = Array.from({ length: columns.length }, (_, row) => row).filter(row => columns.kind[row] === KIND.trade);
  // A stored tape has times in whole microseconds.
  const timeOf = (row: number) => Math.round(columns.at[row]! * 1_000) / 1_000;
  const since = timeOf(rows[Math.floor(rows.length / 2)]!);
  const found = tapeTrades(dir, { instrument, since, run: 1 });
  const expected = rows
    .filter(row => timeOf(row) >= found.since)
    .map(row => ({
      ...{ tid: BigInt(columns.id[row]!), at: timeOf(row), price: columns.price[row], amount: columns.amount[row] },
      side: columns.side[row] === SIDE.buy ? 'buy' : 'sell',
    }));
  expect(expected.length).toBeGreaterThan(5);
  expect(found.since).toBeLessThanOrEqual(since);
  expect(found.trades).toEqual(expected);
  expect(found.last).toBe(expected.at(-1)!.tid);
  expect(found.lastTrade).toEqual(expected.at(-1));
  expect(() => tapeTrades(dir, { instrument: { ...instrument, lot: '7' }, since, run: 1 })).toThrow(/the tape has ticks of .*, expected .* and 7/);
});
