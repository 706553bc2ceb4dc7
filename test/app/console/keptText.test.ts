/** A text that is kept while its sources stay the same. */
import { expect, test } from 'vitest';
import { KeptText } from '../../../src/app/console/keptLongHistory.ts';

test('a text is made once for the same sources, and again after an error', () => {
  const kept = new KeptText();
  let made = 0;
  const make = () => `text ${++made}`;
  const fail = (): string => {
    throw new Error('no memory');
  };
  expect([kept.of([1, 'a'], make), kept.of([1, 'a'], make)]).toEqual(['text 1', 'text 1']);
  expect(() => kept.of([2, 'a'], fail)).toThrow('no memory');
  expect(kept.of([2, 'a'], make)).toBe('text 2');
  expect(kept.of([2, 'a'], () => null)).toBe('text 2');
  expect(kept.of([3, 'a'], () => null)).toBeNull();
  expect(kept.of([3, 'a'], make)).toBeNull();
});
