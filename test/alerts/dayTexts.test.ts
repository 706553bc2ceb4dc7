/** Texts of the daily digest: each period begins where the last one ended, or where the book was first seen. */
import { expect, test } from 'vitest';
import { DayTextsOfBooks } from '../../src/alerts/sentences.ts';
import { BOOKS, SharedAccount } from '../core/sharedAccount.ts';

test('the first digest of a book has its fills since it was first seen, the next ones those since the previous digest', () => {
  const [first, added] = [BOOKS[0]!, BOOKS[1]!];
  const account = new SharedAccount({}, [first, added]).open();
  account.round();
  const days = new DayTextsOfBooks();
  const snapshotOf = (symbol: string) => account.bookOf(symbol).snapshot(account.now);
  /** Fills an order of the bot. The books are looked at before and after it, as twice per second. */
  const fill = (symbol: string) => {
    days.see(snapshotOf(symbol));
    account.fill([...account.live].find(([, { book }]) => book.symbol === symbol)![0], 1);
    account.round();
    days.see(snapshotOf(symbol));
  };
  const fillsIn = (book: typeof first) =>
    /fills in this period: (\d+)/.exec(days.of(snapshotOf(book.symbol), book))![1];
  fill(first.symbol);
  expect(fillsIn(first)).toBe('1');
  // From here on, the bot has the other book too.
  fill(added.symbol);
  fill(added.symbol);
  fill(first.symbol);
  expect([fillsIn(first), fillsIn(added)]).toEqual(['1', '2']);
  expect([fillsIn(first), fillsIn(added)]).toEqual(['0', '0']);
});
