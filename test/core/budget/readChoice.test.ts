import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextRead, oldestAge, type ReadableBook } from '../../../src/core/budget/readChoice.ts';
import { READ_SETS, readHour, requoteHour, type ReadOrder } from './readModel.ts';

const SLOT = 1_000;
const book = (age: number, value = 0, xi = Infinity): ReadableBook => ({ age, value, xi });

describe('the next read', () => {
  test('is of the most valuable book; of equal ones, of the nearest quote, then of the oldest', () => {
    expect(nextRead([], SLOT, 20_000)).toBe(-1);
    expect(nextRead([book(5_000, 1), book(1_000, 2), book(9_000)], SLOT, 20_000)).toBe(1);
    expect(nextRead([book(5_000, 0, 9), book(1_000, 0, 7), book(9_000)], SLOT, 20_000)).toBe(1);
    expect(nextRead([book(5_000), book(1_000), book(9_000)], SLOT, 20_000)).toBe(2);
    expect(nextRead([book(5_000), book(5_000)], SLOT, 20_000)).toBe(0);
  });

  test('is of the oldest book if another one would become too old, and of a book that was never read', () => {
    expect(nextRead([book(19_000), book(1_000, 2)], SLOT, 20_000)).toBe(1);
    expect(nextRead([book(19_001), book(1_000, 2)], SLOT, 20_000)).toBe(0);
    // Two books wait for two slots.
    expect(nextRead([book(18_500), book(18_001), book(1_000, 2)], SLOT, 20_000)).toBe(0);
    expect(nextRead([book(3_000, 9), book(Infinity), book(1_000, 2)], SLOT, 20_000)).toBe(1);
  });

  test('leaves no book older than five even intervals, or than the age of a stale book', () => {
    expect(oldestAge(5, SLOT, 120_000)).toBe(25_000);
    expect(oldestAge(5, SLOT, 14_000)).toBe(14_000);
  });

  test('never lets a book get too old if reading in turn would not, whatever the values', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 40 }),
        fc.infiniteStream(fc.tuple(fc.nat(3), fc.nat(3))),
        (n, spare, draws) => {
          const oldestMs = (n + spare) * SLOT;
          const readAt = Array.from({ length: n }, () => -Infinity);
          for (let slot = 0; slot < 150; slot++) {
            const books = readAt.map(at => {
              const [{ value: drawn }] = [draws.next() as { value: readonly [number, number] }];
              return book((slot - at) * SLOT, drawn[0], drawn[1]);
            });
            // Once every book was read, each is read in time.
            for (const { age } of books) if (slot >= n) expect(age).toBeLessThanOrEqual(oldestMs);
            readAt[nextRead(books, SLOT, oldestMs)] = slot;
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('reads books in turn if the budget only just allows it', () => {
    const readAt = [0, 0, 0, 0].map(() => -Infinity);
    const reads: number[] = [];
    for (let slot = 0; slot < 20; slot++) {
      const books = readAt.map((at, i) => book((slot - at) * SLOT, i === 2 ? 9 : 0));
      const next = nextRead(books, SLOT, 4 * SLOT);
      reads.push(next);
      readAt[next] = slot;
    }
    expect(reads.slice(4, 12)).toEqual([...reads.slice(0, 4), ...reads.slice(0, 4)]);
    expect(reads.slice(0, 4).toSorted()).toEqual([0, 1, 2, 3]);
  });
});

describe('an hour of five polled books by value', () => {
  const seeds = [1, 2, 3, 4, 5, 6];
  const losses = (name: string, order: ReadOrder): number =>
    seeds.reduce((sum, seed) => sum + readHour(READ_SETS[name]!, seed, order).losses, 0);

  test.each([
    ['A', 0.55],
    ['D', 0.5],
    ['E', 0.8],
  ])('has far fewer stale fills than in turn: set %s, ratio below %f', (name, most) => {
    expect(losses(name, 'by value') / losses(name, 'in turn')).toBeLessThan(most);
  });

  test('reads equal books equally often, and no book later than after 20 s', () => {
    const { reads, oldestS } = readHour(READ_SETS['C']!, 1, 'by value');
    expect(reads).toEqual([720, 720, 720, 720, 720]);
    expect(oldestS).toBe(5);
    for (const name of ['A', 'B', 'D', 'E']) {
      const hour = readHour(READ_SETS[name]!, 1, 'by value');
      expect(hour.oldestS).toBeLessThanOrEqual(25);
      expect(hour.reads.reduce((sum, count) => sum + count, 0)).toBe(3_600);
    }
  });
});

test.each([
  ['A', 60, 0.1],
  ['E', 60, 0.6],
  ['C', 30, 0.6],
])(
  'streamed books have fewer stale fills with a shared budget than with even ones: set %s, %i quotes per minute, ratio below %f',
  (name, perMinute, most) => {
    const losses = (order: 'evenly' | 'by value'): number =>
      [1, 2].reduce((sum, seed) => sum + requoteHour(READ_SETS[name]!, seed, order, perMinute).losses, 0);
    expect(losses('by value') / losses('evenly')).toBeLessThan(most);
  },
);
