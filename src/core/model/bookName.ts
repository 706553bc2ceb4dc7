/**
 * Book name in the form <base>_<quote>, used everywhere in this program. Exchange-specific names stay in the exchange's
 * folder.
 */

/** Pattern for book names in a configuration. */
export const BOOK_NAME = /^[a-z0-9]{2,12}_[a-z0-9]{2,12}$/;

/** Returns the base and quote currency of a book; `null` if the text is not a book name. */
export function pairOrNull(book: string): readonly [major: string, minor: string] | null {
  const [major, minor, extra] = book.split('_');
  return major && minor && extra === undefined ? [major, minor] : null;
}

/** Returns the base and quote currency of a book. Throws RangeError if the text is not a book name. */
export function pairOf(book: string): readonly [major: string, minor: string] {
  const pair = pairOrNull(book);
  if (pair === null) throw new RangeError(`book ${JSON.stringify(book)}: expected <major>_<minor>, like btc_mxn`);
  return pair;
}
