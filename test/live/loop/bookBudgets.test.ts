/** Shares of a scarce budget of placements: from which figures of the real books they come. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BookBudgets } from '../../../src/live/loop/bookBudgets.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { BOOKS, SharedAccount } from '../../core/sharedAccount.ts';

/** Two books with the same quotes; the private budget is used up once `spend` is called. */
function budgetsOf(areOnStream = [false, false]) {
  const books = [BOOKS[0]!, BOOKS[1]!];
  const account = new SharedAccount({}, books).open();
  account.round();
  const clock = new VirtualClock();
  let left = 300;
  const budgets = new BookBudgets({
    ...{ clock, engine: account.engine, pollMs: 1_000, time: () => account.now, instruments: () => books },
    markets: areOnStream.map(isOnStream => ({
      bookReads: 0,
      isOnStream,
      pollState: null,
      poll: async () => undefined,
    })),
    left: () => ({ public: 60, private: left }),
  });
  const read = (i: number) => budgets.onStep({ kind: 'book', at: account.now, symbol: books[i]!.symbol } as never);
  /** Reads both books again, with these mid prices. */
  const moves = (mids: readonly number[]) => {
    account.round(1_000, Object.fromEntries(books.map(({ symbol }, i) => [symbol, mids[i]!])));
    read(0);
    read(1);
  };
  read(0);
  read(1);
  const place = (i: number) => budgets.place(books[i]!.symbol);
  return { budgets, clock, moves, place, spend: () => (left = 0) };
}

/** Placements of both books that are possible if both always want to place. */
function placedOf({ budgets, place }: ReturnType<typeof budgetsOf>): readonly number[] {
  const placed = [0, 0];
  const before = [0, 1].map(i => budgets.use(i).placementWaits);
  for (let n = 0; n < 100; n++) for (const i of [0, 1]) if (place(i)) placed[i]!++;
  for (const i of [0, 1]) expect(budgets.use(i).placementWaits - before[i]!).toBe(100 - placed[i]!);
  return placed;
}

test('a scarce budget goes to the book whose price moved since its own last order, and is equal if neither moved', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 1), fc.constantFrom(-40, 40), (which, move) => {
      const desk = budgetsOf();
      for (const i of [0, 1]) expect(desk.place(i)).toBe(true);
      desk.spend();
      const calm = placedOf(desk);
      expect(Math.abs(calm[0]! - calm[1]!)).toBeLessThanOrEqual(1);
      // One order ahead, the book has used its share of equals; a refused attempt is no order.
      expect([desk.place(which), desk.place(which)]).toEqual([true, false]);
      desk.moves([0, 1].map(i => 1_000 + (i === which ? move : 0)));
      // The first order of the book after the move is worth most; then its price has not moved again.
      expect([desk.place(1 - which), desk.place(which)]).toEqual([false, true]);
      const after = placedOf(desk);
      expect(Math.abs(after[0]! - after[1]!)).toBeLessThanOrEqual(2);
    }),
    { numRuns: 4 },
  );
});

test('a book that was refused keeps its share for a minute, and a book that wants nothing has none', async () => {
  for (const isRefused of [true, false]) {
    const desk = budgetsOf();
    for (const i of [0, 1]) expect(desk.place(i)).toBe(true);
    desk.spend();
    desk.moves([1_040, 1_000]);
    await desk.clock.advance(30_000);
    if (isRefused) expect(desk.place(1)).toBe(false);
    // All orders are older than a minute, the refusal is not.
    await desk.clock.advance(31_000);
    expect([desk.place(0), desk.place(0)]).toEqual([true, !isRefused]);
  }
});

test('each book has its own numbers of reads and of waits, in the order of the books', async () => {
  const books = [BOOKS[0]!, BOOKS[1]!];
  const account = new SharedAccount({}, books).open();
  account.round();
  const clock = new VirtualClock();
  const polled = [0, 0];
  const budgets = new BookBudgets({
    ...{ clock, engine: account.engine, pollMs: 1_000, time: () => account.now, instruments: () => books },
    markets: [11, 12].map((bookReads, i) => ({
      ...{ bookReads, isOnStream: false },
      // Only the second book is due at first, and then both.
      get pollState() {
        return i === 1 || clock.elapsed() > 60_000 ? { age: i === 1 ? 9_000_000 : 5_000, isOnStream: false } : null;
      },
      poll: async () => void polled[i]!++,
    })),
    left: () => ({ public: 60, private: 300 }),
    sharedReads: { perMinute: 60, staleAfterMs: 10_000 },
  });
  await budgets.polls!.turn();
  await clock.advance(61_000);
  await budgets.polls!.turn();
  expect(polled).toEqual([0, 2]);
  expect([0, 1].map(i => budgets.use(i))).toEqual([
    { bookReads: 11, readWaits: 1, placementWaits: 0 },
    { bookReads: 12, readWaits: 0, placementWaits: 0 },
  ]);
});
