/** Stored tape: its contents day by day without reading the rows, and its rows in chunks with constant memory. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  DAY_MS,
  instrumentOf,
  type BookRules,
  type DecimalText,
  type Instrument,
  type Millis,
} from '../../core/index.ts';
import { chunksAhead, chunksHere } from './chunksAhead.ts';
import { blocksToRead, continuesDay, type TapeChunk } from './chunkReader.ts';
import { ContentHash } from './contentHash.ts';
import { depthOfDay } from './dayDepth.ts';
import { bookFolder, partitions, plainRules, sameRules, startOfDay } from './dayFiles.ts';
import { recordedGaps, scanDay, type RecordedGaps, type ScannedDay } from './scanDay.ts';
import { mergedGaps } from '../model/gaps.ts';
import { KIND, TapeBuilder, type DataFlaw, type Gap, type Kind, type Tape } from '../model/tape.ts';
import { BLOCK_ROWS } from './rowsCodec.ts';
import { sessionOf, spanInSession, type MarketSession } from '../model/session.ts';
import { rowsInSession, SessionRows } from '../model/sessionRows.ts';

export type StoredTapeOptions = {
  /** Book to open; required only if the folder has several books. */
  readonly book?: string;
  /** Earliest time of the rows, inclusive. If set, the first chunk starts with the book at this time. */
  readonly from?: Millis;
  /** Latest time of the rows, inclusive. */
  readonly to?: Millis;
  /**
   * Treatment of a block with wrong bytes. `refuse` (default) throws. `skip` records a gap and continues with the next
   * snapshot of the book.
   */
  readonly damaged?: 'refuse' | 'skip';
  /** Market hours, such as `09:30-16:00@America/New_York`: rows outside are dropped, and the closed time is a gap. */
  readonly session?: string;
};

export type StoredDay = {
  readonly day: string;
  readonly rows: number;
  /** Size of the day on disk, in bytes. */
  readonly bytes: number;
  readonly from: Millis;
  readonly to: Millis;
  /** Whether the writer closed the day. */
  readonly closed: boolean;
};

/**
 * Rules in force from the time `at` on. In a tape's list of rules, the first entry is in force from the tape's start.
 */
export type RulesChange = { readonly at: Millis; readonly rules: BookRules };

/** Days of an opened tape, by name: those that were scanned, and the recorded gaps of the others. */
export type DayScans = {
  readonly days: ReadonlyMap<string, ScannedDay>;
  readonly others: ReadonlyMap<string, RecordedGaps>;
};

export type StoredTape = {
  readonly dir: string;
  /** Days as they were when the tape was opened; `openStoredTape` opens the same rows from them. */
  readonly scans: DayScans;
  readonly source: string;
  readonly book: string;
  readonly lot: DecimalText;
  /** Instrument at the start of the tape; each chunk has its own. */
  readonly instrument: Instrument;
  readonly rules: readonly RulesChange[];
  readonly days: readonly StoredDay[];
  /** Number of rows in the opened days, including rows outside `from` to `to`. */
  readonly rows: number;
  readonly bytes: number;
  /** Times of the first and the last row within the requested bounds. */
  readonly from: Millis;
  readonly to: Millis;
  readonly gaps: readonly Gap[];
  readonly flaws: readonly DataFlaw[];
  /** Minimum number of levels per side over all days; Infinity for complete books. */
  readonly depth: number;
  /** Number of levels per side that the source can show. */
  readonly statedDepth: number;
  readonly quotesOnly: boolean;
  /** Requested market hours, as text. */
  readonly session?: string;
  readonly kinds: ReadonlySet<Kind>;
  /**
   * Lowest and highest price of all rows, in ticks; `null` if there are no prices. Computed from complete blocks, so
   * the range may be wider than the range in the requested time.
   */
  readonly prices: PriceRange | null;
  /**
   * Lowest and highest price of trades, in ticks; `null` if there are no trades. Computed from complete blocks, like
   * `prices`.
   */
  readonly traded: PriceRange | null;
  /**
   * Yields chunks of at most BLOCK_ROWS rows. All chunks use the same memory: copy data that is needed after the next
   * chunk.
   */
  chunks(options?: ChunkOptions): Generator<TapeChunk, void, undefined>;
  /**
   * Yields the same chunks as `chunks`, decoded ahead by another thread. The memory of a chunk is valid until the next
   * chunk is requested.
   */
  chunksAhead(options?: ChunkOptions): Generator<TapeChunk, void, undefined>;
  /**
   * Returns the hash of rows, gaps, rules and bounds. The division into blocks does not change the hash. Closed days
   * store the hash of their rows; the rows of other days are read.
   */
  hash(): string;
};

