/** Any window of a stored tape, by every reader: its rows are those of the whole between the bounds, after the book as it was at `from`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { amount, instrumentOf, price } from '../../src/core/index.ts';
import {
  exportTape,
  KIND,
  loadStoredTape,
  openStoredTape,
  SIDE,
  TapeWriter,
  type Gap,
  type StoredTape,
} from '../../src/tape/index.ts';
import { bookFolder, dayFolder, partitions, ROWS_FILE } from '../../src/tape/format/dayFiles.ts';
import { FrameFile, TAG } from '../../src/tape/format/frames.ts';
import { gapMs, gapsWithin } from '../../src/tape/model/gaps.ts';
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
  append(tape, rows, START + 3 * HOUR);
  tape.flush();
  if (isClosed) tape.close();
  return folder;
}

/** Writes rows, the first one its step after `start`. */
function append(tape: TapeWriter, rows: readonly Row[], start: number): void {
  let at = start;
  for (const one of rows) {
    at += one.step;
    if (one.kind === KIND.clear) tape.clear(at, at);
    else if (one.kind === KIND.level) tape.level(at, at, one.side, price(one.price), amount(one.amount));
    else if (one.kind === KIND.trade) tape.trade(at, at, one.side, price(one.price), amount(one.amount), one.id);
    else tape.order(one.kind, at, at, one.side, price(one.price), amount(one.amount), one.id);
  }
}

const partsOfTape = fc.array(
  fc.record({
    rows: fc.array(
      fc.record({ row: marketRow, hours: fc.nat(7) }).map(({ row, hours }) => ({ ...row, step: hours * HOUR })),
      { maxLength: 12 },
    ),
    gap: fc.option(fc.record({ ago: fc.nat(30), length: fc.integer({ min: 1, max: 30 }) })),
  }),
  { minLength: 1, maxLength: 6 },
);
type Part = typeof partsOfTape extends fc.Arbitrary<readonly (infer T)[]> ? T : never;

/** A level of its own price, some hours after the previous row. */
const levelAfter = (hours: number, i: number): Row => ({
  ...{ kind: KIND.level, side: SIDE.buy, step: hours * HOUR, price: 1 + i, amount: 1, id: 1 },
});

/** A closed tape whose parts each end with a gap that began some hours before its last row and ends before the next part. */
function writtenInParts(
  parts: readonly Part[],
  blockRows: number,
): { readonly folder: string; readonly gaps: readonly Gap[] } {
  const folder = mkdtempSync(join(dir, 'tape-'));
  const tape = new TapeWriter({ dir: folder, rules: RULES, source: 'a test', blockRows });
  const gaps: Gap[] = [];
  tape.clear(START, START);
  let start = START;
  for (const { rows, gap } of parts) {
    append(tape, rows, start);
    start = tape.lastAt;
    if (gap === null) continue;
    const from = Math.max(START, tape.lastAt - gap.ago * HOUR);
    const to = from + gap.length * HOUR;
    gaps.push({ from, to, why: 'a gap' });
    tape.gap(gaps.at(-1)!);
    start = Math.max(start, to);
  }
  tape.close();
  return { folder, gaps };
}

/** Half past each hour of a tape. */
const hoursOf = ({ from, to }: StoredTape): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / HOUR) }, (_, i) => from + i * HOUR + HOUR / 2);
const isIn = (gaps: readonly Gap[], at: number): boolean => gaps.some(gap => gap.from < at && at < gap.to);

/** The rows of the book at a time. */
function bookAt(rows: readonly (readonly number[])[], time: number): readonly (readonly number[])[] {
  const book = new TapeSnapshot();
  for (const [kind, side, at, , ticks, lots, id] of rows) if (at! <= time) book.apply(kind!, side!, ticks!, lots!, id!);
  return plainColumns(book.rows(0)).sort();
}

