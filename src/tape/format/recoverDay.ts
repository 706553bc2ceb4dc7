/**
 * Recovery of the last day of a tape, before a writer continues the tape. An incomplete end is cut off and reported;
 * other damage is rejected.
 */
import { existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { counted, type BookRules, type DecimalText, type Millis } from '../../core/index.ts';
import { KIND, type Columns } from '../model/tape.ts';
import type { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { ContentHash } from './contentHash.ts';
import { headOf, isRules, ROWS_FILE, TAIL_FILE, type Head } from './dayFiles.ts';
import { FrameFile, TAG, type Frame } from './frames.ts';
import { BLOCK_ROWS, columnBuffers, firstRows, RowsDecoder, blockSummaryOf, type ColumnBuffers } from './rowsCodec.ts';

export type RecoveredDay = {
  /** Head of the day; `null` if the first frame is incomplete, so that the day has no rows. */
  readonly head: Head | null;
  /** Number of rows in sealed blocks. */
  readonly sealed: number;
  /** Number of rows after the sealed blocks. */
  readonly pending: number;
  readonly lastAt: Millis;
  /** Time of the last row of the book; -Infinity if the day has only trades. */
  readonly bookAt: Millis;
  /** Rules in force at the end of the day. */
  readonly rules: BookRules;
  readonly hash: ContentHash;
  /** Whether the day was closed. */
  readonly done: boolean;
  readonly mended: readonly string[];
};

type Expected = {
  readonly book: string;
  /** Required lot of the tape. If omitted, any lot is accepted. */
  readonly lot?: DecimalText | undefined;
  readonly rules: BookRules;
};

/** Recovers a day: applies every row to `snapshot`, and writes the rows that are not in a sealed block to `pending`. */
export function recoverDay(
  folder: string,
  expected: Expected,
  snapshot: TapeSnapshot,
  pending: ColumnBuffers,
): RecoveredDay {
  const mended: string[] = [];
  const hash = new ContentHash();
  const decoder = new RowsDecoder();
  const path = join(folder, ROWS_FILE);
  let rules = expected.rules;
  let head: Head | null = null;
  let [sealed, count, lastAt, bookAt, done] = [0, 0, -Infinity, -Infinity, false];
  const took = (rows: Columns): void => {
    lastAt = rows.at[rows.length - 1] ?? lastAt;
    bookAt = rows.at[rows.kind.findLastIndex(kind => kind !== KIND.trade)] ?? bookAt;
  };
  const scratch = columnBuffers(BLOCK_ROWS);
  eachFrame(path, mended, (file, frame) => {
    done = frame.tag === TAG.end;
    if (head === null) {
      head = checkedHead(headOf(file.json(frame), path), expected, path);
      rules = head.rules;
    } else if (frame.tag === TAG.rules) {
      const changed = (file.json(frame) as { readonly rules?: unknown }).rules;
      if (!isRules(changed)) throw new Error(`${path}: the book rules in the frame at byte ${frame.at} are incomplete`);
      if (changed.tickSize !== rules.tickSize) snapshot.forget();
      rules = changed;
    } else if (frame.tag === TAG.rows || frame.tag === TAG.snapshot) {
      const block = file.payload(frame);
      const { firstRow } = blockSummaryOf(block);
      if (firstRow !== sealed)
        throw new Error(`${path}: the block at byte ${frame.at} starts at row ${firstRow}, expected row ${sealed}`);
      const rows = firstRows(scratch, decoder.decode(block, scratch, 0));
      snapshot.applyRows(rows, 0, rows.length);
      if (frame.tag === TAG.snapshot) return;
      hash.add(rows);
      sealed += rows.length;
      took(rows);
    }
  });
  const tail = join(folder, TAIL_FILE);
  let stale = true;
  if (head !== null) {
    eachFrame(tail, mended, (file, frame) => {
      const block = file.payload(frame);
      const { firstRow, rows } = blockSummaryOf(block);
      // After a crash between sealing a block and emptying the tail, the tail repeats rows of the block.
      if (firstRow + rows <= sealed) return;
      if (firstRow !== sealed + count) {
        throw new Error(
          `${tail}: the block at byte ${frame.at} starts at row ${firstRow}, expected row ${sealed + count}`,
        );
      }
      stale = false;
      decoder.decode(block, pending, count);
      const added = firstRows(pending, rows, count);
      snapshot.applyRows(added, 0, rows);
      took(added);
      count += rows;
    });
  }
  if (stale && existsSync(tail)) truncateSync(tail);
  return { head, sealed, pending: count, lastAt, bookAt, rules, hash, done, mended };
}

function eachFrame(path: string, mended: string[], call: (file: FrameFile, frame: Frame) => void): void {
  if (!existsSync(path)) return;
  const file = new FrameFile(path);
  try {
    const { frames, damaged, end } = file.frames(true);
    const [first] = damaged;
    if (first) {
      throw new Error(
        `${path}: damaged at byte ${first.at}, with complete frames after that byte; record into another folder, or move the folder of this day elsewhere`,
      );
    }
    for (const frame of frames) call(file, frame);
    if (end < file.size) {
      truncateSync(path, end);
      mended.push(`${path}: removed the incomplete last ${counted(file.size - end, 'byte')}, after byte ${end}`);
    }
  } finally {
    file.close();
  }
}

function checkedHead(head: Head, { book, lot }: Expected, path: string): Head {
  if (head.book !== book) throw new Error(`${path}: is a tape of ${head.book}, expected ${book}`);
  if (lot !== undefined && head.lot !== lot)
    throw new Error(`${path}: has lot size ${head.lot}, expected ${lot}; record into another folder`);
  return head;
}
