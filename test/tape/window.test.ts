/** Any window of a stored tape, by every reader: its rows are those of the whole between the bounds, after the book as it was at `from`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { amount, instrumentOf, price } from '../../src/core/index.ts';
import { exportTape, KIND, loadStoredTape, openStoredTape, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { TapeSnapshot } from '../../src/tape/model/tapeSnapshot.ts';
import { plainColumns, plainRows, RULES, START } from './storedRows.ts';
import { runsOf } from '../many.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-window-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const marketRow = fc.record({
  kind: fc.constantFrom(KIND.clear, KIND.level, KIND.level, KIND.level, KIND.trade, KIND.add, KIND.change, KIND.remove),
  side: fc.constantFrom(SIDE.buy, SIDE.sell),
  step: fc.constantFrom(0, 1, 1_000, HOUR, 7 * HOUR, 2 * DAY),
  price: fc.integer({ min: 1, max: 6 }),
  amount: fc.integer({ min: 0, max: 3 }),
  id: fc.integer({ min: 1, max: 5 }),
});
type Row = typeof marketRow extends fc.Arbitrary<infer T> ? T : never;

function written(rows: readonly Row[], blockRows: number, isClosed: boolean): string {
  const folder = mkdtempSync(join(dir, 'tape-'));
  const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test', blockRows });
  let at = START + 3 * HOUR;
  for (const one of rows) {
    at += one.step;
    if (one.kind === KIND.clear) tape.clear(at, at);
    else if (one.kind === KIND.level) tape.level(at, at, one.side, price(one.price), amount(one.amount));
    else if (one.kind === KIND.trade) tape.trade(at, at, one.side, price(one.price), amount(one.amount), one.id);
    else tape.order(one.kind, at, at, one.side, price(one.price), amount(one.amount), one.id);
  }
  tape.flush();
  if (isClosed) tape.close();
  return folder;
}

/** The rows of a window by definition, from all rows of the tape. */
function windowOf(all: readonly (readonly number[])[], from: number, to: number): readonly (readonly number[])[] {
  const book = new TapeSnapshot();
  for (const [kind, side, at, , ticks, lots, id] of all) if (at! < from) book.apply(kind!, side!, ticks!, lots!, id!);
  return [...plainColumns(book.rows(from)), ...all.filter(([, , at]) => at! >= from && at! <= to)];
}

