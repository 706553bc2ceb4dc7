/**
 * Books of an earlier run that the configuration no longer has, but whose orders may still be open or unbooked. A start
 * continues them without quotes until their orders are settled.
 */
import { booksOf, recordedConfig, symbolsOf, withMoreBooks, type Config } from '../../config.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';

/** Maximum number of recordings that are opened. */
const LOOKS_MAX = 20;

/**
 * Returns the books of stored orders that a configuration does not have, as they were last recorded. Empty if it has
 * all of them, or if the books cannot be continued together; the start then refuses the orders by name.
 */
export function leftBooks(
  config: Config,
  orders: readonly { readonly symbol?: string }[],
  dir: string,
): readonly Config[] {
  const books = booksOf(config);
  const symbols = new Set(orders.flatMap(({ symbol }) => symbol ?? []));
  const left = [...symbols].filter(symbol => books.every(({ book }) => book !== symbol)).toSorted();
  if (left.length === 0) return [];
  const recorded = recordedBooks(dir, left);
  const continued = left.flatMap(symbol => recorded.get(symbol) ?? []);
  return continued.length < left.length || withMoreBooks(config, continued) === null ? [] : continued;
}

/**
 * Returns a configuration with those left books that it does not have. If they cannot be continued together, returns
 * the configuration alone; a reload then waits until the left books are settled.
 */
export function withLeftBooks(
  config: Config,
  left: readonly Config[],
): { readonly config: Config; readonly left: readonly Config[] } {
  const symbols = symbolsOf(config);
  const missing = left.filter(({ book }) => !symbols.includes(book));
  const all = missing.length === 0 ? null : withMoreBooks(config, missing);
  return all === null ? { config, left: [] } : { config: all, left: missing };
}

/** Returns the last recorded configuration of each of the given books. */
function recordedBooks(dir: string, symbols: readonly string[]): ReadonlyMap<string, Config> {
  const found = new Map<string, Config>();
  for (const { run } of recordingsIn(dir).slice(-LOOKS_MAX).toReversed()) {
    if (found.size === symbols.length) break;
    const setup = recordedRunOf(dir, run)?.setup;
    for (const config of setup === undefined ? [] : booksIn(setup))
      if (symbols.includes(config.book) && !found.has(config.book)) found.set(config.book, config);
  }
  return found;
}

/** Returns the configuration of each book in a recorded configuration; empty if it cannot be read. */
function booksIn(setup: string): readonly Config[] {
  try {
    return booksOf(recordedConfig(setup));
  } catch {
    return [];
  }
}
