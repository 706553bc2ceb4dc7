/** Rules of a recorded book: the fields that are recorded, and the detection of changes. */
import type { AvailableBook, BookRules, Exchange } from '../../core/index.ts';

/** Interval between two reads of the rules, in ms. */
export const RULES_EVERY_MS = 10 * 60_000;

/** Returns the rules in a row of the exchange's list of books: bounds and tick. */
export function rulesOf(row: AvailableBook): BookRules {
  const { book, tickSize, minimumAmount, maximumAmount, minimumPrice, maximumPrice, minimumValue, maximumValue } = row;
  return { book, tickSize, minimumAmount, maximumAmount, minimumPrice, maximumPrice, minimumValue, maximumValue };
}

/** Reads the rules of a recorded book; `null` if the rules are unchanged or cannot be read at present. */
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
    log(`${known.book}: the rules of the book cannot be read: ${unreadable.why}`);
    return null;
  }
  if (!row) {
    log(`${known.book}: the exchange no longer lists the book`);
    return null;
  }
  const rules = rulesOf(row);
  if (JSON.stringify(rules) === JSON.stringify(known)) return null;
  log(
    `${rules.book}: the exchange changed the rules of the book (tick ${known.tickSize} before, ${rules.tickSize} now)`,
  );
  return rules;
}
