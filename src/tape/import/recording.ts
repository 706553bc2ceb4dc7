/** Import of a recording into a tape, row by row, with a report of its contents and flaws. */
import { statSync } from 'node:fs';
import { counted, type BookRules, type DecimalText, type Instrument, type Millis } from '../../core/index.ts';
import { Inspection } from '../analysis/inspection.ts';
import { mergedGaps } from '../model/gaps.ts';
import { openParts, type MarketSession } from '../model/session.ts';
import { SessionRows } from '../model/sessionRows.ts';
import { KIND, type Columns, type DataFlaw, type Gap } from '../model/tape.ts';
import { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { Findings, WrongFile } from './read/findings.ts';
import type { ImportReading } from './lines.ts';
import { mergeRows, type Chunk } from './rows.ts';

/** Files of one book, in order of time. `trades` is empty if the trades are in the files of `books`. */
export type BookFiles = { readonly books: readonly string[]; readonly trades: readonly string[] };

/** One book of a recording, found but not yet read. */
export type Recording = {
  /** Location of the recording, for messages. */
  readonly source: string;
  readonly format: string;
  /** All files of the recording. */
  readonly files: readonly string[];
  /** Number of times that each file is read, for a progress bar. */
  readonly passes: number;
  readonly instrument: Instrument;
  /** Rules from the exchange; if omitted, rules with very wide bounds. */
  readonly rules?: BookRules;
  /** Whether per-order rows define the book instead of levels. */
  readonly fromOrders: boolean;
  /** Levels per side in the recording; Infinity for a complete book, 0 for trades only. */
  readonly depth: number;
  readonly quotesOnly: boolean;
  /**
   * Returns the streams of rows to merge. At equal times, rows of an earlier stream come first, and books come before
   * trades.
   */
  readonly streams: (reading: ImportReading) => readonly AsyncIterable<Chunk>[];
  /** Hours to import; other hours become gaps. If omitted, all hours are imported. */
  readonly session?: MarketSession;
  /** Notes about inferred values that the operator should confirm. */
  readonly notes: readonly string[];
};

/** Returns the total size of the files, times the number of passes. */
export const bytesToRead = ({ files, passes }: Pick<Recording, 'files' | 'passes'>): number =>
  files.reduce((sum, file) => sum + statSync(file).size, 0) * passes;

/** Destination of the rows, in order of time, such as a writer of stored tapes. */
export type RecordingSink = {
  append(columns: Columns): void;
  /** Receives a gap, before the first row that is at or after the end of the gap. */
  gap(gap: Gap): void;
};

/**
 * End of a tape that the import continues: time of the last row, a function that compares a book with the tape's last
 * book, and the gaps of the tape.
 */
export type TapeEnd = {
  readonly at: Millis;
  readonly shows: (book: TapeSnapshot) => boolean;
  readonly gaps: readonly Gap[];
};

export type ImportHow = {
  readonly end?: TapeEnd | undefined;
  /** Maximum delay, in ms, of late rows that are sorted into order of time. Default: 0. */
  readonly sortMs?: Millis | undefined;
};

export type ImportReport = {
  readonly source: string;
  readonly format: string;
  readonly book: string;
  readonly tick: DecimalText;
  readonly lot: DecimalText;
  readonly rows: number;
  readonly trades: number;
  /** Number of rows skipped because the continued tape already covers their time. */
  readonly skipped: number;
  /** Exchange times of the first and the last row, in epoch ms; `null` if no row was newer than the tape. */
  readonly from: Millis | null;
  readonly to: Millis | null;
  readonly gaps: readonly Gap[];
  readonly dirt: readonly DataFlaw[];
  readonly notes: readonly string[];
};

/**
 * Imports a recording. With `end`, only rows after the end of the tape are passed on; the time between the tape and a
 * later recording becomes a gap. With `sortMs`, rows that are late by at most this time are sorted into order of time.
 * Rejects with a WrongFile of one line if the recording cannot be used.
 */
export async function importRecording(
  recording: Recording,
  sink: RecordingSink,
  onBytes: (count: number) => void = () => undefined,
  { end, sortMs }: ImportHow = {},
): Promise<ImportReport> {
  const { instrument, source, format, notes } = recording;
  const since = end?.at ?? -Infinity;
  const findings = new Findings(since);
  const out = new Outlet(sink);
  const gaps = new GapsInOrder(gap => out.gap(gap));
  const before = end === undefined ? null : new RowsBefore(end);
  const hours = recording.session === undefined ? null : new SessionRows(recording.session);
  let trades = 0;
  let [from, to]: [Millis | null, Millis | null] = [null, null];
  let here: Place | null = null;
  let bookPlace: Place | null = null;
  let last = -Infinity;
  const atEnd: ((at: Millis) => void)[] = [];
  const inspection = new Inspection(recording.fromOrders, (what, done, isBook) => {
    const place = isBook ? bookPlace : here;
    if (place === null || timeOf(place) > since) findings.counted(what, done, textOfPlace(place));
  });
  const streams = recording.streams({
    instrument,
    findings,
    gap: gap => {
      const later = { ...gap, from: Math.max(gap.from, since) };
      // The tape may already contain a gap that starts at the end of the tape.
      if (gap.to > since && end?.gaps.some(({ from, to }) => from <= later.from && to >= later.to) !== true)
        gaps.wait(recording.session ? openParts(later, recording.session) : [later]);
    },
    onEnd: report => void atEnd.push(report),
    bytes: onBytes,
    sortMs,
  });
  await mergeRows(streams, (chunk, row) => {
    const { kind, side, at, price, amount, id } = chunk.columns;
    here = { chunk, row };
    const what = kind[row]!;
    const time = at[row]!;
    last = time;
    if (recording.depth > 0 && !inspection.take(what, side[row]!, time, price[row]!, amount[row]!, id[row]!)) return;
    if (what !== KIND.trade) bookPlace = here;
    const turn = hours?.row(chunk.columns, row) ?? null;
    if (turn?.gap && turn.gap.to > since) gaps.wait([{ ...turn.gap, from: Math.max(turn.gap.from, since) }]);
    if (turn?.isTaken === false) {
      if (turn.rows && from !== null) out.all(turn.rows);
      return;
    }
    if (before?.takes(chunk.columns, row) === true) return;
    if (from === null) gaps.wait(before?.gapTo(time) ?? []);
    gaps.tell(time);
    if (from === null) {
      const book = what === KIND.clear ? null : before?.book();
      if (book) out.all(book);
      from = time;
    }
    if (turn?.rows) {
      out.all(turn.rows);
      from = Math.min(from, turn.rows.at[0]!);
    }
    out.row(chunk.columns, row);
    if (what === KIND.trade) trades++;
    to = time;
  });
  inspection.end();
  const skipped = before?.rows ?? 0;
  if (hours?.taken === 0) throw new WrongFile(`${source}: no row is inside the session ${recording.session!.text}`);
  if (out.rows + skipped === 0 || (recording.depth > 0 && !inspection.begun))
    throw new WrongFile(`${source}: the recording contains no order book`);
  for (const report of atEnd) report(last);
  gaps.tell(Infinity);
  out.flush();
  const { symbol: book, tick, lot } = instrument;
  return {
    ...{ source, format, book, tick, lot, rows: out.rows, trades, skipped, from, to, gaps: mergedGaps(gaps.told) },
    ...{
      dirt: findings.flaws,
      notes: [...notes, ...(hours === null ? [] : [leftOut(hours.left, recording.session!)])],
    },
  };
}

/**
 * Buffer that merges overlapping gaps. Passes a gap on when the rows of all streams have reached the end of the gap.
 */
class GapsInOrder {
  readonly #tell: (gap: Gap) => void;
  #waiting: readonly Gap[] = [];
  readonly told: Gap[] = [];

  constructor(tell: (gap: Gap) => void) {
    this.#tell = tell;
  }

  wait(gaps: readonly Gap[]): void {
    if (gaps.length > 0) this.#waiting = mergedGaps([...this.#waiting, ...gaps]);
  }

  tell(upTo: Millis): void {
    if (this.#waiting.length === 0) return;
    for (const gap of this.#waiting.filter(({ to }) => to <= upTo)) {
      this.told.push(gap);
      this.#tell(gap);
    }
    this.#waiting = this.#waiting.filter(({ to }) => !(to <= upTo));
  }
}

const leftOut = (rows: number, { text }: MarketSession): string =>
  `session ${text}: ${counted(rows, 'row outside the session was', 'rows outside the session were')} skipped; the times between sessions are gaps`;

/** Filter that skips the rows of a recording that the continued tape already covers. */
class RowsBefore {
  readonly #end: TapeEnd;
  readonly #book = new TapeSnapshot();
  rows = 0;

  constructor(end: TapeEnd) {
    this.#end = end;
    this.#book.apply(KIND.clear, 0, 0, 0, 0);
  }

  /** Returns `true`, and skips the row, unless the row is newer than the tape's last row. */
  takes({ kind, side, at, price, amount, id }: Columns, row: number): boolean {
    if (at[row]! > this.#end.at) return false;
    this.#book.apply(kind[row]!, side[row]!, price[row]!, amount[row]!, id[row]!);
    this.rows++;
    return true;
  }

  /**
   * Returns the time between the end of the tape and the first row as a gap, unless the recording overlaps the tape.
   */
  gapTo(first: Millis): readonly Gap[] {
    return this.rows > 0
      ? []
      : [{ from: this.#end.at, to: first, why: 'no data between the earlier import and this import' }];
  }

  /**
   * Returns the recording's book at the end of the tape, as rows, if it differs from the tape's book. Later rows are
   * changes to this book.
   */
  book(): Columns | null {
    return this.#end.shows(this.#book) ? null : this.#book.rows(this.#end.at);
  }
}

type Place = { readonly chunk: Chunk; readonly row: number };
const timeOf = ({ chunk, row }: Place): Millis => chunk.columns.at[row]!;
const textOfPlace = (place: Place | null): string | undefined =>
  place === null ? undefined : `${place.chunk.file}:${place.chunk.line[place.row]}`;

const OUTLET_ROWS = 8_192;

/** Buffer that passes rows on in batches. */
class Outlet {
  readonly #sink: RecordingSink;
  readonly #columns = {
    kind: new Uint8Array(OUTLET_ROWS),
    side: new Uint8Array(OUTLET_ROWS),
    at: new Float64Array(OUTLET_ROWS),
    local: new Float64Array(OUTLET_ROWS),
    price: new Float64Array(OUTLET_ROWS),
    amount: new Float64Array(OUTLET_ROWS),
    id: new Float64Array(OUTLET_ROWS),
  };
  #held = 0;
  rows = 0;

  constructor(sink: RecordingSink) {
    this.#sink = sink;
  }

  row(from: Columns, row: number): void {
    const to = this.#columns;
    const n = this.#held;
    to.kind[n] = from.kind[row]!;
    to.side[n] = from.side[row]!;
    to.at[n] = from.at[row]!;
    to.local[n] = from.local[row]!;
    to.price[n] = from.price[row]!;
    to.amount[n] = from.amount[row]!;
    to.id[n] = from.id[row]!;
    this.#held = n + 1;
    this.rows++;
    if (this.#held === OUTLET_ROWS) this.flush();
  }

  all(rows: Columns): void {
    for (let i = 0; i < rows.length; i++) this.row(rows, i);
  }

  gap(gap: Gap): void {
    this.flush();
    this.#sink.gap(gap);
  }

  flush(): void {
    if (this.#held > 0) this.#sink.append({ ...this.#columns, length: this.#held });
    this.#held = 0;
  }
}
