/**
 * Reader of scanned days, block by block, into the caller's columns. A read from the middle of a tape starts with a
 * snapshot of the book.
 */
import { counted, instrumentOf, type BookRules, type Instrument, type Millis } from '../../core/index.ts';
import { COLUMN_NAMES } from '../model/columns.ts';
import { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { FrameFile, REMEDY } from './frames.ts';
import { BLOCK_ROWS, columnBuffers, firstRows, RowsDecoder, type ColumnBuffers } from './rowsCodec.ts';
import type { ScannedBlock, ScannedDay } from './scanDay.ts';
import type { Columns } from '../model/tape.ts';

/** Consecutive rows under one set of rules. */
export type TapeChunk = { readonly columns: Columns; readonly rules: BookRules; readonly instrument: Instrument };

export type ReadOptions = {
  readonly from: Millis;
  readonly to: Millis;
  readonly micros: boolean;
  /**
   * Whether the reader also returns the book snapshots that the days store, wherever earlier rows are unknown. Default:
   * true.
   */
  readonly snapshots?: boolean;
};

type Step = { readonly block: ScannedBlock; readonly rules: number };

export class ChunkReader {
  readonly #steps: readonly Step[];
  readonly #decoder = new RowsDecoder();
  readonly #unit: number;
  readonly #options: ReadOptions;
  readonly #tickSizes: readonly string[];
  /** Snapshots at the start of a day that only repeat the book at the end of the previous day. */
  readonly #continued: ReadonlySet<ScannedBlock>;
  #next = 0;
  #file: FrameFile | null = null;
  /** Rows of the book at the requested start, and the remaining rows of the block that contains the start. */
  #made: Columns[] = [];
  /** Index of the rules that apply to the rows in `#made`. */
  #madeRules = 0;
  #ended = false;

  constructor(days: readonly ScannedDay[], options: ReadOptions) {
    this.#options = options;
    this.#unit = options.micros ? 1000 : 1;
    this.#tickSizes = days.flatMap(day => day.rules.map(({ rules }) => rules.tickSize));
    const all = stepsOf(days, options);
    this.#continued = new Set(days.flatMap((day, i) => (continuesDay(days[i - 1], day) ? opening(day.blocks) : [])));
    const begin = beginOf(all, options.from);
    if (begin === null) {
      this.#steps = all.filter(isWanted(days, all));
      return;
    }
    this.#steps = all.slice(begin + 1).filter(isWanted(days, all));
    this.#lead(all.slice(leadOf(all, begin), begin + 1));
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /**
   * Reads rows into the columns, from index 0. Returns the number of rows and the index of their rules among all days'
   * rules; `null` at the end.
   */
  next(to: ColumnBuffers): { readonly length: number; readonly rules: number } | null {
    const [made] = this.#made;
    if (made) {
      const length = Math.min(made.length, to.kind.length);
      copy(made, to, length);
      if (length === made.length) this.#made.shift();
      else this.#made[0] = rest(made, length);
      return { length, rules: this.#madeRules };
    }
    let length = 0;
    let rules = 0;
    for (let step = this.#steps[this.#next]; step !== undefined && !this.#ended; step = this.#steps[++this.#next]) {
      if (length > 0 && (step.rules !== rules || length + step.block.rows > to.kind.length)) break;
      rules = step.rules;
      const rows = this.#read(step.block, to, length);
      length += rows;
      if (step.block.to > this.#options.to) {
        const last = this.#options.to * this.#unit;
        while (length > 0 && to.at[length - 1]! > last) length--;
        this.#ended = true;
      }
    }
    return length === 0 ? null : { length, rules };
  }

  /** Builds the book at time `from`, and reads the remaining rows of the block that contains this time. */
  #lead(steps: readonly Step[]): void {
    const snapshot = new TapeSnapshot();
    const buffers = columnBuffers(BLOCK_ROWS);
    const first = this.#options.from * this.#unit;
    const last = this.#options.to * this.#unit;
    let at = first;
    let before: Step | undefined;
    for (const step of steps) {
      if (before && this.#tickSizes[step.rules] !== this.#tickSizes[before.rules]) snapshot.forget();
      before = step;
      const rows = firstRows(buffers, this.#read(step.block, buffers, 0));
      let begin = 0;
      while (begin < rows.length && (step.block.isSnapshot || rows.at[begin]! < first)) begin++;
      if (step.block.isSnapshot && !this.#continued.has(step.block)) at = Math.max(at, rows.at[0] ?? at);
      snapshot.applyRows(rows, 0, begin);
      if (step !== steps.at(-1)) continue;
      let end = begin;
      while (end < rows.length && rows.at[end]! <= last) end++;
      if (end < rows.length) this.#ended = true;
      this.#madeRules = step.rules;
      this.#made = [snapshot.rows(at), firstRows(buffers, end - begin, begin)].filter(({ length }) => length > 0);
    }
  }

  #read(block: ScannedBlock, to: ColumnBuffers, offset: number): number {
    if (this.#file?.path !== block.path) {
      this.#file?.close();
      this.#file = new FrameFile(block.path, block.copy);
    }
    try {
      return this.#decoder.decode(this.#file.payload(block.frame), to, offset, this.#options.micros);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const times = `${new Date(block.from).toISOString()} to ${new Date(block.to).toISOString()}`;
      throw new Error(
        `${why} (${block.path}, rows ${block.firstRow} to ${block.firstRow + block.rows}, ${times}); ${REMEDY}`,
        { cause: error },
      );
    }
  }
}

/**
 * Returns the blocks that a reader of these days needs. For a start inside the tape, the result includes earlier
 * blocks, from which the reader builds the book at the start. The reader returns this book first, beginning with a
 * `clear`.
 */
export function blocksToRead(days: readonly ScannedDay[], options: ReadOptions): readonly ScannedBlock[] {
  const all = stepsOf(days, options);
  const begin = beginOf(all, options.from);
  const wanted = isWanted(days, all);
  if (begin === null) return all.filter(wanted).map(({ block }) => block);
  const lead = leadOf(all, begin);
  return all
    .slice(lead)
    .filter((step, i) => i + lead <= begin || wanted(step))
    .map(({ block }) => block);
}

/**
 * Returns the index of the step that contains `from`, or of the last step if `from` is later than every row. Returns
 * `null` if the read starts with the first row.
 */
function beginOf(all: readonly Step[], from: Millis): number | null {
  if (from === -Infinity || all.length === 0) return null;
  const found = all.findIndex(({ block }) => !block.isSnapshot && block.to >= from);
  return found < 0 ? all.length - 1 : found;
}

function stepsOf(days: readonly ScannedDay[], { to, snapshots = true }: ReadOptions): Step[] {
  let rulesBefore = 0;
  return days.flatMap(day => {
    const base = rulesBefore;
    rulesBefore += day.rules.length;
    return day.blocks
      .filter(block => block.from <= to && (snapshots || !block.isSnapshot))
      .map(block => ({ block, rules: base + block.rules }));
  });
}

/**
 * Returns a filter of steps. The filter accepts every block of rows, and only those snapshots that are needed because
 * the rows before them are unknown.
 */
function isWanted(days: readonly ScannedDay[], all: readonly Step[]): (step: Step) => boolean {
  const unknown = new Set(days.filter((day, i) => !continuesDay(days[i - 1], day)).flatMap(day => opening(day.blocks)));
  // The first snapshots of the tape are always needed, because no rows precede them.
  const first = new Set(opening(all.map(({ block }) => block)));
  return ({ block }) => !block.isSnapshot || block.afterLoss || unknown.has(block) || first.has(block);
}

/**
 * Whether `day` continues `before`, so that the opening snapshots of `day` repeat a known book. `before` must be
 * closed with all its last rows, and `day` must name `before` as the previous day and have its first rows.
 */
export function continuesDay(before: ScannedDay | undefined, day: ScannedDay): boolean {
  return (
    before?.closed === true && before.lostEnd === null && day.lostStart === null && day.head.previous === before.day
  );
}

/** Returns the snapshots at the start of the blocks. */
function opening(blocks: readonly ScannedBlock[]): readonly ScannedBlock[] {
  const end = blocks.findIndex(block => !block.isSnapshot);
  return end < 0 ? blocks : blocks.slice(0, end);
}

/** Returns the path up to and including its last separator. */
const directoryOf = (path = ''): string => path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

/**
 * Returns the index of the step at which a read must start, so that the book at step `begin` is known. This step is the
 * last snapshot before `begin`, or the first block of the day of `begin`.
 */
function leadOf(all: readonly Step[], begin: number): number {
  const path = (i: number) => directoryOf(all[i]?.block.path);
  let lead = begin;
  while (lead > 0 && path(lead - 1) === path(begin)) {
    lead--;
    if (all[lead]?.block.isSnapshot && !all[lead - 1]?.block.isSnapshot) break;
  }
  return lead;
}

function copy(from: Columns, to: ColumnBuffers, length: number): void {
  for (const key of COLUMN_NAMES) to[key].set(from[key].subarray(0, length));
}

function rest(columns: Columns, from: number): Columns {
  return firstRows(columns, columns.length - from, from);
}

/**
 * Returns a function that combines rows with the rules and the instrument of the given index. Throws a RangeError if no
 * day has this index.
 */
export function chunkMaker(days: readonly ScannedDay[]): (columns: Columns, rules: number) => TapeChunk {
  const all = days.flatMap(day => day.rules.map(({ rules }) => ({ rules, lot: day.head.lot })));
  const instruments = new Map<number, Instrument>();
  return (columns, index) => {
    const found = all[index];
    if (!found)
      throw new RangeError(
        `a block refers to book rules number ${index}, but the tape has only ${counted(all.length, 'set')} of book rules`,
      );
    const instrument = instruments.get(index) ?? instrumentOf(found.rules, found.lot);
    instruments.set(index, instrument);
    return { columns, rules: found.rules, instrument };
  };
}
