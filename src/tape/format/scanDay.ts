/**
 * Contents of one day of a stored tape, from the summaries of its blocks. A damaged block is an error, or is skipped
 * and reported.
 */
import { closeSync, existsSync, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { BookRules, Millis } from '../../core/index.ts';
import { openRegularFile } from '../../guard/index.ts';
import { flawsOf, gapOf, headOf, isRules, ROWS_FILE, startOfDay, TAIL_FILE, type Head } from './dayFiles.ts';
import { FrameFile, REMEDY, TAG, type Frame } from './frames.ts';
import { blockSummaryOf, type BlockSummary } from './rowsCodec.ts';
import type { DataFlaw, Gap } from '../model/tape.ts';

/**
 * Block of rows, or block with a part of a book snapshot. Contains only plain data, so that it can be sent to another
 * thread. Times are in ms.
 */
export type ScannedBlock = BlockSummary & {
  readonly path: string;
  /** Bytes of the file `path` when it was scanned, if it is a tail, which its writer empties. */
  readonly copy?: Uint8Array;
  readonly frame: Frame;
  readonly isSnapshot: boolean;
  /** Whether rows before the snapshot were lost, so that readers need the snapshot. */
  readonly afterLoss: boolean;
  /** Index in `ScannedDay.rules` of the rules in force for this block. */
  readonly rules: number;
};

export type ScannedDay = {
  readonly day: string;
  readonly head: Head;
  readonly rows: number;
  readonly bytes: number;
  readonly from: Millis;
  readonly to: Millis;
  readonly closed: boolean;
  /** Reason why the first rows of the day, or the last ones, were lost; `null` if they were read. */
  readonly lostStart: string | null;
  readonly lostEnd: string | null;
  /** Number of levels per side in the book snapshots of the day; `null` if the writer did not record the number. */
  readonly seenDepth: number | null;
  /** Hash of all rows of the day, as recorded by the writer; `null` if not recorded. */
  readonly hash: string | null;
  readonly blocks: readonly ScannedBlock[];
  readonly rules: readonly { readonly at: Millis; readonly rules: BookRules }[];
  readonly gaps: readonly Gap[];
  readonly flaws: readonly DataFlaw[];
};

type Expected = { readonly book: string; readonly day: string; readonly skip: boolean };

/**
 * Scans a day. With `skip`, every byte is checked and damaged blocks are skipped; otherwise damage throws an Error of
 * one line. The day may be written at the same time: if rows of `tail` are sealed after it was copied, the file that is
 * read after the copy has them.
 */
export function scanDay(folder: string, expected: Expected, tail = copiedTail(folder)): ScannedDay {
  const path = join(folder, ROWS_FILE);
  if (!existsSync(path)) throw new Error(`${folder}: has no ${ROWS_FILE}`);
  const scan = new DayScan(expected);
  scan.read(path);
  if (tail !== null) scan.read(join(folder, TAIL_FILE), tail);
  return scan.result(path);
}

/** Maximum size of a tail in bytes. A writer seals it long before. */
const TAIL_BYTES_MAX = 64 * 1024 * 1024;

/** Returns the bytes of a day's tail; `null` if there is no tail. Throws an Error of one line if it is too large. */
export function copiedTail(folder: string): Uint8Array | null {
  const path = join(folder, TAIL_FILE);
  let fd;
  try {
    fd = openRegularFile(path);
  } catch (error) {
    if (existsSync(path)) throw error;
    return null;
  }
  try {
    const { size } = fstatSync(fd);
    if (size > TAIL_BYTES_MAX) throw new Error(`${path}: expected at most ${TAIL_BYTES_MAX} bytes, found ${size}`);
    const bytes = new Uint8Array(size);
    // One read, because a second one could follow a write to the emptied file.
    return bytes.subarray(0, readSync(fd, bytes, 0, size, 0));
  } finally {
    closeSync(fd);
  }
}

export type RecordedGaps = Pick<ScannedDay, 'gaps' | 'flaws'>;

/**
 * Returns the gaps that a day records, without reading its rows. Some may be of other days, because a gap is recorded
 * when its end is known. Damaged parts of the file become a flaw.
 */
export function recordedGaps(folder: string): RecordedGaps {
  const path = join(folder, ROWS_FILE);
  const gaps: Gap[] = [];
  let unread = 0;
  try {
    const file = new FrameFile(path);
    try {
      const { frames, damaged } = file.frames(false);
      unread = damaged.length;
      for (const frame of frames) {
        const gap = frame.tag === TAG.gap ? gapIn(file, frame) : undefined;
        if (gap) gaps.push(gap);
        else if (gap === null) unread++;
      }
    } finally {
      file.close();
    }
  } catch {
    unread++;
  }
  const what = `unreadable parts of ${path}`;
  return { gaps, flaws: unread === 0 ? [] : [{ what, count: unread, done: 'gaps that they record may be missing' }] };
}

/** Returns the gap of a frame; `null` if it cannot be read. */
function gapIn(file: FrameFile, frame: Frame): Gap | null {
  try {
    return gapOf(file.json(frame) as Readonly<Record<string, unknown>>);
  } catch {
    return null;
  }
}

class DayScan {
  readonly #expected: Expected;
  #head: Head | null = null;
  #rows = 0;
  #next = 0;
  #bytes = 0;
  #to = -Infinity;
  #closed = false;
  #hash: string | null = null;
  #seenDepth: number | null = null;
  #lost: string | null = null;
  #lostStart: string | null = null;
  readonly #blocks: ScannedBlock[] = [];
  readonly #rules: { at: Millis; rules: BookRules }[] = [];
  readonly #gaps: Gap[] = [];
  readonly #flaws: DataFlaw[] = [];

  constructor(expected: Expected) {
    this.#expected = expected;
  }

  read(path: string, copy?: Uint8Array): void {
    const file = new FrameFile(path, copy);
    try {
      this.#bytes += file.size;
      const { frames, damaged, end } = file.frames(this.#expected.skip);
      if (end < file.size) {
        const what = `incomplete end of ${path}`;
        this.#flaws.push({ what, count: file.size - end, done: 'bytes after the last complete frame were not read' });
      }
      const [first] = damaged;
      if (first && !this.#expected.skip) throw new Error(`${path}: damaged at byte ${first.at}; ${REMEDY}`);
      for (const frame of damaged) {
        this.#flaws.push({
          what: `damaged block in ${path}`,
          count: 1,
          done: `the block at byte ${frame.at} was skipped; its time span is a gap`,
        });
      }
      let met = 0;
      for (const frame of frames) {
        for (; (damaged[met]?.at ?? Infinity) < frame.at; met++) this.#lost ??= 'a damaged block';
        this.#frame(file, frame, copy);
      }
    } finally {
      file.close();
    }
  }

  #frame(file: FrameFile, frame: Frame, copy?: Uint8Array): void {
    if (this.#head === null) {
      this.#head = this.#checkedHead(headOf(file.json(frame), file.path), file.path);
      this.#rules.push({ at: startOfDay(this.#head.day), rules: this.#head.rules });
      return;
    }
    this.#closed = frame.tag === TAG.end;
    if (frame.tag === TAG.rows || frame.tag === TAG.snapshot) this.#block(file, frame, copy);
    else this.#record(file, frame);
  }

  #checkedHead(head: Head, path: string): Head {
    const { book, day } = this.#expected;
    if (head.book !== book) throw new Error(`${path}: is a tape of ${head.book}, but is in the folder of ${book}`);
    if (head.day !== day) throw new Error(`${path}: contains data of ${head.day}, but is in the folder of ${day}`);
    return head;
  }

  #block(file: FrameFile, frame: Frame, copy?: Uint8Array): void {
    const summary = blockSummaryOf(file.summaryBytes(frame));
    const { firstRow, rows } = summary;
    const isSnapshot = frame.tag === TAG.snapshot;
    // After a crash between sealing a block and emptying the tail, the tail repeats rows of the block.
    if (!isSnapshot && firstRow + rows <= this.#next) return;
    const where = `${file.path}: rows ${firstRow} to ${firstRow + rows} at byte ${frame.at}`;
    if (firstRow !== this.#next) {
      if (this.#lost === null)
        throw new Error(`${where}: expected a block that starts at row ${this.#next}; ${REMEDY}`);
    }
    if (this.#lost !== null && !isSnapshot) {
      this.#next = firstRow + rows;
      return;
    }
    const [from, to] = [summary.from / 1000, summary.to / 1000];
    if (from < this.#to) throw new Error(`${where} are earlier than the previous row; the tape is not in time order`);
    const start = startOfDay(this.#expected.day);
    if (!(from >= start && to < start + 86_400_000)) throw new Error(`${where} are not of ${this.#expected.day}`);
    if (this.#lost !== null) {
      if (Number.isFinite(this.#to)) this.#gaps.push({ from: this.#to, to: from, why: this.#lost });
      else this.#lostStart = this.#lost;
    }
    const afterLoss = this.#lost !== null || (isSnapshot && this.#blocks.at(-1)?.afterLoss === true);
    this.#blocks.push({
      ...summary,
      from,
      to,
      path: file.path,
      ...(copy && { copy }),
      frame,
      isSnapshot,
      afterLoss,
      rules: this.#rules.length - 1,
    });
    this.#lost = null;
    this.#next = isSnapshot ? firstRow : firstRow + rows;
    if (!isSnapshot) {
      this.#rows += rows;
      this.#to = to;
    }
  }

  #record(file: FrameFile, frame: Frame): void {
    const value = file.json(frame) as Readonly<Record<string, unknown>>;
    const { at, rules, entries, hash, depth = null } = value;
    const isDepth = depth === null || (Number.isSafeInteger(depth) && (depth as number) > 0);
    const gap = frame.tag === TAG.gap ? gapOf(value) : null;
    const flaws = frame.tag === TAG.flaws ? flawsOf(entries) : null;
    if (frame.tag === TAG.rules && typeof at === 'number' && isRules(rules)) this.#rules.push({ at, rules });
    else if (gap !== null) this.#gaps.push(gap);
    else if (flaws !== null) for (const entry of flaws) this.#flaws.push(entry);
    else if (frame.tag === TAG.end && isDepth && typeof hash === 'string' && /^[0-9a-f]{1,128}$/.test(hash)) {
      this.#hash = hash;
      this.#seenDepth = depth as number | null;
    } else throw new Error(`${file.path}: frame ${frame.tag} at byte ${frame.at} has invalid content`);
  }

  result(path: string): ScannedDay {
    if (this.#head === null) throw new Error(`${path}: has no complete frame; no data was recorded`);
    // No later snapshot of this day restores the book, so the gap extends to the end of the day.
    if (this.#lost !== null && Number.isFinite(this.#to)) {
      this.#gaps.push({ from: this.#to, to: startOfDay(this.#head.day) + 86_400_000, why: this.#lost });
    }
    const whole = this.#closed && this.#lost === null && this.#next === this.#rows;
    return {
      day: this.#head.day,
      head: this.#head,
      rows: this.#rows,
      bytes: this.#bytes,
      from: this.#blocks.find(block => !block.isSnapshot)?.from ?? Infinity,
      to: this.#to,
      closed: this.#closed,
      lostStart: this.#lostStart,
      lostEnd: this.#lost,
      seenDepth: this.#closed ? this.#seenDepth : null,
      hash: whole ? this.#hash : null,
      blocks: this.#blocks,
      rules: this.#rules,
      gaps: this.#gaps,
      flaws: this.#flaws,
    };
  }
}
