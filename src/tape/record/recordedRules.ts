/** The rules of a recorded book: what of the exchange's row is kept, and whether it has changed. */
import type { AvailableBook, BookRules, Exchange } from '../../core/index.ts';

/** Between two reads of the rules. */
export const RULES_EVERY_MS = 10 * 60_000;

/** The bounds and the tick, without what else the exchange says of a book. */
export function rulesOf(row: AvailableBook): BookRules {
  const { book, tickSize, minimumAmount, maximumAmount, minimumPrice, maximumPrice, minimumValue, maximumValue } = row;
  return { book, tickSize, minimumAmount, maximumAmount, minimumPrice, maximumPrice, minimumValue, maximumValue };
}

/** Reads the rules; null when they are the known ones, or cannot be read now. */
export async function changedRules(
  exchange: Pick<Exchange, 'availableBooks'>,
  known: BookRules,
  log: (line: string) => void,
): Promise<BookRules | null> {
  const books = await exchange.availableBooks();
  if (books.kind !== 'done') return null;
  const row = books.value.find(({ book }) => book === known.book);
  const unreadable = row ? undefined : books.unreadable?.find(({ book = known.book }) => book === known.book);
  if (unreadable) {
    log(`${known.book}: its rules cannot be read: ${unreadable.why}`);
    return null;
  }
  if (!row) {
    log(`${known.book}: the exchange lists it no more`);
    return null;
  }
  const rules = rulesOf(row);
  if (JSON.stringify(rules) === JSON.stringify(known)) return null;
  log(`${rules.book}: the rules changed (tick ${known.tickSize} to ${rules.tickSize})`);
  return rules;
}
