/** The name of a book as this program writes it everywhere, <major>_<minor>; how an exchange spells it stays in that exchange's folder. */

/** Of a book that a configuration may name. */
export const BOOK_NAME = /^[a-z0-9]{2,12}_[a-z0-9]{2,12}$/;

/** Its two currencies; null for any other text. */
export function pairOrNull(book: string): readonly [major: string, minor: string] | null {
  const [major, minor, extra] = book.split('_');
  return major && minor && extra === undefined ? [major, minor] : null;
}

/** The same; throws a RangeError on any other text. */
export function pairOf(book: string): readonly [major: string, minor: string] {
  const pair = pairOrNull(book);
  if (pair === null) throw new RangeError(`book ${JSON.stringify(book)}: expected <major>_<minor>, like btc_mxn`);
  return pair;
}
