/** Book of an action: which books a bot has, and a check that an action names one of them. */
import { symbolsOf, type Config } from '../../config.ts';
import { booksWithLatches } from '../../live/safety/bookLatch.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import type { ActionAsk } from './actions.ts';

/** Returns the book of an action; `undefined` if the action is on the whole bot. */
export const bookOfAsk = (ask: ActionAsk): string | undefined => ('book' in ask ? ask.book : undefined);

/**
 * Returns a line for the operator if the last run of the bot does not quote the book; otherwise none.
 * @throws UsageError if neither the bot's file nor its last run nor a stop in its state directory has the book. Also
 * throws if the bot has only one book, unless the action resumes a book with a stop from the time when it had several.
 */
export function assertBookKnown({ configFile, stateDir }: WhichBot, ask: ActionAsk): readonly string[] {
  const book = bookOfAsk(ask);
  if (book === undefined) return [];
  const last = recordedIn(stateDir);
  const recorded = last === null ? [] : symbolsOf(last);
  const filed = configFile === undefined ? [] : symbolsOf(readConfig(configFile));
  const quoted = new Set([...recorded, ...filed]);
  const stopped = booksWithLatches(stateDir);
  const known = [...new Set([...quoted, ...stopped])];
  if (!known.includes(book))
    throw new UsageError(
      known.length === 0
        ? `--book ${book}: the books of this bot are unknown, because no run is recorded in ${stateDir}; pass its YAML file with -c FILE`
        : `--book ${book}: expected a book of this bot (${known.join(', ')})`,
    );
  if (quoted.size === 1 && !(ask.action === 'resume' && stopped.includes(book)))
    throw new UsageError(`--book ${book}: this bot has one book only; omit --book`);
  return recorded.length === 0 || recorded.includes(book)
    ? []
    : [`the last run of this bot does not quote ${book}; the action takes effect in a run that does`];
}

/**
 * Returns the books that a bot quotes: those of its last recorded run, or of `filed` if none can be read. A reload can
 * change them. Never throws, so that a stop does not fail.
 */
export function quotedBooks({ stateDir }: WhichBot, filed: Config): readonly string[] {
  try {
    return symbolsOf(recordedIn(stateDir) ?? filed);
  } catch {
    return symbolsOf(filed);
  }
}

/** Returns the configuration of the last recorded run; `null` if no run is recorded. */
function recordedIn(stateDir: string): Config | null {
  try {
    return lastConfigOf(stateDir);
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
