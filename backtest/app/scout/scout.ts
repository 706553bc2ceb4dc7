/**
 * `puntas scout`: measures the markets of several books, live or from recordings, and reports where quoting pays at the
 * account's fee.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  booksTogether,
  hedgedBookOf,
  HORIZON_S,
  ranked,
  scoutedBook,
  type HedgedBook,
  type HedgeVenue,
  type ScoutedBook,
  type Scouting,
  type TimedBook,
} from '../../index.ts';
import { embeddedFeesOf, liveBooksOf, type Config } from '../../../src/config.ts';
import { pairOf, type AvailableBook, type BookRules, type Clock, type FeeTier } from '../../../src/core/index.ts';
import { feesOf } from '../../../src/sandbox/index.ts';
import { loadStoredTape, logSecondsOf } from '../../../src/tape/index.ts';
import { withProgress, type Progress } from '../../../src/messages/progress.ts';
import { record, type RecordOptions } from '../../../src/app/tapes/record.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { ANY_VOLUME, type VenueFees } from '../backtest/backtest.ts';
import { findTapes, missingForReplay, type FoundTape, type LeftOut, type PlacedTape } from '../compare/compareTapes.ts';

/**
 * Maker fee to assume for all books: at the configured volume, at the best tier, at the entry tier, or a number of bps.
 */
export type FeesAsked = 'config' | 'best' | 'entry' | number;

export type ScoutCommand = {
  readonly config: Config;
  /** Books to measure; `null` for all available books. */
  readonly books: readonly string[] | null;
  readonly fees: FeesAsked;
  /** Request latency in ms, each way. */
  readonly latencyMs: number;
  readonly seed: number;
  readonly version: string;
  readonly progress: Progress;
  /** Whether measuring must stop after the current book. */
  readonly isStopped: () => boolean;
};

/** Live market to record, with its addresses and the duration. */
export type LiveMarket = Pick<RecordOptions, 'addresses' | 'log' | 'onStarted'> & {
  readonly clock: Clock;
  /** Duration of the recording in ms, by the clock of the recorded exchange. */
  readonly forMs: number;
};

/** Result of a scout, with the data that a configuration of each book needs. */
export type Scouted = {
  readonly scouting: Scouting;
  readonly found: ReadonlyMap<
    string,
    { readonly rules: BookRules; readonly path: string | null; readonly tiers: readonly FeeTier[] }
  >;
};

/**
 * Maximum number of public requests per minute, whatever the configuration allows. The exchange locks out an address
 * with more requests (public-facts 11).
 */
const PUBLIC_MAX = 60;

/**
 * Records the market into a temporary folder, then measures it. Rejects with `UsageError` if the exchange cannot be
 * read.
 */
