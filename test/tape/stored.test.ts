import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import type { BookRules } from '../../src/core/index.ts';
import { KIND, openStoredTape, SIDE, TapeBuilder, TapeWriter } from '../../src/tape/index.ts';
import type { Columns, StoredTape } from '../../src/tape/index.ts';

const RULES: BookRules = {
  book: 'btc_mxn',
  tickSize: '10',
  minimumAmount: '0.00000001',
  maximumAmount: '500',
  minimumPrice: '10',
  maximumPrice: '16000000',
  minimumValue: '10',
  maximumValue: '200000000',
};
const START = Date.parse('2026-11-21T00:00:00Z');
const DAY = 86_400_000;

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-stored-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const writer = (options: { readonly dir?: string; readonly blockRows?: number; readonly rules?: BookRules } = {}) =>
  new TapeWriter({ dir, rules: RULES, source: 'a test', ...options });

/** What the rows of a tape are, as plain values. */
function rowsOf(stored: StoredTape): (readonly number[])[] {
  return [...stored.chunks()].flatMap(({ columns }) => plainRows(columns));
}

function plainRows({ length, kind, side, at, local, price, amount, id }: Columns): (readonly number[])[] {
  return Array.from({ length }, (_, row) => [
    kind[row]!,
    side[row]!,
    at[row]!,
    local[row]!,
    price[row]!,
    amount[row]!,
    id[row]!,
  ]);
}

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
          const all = plainRows(columns);
          for (let from = 0; from < columns.length; from += flushEvery) {
            tape.append(slice(columns, from, Math.min(columns.length, from + flushEvery)));
            tape.flush();
          }
          expect(rowsOf(openStoredTape(inside))).toEqual(all);
          tape.close();
          expect(rowsOf(openStoredTape(inside))).toEqual(all);
        },
      ),
      { numRuns: 40 },
    );
  });
});

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