describe('any window of a stored tape', () => {
  test('has the book as it was at its beginning and exactly the rows between, wherever its bounds are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(marketRow, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        fc.integer({ min: -2 * DAY, max: 3 * DAY }),
        fc.constantFrom(0, 1, 1_000, HOUR, DAY, 40 * DAY),
        fc.boolean(),
        async (rows, blockRows, isClosed, offset, length, fromEnd) => {
          const folder = written(rows, blockRows, isClosed);
          const stored = openStoredTape(folder);
          const all = plainRows(stored);
          const from = (fromEnd ? stored.to : stored.from) + offset;
          const to = from + length;
          const last = stored.days.at(-1)!.day;
          const isBehind = from >= Date.parse(`${last}T00:00:00Z`) + DAY;
          const isBefore = to < Date.parse(`${stored.days[0]!.day}T00:00:00Z`);
          const open = () => openStoredTape(folder, { from, to });
          // A silence of whole days may have no folder that is within the bounds.
          const isDay = stored.days.some(({ day }) => Date.parse(day) + DAY > from && Date.parse(day) <= to);
          if (isBehind || isBefore || !isDay) {
            expect(open).toThrow(/no rows in the requested time/);
            return;
          }
          const expected = windowOf(all, from, to);
          expect(plainRows(open())).toEqual(expected);
          expect(plainColumns(loadStoredTape(open()).columns)).toEqual(expected);
          const file = join(folder, 'out.csv');
          await exportTape(open(), file, () => undefined);
          expect(readFileSync(file, 'utf8').trimEnd().split('\n').slice(1)).toHaveLength(expected.length);
        },
      ),
      runsOf(150, 50),
    );
  });

  test('has the gaps that reach into it and no others, wherever they begin and end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ after: fc.nat(4), length: fc.integer({ min: 1, max: 4 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        // Often the first hours of the second day.
        fc.oneof(fc.nat(30), fc.integer({ min: 24, max: 27 })),
        fc.nat(10),
        (drawn, start, length) => {
          const folder = mkdtempSync(join(dir, 'tape-'));
          const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test' });
          tape.clear(START, START);
          let at = START;
          const gaps = drawn.map(({ after, length }) => {
            const from = at + after * HOUR;
            at = from + length * HOUR;
            return { from, to: at, why: `silent until ${at}` };
          });
          for (const gap of gaps) tape.gap(gap);
          tape.clear(START + 40 * HOUR, START + 40 * HOUR);
          tape.close();
          const [from, to] = [START + start * HOUR, START + (start + length) * HOUR];
          const isDay = openStoredTape(folder).days.some(
            ({ day }) => Date.parse(day) + DAY > from && Date.parse(day) <= to,
          );
          if (!isDay) return;
          expect(openStoredTape(folder, { from, to }).gaps).toEqual(
            gaps.filter(gap => gap.to > from && gap.from <= to),
          );
        },
      ),
      runsOf(100, 30),
    );
  });

  test('that begins behind the last row of a day has the book as it was left, and none of its rows', () => {
    const folder = mkdtempSync(join(dir, 'tape-'));
    const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test' });
    tape.clear(START, START);
    tape.level(START, START, SIDE.buy, price(100), amount(1));
    tape.level(START + 60_000, START + 60_000, SIDE.buy, price(100), amount(2));
    tape.close();
    const from = START + HOUR;
    expect(plainRows(openStoredTape(folder, { from, to: from + HOUR }))).toEqual([
      [KIND.clear, SIDE.unknown, from, from, 0, 0, 0],
      [KIND.level, SIDE.buy, from, from, 100, 2, 0],
    ]);
  });
});

test('a window tells each change of rules within it that no replay applies, and has the rules of its start', () => {
  const folder = mkdtempSync(join(dir, 'rules-'));
  const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test' });
  const rowAt = (hour: number) => tape.level(START + hour * HOUR, START, SIDE.buy, price(hour + 1), amount(1));
  const changes = [
    { hour: 12, rules: { ...RULES, minimumAmount: '0.001' } },
    { hour: 24, rules: { ...RULES, minimumAmount: '0.001', maximumValue: '900' } },
    { hour: 30, rules: RULES },
  ] as const;
  for (let hour = 0; hour < 48; hour++) {
    rowAt(hour);
    const change = changes.find(one => one.hour === hour);
    if (change) tape.rulesChanged(change.rules, START + hour * HOUR);
  }
  tape.close();
  for (const [from, to] of [
    [0, 47],
    [0, 11],
    [11, 12],
    [12, 23],
    [13, 29],
    [24, 47],
    [31, 40],
  ] as const) {
    const stored = openStoredTape(folder, { from: START + from * HOUR, to: START + to * HOUR });
    const within = changes.filter(({ hour }) => hour > from && hour <= to);
    expect(stored.flaws.map(({ what }) => what.slice(0, 59))).toEqual(
      within.map(({ hour }) => `the rules of the book changed at ${new Date(START + hour * HOUR).toISOString()} (`),
    );
    const { rules, instrument } = loadStoredTape(stored);
    expect(rules).toEqual(changes.findLast(({ hour }) => hour <= from)?.rules ?? RULES);
    expect(instrument).toEqual(instrumentOf(rules));
  }
  expect(openStoredTape(folder).flaws[0]).toEqual({
    what: 'the rules of the book changed at 2026-11-21T12:00:00.000Z (minimumAmount 0.00000001 before, 0.001 after)',
    count: 1,
    done: 'a replay keeps the rules of its start',
  });
});
