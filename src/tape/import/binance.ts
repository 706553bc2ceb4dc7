/**
 * Importer for Binance's streams, spot and USD-M: REST snapshots with depth diffs, and trades. A file has one JSON
 * message per line, or lists of messages.
 */
import type { Instrument } from '../../core/index.ts';
import { SIDE, type Gap, type SideCode } from '../model/tape.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { WrongFile } from './read/findings.ts';
import { rowsOfLines, shown, sourceOf, type ImportReading } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';
import type { Chunk, RowBuffer } from './rows.ts';

/** Maximum number of diffs kept until a snapshot arrives: ten minutes of diffs. */
const WAITING_MAX = 6_000;

type Levels = readonly (readonly [string, string])[];
type Depth = {
  readonly e: 'depthUpdate';
  readonly E: number;
  readonly s?: string;
  readonly U: number;
  readonly u: number;
  /**
   * Id `u` of the previous diff. Only USD-M diffs have this id, because the ids of one USD-M symbol are not
   * consecutive.
   */
  readonly pu?: number;
  readonly b: Levels;
  readonly a: Levels;
};
type Trade = {
  readonly e: 'trade' | 'aggTrade';
  readonly T: number;
  readonly s?: string;
  readonly t?: number;
  readonly a?: number;
  readonly p: string;
  readonly q: string;
  readonly m: boolean;
};
type Snapshot = { readonly e?: undefined; readonly lastUpdateId: number; readonly bids: Levels; readonly asks: Levels };
type Message = Depth | Trade | Snapshot | { readonly e?: undefined; readonly lastUpdateId?: undefined };
/** Message with its time of receipt `local`; NaN if the line has no time. */
type Received = { readonly message: Message; readonly local: number };

/**
 * Opens a Binance recording. All diffs are kept until the snapshot arrives, because a diff whose ids span the
 * snapshot's id may come before the snapshot. Diffs that end after the snapshot's id are then applied; without these
 * diffs, some levels would cross the book. COIN-M is rejected, because its amounts are contracts in dollars.
 */
export function binance({ books: files, trades: apart }: BookFiles, instrument: Instrument): Recording {
  return {
    source: sourceOf(files),
    format: 'binance',
    files: [...files, ...apart],
    passes: apart.length > 0 ? 1 : 2,
    instrument,
    fromOrders: false,
    depth: Infinity,
    quotesOnly: false,
    notes: [],
    streams: reading => [books(files, reading), trades(apart.length > 0 ? apart : files, reading)],
  };
}

function books(files: readonly string[], reading: ImportReading): AsyncGenerator<Chunk> {
  const book = new DiffBook(reading);
  const check = oneSymbol();
  return rowsOfLines(files, reading, (line, _number, rows) => {
    if (line.includes('@trade"') || line.includes('@aggTrade"')) return;
    if (line.includes('@bookTicker"')) {
      reading.findings.found('tickers', 'skipped; the diffs contain the same changes', rows.place);
      return;
    }
    for (const { message, local } of receivedIn(line)) {
      check(message);
      if (message.e === 'depthUpdate') book.diff(rows, message, local);
      else if ('lastUpdateId' in message && message.lastUpdateId !== undefined) book.snapshot(rows, message, local);
      else if (message.e === undefined) throw new RangeError('unknown message');
    }
  });
}

/** Book from snapshots and diffs, written as rows. */
class DiffBook {
  readonly #reading: ImportReading;
  #waiting: { readonly depth: Depth; readonly local: number }[] = [];
  /**
   * Snapshot that waits for the next diff, because no diff has arrived yet or because the snapshot is ahead of the
   * book.
   */
  #early: Snapshot | null = null;
  #synced = false;
  #isFirst = false;
  #lastId = 0;
  #lastAt = 0;
  /** Start of the gap from a missing diff to the next snapshot; `null` if the book is complete. */
  #lost: Omit<Gap, 'to'> | null = null;