export async function scoutMarket(command: ScoutCommand, live: LiveMarket): Promise<Scouted> {
  const out = mkdtempSync(join(tmpdir(), 'puntas-scout-'));
  try {
    const listed = await recordMarket(command, live, out);
    const { found, leftOut } = await findTapes([out], command.progress);
    const quiet = listed.filter(({ book }) => !found.some(tape => bookOf(tape) === book));
    const because = new Map(leftOut.map(({ path, why }) => [path.split(' ').at(-1), why]));
    return await measured(command, live.addresses.restUrl, found, listed, [
      ...quiet.map(({ book }) => ({ path: book, why: because.get(book) ?? 'no data' })),
    ]);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/**
 * Measures the recordings at `paths` and in the folders that these paths contain; with `hedge`, also the result of
 * hedging on another exchange. The measurement with a hedge needs no trades in the recording. Rejects with `UsageError`
 * if no recording can be measured.
 */
export async function scoutRecordings(
  command: ScoutCommand,
  paths: readonly string[],
  session?: string,
  hedge: HedgeVenue | null = null,
): Promise<Scouted> {
  const { found, leftOut } = await findTapes(paths, command.progress, session, hedge !== null);
  const { books } = command;
  const wanted = found.filter(tape => books === null || books.includes(bookOf(tape)));
  if (wanted.length === 0) {
    const why = leftOut.map(one => `${one.path}: ${one.why}`).join('; ');
    const has = found.map(bookOf).join(', ');
    throw new UsageError(
      `nothing to measure: ${has === '' ? why || 'no recording was found' : `none of the books in --books was recorded; the recordings contain ${has}`}`,
    );
  }
  const missing = (books ?? []).filter(book => !found.some(tape => bookOf(tape) === book));
  const out = [...leftOut, ...missing.map(book => ({ path: book, why: 'no recording of this book was found' }))];
  const replayable = wanted.filter(({ name, given }) => {
    const why = hedge === null ? null : missingForReplay(given);
    if (why !== null) out.push({ path: name, why });
    return why === null;
  });
  const scouted = await measured(command, paths.join(', '), replayable, null, out);
  if (hedge === null) return scouted;
  const { scouting } = scouted;
  const hedged = await hedgedBooks(command, wanted, hedge);
  return {
    ...scouted,
    scouting: { ...scouting, hedged: hedged.books, leftOut: [...scouting.leftOut, ...hedged.leftOut] },
  };
}

/** Measures each recording with a hedge, until the command is stopped. */
async function hedgedBooks(
  { config, fees, latencyMs, seed, progress, isStopped }: ScoutCommand,
  found: readonly PlacedTape[],
  hedge: HedgeVenue,
): Promise<{ readonly books: readonly HedgedBook[]; readonly leftOut: Scouting['leftOut'] }> {
  const books: HedgedBook[] = [];
  const leftOut: { what: string; why: string }[] = [];
  for (const { name, given } of found) {
    await setImmediate();
    if (isStopped()) break;
    const book = bookOf({ given });
    const makerBps = accountAt(config, book, tiersOf({ config, fees }, book, null), fees).feeBps;
    try {
      books.push(
        await withProgress(progress, `hedging ${name}`, () => {
          const tape = 'options' in given ? loadStoredTape(given.tape) : given;
          return hedgedBookOf(name, tape, hedge, { makersBps: [makerBps], latencyMs, seed });
        }),
      );
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      leftOut.push({ what: `${name} with a hedge`, why: error.message });
    }
  }
  return { books, leftOut };
}

/** Records the market. Returns the recorded books as the exchange lists them. */
async function recordMarket(
  { config, books, seed, progress }: ScoutCommand,
  { addresses, clock, forMs, log, onStarted }: LiveMarket,
  out: string,
): Promise<readonly AvailableBook[]> {
  const { exchange } = config;
  const publicPerMinute = Math.min(PUBLIC_MAX, exchange.budgets.publicPerMinute);
  let watching: readonly AvailableBook[] = [];
  const started = clock.elapsed();
  try {
    const { failure } = await record({
      config: { ...config, exchange: { ...exchange, budgets: { ...exchange.budgets, publicPerMinute } } },
      ...{ addresses, out, clock, seed, log, onStarted, once: true },
      books: listed => {
        watching = books === null ? listed : listed.filter(({ book }) => books.includes(book));
        progress.begin(forMs, `watching ${watching.length} books`);
        return books ?? watching.map(({ book }) => book);
      },
      onProgress: () => progress.at(Math.min(forMs, clock.elapsed() - started)),
    });
    if (failure !== null) throw new UsageError(`recording failed: ${failure}`, 1);
  } finally {
    progress.end();
  }
  return watching;
}

async function measured(
  command: ScoutCommand,
  looked: string,
  found: readonly PlacedTape[],
  listed: readonly AvailableBook[] | null,
  leftOut: readonly LeftOut[],
): Promise<Scouted> {
  const { config, fees, latencyMs, seed, version, progress, isStopped } = command;
  const cadenceMs = config.timing.decideEveryMs;
  const books: ScoutedBook[] = [];
  const timed: TimedBook[] = [];
  const out = [...leftOut];
  const about = new Map<string, { rules: BookRules; path: string | null; tiers: readonly FeeTier[] }>();
  for (const { name: own, path, given } of found) {
    const book = bookOf({ given });
    const name = listed === null ? own : book;
    // Yields to the event loop, so that signals are handled between two books.
    await setImmediate();
    if (listed === null && isStopped() && books.length > 0) {
      out.push({ path: name, why: 'scout was stopped before measuring this book' });
      continue;
    }
    const tiers = tiersOf(command, book, listed);
    const account = accountAt(config, book, tiers, fees);
    try {
      books.push(
        await withProgress(progress, `measuring ${name}`, onShare => {
          const tape = 'options' in given ? loadStoredTape(given.tape) : given;
          about.set(name, { rules: tape.rules, path: listed === null ? path : null, tiers });
          const scouted = scoutedBook(name, tape, { ...account, tiers, cadenceMs, latencyMs, seed, onShare });
          if (scouted.mid !== null && found.length > 1) timed.push({ book: scouted, log: logSecondsOf(tape) });
          return scouted;
        }),
      );
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      out.push({ path: name, why: error.message });
    }
  }
  const [, minor] = pairOf(config.book);
  const together =
    timed.length < 2 ? null : await withProgress(progress, 'comparing the books', () => booksTogether(timed));
  const preferred = books.some(book => book.minor === minor) ? minor : undefined;
  return {
    scouting: {
      made: { puntas: version, node: process.versions.node },
      ...{ looked, fees: typeof fees === 'number' ? `${fees} bps` : fees, cadenceMs, latencyMs, horizonS: HORIZON_S },
      ...ranked(books, preferred),
      ...(together !== null && { together }),
      leftOut: out.map(({ path, why }) => ({ what: path, why })),
    },
    found: about,
  };
}

const bookOf = ({ given }: Pick<FoundTape, 'given'>): string =>
  'options' in given ? given.tape.book : given.instrument.symbol;

/**
 * Returns the fees that the configuration sets for recordings of `book`, as in a backtest; `undefined` if it sets none.
 * The embedded exchange has fees by book.
 */
const feesOfRecording = ({ backtest, exchange, book: own }: Config, book: string): VenueFees | undefined =>
  backtest.fees ?? embeddedFeesOf(exchange, own, book);

/**
 * Returns the fee tiers that the exchange lists; for a recording, the fees of the configuration as one tier, or the
 * tiers of the embedded exchange.
 */
function tiersOf(
  { config, fees }: Pick<ScoutCommand, 'config' | 'fees'>,
  book: string,
  listed: readonly AvailableBook[] | null,
): readonly FeeTier[] {
  const set = listed === null && fees === 'config' ? feesOfRecording(config, book) : undefined;
  if (set !== undefined) return [{ volume: ANY_VOLUME, ...set }];
  const row = listed?.find(other => other.book === book);
  if (row === undefined) return feesOf(minorOf(book)).tiers;
  return row.tiers.length > 0 || row.flatRate === undefined ? row.tiers : [{ volume: '9999999999', ...row.flatRate }];
}

const minorOf = (book: string): string => pairOf(book)[1];

/**
 * Returns the maker fee and the 30-day volume to assume. The configured volume applies to the fee tiers of the traded
 * book and of other live books of the embedded exchange. It also applies to `book` if its tiers count the same volume.
 */
function accountAt(
  { book: own, exchange, paper }: Config,
  book: string,
  tiers: readonly FeeTier[],
  fees: FeesAsked,
): { readonly feeBps: number; readonly volume30d: number } {
  if (typeof fees === 'number') return { feeBps: fees, volume30d: 0 };
  const { group } = feesOf(minorOf(book));
  const isSame = [...liveBooksOf(exchange, own)].some(name => feesOf(minorOf(name)).group === group);
  const known = exchange.kind === 'embedded' ? exchange.volume30d : paper.volume30d;
  const volume30d = fees === 'config' && isSame ? Number(known) : 0;
  const at = fees === 'config' ? tiers.find(({ volume }) => volume30d <= Number(volume)) : undefined;
  const tier = at ?? (fees === 'entry' ? tiers[0] : tiers.at(-1));
  if (tier === undefined)
    throw new UsageError(`${book}: the exchange lists no fees; pass the maker fee with --fees BPS`);
  return { feeBps: 1e4 * Number(tier.maker), volume30d };
}
