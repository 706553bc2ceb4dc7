/** Recordings that the flags of a research command select. */
import type { Command } from 'commander';
import type { Config } from '../../src/config.ts';
import { isStoredTape, openStoredTape, type Tape } from '../../src/tape/index.ts';
import { pathName } from '../app/compare/compareTapes.ts';
import type { ReferenceTapes } from '../app/backtest/hedgeRoutes.ts';
import type { HedgeVenue } from '../index.ts';
import type { OpenedTape } from '../app/backtest/market.ts';
import { readShipped, readTradedConfig, shippedConfig, type StrategyApproval } from '../../src/wiring/configFile.ts';
import type { HedgeFlags } from './flags.ts';
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
  const options = { ...(name !== undefined && { book: name }), ...(session !== undefined && { session }) };
  try {
    const tape = openStoredTape(dir, options);
    const shipped = nameFor(tape.book);
    return { config: given ?? readShipped(shipped), file: path ?? shippedConfig(shipped), tape: { tape, options } };
  } catch (error) {
    throw error instanceof UsageError ? error : tapeUsageError(error);
  }
}

/**
 * Opens the recordings given as `BOOK=DIR`, by book symbol. Rejects with `UsageError` for other text, duplicate books,
 * and unreadable recordings.
 */
export async function referenceTapes(given: readonly string[]): Promise<ReferenceTapes> {
  const tapes = new Map<string, Tape>();
  for (const text of given) {
    const [, book, dir] = /^([a-z0-9]{2,12}_[a-z0-9]{2,12})=(.+)$/s.exec(text) ?? [];
    if (book === undefined || dir === undefined)
      throw new UsageError(`--reference: expected BOOK=DIR, like btc_usd=tapes/btc_usd, found ${JSON.stringify(text)}`);
    if (tapes.has(book)) throw new UsageError(`--reference: ${book} is given twice`);
    tapes.set(book, await tapeOf(dir, book));
  }
  return tapes;
}

/**
 * Opens the recording of the hedge exchange; `null` without --hedge-tape. Rejects with `UsageError` for other hedge
 * flags of `command` without --hedge-tape, and for an unreadable recording.
 */
export async function hedgeVenueOf(
  { hedgeTape, hedgeBook, hedgeFee, hedgeLatencyMs }: HedgeFlags,
  command: Command,
  session?: string,
): Promise<HedgeVenue | null> {
  if (hedgeTape === undefined) {
    refuseGiven(command, ['hedgeBook', 'hedgeFee', 'hedgeLatencyMs'], 'no effect without a recording in --hedge-tape');
    return null;
  }
  const tape = await tapeOf(hedgeTape, hedgeBook, session).catch((error: unknown) => {
    throw error instanceof UsageError ? new UsageError(error.message.replace(' --book', ' --hedge-book')) : error;
  });
  const name = `${pathName(hedgeTape)} ${tape.instrument.symbol}`;
  return { name, tape, feeBps: hedgeFee, latencyMs: hedgeLatencyMs };
}