  constructor(reading: ImportReading) {
    this.#reading = reading;
    reading.onEnd(at => this.#endGap(at));
  }

  diff(rows: RowBuffer, depth: Depth, local: number): void {
    if (this.#early !== null && depth.u > this.#early.lastUpdateId) {
      const snapshot = this.#early;
      this.#early = null;
      if (this.#synced) this.#checkFollows(depth);
      this.#begin(rows, snapshot, Math.max(depth.E, this.#lastAt), local);
    }
    this.#waiting.push({ depth, local });
    if (this.#waiting.length > WAITING_MAX) {
      if (!this.#synced) throw new WrongFile(`expected a snapshot within ${WAITING_MAX} diffs, found none`);
      this.#waiting.shift();
    }
    if (this.#synced) this.#apply(rows, depth, local);
  }

  snapshot(rows: RowBuffer, snapshot: Snapshot, local: number): void {
    // A snapshot has no exchange time, so it waits for the next diff. A snapshot written before that diff would show
    // the book too soon.
    if (this.#synced && snapshot.lastUpdateId > this.#lastId) {
      this.#early = snapshot;
      return;
    }
    const kept = this.#waiting;
    const later = kept.filter(({ depth }) => depth.u > snapshot.lastUpdateId);
    if (
      this.#synced &&
      snapshot.lastUpdateId < this.#lastId &&
      (later[0] === undefined || !continues(later[0].depth, snapshot.lastUpdateId))
    ) {
      this.#reading.findings.found('snapshots older than all kept diffs', 'dropped', rows.place);
      return;
    }
    const next = later[0] ?? kept.at(-1);
    const at = this.#synced ? this.#lastAt : (next?.depth.E ?? local);
    if (Number.isNaN(at)) {
      this.#early = snapshot;
      return;
    }
    const wasSynced = this.#synced;
    this.#begin(rows, snapshot, at, local);
    const what = 'diffs written before their snapshot';
    this.#reading.findings.found(what, 'kept and applied after the snapshot', rows.place, later.length);
    for (const { depth, local: heard } of wasSynced ? later : kept) this.#apply(rows, depth, heard);
  }

  #begin(rows: RowBuffer, { bids, asks, lastUpdateId }: Snapshot, at: number, local: number): void {
    rows.clear(at, heardAt(local, at));
    this.#put(rows, at, local, bids, asks);
    this.#endGap(at);
    this.#synced = true;
    this.#isFirst = true;
    this.#lastId = lastUpdateId;
    this.#lastAt = at;
    this.#waiting = [];
  }

  #apply(rows: RowBuffer, depth: Depth, local: number): void {
    if (depth.u <= this.#lastId) {
      this.#reading.findings.found('diffs older than the snapshot', 'dropped', rows.place);
      return;
    }
    if (this.#early !== null && !this.#follows(depth)) {
      this.#reading.findings.found('diffs older than the snapshot', 'dropped', rows.place);
      return;
    }
    this.#checkFollows(depth);
    const at = Math.max(depth.E, this.#lastAt);
    this.#put(rows, at, local, depth.b, depth.a);
    this.#isFirst = false;
    this.#lastId = depth.u;
    this.#lastAt = at;
  }

  #follows(depth: Depth): boolean {
    return depth.pu === undefined || this.#isFirst ? continues(depth, this.#lastId) : depth.pu === this.#lastId;
  }

  /** Starts a gap if a diff is missing. Levels that the missing diff removed stay in the book until a snapshot. */
  #checkFollows(depth: Depth): void {
    if (this.#follows(depth)) return;
    const missing =
      depth.pu === undefined ? `diffs ${this.#lastId + 1} to ${depth.U - 1} are` : `a diff after ${this.#lastId} is`;
    this.#lost ??= { from: this.#lastAt, why: `${missing} missing` };
  }

  #endGap(at: number): void {
    if (this.#lost !== null) this.#reading.gap({ ...this.#lost, to: at });
    this.#lost = null;
  }

  #put(rows: RowBuffer, at: number, local: number, bids: Levels, asks: Levels): void {
    const { instrument } = this.#reading;
    for (const [side, levels] of [
      [SIDE.buy, bids],
      [SIDE.sell, asks],
    ] as const)
      for (const [price, size] of levels)
        rows.level(at, heardAt(local, at), side, ticksOf(instrument, price), lotsOf(instrument, size));
  }
}

/** Whether no diff is missing between a snapshot and the first diff after it. The ids of USD-M have holes. */
const continues = ({ U, pu }: Depth, snapshotId: number): boolean =>
  pu === undefined ? U <= snapshotId + 1 : pu <= snapshotId;

const heardAt = (local: number, at: number): number => (Number.isNaN(local) ? at : local);

/**
 * Reads the trades of a Binance recording. If single and aggregated trades are both present, only the kind that appears
 * first is read.
 */
function trades(files: readonly string[], { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  let kind: Trade['e'] | null = null;
  const check = oneSymbol();
  return rowsOfLines(files, { findings, ...reading }, (line, _number, rows) => {
    if (line.includes('@depth') || line.includes('@bookTicker"')) return;
    for (const { message, local } of receivedIn(line)) {
      if (message.e !== 'trade' && message.e !== 'aggTrade') continue;
      check(message);
      kind ??= message.e;
      if (message.e !== kind) {
        findings.found(
          'trades listed both individually and aggregated',
          'only the kind that comes first in the recording is kept',
          rows.place,
        );
        continue;
      }
      const { T, t, a, p, q, m } = message;
      const side: SideCode = m ? SIDE.sell : SIDE.buy;
      rows.trade(T, heardAt(local, T), side, ticksOf(instrument, p), lotsOf(instrument, q), t ?? a ?? 0);
    }
  });
}

/** Returns a check that throws a WrongFile at the first message of a second symbol. */
function oneSymbol(): (message: Message) => void {
  let symbol: string | undefined;
  return message => {
    if (message.e === undefined || message.s === undefined) return;
    symbol ??= message.s;
    if (message.s !== symbol)
      throw new WrongFile(`expected messages of ${symbol}, found ${shown(message.s)}; use one file per symbol`);
  };
}

const COIN_MARGINED = /USD_(PERP|\d{6})$/;

/**
 * Parses a line `local_ns json`, or only JSON: a message, a message wrapped as `{stream, data}`, or a list. Throws a
 * WrongFile on COIN-M.
 */
function receivedIn(line: string): readonly Received[] {
  const [, nanos, json] = /^(?:(\d+) )?([{[].*)$/s.exec(line) ?? [];
  if (json === undefined) throw new RangeError('expected a line of JSON, optionally after a time in nanoseconds');
  const local = nanos === undefined ? Number.NaN : Number(nanos) / 1e6;
  const parsed = JSON.parse(json) as unknown;
  return (Array.isArray(parsed) ? parsed : [parsed]).map((one: { readonly data?: Message } & Message) => {
    const message: Message = one.data ?? one;
    if (message.e !== undefined && message.s !== undefined && COIN_MARGINED.test(message.s))
      throw new WrongFile(
        `${message.s} is a COIN-M contract: its amounts count contracts of a fixed dollar value, but a tape needs amounts of the coin`,
      );
    return { message, local };
  });
}
