/**
 * Writer that appends rows to a stored tape. Rows are durable after `flush`, earlier rows stay intact, and each UTC day
 * has its own files.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS, counted, lotOf, type BookRules, type DecimalText, type Millis } from '../../core/index.ts';
import { syncFolder, makeFolder } from '../../guard/index.ts';
import { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { ContentHash } from './contentHash.ts';
import {
  bookFolder,
  dayFolder,
  dayOf,
  FORMAT,
  partitions,
  plainRules,
  ROWS_FILE,
  sameRules,
  startOfDay,
  TAIL_FILE,
  VERSION,
  type Head,
} from './dayFiles.ts';
import { frameOf, jsonFrame, TAG } from './frames.ts';
import { seenDepthOf } from './dayDepth.ts';
import { recoverDay } from './recoverDay.ts';
import { BLOCK_ROWS, columnBuffers, encodeRows, firstRows } from './rowsCodec.ts';
import { scanDay } from './scanDay.ts';
import { RowSink } from '../model/rowSink.ts';
import { SeenDepth } from '../model/seenDepth.ts';
import { KIND, type DataFlaw, type Gap, type Kind, type SideCode } from '../model/tape.ts';

export type TapeWriterOptions = {
  /** Folder of the tape; created if missing, continued if it exists. */
  readonly dir: string;
  /** Current rules. Prices are in ticks of these rules, amounts in lots. */
  readonly rules: BookRules;
  readonly lot?: DecimalText;
  /** Origin of the rows, as text for the operator. */
  readonly source: string;
  /**
   * Number of levels per side that the source can show; Infinity (default) for a complete book. The writer also records
   * the number of levels that it has seen.
   */
  readonly depth?: number;
  readonly quotesOnly?: boolean;
  /**
   * Number of rows in a sealed block. Sealing pauses the writer for about 0.7 ms per 1,000 rows; larger blocks make a
   * smaller file. Default and maximum: 65,536.
   */
  readonly blockRows?: number;
};

/**
 * Number of blocks between two snapshots of the book. A read from the middle of a tape can start only at a snapshot or
 * at the start of a day.
 */
const SNAPSHOT_EVERY = 16;
/** Maximum time in microseconds, in the year 2255. Later times would not be exact. */
const MICROS_MAX = Number.MAX_SAFE_INTEGER;

export class TapeWriter extends RowSink {
  /** Repairs made on opening, as text for the operator; empty if there were none. */
  readonly mended: readonly string[];
  /**
   * Time of the last row of the book of an earlier writer; `null` in a new tape. Later trades do not show that the book
   * was known. The caller must record the time since this row as a gap, with `gap`.
   */
  readonly resumedFrom: Millis | null;
  readonly #options: TapeWriterOptions;
  readonly #blockRows: number;
  readonly #pending = columnBuffers(BLOCK_ROWS);
  readonly #snapshot = new TapeSnapshot();
  /** Number of levels seen on the current day, or on those before it; `null` for complete books. */
  #seen: SeenDepth | null = null;
  #rules: BookRules;
  #day: OpenDay | null = null;
  #dayEnd = -Infinity;
  #count = 0;
  #flushed = 0;
  #lastAt = -Infinity;
  #backwards = 0;
  #blocks = 0;
  #rows = 0;
  #closed = false;

