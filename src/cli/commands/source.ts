/** Inputs of a command from its flags: configuration, recording, exchange. */
import { recordedBooksOf, type Config } from '../../config.ts';
import { textOfError, type Clock } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';
import type { AccountPurpose } from '../../sandbox/index.ts';
import { openTape, type Tape } from '../../tape/index.ts';
import { UnapprovedStrategy } from '../../app/run/strategyApproval.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import {
  readConfig,
  readShipped,
  readTradedConfig,
  refuseBooks,
  shippedConfig,
  type StrategyApproval,
} from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { hasKey, withMarket, withVenue } from '../../wiring/venueAccess.ts';
import { withProgress } from '../../messages/progress.ts';
import { logger } from '../terminal/logger.ts';
import { progressBar } from '../terminal/progressBar.ts';

export type Source = {
  readonly config?: string;
  readonly tape?: string;
  readonly book?: string;
  readonly speed: number;
  readonly seed?: number;
  readonly paper?: boolean;
  /** Whether paper trading leaves its stored account unchanged. */
  readonly isReadOnly?: boolean;
  /** Step that moves an earlier paper account aside; absent if the account continues. */
  readonly setAside?: (purpose: AccountPurpose) => Promise<void>;
  /** Trading hours of the recording that are used; if absent, the whole recording. */
  readonly session?: string;
};

/**
 * Returns the configuration with its file, and the recordings that serve as the market: that of --tape, or those of the
 * configuration with the traded book's first. A backtest gets only the traded book's. Without -c, the configuration is
 * a shipped file: for the recording's book, for paper, or for the sandbox. Rejects with `UsageError` if the inputs
 * contradict each other or cannot be read. `isTraded`: whether the command runs the strategy. `assertApproved`: which
 * strategy files it may run; by default all.
 */
export async function selectedInputs(
  options: Source & { readonly isBacktest?: boolean; readonly takesBooks?: boolean },
  isTraded: boolean,
  assertApproved?: StrategyApproval,
): Promise<{ config: Config; file: string; tapes: readonly Tape[] }> {
  if (options.paper && options.tape !== undefined)
    throw new UsageError(
      '--tape needs the embedded exchange, but --paper trades the market of a remote exchange; remove --tape or --paper',
    );
  const read = (file: string) => (isTraded ? readTradedConfig(file, assertApproved) : readConfig(file));
  const given = options.config === undefined ? null : read(options.config);
  if (given !== null && (options.takesBooks !== true || options.tape !== undefined))
    refuseBooks(given, options.tape !== undefined ? 'a recording' : 'this command');
  const market = given?.exchange.kind === 'embedded' ? given.exchange.market : null;
  const dir = options.tape ?? (market?.kind === 'tape' ? market.dir : undefined);
  const shipped = (name: string) => ({
    config: given ?? readShipped(name),
    file: options.config ?? shippedConfig(name),
  });
  if (dir === undefined || options.paper) {
    const chosen = shipped(options.paper ? 'paper' : 'sandbox');
    if (options.book !== undefined && options.book !== chosen.config.book)
      throw new UsageError(
        `--book ${options.book}: without --tape, the book is ${chosen.config.book}, from ${chosen.file}; add --tape with a recording of ${options.book}, or -c with a configuration for ${options.book}`,
      );
    return { ...chosen, tapes: [] };
  }
  if (given?.exchange.kind === 'remote' && !options.isBacktest)
    throw new UsageError(
      '--tape needs the embedded exchange, but this configuration has a remote exchange; remove --tape',
    );
  const tape = await tapeOf(dir, bookOf(given, options.book), options.session);
  const others = given === null || options.tape !== undefined || options.isBacktest ? [] : await otherTapes(given);
  return { ...shipped(nameFor(tape.instrument.symbol)), tapes: [tape, ...others] };
}

/**
 * Returns what `selectedInputs` returns for a start. `refusal`: error of a strategy file that is not approved. The
 * file is then not run, and the configuration serves only to cancel the orders of an earlier run.
 */
export async function inputsOfStart(options: Source, assertApproved: StrategyApproval) {
  const given = { ...options, takesBooks: true };
  try {
    return { ...(await selectedInputs(given, true, assertApproved)), refusal: undefined };
  } catch (error) {
    if (!(error instanceof UnapprovedStrategy)) throw error;
    // Without a key, no order can be canceled.
    const inputs = hasKey() ? await selectedInputs(given, false).catch(() => null) : null;
    if (inputs === null) throw error;
    return { ...inputs, refusal: error };
  }
}

