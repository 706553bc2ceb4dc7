/** Among ten books the one that pays is named first, and where none does nothing is quoted: in nearly all of a hundred seeds. */
import { describe, expect, test } from 'vitest';
import { ranked } from '../../../backtest/index.ts';
import { tenBooks } from './plantedBooks.ts';

const SEEDS = Array.from({ length: 100 }, (_, i) => i + 1);

describe('a hundred times ten books, an hour each', () => {
  test('the planted good one comes first and pays in at least 95', () => {
    const found = SEEDS.map(seed => ranked(tenBooks(seed)).books);
    const first = found.filter(([best]) => best?.name === 'good' && best.verdict.quote).length;
    expect(first).toBeGreaterThanOrEqual(95);
    // Nine hundred lose by much: far fewer than the one of twenty that a book without an edge may have.
    const wrong = found.flatMap(books => books.filter(({ name, verdict }) => verdict.quote && name !== 'good')).length;
    expect(wrong).toBeLessThanOrEqual(22);
  }, 1_800_000);
});
