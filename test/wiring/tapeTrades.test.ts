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
  expect(() => tapeTrades(dir, { instrument: { ...instrument, lot: '7' }, since, run: 1 })).toThrow(
    /the tape has ticks of .*, expected .* and 7/,
  );
});

test('trades of a tape without a number count, up to the last numbered trade, after which the exchange lists them', () => {
  const tape = recordFlow('btc_mxn', 4, 300);
  const { columns, instrument } = tape;
  const rows = Array.from({ length: columns.length }, (_, row) => row).filter(row => columns.kind[row] === KIND.trade);
  const read = (name: string, isNumbered: (trade: number) => boolean) => {
    const id = columns.id.map((one, row) => (rows.includes(row) && !isNumbered(rows.indexOf(row)) ? 0 : one));
    const writer = new TapeWriter({ dir: join(dir, name), rules: tape.rules, source: 'flow' });
    writer.append({ ...columns, id });
    writer.close();
    return tapeTrades(join(dir, name), { instrument, since: columns.at[0]! + 1, run: 1 });
  };
  const count = rows.length;
  const all = read('all', () => true);
  const some = read('some', trade => trade % 3 === 0 && trade < count - 4);
  const last = Array.from({ length: count - 4 }, (_, trade) => trade).findLast(trade => trade % 3 === 0)!;
  const without = ({ trades }: typeof all) => trades.map(({ at, price, amount, side }) => [at, price, amount, side]);
  expect(some.last).toBe(BigInt(columns.id[rows[last]!]!));
  expect(without(some)).toEqual(without(all).slice(0, all.trades.length - (count - 1 - last)));
  expect(() => read('none', () => false)).toThrow('the tape has no numbered trades in the time of the history');
});
