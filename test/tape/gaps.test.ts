/** Gaps of a recording: their time is counted once, and only inside the span in question. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instrumentOf } from '../../src/core/index.ts';
import { gapMs, gapsWithin, RowBuffer, type Gap } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { Findings } from '../../src/tape/import/read/findings.ts';
import { mergedGaps } from '../../src/tape/model/gaps.ts';
import { closedWhy, isClosed } from '../../src/tape/model/session.ts';
import { RULES } from './storedRows.ts';

const SECONDS = 40;
const CLOSED = closedWhy({ text: 'a session' });
const second = fc.nat(SECONDS);
const drawnGaps = fc.array(
  fc
    .tuple(second, second, fc.constantFrom('one', 'two', CLOSED))
    .map(([a, b, why]): Gap => ({ from: Math.min(a, b), to: Math.max(a, b), why })),
  { maxLength: 8 },
);
/** The seconds in any of the gaps. */
const secondsIn = (gaps: readonly Gap[]): readonly number[] =>
  Array.from({ length: SECONDS }, (_, i) => i).filter(i => gaps.some(({ from, to }) => from <= i && i < to));

describe('merged gaps', () => {
  test('cover the same time, each part of it once, and give every reason', () => {
    fc.assert(
      fc.property(drawnGaps, gaps => {
        const merged = mergedGaps(gaps);
        expect(secondsIn(merged)).toEqual(secondsIn(gaps));
        expect(gapMs(merged)).toBe(secondsIn(gaps).length);
        const reasonsIn = (all: readonly Gap[]) => new Set(all.flatMap(({ why }) => why.split('; ')));
        expect(reasonsIn(merged)).toEqual(reasonsIn(gaps));
      }),
    );
  });

  test('are missing data where data was missing, though the market was closed before', () => {
    const merged = mergedGaps([
      { from: 0, to: 10, why: CLOSED },
      { from: 5, to: 20, why: 'a day is missing' },
    ]);
    expect(merged.map(isClosed)).toEqual([false]);
  });

  test('of an import are those that were found at different times', async () => {
    const gaps = [
      { from: 4, to: 6, why: 'a lost message' },
      { from: 2, to: 9, why: 'no book during the gap' },
    ];
    const rows = new RowBuffer(new Findings());
    const tape = await collectTape({
      ...{ source: 'a test', format: 'a test', files: [], passes: 1, instrument: instrumentOf(RULES), notes: [] },
      ...{ fromOrders: false, depth: Infinity, quotesOnly: false },
      streams: ({ gap }) => [
        (async function* () {
          for (let at = 0; at < 12; at++) {
            rows.begin('a test', at);
            rows.clear(at, at);
            for (const found of gaps) if (found.to === at) gap(found);
            yield* rows.take();
          }
        })(),
      ],
    });
    expect(tape.gaps).toEqual([{ from: 2, to: 9, why: 'no book during the gap; a lost message' }]);
  });
});

test('the gaps of a span are no longer than the span, and as long as those of its two parts', () => {
  fc.assert(
    fc.property(drawnGaps, second, second, second, (drawn, a, first, second) => {
      const gaps = mergedGaps(drawn);
      const [b, c] = [a + first, a + first + second];
      const length = (from: number, to: number) => gapMs(gapsWithin(gaps, from, to));
      expect(length(a, c)).toBeLessThanOrEqual(c - a);
      expect(length(a, c)).toBe(length(a, b) + length(b, c));
    }),
  );
});