  /**
   * Opens a tape for appending rows. Throws an Error of one line if the folder has another instrument, or if its data
   * is damaged before the end.
   */
  constructor(options: TapeWriterOptions) {
    super();
    this.#options = options;
    if ((options.depth ?? Infinity) !== Infinity) this.#seen = new SeenDepth();
    this.#blockRows = Math.min(BLOCK_ROWS, Math.max(1, options.blockRows ?? BLOCK_ROWS));
    this.#rules = plainRules(options.rules);
    this.lot = options.lot ?? lotOf(options.rules);
    const last = partitions(bookFolder(options.dir, options.rules.book), 'day=').at(-1);
    if (last === undefined) {
      this.mended = [];
      this.resumedFrom = null;
      return;
    }
    const folder = dayFolder(options.dir, options.rules.book, last);
    const expected = { book: options.rules.book, lot: options.lot, rules: this.#rules };
    const found = recoverDay(folder, expected, this.#snapshot, this.#pending);
    this.mended = found.mended;
    this.resumedFrom = Number.isFinite(found.lastAt) ? Math.max(found.bookAt, startOfDay(last)) : null;
    this.#lastAt = found.lastAt;
    if (found.head === null) return;
    const { book } = options.rules;
    if (this.#seen !== null)
      this.#seen = seenDepthOf(bookFolder(options.dir, book), scanDay(folder, { book, day: last, skip: false }));
    this.lot = found.head.lot;
    this.#day = { name: last, ...openDay(folder), rows: found.sealed, hash: found.hash, done: found.done };
    this.#dayEnd = startOfDay(last) + DAY_MS;
    this.#count = found.pending;
    this.#flushed = found.pending;
    const now = this.#rules;
    this.#rules = found.rules;
    if (!sameRules(now, found.rules)) this.rulesChanged(now, this.#lastAt);
  }

  /** Lot of the amounts; if a tape is continued, the lot of that tape. */
  readonly lot: DecimalText;

  /** Number of rows appended by this writer. */
  get rows(): number {
    return this.#rows;
  }

  /** Size of the current day in bytes. */
  get bytes(): number {
    return this.#day === null ? 0 : this.#day.size + this.#day.tailSize;
  }

  /** Time of the last row; -Infinity before the first. */
  get lastAt(): Millis {
    return this.#lastAt;
  }

  /**
   * Number of rows, not counting `level` rows, that were earlier than the previous row. Each was stored with the time
   * of the previous row.
   */
  get backwards(): number {
    return this.#backwards;
  }

  /** Whether the book after all rows so far equals `book`. */
  shows(book: TapeSnapshot): boolean {
    return this.#snapshot.equals(book);
  }

  /**
   * Applies rules from the next row on; `at` is the time of the change. If the tick changes, the writer discards its
   * book. The caller must then write a `clear` and the levels in new ticks.
   */
  rulesChanged(rules: BookRules, at: Millis): void {
    if (rules.book !== this.#rules.book)
      throw new Error(`expected rules of ${this.#rules.book}, found rules of ${rules.book}`);
    if (rules.tickSize !== this.#rules.tickSize) this.#snapshot.forget();
    this.#rules = plainRules(rules);
    if (this.#day === null) return;
    this.#seal();
    this.#write(jsonFrame(TAG.rules, { row: this.#day.rows, at, rules: this.#rules }));
  }

  /** Records a time range without data. The record is durable after the next flush. */
  gap(gap: Gap): void {
    this.#open(Math.max(gap.from, this.#lastAt, 0));
    this.#write(jsonFrame(TAG.gap, { from: gap.from, to: gap.to, why: gap.why }));
  }

  /** Records flaws of the source. The record is durable after the next flush. */
  flaws(entries: readonly DataFlaw[]): void {
    if (entries.length === 0) return;
    this.#open(Math.max(this.#lastAt, 0));
    this.#write(jsonFrame(TAG.flaws, { entries }));
  }

  /**
   * Makes every row written so far durable, so that it survives a crash of the process or machine. Throws if the write
   * to disk fails.
   */
  flush(): void {
    const day = this.#day;
    if (day === null) return;
    if (this.#count > this.#flushed) {
      const block = encodeRows(
        firstRows(this.#pending, this.#count),
        this.#flushed,
        this.#count,
        day.rows + this.#flushed,
      );
      day.tailSize = appended(day.tail, day.tailSize, frameOf(TAG.rows, block), day.folder);
      this.#flushed = this.#count;
      fdatasyncSync(day.tail);
    }
    if (day.unsynced) fdatasyncSync(day.file);
    day.unsynced = false;
  }

  /** Seals the day. A tape that is not closed can still be continued or read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closeDay();
  }

  protected push(
    kind: Kind,
    side: SideCode,
    at: Millis,
    local: Millis,
    price: number,
    amount: number,
    id: number,
  ): void {
    const whole = Number.isSafeInteger(price) && Number.isSafeInteger(amount) && Number.isSafeInteger(id);
    const timely = at >= 0 && at * 1000 <= MICROS_MAX && Math.abs(local) * 1000 <= MICROS_MAX;
    if (!(whole && timely && amount >= 0) || (kind === KIND.clear && (price !== 0 || amount !== 0))) {
      throw new RangeError(
        `a tape row needs times in the years 1970 to 2255, and a price, amount and id in whole numbers; found times ${at} and ${local}, price ${price}, amount ${amount}, id ${id}`,
      );
    }
    // The time is rounded to the stored microseconds; the rounded time determines the day.
    let time = Math.round(at * 1000) / 1000;
    if (time < this.#lastAt) {
      time = this.#lastAt;
      if (kind !== KIND.level) this.#backwards++;
    }
    if (time >= this.#dayEnd || this.#day === null) this.#open(time);
    const n = this.#count;
    const to = this.#pending;
    to.kind[n] = kind;
    to.side[n] = side;
    to.at[n] = time;
    to.local[n] = Math.round(local * 1000) / 1000;
    // Adding 0 turns -0 into 0.
    to.price[n] = price + 0;
    to.amount[n] = amount + 0;
    to.id[n] = kind >= KIND.trade ? id + 0 : 0;
    this.#lastAt = time;
    this.#snapshot.apply(kind, side, price, amount, id);
    this.#seen?.take(kind, side, time, price, amount);
    this.#count = n + 1;
    this.#rows++;
    if (this.#count >= this.#blockRows) this.#seal();
  }

  /** Opens the day of the time `at` for writing. */
  #open(at: Millis): void {
    if (this.#closed) throw new Error('the tape writer is closed');
    if (this.#day !== null && at < this.#dayEnd) return;
    const previous = this.#day?.name ?? null;
    this.#closeDay();
    const { dir, rules, source, depth = Infinity, quotesOnly = false } = this.#options;
    const day = dayOf(at);
    const folder = dayFolder(dir, rules.book, day);
    makeFolder(folder);
    this.#day = { name: day, ...openDay(folder), rows: 0, hash: new ContentHash(), done: false };
    this.#dayEnd = startOfDay(day) + DAY_MS;
    const head: Head = {
      format: FORMAT,
      version: VERSION,
      book: rules.book,
      day,
      previous,
      lot: this.lot,
      source,
      depth: depth === Infinity ? null : depth,
      quotesOnly,
      rules: this.#rules,
    };
    this.#write(jsonFrame(TAG.head, head));
    this.#blocks = 0;
    this.#writeSnapshot(at);
    fdatasyncSync(this.#day.file);
    for (const name of [folder, bookFolder(dir, rules.book), dir]) if (existsSync(name)) syncFolder(name);
  }

  #seal(): void {
    const day = this.#day;
    if (day === null || this.#count === 0) return;
    const columns = firstRows(this.#pending, this.#count);
    this.#write(frameOf(TAG.rows, encodeRows(columns, 0, this.#count, day.rows)));
    day.hash.add(columns);
    day.rows += this.#count;
    // The tail is emptied only after the block with its rows is durable.
    fdatasyncSync(day.file);
    day.unsynced = false;
    ftruncateSync(day.tail);
    day.tailSize = 0;
    this.#count = 0;
    this.#flushed = 0;
    this.#blocks++;
    if (this.#blocks % SNAPSHOT_EVERY === 0) this.#writeSnapshot(this.#lastAt);
  }

  #writeSnapshot(at: Millis): void {
    const rows = this.#snapshot.rows(at);
    for (let from = 0; from < rows.length; from += BLOCK_ROWS) {
      const to = Math.min(rows.length, from + BLOCK_ROWS);
      this.#write(frameOf(TAG.snapshot, encodeRows(rows, from, to, this.#day?.rows ?? 0)));
    }
  }

  #write(frame: Buffer): void {
    const day = this.#day;
    if (day === null) throw new Error('no day of the tape is open');
    day.size = appended(day.file, day.size, frame, day.folder);
    day.unsynced = true;
    day.done = false;
  }

  #closeDay(): void {
    const day = this.#day;
    if (day === null) return;
    this.#seal();
    const depth = this.#seen?.levels ?? null;
    const seen = depth === null ? {} : { depth };
    if (!day.done) this.#write(jsonFrame(TAG.end, { rows: day.rows, hash: day.hash.digest(), ...seen }));
    if (this.#seen !== null) this.#seen = new SeenDepth(depth);
    fdatasyncSync(day.file);
    closeSync(day.file);
    closeSync(day.tail);
    rmSync(join(day.folder, TAIL_FILE), { force: true });
    this.#day = null;
  }
}

type OpenDay = {
  readonly name: string;
  readonly folder: string;
  readonly file: number;
  readonly tail: number;
  size: number;
  tailSize: number;
  unsynced: boolean;
  /** Number of rows in sealed blocks. */
  rows: number;
  readonly hash: ContentHash;
  /** Whether the last frame closes the day. */
  done: boolean;
};

function openDay(folder: string): Omit<OpenDay, 'name' | 'rows' | 'hash' | 'done'> {
  const file = openSync(join(folder, ROWS_FILE), 'a');
  const tail = openSync(join(folder, TAIL_FILE), 'a');
  return { folder, file, tail, size: fstatSync(file).size, tailSize: fstatSync(tail).size, unsynced: false };
}

/**
 * Writes a complete frame or throws; returns the new file size. Throws if the file has grown unexpectedly, because two
 * writers would destroy a tape.
 */
function appended(fd: number, size: number, frame: Buffer, folder: string): number {
  const found = fstatSync(fd).size;
  if (found !== size) {
    throw new Error(
      `${folder}: changed during a write (${counted(found, 'byte')}, expected ${size}); stop the other process that writes to the tape`,
    );
  }
  try {
    for (let done = 0; done < frame.length;) done += writeSync(fd, frame, done, frame.length - done);
  } catch (error) {
    // A full disk may have stored a part of the frame. The file is cut back to its last complete frame.
    ftruncateSync(fd, size);
    throw error;
  }
  return size + frame.length;
}
