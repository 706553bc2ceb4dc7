/** Recordings of a backtest of several books: one per book, with a common time. */
import { booksText, type Config } from '../../../src/config.ts';
import type { Tape } from '../../../src/tape/index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { spanOf, type OpenedTape } from '../backtest/market.ts';

export type BookTape = Tape | OpenedTape;

/** Returns symbol and source of a recording. */
const nameOf = (tape: BookTape): { readonly book: string; readonly source: string } => {
  const { instrument, source } = 'options' in tape ? tape.tape : tape;
  return { book: instrument.symbol, source };
};

/**
 * Returns the recordings in the order of the books.
 * @throws UsageError if a book has no recording or two, if a recording has another book, or if the recordings have no
 * common time.
 */
export function tapesOfBooks(config: Pick<Config, 'book' | 'books'>, given: readonly BookTape[]): readonly BookTape[] {
  const symbols = config.books?.map(({ symbol }) => symbol) ?? [config.book];
  const found = new Map<string, BookTape>();
  for (const tape of given) {
    const { book, source } = nameOf(tape);
    if (!symbols.includes(book))
      throw new UsageError(
        `--tape ${source}: the configuration quotes ${booksText(config)}, but this is a recording of ${book}; remove it`,
      );
    const before = found.get(book);
    if (before !== undefined)
      throw new UsageError(
        `--tape: expected one recording of ${book}, found ${nameOf(before).source} and ${source}; remove one, or import both into one folder`,
      );
    found.set(book, tape);
  }
  const missing = symbols.filter(symbol => !found.has(symbol));
  if (missing.length > 0)
    throw new UsageError(`--tape: found no recording of ${missing.join(', ')}; add --tape with a folder that has it`);
  const tapes = symbols.map(symbol => found.get(symbol)!);
  if (commonSpan(tapes) === null)
    throw new UsageError(`--tape: the recordings have no common time: ${tapes.map(tapeSpanText).join('; ')}`);
  return tapes;
}

/** Returns the time that all recordings cover; `null` if there is none. */
export function commonSpan(tapes: readonly BookTape[]): { readonly from: number; readonly to: number } | null {
  const spans = tapes.map(spanOf);
  const from = Math.max(...spans.map(span => span.from));
  const to = Math.min(...spans.map(span => span.to));
  return from < to ? { from, to } : null;
}

function tapeSpanText(tape: BookTape): string {
  const { from, to } = spanOf(tape);
  return `${nameOf(tape).book} from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;
}
