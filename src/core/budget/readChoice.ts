/** Choice of the book that is read next, if the request budget does not allow to read every book as often as wanted. */
import type { Millis } from '../model/units.ts';
import type { ReadValue } from './informationValue.ts';

/** A book that can be read now. */
export type ReadableBook = ReadValue & {
  /** Time since the start of its last read; Infinity if it was never read. */
  readonly age: Millis;
};

/** Factor on the interval of even reads beyond which no book is left unread, however little a read of it is worth. */
const OLDEST_FACTOR = 4;

/**
 * Returns the age at which a book is read before all others: four times the interval at which each of `books` would
 * be read in turn, and at most `freshMs`, the age at which its quotes would be canceled.
 */
export const oldestAge = (books: number, slotMs: Millis, freshMs: Millis): Millis =>
  Math.min(OLDEST_FACTOR * books * slotMs, freshMs);

/**
 * Returns the index of the book to read in this slot; -1 if there is none. One book is read every `slotMs`.
 *
 * Reads the most valuable book, if every other book can still be read, one per slot, before it is older than
 * `oldestMs`. If one could not, reads the oldest. So no book gets too old if reading all books in turn would have
 * prevented it. Books of equal value are ordered by their distance in standard deviations, then by age.
 */
export function nextRead(books: readonly ReadableBook[], slotMs: Millis, oldestMs: Millis): number {
  const byAge = books.map((_, i) => i).sort((a, b) => compareAges(books[b]!.age, books[a]!.age) || a - b);
  const oldest = byAge[0];
  if (oldest === undefined) return -1;
  const best = byAge.reduce((found, i) => (isBetter(books[i]!, books[found]!) ? i : found), oldest);
  const others = byAge.filter(i => i !== best);
  const areInTime = others.every((i, place) => books[i]!.age + (place + 1) * slotMs <= oldestMs);
  return areInTime ? best : oldest;
}

const compareAges = (a: Millis, b: Millis): number => (a === b ? 0 : a - b);

const isBetter = (a: ReadableBook, b: ReadableBook): boolean =>
  a.value > b.value || (a.value === b.value && a.xi < b.xi);
