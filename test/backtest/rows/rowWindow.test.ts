import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RowBuilder, rowsOfTape, windowOfLevels, type MarketRows, type RowWindow } from '../../../backtest/index.ts';
import { openRows } from '../../../backtest/app/backtest/backtestModel.ts';
import { marketOf } from '../../../backtest/app/backtest/market.ts';
import { LevelRows } from '../../../backtest/rows/levelRows.ts';
import { amount, price } from '../../../src/core/index.ts';
import {
  loadStoredTape,
  openStoredTape,
  SIDE,
  TapeBuilder,
  TapeWriter,
  type Columns,
  type StoredTape,
} from '../../../src/tape/index.ts';
import { run, tape } from '../ladderRun.ts';

let dir = '';
let stored: StoredTape;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-sliding-'));
  const writer = new TapeWriter({ dir, rules: tape.rules, source: 'flow', blockRows: 700 });
  writer.append(tape.columns);
  writer.close();
  stored = openStoredTape(dir);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('a stored tape that slides past', () => {
  test.each(['pessimistic', 'expected', 'optimistic'] as const)(
    'gives the hash that it gives in memory (%s)',
    model => {
      const { from, to } = stored;
      const sliding = run({ model, from, to, rows: windowOfLevels(stored) });
      const whole = run({ model, from, to, rows: rowsOfTape(loadStoredTape(stored)) });
      expect(sliding.result.hash).toBe(whole.result.hash);
      expect(sliding.fills).toEqual(whole.fills);
      expect(sliding.fills.length).toBeGreaterThan(5);
      expect(sliding.result.events).toBe(whole.result.events);
    },
  );

  test('gives it too when rows are heard long after they happened', () => {
    const { from, to } = stored;
    const sliding = run({ from, to, rows: windowOfLevels(stored, () => 30_000) });
    const whole = run({ from, to, rows: rowsOfTape(loadStoredTape(stored), { feed: () => 30_000 }) });
    expect(sliding.result.hash).toBe(whole.result.hash);
  });

  test('needs to be told where it ends', () => {
    expect(() => run({ rows: windowOfLevels(stored) })).toThrow(/needs an end time/);
  });
});

test('rows of levels are the same however the tape is cut into pieces, pictures and unknown takers among them', () => {
  const event = fc.record({
    kind: fc.constantFrom('picture', 'level', 'trade'),
    side: fc.constantFrom(SIDE.buy, SIDE.sell, SIDE.unknown),
    away: fc.integer({ min: 1, max: 8 }),
    lots: fc.integer({ min: 0, max: 4 }),
    wait: fc.integer({ min: 0, max: 1 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.array(fc.nat(), { maxLength: 6 }), (events, cuts) => {
      const builder = new TapeBuilder();
      let at = 1;
      for (const { kind, side, away, lots, wait } of events) {
        at += wait;
        const tick = price(side === SIDE.buy ? 100 - away : 100 + away);
        if (kind === 'picture') builder.clear(at, at);
        else if (kind === 'trade') builder.trade(at, at, side, tick, amount(lots + 1));
        else builder.level(at, at, side === SIDE.unknown ? SIDE.buy : side, tick, amount(lots));
      }
      const columns = builder.columns();
      const ends = [...cuts.map(cut => cut % (columns.length + 1)), columns.length].sort((a, b) => a - b);
      expect(plain(rowsIn(columns, ends))).toEqual(plain(rowsIn(columns, [columns.length])));
    }),
  );
});

function rowsIn(columns: Columns, ends: readonly number[]): MarketRows {
  const window = { base: 0, places: 300 };
  const builder = new RowBuilder();
  const levels = new LevelRows({ ...window, depth: 4, feed: () => 0, hasSnapshots: true }, builder);
  let from = 0;
  for (const to of ends) {
    const { kind, side, at, local, price: prices, amount: amounts, id } = columns;
    const part = <A extends { subarray(from: number, to: number): A }>(column: A): A => column.subarray(from, to);
    levels.take({
      length: to - from,
      kind: part(kind),
      side: part(side),
      at: part(at),
      local: part(local),
      price: part(prices),
      amount: part(amounts),
      id: part(id),
    });
    from = to;
  }
  levels.end();
  return builder.rows(null, window);
}

const plain = ({ length, at, place, lots, flags }: MarketRows) =>
  Array.from({ length }, (_, i) => [at[i], place[i], lots[i], flags[i]]);

test('a market has the rows of which its hash is, though its recording continues', () => {
  const folder = mkdtempSync(join(tmpdir(), 'puntas-continued-'));
  try {
    const writer = new TapeWriter({ dir: folder, rules: tape.rules, source: 'flow', blockRows: 700 });
    writer.append(tape.columns);
    writer.flush();
    const feed = { kind: 'constant', ms: 0 } as const;
    const how = { latencies: { orders: feed, cancels: feed, answers: feed, feed }, seed: 1 };
    const given = { tape: openStoredTape(folder), options: {} };
    const market = marketOf(given, how);
    const rows = () => (openRows(market.rows, how) as RowWindow).whole();
    const before = rows();
    for (const wait of [1_000, 86_400_000]) {
      const at = market.span.to + wait;
      writer.level(at, at, SIDE.buy, price(1), amount(1));
      writer.flush();
      expect(rows()).toEqual(before);
      expect(openStoredTape(folder).hash()).not.toBe(market.hash);
    }
    writer.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
