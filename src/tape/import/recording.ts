/** Reads a recording of any format row by row into a tape, and tells what was in it and how dirty it was. */
import type { BookRules, DecimalText, Instrument, Millis } from '../../core/index.ts';
import { Inspection } from '../analysis/inspection.ts';
import { KIND } from '../model/tape.ts';
import type { Columns, DataFlaw, Gap } from '../model/tape.ts';
import { Findings, WrongFile } from './findings.ts';
import type { ImportReading } from './lines.ts';
import { mergeRows } from './rows.ts';
import type { Chunk } from './rows.ts';

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
  /** Levels per side that are shown; Infinity for a whole book. */
  readonly depth: number;
  readonly quotesOnly: boolean;
  /** Its rows: what comes first stands first at equal times, books before trades. */
  readonly streams: (reading: ImportReading) => readonly AsyncIterable<Chunk>[];
  /** What was inferred and should be known, for people. */
  readonly notes: readonly string[];
};

/** Where the rows go, in order of time: a writer of stored tapes, for one. */
export type RecordingSink = {
  append(columns: Columns): void;
  /** Before the first row that is not older than its end. */
  gap(gap: Gap): void;
};

export type ImportReport = {
  readonly source: string;
  readonly format: string;
  readonly book: string;
  readonly tick: DecimalText;
  readonly lot: DecimalText;
  readonly rows: number;
  readonly trades: number;
  /** Exchange time of the first and the last row, milliseconds since 1970 UTC. */
  readonly from: Millis;
  readonly to: Millis;
  readonly gaps: readonly Gap[];
  readonly dirt: readonly DataFlaw[];
  readonly notes: readonly string[];
};

/** Rejects with a WrongFile of one line when the recording cannot be used. */
export async function importRecording(
  recording: Recording,
  sink: RecordingSink,
  onBytes: (count: number) => void = () => undefined,
): Promise<ImportReport> {
  const { instrument, source, format, notes } = recording;
  const findings = new Findings();
  const gaps: Gap[] = [];
  const out = new Outlet(sink);
  let told = 0;
  let trades = 0;
  let [from, to] = [Number.NaN, Number.NaN];
  let here: Place | null = null;
  let bookPlace: Place | null = null;
  const inspection = new Inspection(recording.fromOrders, (what, done, isBook) =>
    findings.found(what, done, textOfPlace(isBook ? bookPlace : here)),
  );
  const streams = recording.streams({
    instrument,
    findings,
    gap: gap => void gaps.push(gap),
    bytes: onBytes,
  });
  await mergeRows(streams, (chunk, row) => {
    const { kind, side, at, price, amount, id } = chunk.columns;
    here = { chunk, row };
    const what = kind[row]!;
    const time = at[row]!;
    if (!inspection.take(what, side[row]!, time, price[row]!, amount[row]!, id[row]!)) return;
    if (what !== KIND.trade) bookPlace = here;
    while (told < gaps.length && gaps[told]!.to <= time) out.gap(gaps[told++]!);
    if (out.rows === 0) from = time;
    out.row(chunk.columns, row);
    if (what === KIND.trade) trades++;
    to = time;
  });
  inspection.end();
  if (!inspection.begun) throw new WrongFile(`${source}: no book in the recording`);
  for (; told < gaps.length; told++) out.gap(gaps[told]!);
  out.flush();
  return {
    source,
    format,
    book: instrument.symbol,
    tick: instrument.tick,
    lot: instrument.lot,
    rows: out.rows,
    trades,
    from,
    to,
    gaps,
    dirt: findings.flaws,
    notes,
  };
}

type Place = { readonly chunk: Chunk; readonly row: number };
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

  gap(gap: Gap): void {
    this.flush();
    this.#sink.gap(gap);
  }

  flush(): void {
    if (this.#held > 0) this.#sink.append({ ...this.#columns, length: this.#held });
    this.#held = 0;
  }
}
