/** Appends to a stored tape: durable when it says so, never harming what was written, a new file set each UTC day. */
import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lotOf } from '../../core/index.ts';
import type { BookRules, DecimalText, Millis } from '../../core/index.ts';
import { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { ContentHash } from './contentHash.ts';
import {
  bookFolder,
  DAY_MS,
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
} from './dayFiles.ts';
import type { Head } from './dayFiles.ts';
import { frameOf, jsonFrame, TAG } from './frames.ts';
import { recoverDay } from './recoverDay.ts';
import { BLOCK_ROWS, columnBuffers, encodeRows, firstRows } from './rowsCodec.ts';
import { RowSink } from '../model/rowSink.ts';
import { SeenDepth } from '../model/seenDepth.ts';
import { KIND } from '../model/tape.ts';
import type { DataFlaw, Gap, Kind, SideCode } from '../model/tape.ts';

export type TapeWriterOptions = {
  /** The tape's folder; made when it is not there, continued when it is. */
  readonly dir: string;
  /** In force now. Prices are in ticks of these, amounts in lots. */
  readonly rules: BookRules;
  readonly lot?: DecimalText;
  /** Where the rows come from, for people. */
  readonly source: string;
  /** Levels a side that the source can show; Infinity (default) for a whole book. The day says how many it did show. */
  readonly depth?: number;
  readonly quotesOnly?: boolean;
  /** Rows of a sealed block: fewer make shorter pauses (some 0.7 ms a thousand), more a smaller file. Default and most 65,536. */
  readonly blockRows?: number;
};

/** A snapshot of the book stands before every so many blocks: the price of reading from the middle. */
const SNAPSHOT_EVERY = 16;
/** 2255: beyond it a microsecond is not a whole number any more. */
const MICROS_MAX = Number.MAX_SAFE_INTEGER;

export class TapeWriter extends RowSink {
  /** What was found and mended when it was opened, for people; empty when there was nothing. */
  readonly mended: readonly string[];
  /** Time of the last row that an earlier writer left; null in a new tape. What came between is for the caller to tell, by `gap`. */
  readonly resumedFrom: Millis | null;
  readonly #options: TapeWriterOptions;
  readonly #blockRows: number;
  readonly #pending = columnBuffers(BLOCK_ROWS);
  readonly #snapshot = new TapeSnapshot();
  /** Of the day that is written; `null` for whole books. */
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

  /** Throws an Error of one line when the folder holds another instrument, or what it holds is damaged in the middle. */
  constructor(options: TapeWriterOptions) {
    super();
    this.#options = options;
    this.#seen = this.#newSeen();
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
    this.resumedFrom = Number.isFinite(found.lastAt) ? found.lastAt : null;
    this.#lastAt = found.lastAt;
    if (found.head === null) return;
    this.lot = found.head.lot;
    this.#day = { name: last, ...openDay(folder), rows: found.sealed, hash: found.hash, done: found.done };
    this.#dayEnd = startOfDay(last) + DAY_MS;
    this.#count = found.pending;
    this.#flushed = found.pending;
    const now = this.#rules;
    this.#rules = found.rules;
    if (!sameRules(now, found.rules)) this.rulesChanged(now, this.#lastAt);
  }

  /** Lot that amounts are counted in: the tape's, where it goes on with one. */
  readonly lot: DecimalText;

  /** Rows appended by this writer. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes of the day that is being written. */
  get bytes(): number {
    return this.#day === null ? 0 : this.#day.size + this.#day.tailSize;
  }

  /** Time of the last row; -Infinity before the first. */
  get lastAt(): Millis {
    return this.#lastAt;
  }

  /** Rows whose time lay before the row above; they were given that row's time. */
  get backwards(): number {
    return this.#backwards;
  }

  /** True where the book that the rows so far tell is this one. */
  shows(book: TapeSnapshot): boolean {
    return this.#snapshot.equals(book);
  }

  /** From the next row on; `at` says when. With another tick the book is forgotten: a `clear` and the levels in new ticks must follow. */
  rulesChanged(rules: BookRules, at: Millis): void {
    if (rules.book !== this.#rules.book)
      throw new Error(`the tape is of ${this.#rules.book}, found rules of ${rules.book}`);
    if (rules.tickSize !== this.#rules.tickSize) this.#snapshot.forget();
    this.#rules = plainRules(rules);
    if (this.#day === null) return;
    this.#seal();
    this.#write(jsonFrame(TAG.rules, { row: this.#day.rows, at, rules: this.#rules }));
  }

  /** A time of which the tape knows nothing. Durable with the next flush. */
  gap(gap: Gap): void {
    this.#open(Math.max(gap.from, this.#lastAt, 0));
    this.#write(jsonFrame(TAG.gap, { from: gap.from, to: gap.to, why: gap.why }));
  }

  /** What was found wrong in the source. Durable with the next flush. */
  flaws(entries: readonly DataFlaw[]): void {
    if (entries.length === 0) return;
    this.#open(Math.max(this.#lastAt, 0));
    this.#write(jsonFrame(TAG.flaws, { entries }));
  }

  /** When it returns, every row so far survives whatever becomes of this process or machine. Throws when the disk does not take it. */
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

  /** Seals the day. A tape that is not closed can be continued, or read, all the same. */
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
        `a tape row needs times between 1970 and 2255 and whole ticks, lots and ids, found ${at} ${local} ${price} ${amount} ${id}`,
      );
    }
    // To the microsecond, as it will be read: the day is of that time too.
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
    // Adding 0 makes 0 of -0.
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

  /** Makes the day of that time the one that is written. */
  #open(at: Millis): void {
    if (this.#closed) throw new Error('the tape writer is closed');
    if (this.#day !== null && at < this.#dayEnd) return;
    const previous = this.#day?.name ?? null;
    this.#closeDay();
    const { dir, rules, source, depth = Infinity, quotesOnly = false } = this.#options;
    const day = dayOf(at);
    const folder = dayFolder(dir, rules.book, day);
    mkdirSync(folder, { recursive: true });
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
    for (const name of [folder, bookFolder(dir, rules.book), dir]) syncFolder(name);
  }

  #newSeen(): SeenDepth | null {
    return (this.#options.depth ?? Infinity) === Infinity ? null : new SeenDepth();
  }

  #seal(): void {
    const day = this.#day;
    if (day === null || this.#count === 0) return;
    const columns = firstRows(this.#pending, this.#count);
    this.#write(frameOf(TAG.rows, encodeRows(columns, 0, this.#count, day.rows)));
    day.hash.add(columns);
    day.rows += this.#count;
    // Only when the block is safe may the tail go that has the same rows.
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
    this.#seen = this.#newSeen();
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
  /** Sealed. */
  rows: number;
  readonly hash: ContentHash;
  /** Its last frame says so. */
  done: boolean;
};

function openDay(folder: string): Omit<OpenDay, 'name' | 'rows' | 'hash' | 'done'> {
  const file = openSync(join(folder, ROWS_FILE), 'a');
  const tail = openSync(join(folder, TAIL_FILE), 'a');
  return { folder, file, tail, size: fstatSync(file).size, tailSize: fstatSync(tail).size, unsynced: false };
}

/** Writes the frame whole or throws; returns the new size. Two writers on one tape would destroy it, so a file that grew by itself ends this one. */
function appended(fd: number, size: number, frame: Buffer, folder: string): number {
  const found = fstatSync(fd).size;
  if (found !== size) {
    throw new Error(
      `${folder}: changed while it was written (${found} bytes, expected ${size}): does another process record into it?`,
    );
  }
  try {
    for (let done = 0; done < frame.length;) done += writeSync(fd, frame, done, frame.length - done);
  } catch (error) {
    // A full disk may have taken a part; the file must end with a whole frame when there is room again.
    ftruncateSync(fd, size);
    throw error;
  }
  return size + frame.length;
}

function syncFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
