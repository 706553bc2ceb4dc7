import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { amount, price, type BookRules } from '../../src/core/index.ts';
import {
  BLOCK_ROWS,
  KIND,
  loadStoredTape,
  openStoredTape,
  SIDE,
  TapeBuilder,
  TapeWriter,
  type Columns,
} from '../../src/tape/index.ts';
import { fromChunks, plainColumns, plainRows, RULES, START } from './storedRows.ts';
import { runsOf } from '../many.ts';
import { between } from '../draws.ts';

const DAY = 86_400_000;

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-stored-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const writer = (options: { readonly dir?: string; readonly blockRows?: number; readonly rules?: BookRules } = {}) =>
  new TapeWriter({ dir, rules: RULES, source: 'a test', ...options });

/** Any rows of a market, times to the microsecond, in time order, over some days. */
const safe = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
  fc.maxSafeInteger(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, 1, -1),
);
const row = fc.record({
  kind: fc.constantFrom(...Object.values(KIND)),
  side: fc.constantFrom(SIDE.buy, SIDE.sell),
  step: fc.oneof(
    { weight: 150, arbitrary: fc.integer({ min: 0, max: 9_999_999 }) },
    fc.integer({ max: DAY * 2000, min: 0 }),
  ),
  delay: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: -5_000, max: 50_000 }) }, fc.integer()),
  price: safe,
  amount: safe.map(Math.abs),
  id: safe,
});

function columnsOf(rows: readonly (typeof row extends fc.Arbitrary<infer T> ? T : never)[]): Columns {
  const tape = new TapeBuilder();
  let micros = START * 1000;
  for (const one of rows) {
    micros += one.step;
    const at = micros / 1000;
    const local = (micros + one.delay) / 1000;
    if (one.kind === KIND.clear) tape.clear(at, local);
    else if (one.kind === KIND.level) tape.level(at, local, one.side, price(one.price), amount(one.amount));
    else if (one.kind === KIND.trade) tape.trade(at, local, one.side, price(one.price), amount(one.amount), one.id);
    else tape.order(one.kind, at, local, one.side, price(one.price), amount(one.amount), one.id);
  }
  return tape.columns();
}

describe('a stored tape', () => {
  test('gives back every row as it was written, whatever the blocks and wherever it was flushed', () => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 5, max: 100 }),
        (rows, blockRows, flushEvery) => {
          const inside = mkdtempSync(join(dir, 'case-'));
          const columns = columnsOf(rows);
          const tape = writer({ dir: inside, blockRows });
          const all = plainColumns(columns);
          for (let from = 0; from < columns.length; from += flushEvery) {
            tape.append(slice(columns, from, Math.min(columns.length, from + flushEvery)));
            tape.flush();
          }
          expect(plainRows(openStoredTape(inside))).toEqual(all);
          tape.close();
          expect(plainRows(openStoredTape(inside))).toEqual(all);
        },
      ),
      runsOf(40, 15),
    );
  });
});

describe('a part of a stored tape', () => {
  test('begins with the book as it was, tells exactly the rows between, and ends with the same book', () => {
    fc.assert(
      fc.property(
        fc.array(marketRow, { minLength: 1, maxLength: 150 }),
        fc.integer({ min: 1, max: 12 }),
        between(0, 1),
        between(0, 1),
        (rows, blockRows, begin, length) => {
          const inside = mkdtempSync(join(dir, 'case-'));
          const columns = columnsOf(rows);
          const tape = writer({ dir: inside, blockRows });
          tape.append(columns);
          tape.flush();
          const first = columns.at[0]!;
          const last = columns.at[columns.length - 1]!;
          const from = Math.floor(first + begin * (last - first));
          const to = Math.ceil(from + length * (last - from));
          const all = plainColumns(columns);
          const between = all.filter(([, , at]) => at! >= from && at! <= to);
          if (between.length === 0) return;
          const part = plainRows(openStoredTape(inside, { from, to }));
          const opening = part.length - between.length;
          expect(part.slice(opening)).toEqual(between);
          expect(part.slice(0, opening).every(([, , at]) => at! <= between[0]![2]!)).toBe(true);
          expect(bookOf(part)).toEqual(bookOf(all.filter(([, , at]) => at! <= to)));
        },
      ),
      runsOf(40, 15),
    );
  });

  test('asked for outside its days is refused with the days there are', () => {
    const tape = writer();
    tape.clear(START, START);
    tape.close();
    expect(() => openStoredTape(dir, { from: START + 3 * DAY })).toThrow(
      /no rows in the requested time; the tape has the days 2026-11-21 to 2026-11-21/,
    );
  });
});

