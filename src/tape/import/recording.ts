/** Reads a recording of any format row by row into a tape, and tells what was in it and how dirty it was. */
import { statSync } from 'node:fs';
import type { BookRules, DecimalText, Instrument, Millis } from '../../core/index.ts';
import { Inspection } from '../analysis/inspection.ts';
import { mergedGaps, openParts } from '../model/session.ts';
import type { MarketSession } from '../model/session.ts';
import { SessionRows } from '../model/sessionRows.ts';
import { KIND } from '../model/tape.ts';
import type { Columns, DataFlaw, Gap } from '../model/tape.ts';
import { TapeSnapshot } from '../model/tapeSnapshot.ts';
import { Findings, WrongFile } from './read/findings.ts';
import type { ImportReading } from './lines.ts';
import { mergeRows } from './rows.ts';
import type { Chunk } from './rows.ts';

/** Files of one book, in order of time; where books and trades are in one file, `trades` is empty. */
export type BookFiles = { readonly books: readonly string[]; readonly trades: readonly string[] };

/** One book of a recording, found but not yet read. */
export type Recording = {
  /** Where it is, for people. */
  readonly source: string;
  /** Name of the format. */
  readonly format: string;
  /** Every file that is read, with how often, for a progress bar. */
  readonly files: readonly string[];
  readonly passes: number;
  readonly instrument: Instrument;
  /** As the exchange gave them; without them the bounds are wide enough for anything. */
  readonly rules?: BookRules;
  /** True when single orders and not levels tell the book. */
  readonly fromOrders: boolean;
  /** Levels per side that are shown; Infinity for a whole book, 0 for trades without one. */
  readonly depth: number;
  readonly quotesOnly: boolean;
  /** Its rows: what comes first stands first at equal times, books before trades. */
  readonly streams: (reading: ImportReading) => readonly AsyncIterable<Chunk>[];
  /** The hours that are taken; the others are gaps. Without one all are. */
  readonly session?: MarketSession;
  /** What was inferred and should be known, for people. */
  readonly notes: readonly string[];
};

/** Every file as often as it is read. */
export const bytesToRead = ({ files, passes }: Pick<Recording, 'files' | 'passes'>): number =>
  files.reduce((sum, file) => sum + statSync(file).size, 0) * passes;

/** Where the rows go, in order of time: a writer of stored tapes, for one. */
export type RecordingSink = {
  append(columns: Columns): void;
  /** Before the first row that is not older than its end. */
  gap(gap: Gap): void;
};

/** Where a tape ends that the recording goes on with: the time of its last row, whether this is its book there, and the gaps that it tells. */
export type TapeEnd = {
  readonly at: Millis;
  readonly shows: (book: TapeSnapshot) => boolean;
  readonly gaps: readonly Gap[];
};

export type ImportHow = {
  readonly end?: TapeEnd | undefined;
  /** Rows that come late by at most this time are put in their place. Default: 0. */
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
  /** Rows that were left out because the tape that is gone on with has none as old behind its last. */
  readonly skipped: number;
  /** Exchange time of the first and the last row, milliseconds since 1970 UTC; null where nothing was newer than the tape. */
  readonly from: Millis | null;
  readonly to: Millis | null;
  readonly gaps: readonly Gap[];
  readonly dirt: readonly DataFlaw[];
  readonly notes: readonly string[];
};

/**
 * Rejects with a WrongFile of one line when the recording cannot be used. With `end` only rows that are newer than that are handed on, and the time
 * between is a gap where the recording does not reach back to it. With `sortMs` rows that come late by at most this time are put in their place.
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
  const inspection = new Inspection(recording.fromOrders, (what, done, isBook) => {
    const place = isBook ? bookPlace : here;
    if (place === null || timeOf(place) > since) findings.counted(what, done, textOfPlace(place));
  });
  const streams = recording.streams({
    instrument,
    findings,
    gap: gap => {
      const later = { ...gap, from: Math.max(gap.from, since) };
      // One that begins at the end of the tape may be on it already.
      if (gap.to > since && end?.gaps.some(({ from, to }) => from <= later.from && to >= later.to) !== true)
        gaps.wait(recording.session ? openParts(later, recording.session) : [later]);
    },
    bytes: onBytes,
    sortMs,
  });
  await mergeRows(streams, (chunk, row) => {
    const { kind, side, at, price, amount, id } = chunk.columns;
    here = { chunk, row };
    const what = kind[row]!;
    const time = at[row]!;
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
  if (hours?.taken === 0) throw new WrongFile(`${source}: no row is in the session ${recording.session!.text}`);
  if (out.rows + skipped === 0 || (recording.depth > 0 && !inspection.begun))
    throw new WrongFile(`${source}: no book in the recording`);
  gaps.tell(Infinity);
  out.flush();
  const { symbol: book, tick, lot } = instrument;
  return {
    ...{ source, format, book, tick, lot, rows: out.rows, trades, skipped, from, to, gaps: gaps.told },
    ...{
      dirt: findings.flaws,
      notes: [...notes, ...(hours === null ? [] : [leftOut(hours.left, recording.session!)])],
    },
  };
}

/** Gaps are told when all streams have come to their end: until then another may yet overlap them. */
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
  `session ${text}: ${rows} rows outside it were left out; the time between is a gap`;

/** The rows of a recording that a tape is not gone on with, because it reaches as far itself. */
class RowsBefore {
  readonly #end: TapeEnd;
  readonly #book = new TapeSnapshot();
  rows = 0;

  constructor(end: TapeEnd) {
    this.#end = end;
    this.#book.apply(KIND.clear, 0, 0, 0, 0);
  }

  /** True for a row that is not newer than the tape's last. */
  takes({ kind, side, at, price, amount, id }: Columns, row: number): boolean {
    if (at[row]! > this.#end.at) return false;
    this.#book.apply(kind[row]!, side[row]!, price[row]!, amount[row]!, id[row]!);
    this.rows++;
    return true;
  }

  /** The time between the tape and the first row, of which neither tells. */
  gapTo(first: Millis): readonly Gap[] {
    return this.rows > 0 ? [] : [{ from: this.#end.at, to: first, why: 'between what was imported before and this' }];
  }

  /** The recording's own book at the end of the tape, where the tape has another: what follows is told in steps from it. */
  book(): Columns | null {
    return this.#end.shows(this.#book) ? null : this.#book.rows(this.#end.at);
  }
}

type Place = { readonly chunk: Chunk; readonly row: number };
const timeOf = ({ chunk, row }: Place): Millis => chunk.columns.at[row]!;
const textOfPlace = (place: Place | null): string | undefined =>
  place === null ? undefined : `${place.chunk.file}:${place.chunk.line[place.row]}`;

const OUTLET_ROWS = 8_192;

/** Hands rows on by the thousand. */
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
