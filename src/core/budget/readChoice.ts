/** Choice of the book that is read next, if the request budget is too small to read every book as often as wanted. */
import type { Millis } from '../model/units.ts';
import type { ReadValue } from './informationValue.ts';

/** A book that can be read now. */
export type ReadableBook = ReadValue & {
  /** Time since the start of the last read of this book; Infinity if the book was never read. */
  readonly age: Millis;
};

/**
 * Maximum age of a book, however little a read of the book is worth; in intervals at which each book is read in turn.
 */
const OLDEST_FACTOR = 5;

/**
 * Returns the age at which a book is read before all others: five times the interval at which each of `books` books
 * would be read in turn, but at most `freshMs`. At the age `freshMs`, the quotes of a book are canceled.
 */
export const oldestAge = (books: number, slotMs: Millis, freshMs: Millis): Millis =>
  Math.min(OLDEST_FACTOR * books * slotMs, freshMs);

/**
 * Returns the index of the book to read in this slot; -1 if there is none. One book is read every `slotMs`.
 *
 * Chooses the book whose read is worth most, if every other book can still be read, one per slot, before that book is
 * older than `oldestMs`. Otherwise, chooses the oldest book. So no book becomes older than `oldestMs` if reading all
 * books in turn can prevent it. Books of equal value are ordered by their distance in standard deviations, then by age.
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