describe('what a stored tape says beside its rows', () => {
  test('rules as they changed: no chunk is under two of them, and a new tick forgets the book', () => {
    const finer = { ...RULES, tickSize: '5' };
    const tape = writer();
    tape.level(START, START, SIDE.buy, price(100), amount(1));
    tape.rulesChanged({ ...RULES, minimumValue: '20' }, START + 10);
    tape.level(START + 10, START + 10, SIDE.buy, price(101), amount(2));
    tape.rulesChanged(finer, START + 20);
    tape.clear(START + 20, START + 20);
    tape.level(START + 20, START + 20, SIDE.buy, price(202), amount(3));
    tape.level(START + DAY, START + DAY, SIDE.buy, price(203), amount(4));
    tape.close();
    const stored = openStoredTape(dir);
    expect(stored.rules.map(({ at, rules }) => [at - START, rules.tickSize, rules.minimumValue])).toEqual([
      [0, '10', '10'],
      [10, '10', '20'],
      [20, '5', '10'],
    ]);
    expect(fromChunks(stored, ({ price }, { instrument }) => [instrument.tick, [...price]])).toEqual([
      ['10', [100]],
      ['10', [101]],
      ['5', [0, 202]],
      ['5', [203]],
    ]);
    expect(plainRows(openStoredTape(dir, { from: START + 5 })).map(row => row[4])).toEqual([0, 100, 101, 0, 202, 203]);
    expect(plainRows(openStoredTape(dir, { from: START + DAY })).map(row => row[4])).toEqual([0, 202, 203]);
    const again = writer({ rules: finer });
    again.level(START + DAY + 1, START + DAY + 1, SIDE.buy, price(204), amount(4));
    again.close();
    expect(openStoredTape(dir).rules).toHaveLength(3);
  });

  test('is resumed from the last row of the book, because later trades do not show that the book was known', () => {
    const isTrade = (i: number) => i > 2;
    for (const blockRows of [1, 10]) {
      const folder = mkdtempSync(join(dir, 'resumed-'));
      const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test', blockRows });
      for (let i = 0; i < 6; i++)
        if (isTrade(i)) tape.trade(START + i, START + i, SIDE.buy, price(200), amount(1), i);
        else tape.clear(START + i, START + i);
      tape.flush();
      expect(new TapeWriter({ dir: folder, rules: RULES, source: 'a test' }).resumedFrom).toBe(START + 2);
      tape.trade(START + DAY + 5, START + DAY + 5, SIDE.buy, price(200), amount(1), 9);
      tape.flush();
      expect(new TapeWriter({ dir: folder, rules: RULES, source: 'a test' }).resumedFrom).toBe(START + DAY);
    }
  });

  test('gaps, dirt and what it is of, across days and writers', () => {
    const options = { dir, rules: RULES, lot: '0.0001', source: 'a feed', depth: 20, quotesOnly: true };
    const tape = new TapeWriter(options);
    tape.clear(START, START + 3);
    tape.gap({ from: START, to: START + 500, why: 'the stream was down' });
    tape.flaws([{ what: 'crossed books', count: 2, done: 'kept' }]);
    tape.clear(START + DAY, START + DAY);
    tape.close();
    const again = new TapeWriter(options);
    expect(again.resumedFrom).toBe(START + DAY);
    again.gap({ from: START + DAY, to: START + DAY + 9, why: 'not recorded' });
    again.flaws([{ what: 'crossed books', count: 3, done: 'kept' }]);
    again.clear(START + DAY + 10, START + DAY + 10);
    again.close();
    expect(openStoredTape(dir)).toMatchObject({
      source: 'a feed',
      lot: '0.0001',
      depth: 20,
      quotesOnly: true,
      rows: 3,
      from: START,
      to: START + DAY + 10,
      gaps: [
        { from: START, to: START + 500, why: 'the stream was down' },
        { from: START + DAY, to: START + DAY + 9, why: 'not recorded' },
      ],
      flaws: [{ what: 'crossed books', count: 5, done: 'kept' }],
      days: [
        { day: '2026-11-21', rows: 1, closed: true },
        { day: '2026-11-22', rows: 2, closed: true },
      ],
    });
    expect(openStoredTape(dir, { from: START + DAY }).gaps).toHaveLength(1);
  });

  test('a hash that is the same for the same rows in any blocks, closed or not, and another for any other row', () => {
    fc.assert(
      fc.property(
        fc.array(marketRow, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(),
        (rows, blockRows, pick) => {
          const hashes = [false, true].map((closing, i) => {
            const inside = mkdtempSync(join(dir, 'case-'));
            const tape = writer({ dir: inside, blockRows: i === 0 ? blockRows : 1000 });
            tape.append(columnsOf(rows));
            tape.flush();
            if (closing) tape.close();
            return openStoredTape(inside).hash();
          });
          expect(hashes[0]).toBe(hashes[1]);
          const inside = mkdtempSync(join(dir, 'case-'));
          const tape = writer({ dir: inside });
          const n = pick % rows.length;
          tape.append(columnsOf(rows.map((row, i) => (i === n ? { ...row, delay: row.delay + 1 } : row))));
          tape.close();
          expect(openStoredTape(inside).hash()).not.toBe(hashes[0]);
        },
      ),
      runsOf(20, 7),
    );
  });

  test('its size and prices without reading the rows; chunks that are never longer than a block', () => {
    const tape = writer({ blockRows: 7_000 });
    for (let i = 0; i < 80_000; i++) tape.level(START + i, START + i, SIDE.sell, price(500 + (i % 9)), amount(i % 5));
    tape.trade(START + 80_000, START + 80_000, SIDE.buy, price(600), amount(1), 77);
    tape.close();
    const stored = openStoredTape(dir);
    expect(stored).toMatchObject({ rows: 80_001, prices: { low: 500, high: 600 }, traded: { low: 600, high: 600 } });
    expect([...stored.kinds].sort()).toEqual([KIND.level, KIND.trade]);
    const lengths = fromChunks(stored, ({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(BLOCK_ROWS);
    expect(lengths.length).toBe(2);
    expect(loadStoredTape(stored).columns.length).toBe(80_001);
  });

  test('times in whole microseconds when they are asked for', () => {
    const tape = writer();
    tape.level(START + 0.001, START + 0.123, SIDE.buy, price(1), amount(1));
    tape.close();
    const [chunk] = openStoredTape(dir).chunks({ micros: true });
    expect([chunk!.columns.at[0], chunk!.columns.local[0]]).toEqual([START * 1000 + 1, START * 1000 + 123]);
  });
});

describe('a writer', () => {
  test.each([
    ['a time that is none', NaN, 1, 1],
    ['a time before 1970', -1, 1, 1],
    ['a price that is not whole', START, 1.5, 1],
    ['an amount below zero', START, 1, -1],
    ['an amount beyond 2^53', START, 1, 2 ** 53],
  ])('refuses %s', (_what, at, ticks, lots) => {
    const tape = writer();
    expect(() => tape.level(at, at, SIDE.buy, price(ticks), amount(lots))).toThrow(
      /a tape row needs times in the years/,
    );
  });

  test('gives a row that goes back in time the time of the row above, and counts it', () => {
    const tape = writer();
    tape.trade(START + 5, START + 5, SIDE.buy, price(1), amount(1));
    tape.trade(START + 3, START + 6, SIDE.buy, price(1), amount(1));
    tape.close();
    expect(tape.backwards).toBe(1);
    expect(plainRows(openStoredTape(dir)).map(row => row[2])).toEqual([START + 5, START + 5]);
  });
});

/** Rows of a small market, so that levels and orders are set, changed and removed again. */
const marketRow = row.map(one => ({
  ...one,
  step: one.step % 100_000,
  price: 100 + (Math.abs(one.price) % 6),
  amount: one.amount % 4,
  id: Math.abs(one.id) % 5,
}));

/** The book after these rows, in the plainest way: levels by side and price, orders by id in the order in which they came. */
function bookOf(rows: readonly (readonly number[])[]): object {
  const levels = new Map<string, number>();
  const orders = new Map<number, readonly number[]>();
  for (const [kind, side, , , ticks, lots, id] of rows as readonly [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ][]) {
    if (kind === KIND.clear) {
      levels.clear();
      orders.clear();
    } else if (kind === KIND.level && lots > 0) levels.set(`${side} ${ticks}`, lots);
    else if (kind === KIND.level) levels.delete(`${side} ${ticks}`);
    else if (kind === KIND.remove || (kind !== KIND.trade && lots === 0)) orders.delete(id);
    else if (kind === KIND.add || (kind === KIND.change && orders.has(id))) orders.set(id, [side, ticks, lots]);
  }
  return { levels: [...levels].sort(), orders: [...orders] };
}

function slice(columns: Columns, from: number, to: number): Columns {
  return {
    length: to - from,
    kind: columns.kind.slice(from, to),
    side: columns.side.slice(from, to),
    at: columns.at.slice(from, to),
    local: columns.local.slice(from, to),
    price: columns.price.slice(from, to),
    amount: columns.amount.slice(from, to),
    id: columns.id.slice(from, to),
  };
}
