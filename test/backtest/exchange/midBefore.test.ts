/** The mid price just before a row: that before its time, although rows of one time move the best prices one by one. */
import { expect, test } from 'vitest';
import { ExchangeBook, type Resident } from '../../../backtest/exchange/exchangeBook.ts';
import { rowsOf, syntheticMarket } from '../syntheticMarket.ts';

test('the mid price before a time is that of a book that was read up to the time before', () => {
  let [compared, moved] = [0, 0];
  for (const seed of [1, 2, 3, 4, 5]) {
    const rows = () => {
      const made = rowsOf(syntheticMarket(seed, 3_000));
      // Many rows of one time.
      for (let i = 0; i < made.length; i++) made.at[i] = Math.floor(made.at[i]! / 2_000) * 2_000;
      return made;
    };
    const [book, earlier] = [new ExchangeBook(rows()), new ExchangeBook(rows())];
    const { at } = book.rows;
    const resident: Pick<Resident, 'levelChanged' | 'traded' | 'seen'> = {
      levelChanged: () => undefined,
      seen: () => undefined,
      traded: row => {
        earlier.readTo(at[row]! - 1);
        expect(book.twiceMidBefore(at[row]!)).toBe(earlier.twiceMid);
        compared++;
        if (book.twiceMid !== earlier.twiceMid) moved++;
      },
    };
    book.join({ ...resident, bids: { best: -1 }, asks: { best: Infinity } } as unknown as Resident);
    book.readTo(at[book.rows.length - 1]!);
  }
  expect(compared).toBeGreaterThan(200);
  expect(moved).toBeGreaterThan(50);
});
