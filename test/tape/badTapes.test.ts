import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { openStoredTape, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { chunksHere } from '../../src/tape/format/chunksAhead.ts';
import { FrameFile, jsonFrame, TAG } from '../../src/tape/format/frames.ts';
import { copiedTail, scanDay } from '../../src/tape/format/scanDay.ts';
import { fromChunks, plainRows, RULES, START } from './storedRows.ts';
import { between } from '../draws.ts';

const DAY = 86_400_000;
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-bad-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const dayFolder = (day = '2026-11-21') => join(dir, 'book=btc_mxn', `day=${day}`);
const rowsFile = (day?: string) => join(dayFolder(day), 'rows.tape');
const writerOf = (blockRows = 10) => new TapeWriter({ dir, rules: RULES, source: 'a test', blockRows });

/** `count` levels a second apart, at prices that tell which they are. */
function levels(tape: TapeWriter, from: number, count: number, start = START): void {
  for (let i = from; i < from + count; i++) {
    const at = start + 1000 * i;
    tape.level(at, at + 5, SIDE.buy, price(1000 + (i % 20)), amount(1 + i));
  }
}

function closed(rows: number, blockRows = 10): void {
  const tape = writerOf(blockRows);
  levels(tape, 0, rows);
  tape.close();
}

/** The amounts of the rows, which say which rows they are. */
const amountsOf = (options = {}) => fromChunks(openStoredTape(dir, options), ({ amount }) => [...amount]).flat();
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 0x10;
  writeFileSync(path, bytes);
}

function frames(path: string, tag: string): readonly { readonly at: number; readonly length: number }[] {
  const file = new FrameFile(path);
  try {
    return file.frames(false).frames.filter(frame => frame.tag === tag);
  } finally {
    file.close();
  }
}

