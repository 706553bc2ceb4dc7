import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { between } from '../../draws.ts';
import { FairShares, SCARCE_BELOW } from '../../../src/core/orders/fairShares.ts';

const BOOKS = ['a_m', 'b_m', 'c_m'];

describe('the request budget of several books', () => {
  test('is free while there is enough of it, and for one book always', async () => {
    const clock = new VirtualClock();
    const rich = new FairShares(clock, () => SCARCE_BELOW + 1, BOOKS);
    for (let n = 0; n < 50; n++) rich.place('a_m');
    expect(rich.mayPlace('a_m')).toBe(true);
    const alone = new FairShares(clock, () => 0, ['a_m']);
    for (let n = 0; n < 50; n++) alone.place('a_m');
    expect(alone.mayPlace('a_m')).toBe(true);
  });

  test('is shared while it is scarce: no book is ahead of its share by more than one order, and one may always place', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2), { minLength: 1, maxLength: 60 }), wishes => {
        const shares = new FairShares(new VirtualClock(), () => 0, BOOKS);
        const placed = BOOKS.map(() => 0);
        for (const book of BOOKS) shares.refuse(book);
        for (const i of wishes) {
          expect(BOOKS.some(book => shares.mayPlace(book))).toBe(true);
          if (!shares.mayPlace(BOOKS[i]!)) continue;
          shares.place(BOOKS[i]!);
          placed[i]!++;
          const all = placed.reduce((sum, n) => sum + n, 0);
          expect(Math.max(...placed)).toBeLessThanOrEqual(all / BOOKS.length + 1);
        }
      }),
    );
  });

  test('forgets orders after a minute', async () => {
    const clock = new VirtualClock();
    const shares = new FairShares(clock, () => 0, BOOKS);
    shares.place('a_m');
    shares.refuse('b_m');
    expect([shares.mayPlace('a_m'), shares.mayPlace('b_m')]).toEqual([false, true]);
    await clock.advance(60_000);
    expect(shares.mayPlace('a_m')).toBe(true);
  });

  test('is all of a busy book while the others are calm, and is shared once one of them wants to place', async () => {
    const clock = new VirtualClock();
    const shares = new FairShares(clock, () => 0, BOOKS);
    for (let n = 0; n < 5; n++) {
      expect(shares.mayPlace('a_m')).toBe(true);
      shares.place('a_m');
    }
    expect(shares.mayPlace('b_m')).toBe(true);
    shares.place('b_m');
    expect([shares.mayPlace('a_m'), shares.mayPlace('b_m'), shares.mayPlace('c_m')]).toEqual([false, true, true]);
  });

  test('is scarce below a quarter of a small limit, and below 60 requests of a large one', async () => {
    for (const [limit, bound] of [
      [60, 15],
      [300, SCARCE_BELOW],
    ] as const) {
      let left: number = limit;
      const shares = new FairShares(new VirtualClock(), () => left, BOOKS);
      shares.place('a_m');
      shares.place('b_m');
      shares.place('a_m');
      for (const [now, may] of [
        [limit, true],
        [bound + 1, true],
        [bound, false],
      ] as const) {
        left = now;
        expect(shares.mayPlace('a_m'), `${now} of ${limit}`).toBe(may);
      }
    }
  });

  test('is the scarcer for the values, the less is left: 0 where it becomes scarce, 1 where it is used up', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 1_000 }), between(0, 1), (limit, share) => {
        const bound = Math.min(SCARCE_BELOW, limit / 4);
        let left = limit;
        const seen: number[] = [];
        const shares = new FairShares(
          new VirtualClock(),
          () => left,
          BOOKS,
          (books, scarcity) => {
            seen.push(scarcity);
            return books.map(() => 1);
          },
        );
        for (left of [bound, bound * share, 0]) shares.mayPlace('a_m');
        expect([seen[0], seen[2]]).toEqual([0, 1]);
        expect(seen[1]).toBeCloseTo(1 - share, 9);
      }),
    );
  });

  test('is shared by value: three quarters for a book that is worth three times the other', () => {
    const worth: Record<string, number> = { a_m: 0.3, b_m: 0.1 };
    const shares = new FairShares(
      new VirtualClock(),
      () => 0,
      ['a_m', 'b_m'],
      books => books.map(book => worth[book]!),
    );
    const placed = { a_m: 0, b_m: 0 };
    for (const book of ['a_m', 'b_m'] as const) shares.refuse(book);
    for (let n = 0; n < 200; n++)
      for (const book of ['a_m', 'b_m'] as const) {
        if (!shares.mayPlace(book)) continue;
        shares.place(book);
        placed[book]++;
      }
    expect(placed.a_m / placed.b_m).toBeGreaterThan(2.8);
    expect(placed.a_m / placed.b_m).toBeLessThan(3.2);
  });

  test('leaves a book whose orders are worth nothing a quarter of an equal share, and is equal for equal values', () => {
    const value = fc.constantFrom(0, 1e-9, 0.1, 0.3, 7, Number.NaN, Infinity);
    fc.assert(
      fc.property(fc.array(value, { minLength: 3, maxLength: 3 }), fc.boolean(), (values, areEqual) => {
        const of = areEqual ? values.map(() => values[0]!) : values;
        const shares = new FairShares(
          new VirtualClock(),
          () => 0,
          BOOKS,
          books => books.map(book => of[BOOKS.indexOf(book)]!),
        );
        const placed = BOOKS.map(() => 0);
        for (const book of BOOKS) shares.refuse(book);
        for (let n = 0; n < 60; n++) {
          expect(BOOKS.some(book => shares.mayPlace(book))).toBe(true);
          BOOKS.forEach((book, i) => {
            if (!shares.mayPlace(book)) return;
            shares.place(book);
            placed[i]!++;
          });
        }
        const all = placed.reduce((sum, n) => sum + n, 0);
        expect(Math.min(...placed)).toBeGreaterThanOrEqual(all / 5 / BOOKS.length - 1);
        if (areEqual) expect(new Set(placed).size).toBe(1);
      }),
    );
  });
});