/**
 * Opens the recordings that the configuration names as the market of its embedded exchange, that of the traded book
 * first; empty if it names none.
 */
export async function configuredTapes(config: Config): Promise<readonly Tape[]> {
  const { exchange, book } = config;
  if (exchange.kind !== 'embedded' || exchange.market.kind !== 'tape') return [];
  return [await tapeOf(exchange.market.dir, book), ...(await otherTapes(config))];
}

async function otherTapes({ exchange }: Config): Promise<readonly Tape[]> {
  const tapes: Tape[] = [];
  for (const [book, { dir }] of Object.entries(recordedBooksOf(exchange) ?? {})) tapes.push(await tapeOf(dir, book));
  return tapes;
}

/**
 * Returns the book of the configuration or, without a configuration, the book of --book; `undefined` if neither is
 * given.
 * @throws UsageError if the configuration and --book name different books.
 */
export function bookOf(given: Config | null, asked: string | undefined): string | undefined {
  if (given !== null && asked !== undefined && asked !== given.book)
    throw new UsageError(
      `--book ${asked}: the configuration trades ${given.book}; remove --book, or change the configuration`,
    );
  return given?.book ?? asked;
}

/**
 * Returns the name of the shipped configuration for a book: `sandbox` for the book of the sandbox configuration,
 * otherwise the book itself.
 */
export const nameFor = (book: string): string => (readShipped('sandbox').book === book ? 'sandbox' : book);

/**
 * Reads one book of a recording. Every error rejects as `UsageError`; if there are several books, the error names
 * --book.
 */
export const tapeOf = (dir: string, book?: string, session?: string): Promise<Tape> =>
  withProgress(progressBar(), `reading ${dir}`, onShare =>
    openTape(dir, { ...(book !== undefined && { book }), ...(session !== undefined && { session }) }, onShare),
  ).catch((error: unknown) => {
    throw tapeUsageError(error);
  });

/** Returns the error as a `UsageError`. If the user must choose a book, the message names the flag `--book`. */
export function tapeUsageError(error: unknown): UsageError {
  const why = textOfError(error);
  return new UsageError(why.replace('; choose one of: ', '; choose one with --book: '));
}

/**
 * Runs `work` with address and key of the exchange; the result of `work` becomes the exit code. Rejects with
 * `UsageError` for flags that only apply to the embedded exchange, and for a remote exchange without a key or --paper.
 */
export async function withVenueOf(
  config: Config,
  tapes: readonly Tape[],
  options: Source,
  clock: Clock,
  work: (venue: VenueAccess, log: Log, seed: number, config: Config) => Promise<number>,
): Promise<void> {
  if (options.paper) realTime(options, 'paper trading');
  else if (config.exchange.kind === 'remote') {
    refuseEmbedded(options);
    if (!hasKey())
      throw new UsageError(
        'no API key in the environment; set PUNTAS_API_KEY and PUNTAS_API_SECRET, or PUNTAS_API_KEY_FILE and PUNTAS_API_SECRET_FILE, or add --paper',
      );
  }
  process.exitCode = await withVenue(config, tapes, { ...options, openLog: logger }, clock, work);
}

/**
 * Runs `work` with the addresses of the exchange's market data, without a key. Rejects with `UsageError` for --speed
 * and --seed with a remote exchange.
 */
export async function withMarketOf(
  config: Config,
  tapes: readonly Tape[],
  options: Source & { readonly allBooks?: boolean },
  clock: Clock,
  work: (addresses: { readonly restUrl: string; readonly streamUrl?: string }, seed: number) => Promise<void>,
): Promise<void> {
  if (config.exchange.kind === 'remote') refuseEmbedded(options);
  await withMarket(config, tapes, options, clock, work);
}

/** Throws `UsageError` if a flag that needs the embedded exchange was given. */
function refuseEmbedded(options: Source): void {
  if (options.seed !== undefined)
    throw new UsageError('--seed needs the embedded exchange; a remote exchange has no seed');
  realTime(options, 'a remote exchange');
}

function realTime({ speed }: Source, which: string): void {
  if (speed !== 1) throw new UsageError(`--speed needs the embedded exchange; ${which} runs in real time`);
}

/**
 * Returns an object to spread into options: without --seed it has no key `seed`, so that the configured seed applies.
 */
export const seedOf = ({ seed }: Source): { readonly seed?: number } => (seed === undefined ? {} : { seed });
