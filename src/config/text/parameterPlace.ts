/** Place of a parameter in the file of one book or several: where a change is written, and which books it changes. */
import { bookValues, symbolsOf } from '../books.ts';
import { withCurrentKeys } from '../renamedKeys.ts';
import { PER_BOOK, type Config } from '../schema.ts';
import { yamlPathOf } from './configSource.ts';
import { readYaml } from './yamlText.ts';

export type ParameterPlace = {
  /** Path of the key in the file. */
  readonly path: readonly string[];
  /** Symbols of the books that a change there changes, in their order. */
  readonly books: readonly string[];
  /** Keys that `configChanges` reports for a change there. */
  readonly keys: readonly string[];
};

/** Whether each book can have its own section with this key. */
export const isKeyOfBook = (key: string): boolean => (PER_BOOK as readonly string[]).includes(key.split('.')[0]!);

/**
 * Returns the place of a key of the book `book`, or why it has none, as text. A book without its own section shares that
 * of the file with the other books without their own. `book` is `undefined` for a bot with one book, and for keys that
 * all books share. `text` is the file of `config`.
 */
export function parameterPlace(
  config: Config,
  text: string,
  key: string,
  book: string | undefined,
): ParameterPlace | string {
  const symbols = symbolsOf(config);
  if (book !== undefined && !symbols.includes(book))
    return `${book}: expected a book of this bot (${symbols.join(', ')})`;
  const shared = yamlPathOf(text, key.split('.'));
  const isOne = symbols.length === 1;
  if (!isKeyOfBook(key))
    return isOne || book === undefined
      ? { path: shared, books: symbols, keys: [key] }
      : `${key}: all books share this key; choose no book`;
  if (!isOne && book === undefined) return `${key}: each book can have its own; choose one of ${symbols.join(', ')}`;
  const section = key.split('.')[0]!;
  const own = ownSectionsOf(text).map(sections => sections.includes(section));
  const at = isOne ? 0 : symbols.indexOf(book!);
  const hasOwn = own[at] === true;
  const books = isOne || hasOwn ? [symbols[at]!] : symbols.filter((_, i) => own[i] !== true);
  return {
    path: hasOwn ? ['books', String(at), ...key.split('.')] : shared,
    books,
    keys: isOne ? [key] : books.map(symbol => `books.${symbol}.${key}`),
  };
}

/** Returns the sections that each entry of `books` has in a valid file; empty without the key `books`. */
function ownSectionsOf(text: string): readonly (readonly string[])[] {
  const read = readYaml(text, '', '');
  const { value } = withCurrentKeys(read.ok ? read.value : null);
  if (bookValues(value) === null) return [];
  return (value as { readonly books: readonly object[] }).books.map(entry => Object.keys(entry));
}