/** Damages a byte of a frame: of a block of rows, of a snapshot or of the end of a day. */
function damage(
  folder: string,
  frame: number,
  byte: number,
  tags: readonly string[] = [TAG.rows, TAG.snapshot, TAG.end],
): void {
  const places = partitions(bookFolder(folder, RULES.book), 'day=').flatMap(day => {
    const file = new FrameFile(join(dayFolder(folder, RULES.book, day), ROWS_FILE));
    const { frames } = file.frames(false);
    file.close();
    return frames.filter(({ tag }) => tags.includes(tag)).map(({ at, length }) => ({ path: file.path, at, length }));
  });
  const { path, at, length } = places[frame % places.length]!;
  const bytes = readFileSync(path);
  bytes[at + (byte % (16 + length))]! ^= 0x10;
  writeFileSync(path, bytes);
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

  test('has the gaps that reach into it and no others, however late they are recorded and wherever rows are in them', () => {
    fc.assert(
      fc.property(
        partsOfTape,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: -10, max: 100 }),
        fc.integer({ min: 0, max: 30 }),
        (parts, blockRows, start, length) => {
          const { folder, gaps } = writtenInParts(parts, blockRows);
          const whole = openStoredTape(folder);
          const hours = hoursOf(whole).filter(hour => isIn(gaps, hour));
          expect(hoursOf(whole).filter(hour => isIn(whole.gaps, hour))).toEqual(hours);
          // The gaps are disjoint, so that their length is that of the hours in them.
          expect(gapMs(gapsWithin(whole.gaps, whole.from, whole.to))).toBe(HOUR * hours.length);
          const [from, to] = [START + start * HOUR, START + (start + length) * HOUR];
          if (!whole.days.some(({ day }) => Date.parse(day) + DAY > from && Date.parse(day) <= to)) return;
          expect(openStoredTape(folder, { from, to }).gaps).toEqual(
            whole.gaps.filter(gap => gap.to > from && gap.from <= to),
          );
        },
      ),
      runsOf(300, 60),
    );
  });

  test('has a gap that is recorded days after it begins and ends after the window', () => {
    const gap = { from: START + 22 * HOUR, to: START + 50 * HOUR, why: 'a gap' };
    const { folder } = writtenInParts([{ rows: [23, 5, 20, 2].map(levelAfter), gap: { ago: 28, length: 28 } }], 10);
    expect(openStoredTape(folder).gaps).toEqual([gap]);
    expect(openStoredTape(folder, { to: START + 23 * HOUR }).gaps).toEqual([gap]);
    expect(openStoredTape(folder, { from: START + 26 * HOUR, to: START + 30 * HOUR }).gaps).toEqual([gap]);
  });

  test('counts the time of overlapping gaps once', () => {
    const parts = [
      { rows: [10].map(levelAfter), gap: { ago: 6, length: 4 } },
      { rows: [1].map(levelAfter), gap: { ago: 8, length: 7 } },
    ];
    const { folder } = writtenInParts(parts, 10);
    expect(openStoredTape(folder).gaps).toEqual([{ from: START + 3 * HOUR, to: START + 10 * HOUR, why: 'a gap' }]);
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

describe('a tape with a damaged block that is skipped', () => {
  /** Checks the book and the gaps of a damaged tape, and of some of its windows, against the tape before the damage. */
  const expectSound = (folder: string, frame: number, byte: number, windowHour = 0): void => {
    const sound = openStoredTape(folder);
    const rows = plainRows(sound);
    damage(folder, frame, byte);
    const whole = openStoredTape(folder, { damaged: 'skip' });
    const wholeRows = plainRows(whole);
    for (const hour of hoursOf(sound).filter(hour => hour >= whole.from && hour <= whole.to)) {
      const expectBook = ({ gaps }: StoredTape, found: typeof rows): void => {
        if (isIn(sound.gaps, hour)) expect([hour, isIn(gaps, hour)]).toEqual([hour, true]);
        if (!isIn(gaps, hour)) expect([hour, bookAt(found, hour)]).toEqual([hour, bookAt(rows, hour)]);
      };
      expectBook(whole, wholeRows);
      if (new Date(hour).getUTCHours() !== windowHour) continue;
      const window = openStoredTape(folder, { from: hour, damaged: 'skip' });
      expectBook(window, plainRows(window));
    }
  };

  test('has the book of the sound tape outside its gaps and no gap less, as a whole and in each window', () => {
    fc.assert(
      fc.property(
        partsOfTape,
        fc.integer({ min: 1, max: 4 }),
        fc.nat(),
        fc.nat(),
        fc.nat(23),
        (parts, blockRows, frame, byte, hour) => {
          // A second day, so that the damage never loses all rows.
          const { folder } = writtenInParts([{ rows: [levelAfter(25, 0)], gap: null }, ...parts], blockRows);
          expectSound(folder, frame, byte, hour);
        },
      ),
      runsOf(300, 60),
    );
  });

  const parts = [
    { rows: [20].map(levelAfter), gap: { ago: 0, length: 10 } },
    { rows: [0].map(levelAfter), gap: null },
  ];
  const window = { from: START + 26 * HOUR };

  test('on the day before a window leaves the window its gaps', () => {
    const { folder, gaps } = writtenInParts(parts, 10);
    // The header of the first block of rows.
    damage(folder, 0, 5, [TAG.rows]);
    expect(openStoredTape(folder, { ...window, damaged: 'skip' }).gaps).toEqual(gaps);
    expect(openStoredTape(folder, window).gaps).toEqual(gaps);
  });

  test('that makes the day before a window unreadable is a gap of all its time', () => {
    const { folder } = writtenInParts(parts, 10);
    damage(folder, 0, 5, [TAG.head]);
    expect(openStoredTape(folder, window).gaps).toEqual([
      { from: START, to: START + 30 * HOUR, why: 'day 2026-11-21 cannot be read; a gap' },
    ]);
  });

  test('that makes the gaps of another day unreadable is a flaw of a window', () => {
    const { folder } = writtenInParts([{ rows: [50].map(levelAfter), gap: { ago: 30, length: 10 } }], 10);
    damage(folder, 0, 20, [TAG.gap]);
    const { gaps, flaws } = openStoredTape(folder, { to: START + 23 * HOUR });
    expect(gaps).toEqual([]);
    expect(flaws).toEqual([expect.objectContaining({ count: 1, done: 'gaps that they record may be missing' })]);
  });

  for (const [where, frame] of [
    ['at the end', 1],
    ['at the start', 4],
  ] as const)
    test(`${where} of a day has the book of the next block and a gap before it`, () => {
      // One row per block; the second day has a snapshot after 16 blocks.
      const hours = [23, 2, ...Array.from({ length: 16 }, () => 0), 1];
      const { folder } = writtenInParts([{ rows: hours.map(levelAfter), gap: null }], 1);
      expectSound(folder, frame, 50);
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
