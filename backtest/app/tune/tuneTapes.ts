/**
 * Recordings of a study: the tuning part of each recording in pieces, and the hours of the holdout, which are not read.
 */
import { dirname, resolve } from 'node:path';
import { textOfError } from '../../../src/core/index.ts';
import { recordFlow, rowsInShared } from '../../index.ts';

import { isStoredTape, openStoredTape, openTape, type Tape } from '../../../src/tape/index.ts';
import { sourceFor, type Latencies, type RowSource } from '../backtest/backtestModel.ts';
import { cutAt, gapsOf, marketOf, spanOf, type OpenedTape, type RecordedMarket } from '../backtest/market.ts';
import type { ReferenceTapes } from '../backtest/hedgeRoutes.ts';
import { withProgress, type OnShare, type Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import type { MarketHours } from './registry.ts';
import type { Study } from './study.ts';
import type { StudyKeys } from './studySchema.ts';

export type TuneTape = {
  readonly name: string;
  /** Absolute path of the recording, or the terms of a seeded flow. */
  readonly from: RecordedFrom;
  readonly given: Tape | OpenedTape;
  /** All hours of the tape. */
  readonly hours: MarketHours;
  /** Hours for tuning; `null` if the complete tape is holdout. */
  readonly tuned: MarketHours | null;
  /** Hours of the holdout; `null` if there are none. */
  readonly heldOut: MarketHours | null;
};

export type RecordedFrom =
  | { readonly path: string; readonly session?: string | undefined }
  | { readonly flow: { readonly seed: number; readonly seconds: number; readonly driftBpsPerHour: number } };

/** Part of a tape on which every trial runs, starting without inventory. */
export type Piece = {
  readonly tape: string;
  readonly market: RecordedMarket;
  readonly gaps: readonly { readonly from: number; readonly to: number; readonly why: string }[];
  readonly from: number;
  readonly to: number;
  /** Number of time blocks of equal length, each with a result of its own. */
  readonly blocks: number;
};

/**
 * Opens all tapes and determines the start of each holdout. Rejects with `UsageError` if a tape cannot be read, is of
 * another book, or is too short.
 */
export async function tuneTapes(study: Study, latencies: Latencies, progress: Progress): Promise<readonly TuneTape[]> {
  const { keys, config } = study;
  const tapes: TuneTape[] = [];
  for (const [i, keysOfTape] of keys.tapes.entries()) {
    const recordedFrom = fromOf(study, keysOfTape);
    const { given, market } = await opened(study, recordedFrom, keysOfTape.path, progress);
    const book = 'options' in given ? given.tape.book : given.instrument.symbol;
    const name = keysOfTape.name ?? `tape ${i + 1}`;
    const where = `${study.file}: ${keysOfTape.path ?? name}`;
    if (book !== config.book)
      throw new UsageError(
        `${where}: the tape has the book ${book}, but the configuration trades ${config.book}; use a tape of ${config.book}`,
      );
    const { quotesOnly } = 'options' in given ? given.tape : given;
    if (quotesOnly) throw new UsageError(`${where}: the tape has best prices without amounts and cannot be replayed`);
    const digest = digestOfRecording(given, latencies, keys.search.seed);
    const { from, to } = spanOf(given);
    tapes.push({
      name,
      from: recordedFrom,
      given,
      ...partsOf({ market, digest, from, to }, keys, keysOfTape.name, where),
    });
  }
  requireSeparateHours(tapes, study);
  return tapes;
}

const fromOf = ({ file }: Study, { path, session, flow }: StudyKeys['tapes'][number]): RecordedFrom =>
  flow === undefined ? { path: resolve(dirname(file), path ?? ''), ...(session && { session }) } : { flow };

async function opened(
  { file, config: { book } }: Study,
  from: RecordedFrom,
  path: string | undefined,
  progress: Progress,
): Promise<{ readonly given: Tape | OpenedTape; readonly market: string }> {
  try {
    const given = await recordingOf(book, from, (work, onShare) =>
      withProgress(progress, work === 'flow' ? 'recording the flow' : `reading ${path}`, onShare),
    );
    if ('path' in from) return { given, market: book };
    const { seed, driftBpsPerHour: drift } = from.flow;
    return { given, market: `${book}, built-in flow, seed ${seed}${drift === 0 ? '' : `, drift ${drift}`}` };
  } catch (error) {
    throw new UsageError(`${file}: ${textOfError(error)}`);
  }
}

type Shown = <T>(work: 'flow' | 'reading', done: (onShare: OnShare) => T | Promise<T>) => Promise<T>;

/**
 * Opens or records the market that trials run on. `shown` shows the progress. Rejects if the recording cannot be read.
 */
export async function recordingOf(book: string, from: RecordedFrom, shown: Shown): Promise<Tape | OpenedTape> {
  if ('flow' in from) {
    const { seed, seconds, driftBpsPerHour: drift } = from.flow;
    return shown('flow', onShare => recordFlow(book, seed, seconds, drift, onShare));
  }
  const { path, session } = from;
  const options = { book, ...(session !== undefined && { session }) };
  return isStoredTape(path)
    ? { tape: openStoredTape(path, options), options }
    : shown('reading', onShare => openTape(path, options, onShare));
}

/** Returns the digest of a recording's rows, which does not depend on how the recording is stored. */
export const digestOfRecording = (given: Tape | OpenedTape, latencies: Latencies, seed: number): string =>
  'options' in given ? given.tape.hash() : marketOf(given, { latencies, seed }).hash;

function partsOf(
  hours: MarketHours,
  { holdout, embargoSeconds, segments }: StudyKeys,
  name: string | undefined,
  where: string,
): Pick<TuneTape, 'hours' | 'tuned' | 'heldOut'> {
  const { from, to } = hours;
  if (holdout.tapes !== undefined) {
    const isHeldOut = name !== undefined && holdout.tapes.includes(name);
    return {
      hours,
      tuned: isHeldOut ? null : longEnough(hours, segments, 'part for tuning', where),
      heldOut: isHeldOut ? hours : null,
    };
  }
  const until = Math.floor(to - (holdout.lastShare ?? 0) * (to - from));
  const tuned = longEnough({ ...hours, to: until }, segments, 'part for tuning', where);
  return { hours, tuned, heldOut: longEnough({ ...hours, from: until + 1_000 * embargoSeconds }, 1, 'holdout', where) };
}

/** Minimum length of a piece of a recording: 120 s, because a single markout takes 60 s. */
const PIECE_MIN_MS = 120_000;

function longEnough(hours: MarketHours, pieces: number, part: string, where: string): MarketHours {
  if (!(hours.to - hours.from >= pieces * PIECE_MIN_MS))
    throw new UsageError(
      `${where}: the ${part} is too short; expected at least ${(pieces * PIECE_MIN_MS) / 1_000} s${pieces === 1 ? '' : ` (${PIECE_MIN_MS / 1_000} s per segment)`}, found ${Math.max(0, Math.round((hours.to - hours.from) / 1_000))} s`,
    );
  return hours;
}

/** Throws `UsageError` if two tapes share hours. */
function requireSeparateHours(tapes: readonly TuneTape[], { file }: Study): void {
  for (const [i, one] of tapes.entries())
    for (const other of tapes.slice(0, i)) {
      const isOne = one.hours.market === other.hours.market || one.hours.digest === other.hours.digest;
      if (isOne && one.hours.from < other.hours.to && one.hours.to > other.hours.from)
        throw new UsageError(
          `${file}: ${other.name} and ${one.name} share hours of ${one.hours.market}; use tapes without common hours`,
        );
    }
}

/**
 * Maximum number of rows of all tapes together that are decoded once into memory, at 29 bytes per row. Tapes whose rows
 * would exceed this number are decoded again by each run.
 */
const ROWS_KEPT = 8_000_000;

/** Keys of a study that determine the pieces of its recordings. */
export type PieceKeys = Pick<StudyKeys, 'segments' | 'startsAfterSeconds'> & {
  readonly search: Pick<StudyKeys['search'], 'seed'>;
};

/**
 * Returns the tuning parts in equal pieces. The first pieces of all tapes precede the second pieces, and so on, so that
 * early pieces represent all tapes. The market of a piece has no rows after the tuning part.
 */
export function piecesOf(
  tapes: readonly Pick<TuneTape, 'name' | 'given' | 'tuned'>[],
  { keys }: { readonly keys: PieceKeys },
  latencies: Latencies,
): readonly Piece[] {
  const { segments, startsAfterSeconds } = keys;
  const tuned = tapes.flatMap(({ name, given, tuned: hours }) => (hours === null ? [] : [{ name, given, hours }]));
  const markets = marketsOf(tuned, keys.search.seed, latencies);
  return Array.from({ length: segments }, (_, segment) =>
    tuned.map(({ name, given, hours }, i): Piece => {
      const length = (hours.to - hours.from) / segments;
      const from = Math.round(hours.from + segment * length);
      const to = Math.round(hours.from + (segment + 1) * length);
      return {
        tape: name,
        market: markets[i]!,
        gaps: gapsOf(given),
        from,
        to,
        blocks: blocksIn(from, to, startsAfterSeconds),
      };
    }),
  ).flat();
}

/** Returns the holdout of each tape that has one, as one piece: the hours that trials must not use. */
export function heldOutPieces(tapes: readonly TuneTape[], { keys }: Study, latencies: Latencies): readonly Piece[] {
  const out = tapes.flatMap(({ name, given, heldOut: hours }) => (hours === null ? [] : [{ name, given, hours }]));
  const markets = marketsOf(out, keys.search.seed, latencies);
  return out.map(({ name, given, hours: { from, to } }, i) => ({
    ...{ tape: name, market: markets[i]!, gaps: gapsOf(given), from, to },
    blocks: blocksIn(from, to, keys.startsAfterSeconds),
  }));
}

type Part = { readonly given: Tape | OpenedTape; readonly hours: MarketHours };

function marketsOf(parts: readonly Part[], seed: number, latencies: Latencies): readonly RecordedMarket[] {
  const shared = { latencies, seed };
  let kept = 0;
  return parts.map(({ given, hours }) => {
    const market = marketOf(cutAt(given, hours.to), shared);
    const rows: RowSource = market.rows;
    kept += rows.kind === 'stored' ? rows.count : rows.rows.length;
    if (kept > ROWS_KEPT) return market;
    const source = sourceFor([shared, shared], rows);
    return source.kind === 'stored' ? market : { ...market, rows: { ...source, rows: rowsInShared(source.rows) } };
  });
}

const BLOCK_MIN_MS = 60_000;
const BLOCKS_MAX = 40;

/**
 * Returns the number of time blocks: at most `BLOCKS_MAX`, and so few that each block has at least one minute in the
 * shortest run.
 */
function blocksIn(from: number, to: number, starts: readonly number[]): number {
  const shortest = to - from - 1_000 * Math.max(...starts);
  if (shortest < PIECE_MIN_MS)
    throw new UsageError(
      `startsAfterSeconds: expected at least ${PIECE_MIN_MS / 1_000} s of each segment after the latest start, found ${Math.round(shortest / 1_000)} s; use earlier starts, fewer segments or longer tapes`,
    );
  return Math.min(BLOCKS_MAX, Math.floor(shortest / BLOCK_MIN_MS));
}

/** Opens the recordings of other books that references and hedge routes use. */
export async function referencesOf(study: Study, progress: Progress): Promise<ReferenceTapes> {
  const { keys, file } = study;
  const paths = referencePaths(study);
  const tapes = new Map<string, Tape>();
  for (const [book, path] of Object.entries(keys.reference))
    try {
      tapes.set(
        book,
        await withProgress(progress, `reading ${path}`, onShare => openTape(paths[book]!, { book }, onShare)),
      );
    } catch (error) {
      throw new UsageError(`${file}: reference.${book}: ${textOfError(error)}`);
    }
  return tapes;
}

/** Returns the absolute paths of the recordings of other books, by book symbol. */
export const referencePaths = ({ keys, file }: Study): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(keys.reference).map(([book, path]) => [book, resolve(dirname(file), path)]));