describe('a writer that writes while its tape is read', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.boolean()), { minLength: 1, maxLength: 8 });
  const fresh = () => rmSync(join(dir, 'book=btc_mxn'), { recursive: true, force: true });

  test('changes no row of an opened tape, nor its hash, however it is read and opened again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), steps, (first, later) => {
        fresh();
        const tape = writerOf(16);
        levels(tape, 0, first);
        tape.flush();
        const opened = openStoredTape(dir);
        const hash = opened.hash();
        const chunks = opened.chunks();
        const read: number[] = [];
        let count = first;
        for (const [more, isNextDay] of later) {
          levels(tape, count, more, isNextDay ? START + DAY : START);
          count += more;
          tape.flush();
          const { done, value } = chunks.next();
          if (!done) read.push(...value.columns.amount);
        }
        for (const { columns } of chunks) read.push(...columns.amount);
        expect(read).toEqual(numbers(1, first + 1));
        const again = openStoredTape(dir, {}, opened.scans);
        expect(again.hash()).toBe(hash);
        expect(fromChunks(again, columns => [...columns.amount]).flat()).toEqual(read);
        tape.close();
      }),
      { numRuns: 25 },
    );
  });

  test('leaves no hole in a tape that it seals between the reads of its two files', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 40 }),
        fc.boolean(),
        (first, more, ends) => {
          fresh();
          const tape = writerOf(16);
          levels(tape, 0, first);
          tape.flush();
          const tail = copiedTail(dayFolder());
          levels(tape, first, more);
          if (ends) tape.close();
          else tape.flush();
          const scanned = scanDay(dayFolder(), { book: 'btc_mxn', day: '2026-11-21', skip: false }, tail);
          expect(scanned.rows).toBeGreaterThanOrEqual(first);
          const options = { from: -Infinity, to: Infinity, micros: false, snapshots: false };
          const read: number[] = [];
          for (const { columns } of chunksHere([scanned], options)) read.push(...columns.amount);
          expect(read).toEqual(numbers(1, scanned.rows + 1));
          tape.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('a writer that died', () => {
  test('has lost nothing that was flushed, wherever its last writes were torn', () => {
    const whole = join(dir, 'whole');
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 25 }),
        between(0, 1),
        fc.boolean(),
        (first, second, cut, sealing) => {
          rmSync(join(dir, 'book=btc_mxn'), { recursive: true, force: true });
          const dead = writerOf(16);
          levels(dead, 0, first);
          dead.flush();
          rmSync(whole, { recursive: true, force: true });
          cpSync(dayFolder(), whole, { recursive: true });
          levels(dead, first, second);
          dead.flush();
          // Either it died while it wrote the tail, or while it sealed a block: then the tail was not emptied yet.
          const sealed = statSync(rowsFile()).size > statSync(join(whole, 'rows.tape')).size;
          const name = sealed && sealing ? 'rows.tape' : 'rows.tail';
          if (name === 'rows.tape') copyFileSync(join(whole, 'rows.tail'), join(dayFolder(), 'rows.tail'));
          const before = sealed && !sealing ? 0 : statSync(join(whole, name)).size;
          const now = statSync(join(dayFolder(), name)).size;
          truncateSync(join(dayFolder(), name), before + Math.floor(cut * (now - before)));
          const there = amountsOf();
          expect(there.slice(0, first)).toEqual(numbers(1, first + 1));
          const again = writerOf(16);
          expect(again.resumedFrom).toBe(START + 1000 * (there.length - 1));
          levels(again, there.length, 30);
          again.close();
          expect(amountsOf()).toEqual(numbers(1, there.length + 31));
          expect(openStoredTape(dir).flaws).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('leaves a torn end that the next writer cuts off by name, and that a reader names and leaves', () => {
    const dead = writerOf(1000);
    levels(dead, 0, 20);
    dead.flush();
    levels(dead, 20, 20);
    dead.flush();
    const tail = join(dayFolder(), 'rows.tail');
    truncateSync(tail, statSync(tail).size - 3);
    const stored = openStoredTape(dir);
    expect(stored.flaws.map(({ what }) => what)).toContain(`incomplete end of ${tail}`);
    expect(amountsOf()).toEqual(numbers(1, 21));
    const again = writerOf();
    expect(again.mended).toEqual([
      expect.stringMatching(/rows\.tail: removed the incomplete last \d+ bytes, after byte \d+$/),
    ]);
    again.close();
    expect(amountsOf()).toEqual(numbers(1, 21));
  });

  test('between sealing a block and emptying the tail leaves no row twice', () => {
    const dead = writerOf(20);
    levels(dead, 0, 19);
    dead.flush();
    const kept = join(dir, 'kept');
    copyFileSync(join(dayFolder(), 'rows.tail'), kept);
    levels(dead, 19, 1);
    copyFileSync(kept, join(dayFolder(), 'rows.tail'));
    expect(amountsOf()).toEqual(numbers(1, 21));
    const again = writerOf(20);
    levels(again, 20, 5);
    again.close();
    expect(amountsOf()).toEqual(numbers(1, 26));
  });

  test('before its first frame was whole has left nothing, and the next begins anew', () => {
    mkdirSync(dayFolder(), { recursive: true });
    writeFileSync(rowsFile(), jsonFrame(TAG.head, { format: 'puntas tape' }).subarray(0, 20));
    const again = writerOf();
    expect(again.mended).toHaveLength(1);
    levels(again, 0, 3);
    again.close();
    expect(amountsOf()).toEqual([1, 2, 3]);
  });

  test('is not followed by a second one beside a living one: the one that sees strange bytes ends', () => {
    const one = writerOf();
    levels(one, 0, 3);
    one.flush();
    const two = writerOf();
    levels(two, 3, 3);
    two.flush();
    levels(one, 3, 3);
    expect(() => one.flush()).toThrow(/day=2026-11-21: changed during a write .* stop the other process/);
  });
});

describe('a damaged tape', () => {
  test('with any byte flipped is refused with its file and byte, or read without a difference: never with wrong rows', () => {
    closed(60);
    const whole = readFileSync(rowsFile());
    const rows = plainRows(openStoredTape(dir));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length - 1 }), at => {
        flip(rowsFile(), at);
        try {
          expect(() => {
            const read = plainRows(openStoredTape(dir));
            // Damage in the last frame is a torn end: it is named.
            if (openStoredTape(dir).flaws.length === 0) expect(read).toEqual(rows);
            else expect(rows.slice(0, read.length)).toEqual(read);
            throw new Error('rows.tape: byte');
          }).toThrow(/rows\.tape.*(byte|frame)/);
        } finally {
          writeFileSync(rowsFile(), whole);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('with a flipped byte in a block is refused by name, and with `skip` has a gap up to the next picture of the book', () => {
    closed(10 * 40);
    const block = frames(rowsFile(), TAG.rows)[2]!;
    flip(rowsFile(), block.at + block.length - 1);
    expect(() => amountsOf()).toThrow(
      /rows\.tape: frame ROWS at byte \d+ is damaged .*rows 20 to 30, 2026-11-21T00:00:20.000Z to 2026-11-21T00:00:29.000Z.*--skip-damaged to turn/,
    );
    const stored = openStoredTape(dir, { damaged: 'skip' });
    expect(stored.gaps).toEqual([{ from: START + 19_000, to: START + 159_000, why: 'a damaged block' }]);
    expect(stored.flaws).toEqual([
      {
        what: `damaged block in ${rowsFile()}`,
        count: 1,
        done: expect.stringMatching(/the block at byte \d+ was skipped; its time span is a gap/) as string,
      },
    ]);
    const amounts = amountsOf({ damaged: 'skip' });
    // The rows before, the picture of row 160 (a clear and the 20 levels that stood), and the rows from there.
    expect(amounts).toEqual([...numbers(1, 21), 0, ...numbers(141, 161), ...numbers(161, 401)]);
  });

  test('with a flipped byte in what a block says of itself is refused before its rows are looked for', () => {
    closed(30);
    const [, block] = frames(rowsFile(), TAG.rows);
    // The last byte of the time of its first row: as a time it would be none.
    flip(rowsFile(), block!.at + 16 + 23);
    expect(() => openStoredTape(dir)).toThrow(
      /rows\.tape: frame ROWS at byte \d+ is damaged; use --skip-damaged to turn/,
    );
    expect(amountsOf({ damaged: 'skip' })).toEqual(numbers(1, 11));
  });

  test('cut off in the middle of a closed day is named, and what is there is read', () => {
    closed(50);
    const [, , third] = frames(rowsFile(), TAG.rows);
    truncateSync(rowsFile(), third!.at + 20);
    const stored = openStoredTape(dir);
    expect(stored.flaws.map(({ what }) => what)).toEqual([
      `incomplete end of ${rowsFile()}`,
      'the recording of day 2026-11-21 was not finished',
    ]);
    expect(amountsOf()).toEqual(numbers(1, 21));
  });

  test('cut off exactly between two frames is named all the same', () => {
    closed(50);
    truncateSync(rowsFile(), frames(rowsFile(), TAG.rows)[2]!.at);
    expect(openStoredTape(dir).flaws.map(({ what }) => what)).toEqual([
      'the recording of day 2026-11-21 was not finished',
    ]);
  });

  test('is not written on: a damaged block with whole ones behind it refuses the writer', () => {
    closed(50);
    flip(rowsFile(), frames(rowsFile(), TAG.rows)[1]!.at + 30);
    expect(() => writerOf()).toThrow(
      /rows\.tape: damaged at byte \d+, with complete frames after that byte; record into another folder/,
    );
  });

  test('whose blocks stand in the wrong order is refused as not in time order, or as not following', () => {
    closed(30);
    const [first, second] = frames(rowsFile(), TAG.rows);
    const bytes = readFileSync(rowsFile());
    const [a, b, c] = [first!.at, second!.at, second!.at + 16 + second!.length];
    writeFileSync(
      rowsFile(),
      Buffer.concat([bytes.subarray(0, a), bytes.subarray(b, c), bytes.subarray(a, b), bytes.subarray(c)]),
    );
    expect(() => openStoredTape(dir)).toThrow(/rows 10 to 20 at byte \d+: expected a block that starts at row 0/);
  });
});

describe('the wrong tape', () => {
  test('a book that is not there is refused with those that are', () => {
    closed(5);
    expect(() => openStoredTape(dir, { book: 'eth_mxn' })).toThrow(`${dir}: no book eth_mxn; expected one of: btc_mxn`);
  });

  test('a folder whose files are of another book is refused', () => {
    closed(5);
    renameSync(join(dir, 'book=btc_mxn'), join(dir, 'book=eth_mxn'));
    expect(() => openStoredTape(dir)).toThrow(/rows\.tape: is a tape of btc_mxn, but is in the folder of eth_mxn/);
  });

  test('days with different lots are refused, and a writer does not mix them', () => {
    closed(5);
    const other = () => new TapeWriter({ dir, rules: RULES, source: 'a test', lot: '0.001' });
    expect(other).toThrow(/has lot size 0\.00000001, expected 0\.001; record into another folder/);
  });

  test('a day of another date than its folder is refused', () => {
    closed(5);
    renameSync(dayFolder(), dayFolder('2026-11-22'));
    expect(() => openStoredTape(dir)).toThrow(
      /rows\.tape: contains data of 2026-11-21, but is in the folder of 2026-11-22/,
    );
  });

  test('another version of the format is refused by its number', () => {
    closed(5);
    const file = new FrameFile(rowsFile());
    const head = file.json(file.frames(false).frames[0]!) as object;
    file.close();
    writeFileSync(rowsFile(), jsonFrame(TAG.head, { ...head, version: 2 }));
    expect(() => openStoredTape(dir)).toThrow(/has format version 2, but this program reads version 1/);
  });

  test('a file that is something else, an empty one, and a folder without a tape are refused', () => {
    expect(() => openStoredTape(dir)).toThrow(/no stored tape \(no folder book=/);
    expect(() => openStoredTape(join(dir, 'nowhere'))).toThrow(/nowhere: no such file or folder/);
    mkdirSync(dayFolder(), { recursive: true });
    expect(() => openStoredTape(dir)).toThrow(/day=2026-11-21: has no rows\.tape/);
    writeFileSync(rowsFile(), 'time,price\n1,2\n');
    expect(() => openStoredTape(dir)).toThrow(/rows\.tape: has no complete frame; no data was recorded/);
  });
});

describe('a missing day', () => {
  test('is a gap by name, and the next day starts with a new snapshot', () => {
    const tape = writerOf(1000);
    levels(tape, 0, 30);
    levels(tape, 0, 30, START + DAY);
    levels(tape, 0, 30, START + 2 * DAY);
    tape.close();
    expect(openStoredTape(dir).gaps).toEqual([]);
    expect(amountsOf()).toHaveLength(90);
    rmSync(dayFolder('2026-11-22'), { recursive: true });
    const stored = openStoredTape(dir);
    expect(stored.gaps).toEqual([{ from: START + 29_000, to: START + 2 * DAY, why: 'day 2026-11-22 is missing' }]);
    expect(stored.flaws).toEqual([
      {
        what: 'day 2026-11-22 is missing',
        count: 1,
        done: 'recorded as a gap after 2026-11-21; 2026-11-23 starts with a new snapshot of the book',
      },
    ]);
    // A clear and the 20 levels that stood when the third day began: each price's last amount.
    expect(
      amountsOf()
        .slice(30, 51)
        .toSorted((a, b) => a - b),
    ).toEqual([0, ...numbers(11, 31)]);
    expect(amountsOf()).toHaveLength(30 + 21 + 30);
  });

  test('in which nothing happened is no missing day', () => {
    const tape = writerOf();
    levels(tape, 0, 3);
    levels(tape, 0, 3, START + 5 * DAY);
    tape.close();
    expect(openStoredTape(dir)).toMatchObject({ gaps: [], flaws: [] });
    expect(existsSync(dayFolder('2026-11-23'))).toBe(false);
    expect(amountsOf()).toEqual([1, 2, 3, 1, 2, 3]);
  });
});
