/** Reasons why books of a bot are stopped, as text. */

/** Halts and pauses of one book; `null` if there is none. */
type StoppedBook = {
  readonly symbol: string;
  readonly haltedBecause: string | null;
  readonly pausedBecause: string | null;
};

/**
 * Returns why books are halted or paused; `null` if none is. If only some are, or for other reasons, the text names each
 * stopped book.
 */
export function stopText(
  { books }: { readonly books: readonly StoppedBook[] },
  what: 'haltedBecause' | 'pausedBecause',
): string | null {
  const reasons = new Set(books.map(book => book[what]));
  const [first = null] = reasons;
  if (reasons.size <= 1) return first;
  return books.flatMap(book => (book[what] === null ? [] : [`${book.symbol}: ${book[what]}`])).join('; ');
}
