/** The exchange's clock by the quickest message, and when its lower numbers are a new count. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClockOffset } from '../../src/marketdata/index.ts';
import { SequenceReset } from '../../src/marketdata/sequenceReset.ts';

const NOW = 1_700_000_000_000;

describe("the exchange's clock", () => {
  test('is as far off as the quickest message of this connection, or of the last one that had any', () => {
    const event = fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: -500, max: 500 }) },
      fc.constant('reset' as const),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 15 }), list => {
        const offset = new ClockOffset();
        const connections: number[][] = [[]];
        list.forEach((each, i) => {
          if (each === 'reset') {
            offset.reset();
            connections.push([]);
          } else {
            connections.at(-1)!.push(each);
            const late = each - Math.min(...connections.at(-1)!);
            expect(offset.recordMessage(NOW + i * 1_000, NOW + i * 1_000 - each)).toBe(late);
          }
          const known = connections.findLast(delays => delays.length > 0);
          const least = known === undefined ? Infinity : Math.min(...known);
          expect(offset.toLocalTime(NOW)).toBe(NOW + least);
          expect(offset.theirs(NOW)).toBe(known === undefined ? null : NOW - least);
        });
      }),
      { numRuns: 100 },
    );
  });
});

describe('lower numbers of a book', () => {
  const SHOWN = 1_000n;
  /** Reads of these numbers, so many ms apart; at which of them the count is a new one. */
  const anewAt = (reads: readonly number[], everyMs: number, shown = SHOWN): number[] => {
    const reset = new SequenceReset();
    return reads.flatMap((sequence, i) => (reset.recordRead(BigInt(sequence), shown, NOW + i * everyMs) ? [i] : []));
  };

  test('are a new count after a minute in which they grew five times, and then not again at once', () => {
    const growing = Array.from({ length: 30 }, (_, i) => i);
    expect(anewAt(growing, 12_000)).toEqual([5, 11, 17, 23, 29]);
    expect(anewAt(growing, 11_999)[0]).toBe(6);
    expect(anewAt(growing, 60_000)[0]).toBe(5);
    // Four times are too few, however long they last.
    expect(anewAt([1, 2, 2, 3, 3, 4, 4, 5, 5, 5], 30_000)).toEqual([]);
    expect(anewAt([1, 2, 2, 3, 3, 4, 4, 5, 5, 6], 30_000)).toEqual([9]);
  });

  test('are late answers when one in between was as high as shown, or lower than the one before', () => {
    expect(anewAt([1, 2, 3, 4, 5, 1_000, 6, 7, 8, 9, 10], 12_000)).toEqual([]);
    expect(anewAt([1, 2, 3, 4, 5, 1_001, 6, 7, 8, 9, 10], 12_000)).toEqual([]);
    expect(anewAt([1, 2, 3, 4, 2, 6, 7, 8, 9, 10], 12_000)).toEqual([9]);
    expect(anewAt([5, 5, 5, 5, 5, 5, 5, 5], 12_000)).toEqual([]);
  });
});