export type PriceRange = { readonly low: number; readonly high: number };
export type ChunkOptions = {
  /** Whether times are in whole microseconds instead of milliseconds. */
  readonly micros?: boolean;
};

/**
 * Opens a stored tape. With the `scans` of an opened tape, the rows are those of that tape, although a recorder may have
 * appended others. Throws an Error of one line with the problem of the folder and its remedy.
 */
export function openStoredTape(dir: string, options: StoredTapeOptions = {}, scans?: DayScans): StoredTape {
  const book = chosenBook(dir, options.book);
  const { from = -Infinity, to = Infinity, damaged = 'refuse' } = options;
  const folder = bookFolder(dir, book);
  const known = scans
    ? [...new Set([...scans.days.keys(), ...scans.others.keys()])].sort()
    : partitions(folder, 'day=');
  const kept = new Map(scans?.days);
  const scan = (day: string, skip = damaged === 'skip'): ScannedDay => {
    const found = kept.get(day) ?? scanDay(join(folder, `day=${day}`), { book, day, skip });
    kept.set(day, found);
    return found;
  };
  if (known.length === 0) throw new Error(`${folder}: no recorded days`);
  const wanted = known.filter(day => startOfDay(day) + DAY_MS > from && startOfDay(day) <= to);
  const scanned = wanted.map(day => scan(day));
  const days = scanned.filter(day => day.rows > 0);
  const [first] = days;
  if (!first && from === -Infinity && to === Infinity)
    throw new Error(`${folder}: no rows on the recorded days ${known[0]} to ${known.at(-1)}`);
  if (!first)
    throw new Error(`${folder}: no rows in the requested time; the tape has the days ${known[0]} to ${known.at(-1)}`);
  for (const day of days) {
    if (day.head.lot !== first.head.lot) {
      throw new Error(
        `${folder}: the lot size is ${first.head.lot} on ${first.day}, but ${day.head.lot} on ${day.day}; choose a time span with only one lot size`,
      );
    }
  }
  const earlier = from === -Infinity ? [] : known.slice(0, known.indexOf(wanted[0]!));
  const { before, gaps: untilFirst } = dayBefore(earlier, first, scan);
  const isNeeded = before !== null && first.from > from && continuesDay(before, first);
  const read = isNeeded && before.head.lot === first.head.lot ? [before, ...days] : days;
  const stated = first.head.depth ?? Infinity;
  const missing = missingBetween(days);
  // A gap is recorded when its end is known, so that any day may have gaps of the requested time.
  const others = new Map(
    known
      .filter(day => !kept.has(day))
      .map(day => [day, scans?.others.get(day) ?? recordedGaps(join(folder, `day=${day}`))]),
  );
  const recorded = [...kept.values(), ...others.values()].flatMap(day => day.gaps);
  const gaps = mergedGaps([...recorded, ...untilFirst, ...missing.gaps]).filter(gap => gap.to > from && gap.from <= to);
  const rules = rulesOf(days);
  const blocks = blocksToRead(read, { from, to, micros: false });
  const session = options.session === undefined ? null : sessionOf(options.session);
  const all = { from: Math.max(from, first.from), to: Math.min(to, days.at(-1)?.to ?? Infinity), gaps };
  const { gaps: told, ...bounds } = session === null ? all : spanInSession(all, session);
  const inHours = (chunks: Generator<TapeChunk>, micros: boolean) =>
    session === null ? chunks : chunksInSession(chunks, session, micros);
  const kinds = blocks.reduce((bits, block) => bits | block.kinds, from === -Infinity ? 0 : 1 << KIND.clear);
  return {
    dir,
    scans: { days: kept, others },
    source: first.head.source,
    book,
    lot: first.head.lot,
    instrument: instrumentOf(rulesAt(rules, bounds.from) ?? first.head.rules, first.head.lot),
    rules,
    days: days.map(({ day, rows, bytes, from, to, closed }) => ({ day, rows, bytes, from, to, closed })),
    rows: days.reduce((sum, day) => sum + day.rows, 0),
    bytes: days.reduce((sum, day) => sum + day.bytes, 0),
    ...bounds,
    gaps: told,
    flaws: summed([
      ...[...days, ...others.values()].flatMap(day => day.flaws),
      ...missing.flaws,
      ...ignoredChanges(rules, bounds),
    ]),
    depth: Math.min(
      ...days.map(day => (day.head.depth === null ? Infinity : (depthOfDay(folder, day) ?? Infinity))),
      stated,
    ),
    statedDepth: stated,
    quotesOnly: first.head.quotesOnly,
    ...(session !== null && { session: session.text }),
    kinds: new Set(Object.values(KIND).filter(kind => (kinds & (1 << kind)) !== 0)),
    prices: rangeOf(blocks.map(({ low, high }) => ({ low, high }))),
    traded: rangeOf(blocks.map(({ tradedLow, tradedHigh }) => ({ low: tradedLow, high: tradedHigh }))),
    chunks: ({ micros = false } = {}) => inHours(chunksHere(read, { from, to, micros }), micros),
    chunksAhead: ({ micros = false } = {}) => inHours(chunksAhead({ days: read, from, to, micros }), micros),
    hash: () =>
      hashOf(
        { book, lot: first.head.lot, from, to, rules, gaps: told, ...(session && { session: session.text }) },
        days,
      ),
  };
}

