/** Recordings that the flags of a research command select. */
import type { Command } from 'commander';
import { symbolsOf, type Config } from '../../src/config.ts';
import { BOOK_NAME } from '../../src/core/index.ts';
import { booksIn, isStoredTape, openStoredTape, type Tape } from '../../src/tape/index.ts';
import { pathName } from '../app/compare/compareTapes.ts';
import type { ReferenceTapes } from '../app/backtest/hedgeRoutes.ts';
import type { HedgeVenue } from '../index.ts';
import type { OpenedTape } from '../app/backtest/market.ts';
import { readShipped, readTradedConfig, shippedConfig, type StrategyApproval } from '../../src/wiring/configFile.ts';
import { HEDGE_FLAGS, type HedgeFlags } from './flags.ts';
import { refuseGiven } from '../../src/cli/terminal/givenFlags.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { bookOf, nameFor, tapeOf, tapeUsageError } from '../../src/cli/commands/source.ts';

/**
 * Opens a stored tape like `chosen`, but without loading it; returns `null` if --tape is not a stored tape. Throws
 * `UsageError` like `chosen`.
 */
export function chosenStored(
  dir: string | undefined,
  path: string | undefined,
  book: string | undefined,
  session: string | undefined,
  assertApproved?: StrategyApproval,
): { config: Config; file: string; tape: OpenedTape } | null {
  if (dir === undefined || !isStoredTape(dir)) return null;
  const given = path === undefined ? null : readTradedConfig(path, assertApproved);
  const name = bookOf(given, book);
  const tape = openedTape(dir, name, session);
  const shipped = nameFor(tape.tape.book);
  return { config: given ?? readShipped(shipped), file: path ?? shippedConfig(shipped), tape };
}

/** Opens one book of a stored tape without loading its rows. Throws `UsageError` if the tape cannot be read. */
function openedTape(dir: string, book?: string, session?: string): OpenedTape {
  const options = { ...(book !== undefined && { book }), ...(session !== undefined && { session }) };
  try {
    return { tape: openStoredTape(dir, options), options };
  } catch (error) {
    throw tapeUsageError(error);
  }
}

/**
 * Opens the recordings of the books of a configuration. If a folder has several books, only those of the configuration
 * are opened. Rejects with `UsageError` if a recording cannot be read, or if a folder has none of the books.
 */
export async function tapesIn(
  config: Config,
  dirs: readonly string[],
  session?: string,
): Promise<readonly (Tape | OpenedTape)[]> {
  const symbols = symbolsOf(config);
  const tapes: (Tape | OpenedTape)[] = [];
  for (const dir of dirs) {
    const books = await booksIn(dir).catch((error: unknown) => {
      throw tapeUsageError(error);
    });
    const wanted = books.length > 1 ? books.filter(book => book !== undefined && symbols.includes(book)) : books;
    if (wanted.length === 0)
      throw new UsageError(`--tape ${dir}: expected a recording of ${symbols.join(', ')}, found ${books.join(', ')}`);
    for (const book of wanted)
      tapes.push(isStoredTape(dir) ? openedTape(dir, book, session) : await tapeOf(dir, book, session));
  }
  return tapes;
}

/**
 * Opens the recordings given as `BOOK=DIR`, by book symbol. Rejects with `UsageError` for other text, duplicate books,
 * and unreadable recordings.
 */
export async function referenceTapes(given: readonly string[]): Promise<ReferenceTapes> {
  const tapes = new Map<string, Tape>();
  for (const text of given) {
    const [, book, dir] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (book === undefined || dir === undefined || !BOOK_NAME.test(book))
      throw new UsageError(`--reference: expected BOOK=DIR, like btc_usd=tapes/btc_usd, found ${JSON.stringify(text)}`);
    if (tapes.has(book)) throw new UsageError(`--reference: ${book} is given twice`);
    tapes.set(book, await tapeOf(dir, book));
  }
  return tapes;
}

/**
 * Opens the recording of the hedge exchange; `null` without --hedge-tape. Rejects with `UsageError` for other hedge
 * flags of `command` without --hedge-tape, and for an unreadable recording. `backBps`: cost of moving quote currency back
 * without --hedge-back.
 */
export async function hedgeVenueOf(
  { hedgeTape, hedgeBook, hedgeFee, hedgeBack, hedgeLatencyMs }: HedgeFlags,
  command: Command,
  session?: string,
  backBps = 0,
): Promise<HedgeVenue | null> {
  if (hedgeTape === undefined) {
    const has = (name: string) => command.options.some(option => option.attributeName() === name);
    const flags = [...HEDGE_FLAGS, 'hedgeBack'].filter(has);
    refuseGiven(command, flags, 'no effect without a recording in --hedge-tape');
    return null;
  }
  const tape = await tapeOf(hedgeTape, hedgeBook, session).catch((error: unknown) => {
    throw error instanceof UsageError ? new UsageError(error.message.replace(' --book', ' --hedge-book')) : error;
  });
  const name = `${pathName(hedgeTape)} ${tape.instrument.symbol}`;
  return { name, tape, feeBps: hedgeFee, backBps: hedgeBack ?? backBps, latencyMs: hedgeLatencyMs };
}
