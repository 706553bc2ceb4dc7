/** A hundred studies of pure noise and a hundred with a planted edge: the judge's error rates are those that the docs state. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ratesTable } from '../../../scripts/searchPage.ts';
import { errorRates } from '../../../scripts/plantedStudies.ts';

test('on noise the interval of PBO holds one half and the deflated Sharpe ratio says no; on a planted edge both say yes', () => {
  const rates = errorRates(100);
  console.log(ratesTable(rates));
  expect(Math.abs(rates.noise.pbo - 0.5)).toBeLessThan(0.05);
  // At limits of one in twenty, so many are to be expected by chance and few more.
  expect(rates.noise.outside).toBeLessThanOrEqual(10);
  expect(rates.noise.byPbo).toBeLessThanOrEqual(5);
  expect(rates.noise.byDeflated).toBeLessThanOrEqual(10);
  expect(rates.noise.byBoth).toBeLessThanOrEqual(1);
  expect(rates.edge.byEither).toBeLessThanOrEqual(10);
  expect(rates.edge.other).toBe(0);
  expect(readFileSync('docs/development/evidence/tune-search.md', 'utf8')).toContain(ratesTable(rates));
});
