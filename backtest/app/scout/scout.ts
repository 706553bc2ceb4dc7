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
  checksWithin,
  endsScouting,
  hedgedBookOf,
  HORIZON_S,
  hoursText,
  ranked,
  scoutedBook,
  type HedgedBook,
  type HedgeVenue,
  type ScoutedBook,
  type Scouting,
  type TimedBook,
  VERDICT_ERROR,
} from '../../index.ts';
import { embeddedFeesOf, liveBooksOf, type Config } from '../../../src/config.ts';
import {
  counted,
  pairOf,
  sleep,
  type AvailableBook,
  type BookRules,
  type Clock,
  type FeeTier,
  type Millis,
  type Timer,
} from '../../../src/core/index.ts';
import { durationText } from '../../../src/pages/index.ts';
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
export type LiveMarket = Pick<RecordOptions, 'addresses' | 'log'> & {
  readonly clock: Clock;
  /** Duration of the recording in ms, by the clock of the recorded exchange. */
  readonly forMs: number;
  /** Whether to check the verdicts during the recording, and to end when all of them are known. */
  readonly untilKnown: boolean;
  /** Receives a function that ends the recording early. */
  readonly onStarted: (stop: (why: string) => void) => void;
  /** Receives one line for the operator after each check except the last. */
  readonly onChecked: (line: string) => void;
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

/** Pause between two recordings in ms, so that the requests of both within a minute do not exceed `PUBLIC_MAX`. */
const PAUSE_MS = 60_000;

/**
 * Records the market into a temporary folder, then measures it. With `untilKnown`, the recording is interrupted for
 * checks, and continues with the books whose verdict is not known yet. Rejects with `UsageError` if the exchange cannot
 * be read; an error after the first check ends the recording and is part of the result.
 */
export async function scoutMarket(command: ScoutCommand, live: LiveMarket): Promise<Scouted> {
  const out = mkdtempSync(join(tmpdir(), 'puntas-scout-'));
  const { clock, forMs } = live;
  const checks = live.untilKnown ? checksWithin(forMs) : [{ atMs: forMs, error: VERDICT_ERROR }];
  const started = clock.elapsed();
  const stop = new AbortController();
  const known: Measured[] = [];
  let listed: readonly AvailableBook[] = [];
  let wanted = command.books;
  let failure: string | null = null;
  let errorLeft = VERDICT_ERROR;
  try {
    for (const [i, { atMs, error }] of checks.entries()) {
      const untilMs = atMs - (clock.elapsed() - started);
      const part = { out, untilMs, stop, once: i === 0 };
      if (i === 0) listed = await recordMarket(command, live, part);
      else if (untilMs > 0 && !stop.signal.aborted)
        failure = await recordMarket({ ...command, books: wanted }, live, part).then(
          () => null,
          (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
        );
      const paused = clock.elapsed();
      const isLast = i === checks.length - 1 || stop.signal.aborted || failure !== null;
      const { found, leftOut } = await findTapes([out], command.progress);
      const undecided = found.filter(tape =>
        known.every(({ books }) => books.every(({ book }) => book !== bookOf(tape))),
      );
      // The last check may use all of the error that the earlier checks have not used.
      const errors = { error: isLast ? errorLeft : error, lastError: isLast ? errorLeft : checks.at(-1)!.error };
      const measured = await measuredBooks(command, undecided, listed, errors);
      errorLeft -= error;
      const decided = measured.books.filter(one => endsScouting(one, forMs)).map(({ book }) => book);
      const rest = listed
        .map(({ book }) => book)
        .filter(book => !decided.includes(book) && (wanted ?? [book]).includes(book));
      known.push(isLast || rest.length === 0 ? measured : only(measured, decided));
      if (isLast || rest.length === 0) {
        const quiet = listed.filter(({ book }) => !found.some(tape => bookOf(tape) === book));
        const because = new Map(leftOut.map(({ path, why }) => [path.split(' ').at(-1), why]));
        return await scoutedOf(command, live.addresses.restUrl, joined(known), [
          ...quiet.map(({ book }) => ({ path: book, why: because.get(book) ?? 'no data' })),
          ...(failure === null ? [] : [{ path: 'the rest of the time', why: failure }]),
        ]);
      }
      live.onChecked(checkText(clock.elapsed() - started, listed.length, rest, measured.books));
      wanted = rest;
      await sleep(clock, Math.max(0, PAUSE_MS - (clock.elapsed() - paused)), stop.signal);
    }
    throw new Error('scouting ended without a check');
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
  const measured = await measuredBooks(command, replayable, null, { error: VERDICT_ERROR });
  const scouted = await scoutedOf(command, paths.join(', '), measured, out);
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

/** Part of the recording, until the next check. */
type RecordedPart = {
  readonly out: string;
  readonly untilMs: Millis;
  /** Aborted if the operator ends the recording early. */
  readonly stop: AbortController;
  /** Whether an unreadable list of books ends the recording; otherwise the list is read again. */
  readonly once: boolean;
};

/**
 * Records the market for `untilMs`, or until the operator stops. Returns the recorded books as the exchange lists them.
 */
async function recordMarket(
  { config, books, seed, progress }: ScoutCommand,
  { addresses, clock, log, onStarted }: LiveMarket,
  { out, untilMs, stop: ended, once }: RecordedPart,
): Promise<readonly AvailableBook[]> {
  const { exchange } = config;
  const publicPerMinute = Math.min(PUBLIC_MAX, exchange.budgets.publicPerMinute);
  let watching: readonly AvailableBook[] = [];
  const started = clock.elapsed();
  let timer: Timer | null = null;
  try {
    const { failure } = await record({
      config: { ...config, exchange: { ...exchange, budgets: { ...exchange.budgets, publicPerMinute } } },
      ...{ addresses, out, clock, seed, log, once },
      onStarted: stop => {
        timer = clock.after(untilMs, () => stop('the observation time (--for) is over'));
        onStarted(why => {
          ended.abort();
          stop(why);
        });
      },
      books: listed => {
        watching = books === null ? listed : listed.filter(({ book }) => books.includes(book));
        progress.begin(untilMs, `watching ${counted(watching.length, 'book')}`);
        return books ?? watching.map(({ book }) => book);
      },
      onProgress: () => progress.at(Math.min(untilMs, clock.elapsed() - started)),
    });
    if (failure !== null) throw new UsageError(`recording failed: ${failure}`, 1);
  } finally {
    (timer as Timer | null)?.stop();
    progress.end();
  }
  return watching;
}

/** Measured books, with the data for the comparison of the books and for their configurations. */
type Measured = {
  readonly books: readonly ScoutedBook[];
  readonly timed: readonly TimedBook[];
  readonly leftOut: readonly LeftOut[];
  readonly about: ReadonlyMap<string, About>;
};

type About = { readonly rules: BookRules; readonly path: string | null; readonly tiers: readonly FeeTier[] };

/** Returns the results of the books with these names. */
const only = ({ books, timed, leftOut, about }: Measured, names: readonly string[]): Measured => ({
  books: books.filter(({ book }) => names.includes(book)),
  timed: timed.filter(({ book }) => names.includes(book.book)),
  leftOut: leftOut.filter(({ path }) => names.includes(path)),
  about,
});

const joined = (parts: readonly Measured[]): Measured => ({
  books: parts.flatMap(({ books }) => books),
  timed: parts.flatMap(({ timed }) => timed),
  leftOut: parts.flatMap(({ leftOut }) => leftOut),
  about: new Map(parts.flatMap(({ about }) => [...about])),
});

/** Describes the result of a check: the books with a known verdict, and the hours that the others still need. */
function checkText(ms: Millis, all: number, rest: readonly string[], books: readonly ScoutedBook[]): string {
  const paying = books.filter(({ book, verdict }) => verdict.quote && !rest.includes(book)).map(({ book }) => book);
  const missing = rest.map(name => {
    const verdict = books.find(({ book }) => book === name)?.verdict;
    return `${name} (${verdict === undefined ? 'no estimate' : verdict.quote ? 'quote so far, in less than a day' : hoursText(verdict)})`;
  });
  return `after ${durationText(ms / 1_000)}: ${all - rest.length} of ${counted(all, 'book')} known${paying.length === 0 ? '' : `, quote ${paying.join(', ')}`}; continuing with ${missing.join(', ')}`;
}

async function measuredBooks(
  command: ScoutCommand,
  found: readonly PlacedTape[],
  listed: readonly AvailableBook[] | null,
  errors: { readonly error: number; readonly lastError?: number },
): Promise<Measured> {
  const { config, fees, latencyMs, seed, progress, isStopped } = command;
  const cadenceMs = config.timing.decideEveryMs;
  const books: ScoutedBook[] = [];
  const timed: TimedBook[] = [];
  const leftOut: LeftOut[] = [];
  const about = new Map<string, About>();
  for (const { name: own, path, given } of found) {
    const book = bookOf({ given });
    const name = listed === null ? own : book;
    // Yields to the event loop, so that signals are handled between two books.
    await setImmediate();
    if (listed === null && isStopped() && books.length > 0) {
      leftOut.push({ path: name, why: 'scout was stopped before measuring this book' });
      continue;
    }
    const tiers = tiersOf(command, book, listed);
    const account = accountAt(config, book, tiers, fees);
    try {
      books.push(
        await withProgress(progress, `measuring ${name}`, onShare => {
          const tape = 'options' in given ? loadStoredTape(given.tape) : given;
          about.set(name, { rules: tape.rules, path: listed === null ? path : null, tiers });
          const scouted = scoutedBook(name, tape, {
            ...account,
            tiers,
            cadenceMs,
            latencyMs,
            seed,
            ...errors,
            onShare,
          });
          if (scouted.mid !== null) timed.push({ book: scouted, log: logSecondsOf(tape) });
          return scouted;
        }),
      );
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      leftOut.push({ path: name, why: thrown.message });
    }
  }
  return { books, timed, leftOut, about };
}

/** Compares and ranks the measured books. */
async function scoutedOf(
  { config, fees, latencyMs, version, progress }: ScoutCommand,
  looked: string,
  { books, timed, about, leftOut: unmeasured }: Measured,
  leftOut: readonly LeftOut[],
): Promise<Scouted> {
  const cadenceMs = config.timing.decideEveryMs;
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
      leftOut: [...leftOut, ...unmeasured].map(({ path, why }) => ({ what: path, why })),
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