/** Yields the rows inside a session. Each chunk has its own memory. */
function* chunksInSession(
  chunks: Generator<TapeChunk>,
  session: MarketSession,
  micros: boolean,
): Generator<TapeChunk, void, undefined> {
  const rows = new SessionRows(session, micros ? 1_000 : 1);
  let tick: DecimalText | null = null;
  for (const { columns, ...under } of chunks) {
    if (tick !== null && tick !== under.instrument.tick) rows.forget();
    tick = under.instrument.tick;
    for (const piece of rowsInSession(rows, columns, BLOCK_ROWS)) yield { columns: piece, ...under };
  }
}

/**
 * Returns the last of the `earlier` days that has rows, and the gaps between it and the day `first`. The book of that
 * day is valid until the first row of a day that continues it. If the day cannot be read, all its time is a gap.
 */
function dayBefore(
  earlier: readonly string[],
  first: ScannedDay,
  scan: (day: string, skip?: boolean) => ScannedDay,
): { readonly before: ScannedDay | null; readonly gaps: readonly Gap[] } {
  for (const day of earlier.toReversed()) {
    const before = readable(() => scan(day)) ?? readable(() => scan(day, true));
    if (before === null) {
      const gap = { from: startOfDay(day), to: first.from, why: `day ${day} cannot be read` };
      return { before, gaps: [gap] };
    }
    if (before.rows > 0) return { before, gaps: missingBetween([before, first]).gaps };
  }
  return { before: null, gaps: [] };
}

/** Returns the day that `scan` reads; `null` if it throws. */
function readable(scan: () => ScannedDay): ScannedDay | null {
  try {
    return scan();
  } catch {
    return null;
  }
}

function chosenBook(dir: string, asked: string | undefined): string {
  if (!existsSync(dir)) throw new Error(`${dir}: no such file or folder; give the path of a recording`);
  const books = partitions(dir, 'book=');
  const [only, other] = books;
  if (only === undefined) throw new Error(`${dir}: no stored tape (no folder book=...); create one with puntas import`);
  if (asked === undefined && other === undefined) return only;
  if (asked === undefined) throw new Error(`${dir}: has several books; choose one of: ${books.join(', ')}`);
  if (!books.includes(asked)) throw new Error(`${dir}: no book ${asked}; expected one of: ${books.join(', ')}`);
  return asked;
}

/** Returns gaps and flaws for missing days and for days that were never closed. */
function missingBetween(days: readonly ScannedDay[]): {
  readonly gaps: readonly Gap[];
  readonly flaws: readonly DataFlaw[];
} {
  const gaps: Gap[] = [];
  const flaws: DataFlaw[] = [];
  days.forEach((day, i) => {
    const next = days[i + 1];
    if (!day.closed) {
      const done = next ? 'the time until the next recorded day is a gap' : 'read up to the last stored row';
      flaws.push({ what: `the recording of day ${day.day} was not finished`, count: 1, done });
    }
    if (!next) return;
    if (continuesDay(day, next)) return;
    const { previous } = next.head;
    if (previous === day.day) {
      const why = day.lostEnd ?? next.lostStart ?? `the recording of day ${day.day} was not finished`;
      gaps.push({ from: day.to, to: next.from, why });
    } else {
      const why = previous === null ? `${next.day} was recorded again` : `day ${previous} is missing`;
      gaps.push({ from: day.to, to: next.from, why });
      flaws.push({
        what: why,
        count: 1,
        done: `recorded as a gap after ${day.day}; ${next.day} starts with a new snapshot of the book`,
      });
    }
  });
  return { gaps, flaws };
}

/** Returns the rules in force at a time. */
const rulesAt = (rules: readonly RulesChange[], at: Millis): BookRules | undefined =>
  rules.findLast(change => change.at <= at)?.rules;

/** Returns a flaw for each change of the rules within a time span in which the tick stays the same. */
function ignoredChanges(
  rules: readonly RulesChange[],
  { from, to }: { readonly from: Millis; readonly to: Millis },
): readonly DataFlaw[] {
  const changes = rules.flatMap(({ at, rules: now }, i) => {
    const before = rules[i - 1]?.rules;
    if (before === undefined || sameRules(before, now) || before.tickSize !== now.tickSize) return [];
    if (at <= from || at > to) return [];
    const fields = (Object.keys(plainRules(now)) as (keyof BookRules)[]).filter(key => now[key] !== before[key]);
    const each = fields.map(key => `${key} ${before[key]} before, ${now[key]} after`).join('; ');
    return [{ what: `the rules of the book changed at ${new Date(at).toISOString()} (${each})`, count: 1 }];
  });
  return changes.map(change => ({ ...change, done: 'a replay keeps the rules of its start' }));
}

function rulesOf(days: readonly ScannedDay[]): RulesChange[] {
  const changes: RulesChange[] = [];
  for (const change of days.flatMap(day => day.rules)) {
    const before = changes.at(-1)?.rules;
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(change.rules)) {
      changes.push({ at: change.at, rules: change.rules });
    }
  }
  return changes;
}

function summed(flaws: readonly DataFlaw[]): readonly DataFlaw[] {
  const found = new Map<string, DataFlaw>();
  for (const one of flaws) {
    const key = `${one.what}\n${one.done}`;
    found.set(key, { ...one, count: one.count + (found.get(key)?.count ?? 0) });
  }
  return [...found.values()];
}

function rangeOf(ranges: readonly PriceRange[]): PriceRange | null {
  const low = ranges.reduce((least, range) => Math.min(least, range.low), Infinity);
  const high = ranges.reduce((most, range) => Math.max(most, range.high), -Infinity);
  return low <= high ? { low, high } : null;
}

function hashOf(what: object, days: readonly ScannedDay[]): string {
  const hash = createHash('sha256').update(JSON.stringify(what));
  for (const day of days) hash.update(JSON.stringify([day.day, day.rows, day.hash ?? rowsHashOf(day)]));
  return hash.digest('hex');
}

/** Computes the hash of all rows of a day by reading the rows. */
function rowsHashOf(day: ScannedDay): string {
  const hash = new ContentHash();
  const options = { from: -Infinity, to: Infinity, micros: false, snapshots: false };
  for (const { columns } of chunksHere([day], options)) hash.add(columns);
  return hash.digest();
}

/**
 * Loads the complete tape into memory. `onShare` receives the share read, from 0 to 1. Throws if the tape has too many
 * rows, or if its tick changed.
 */
export function loadStoredTape(stored: StoredTape, onShare: (share: number) => void = () => undefined): Tape {
  const builder = new TapeBuilder();
  let read = 0;
  for (const { columns, rules } of stored.chunks()) {
    if (rules.tickSize !== stored.instrument.tick) {
      throw new Error(
        `${stored.dir}: the tick size changed within the requested time span; choose a time span with only one tick size`,
      );
    }
    builder.append(columns);
    read += columns.length;
    onShare(Math.min(1, read / stored.rows));
  }
  const { source, instrument, rules, gaps, flaws, depth, quotesOnly, session } = stored;
  const atStart = rulesAt(rules, stored.from) ?? rules[0]?.rules;
  if (!atStart) throw new Error(`${stored.dir}: has no rules`);
  return {
    source,
    instrument,
    rules: atStart,
    columns: builder.columns(),
    gaps,
    flaws,
    depth,
    quotesOnly,
    ...(session !== undefined && { session }),
  };
}
