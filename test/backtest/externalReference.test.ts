/** Reference prices from recordings of other books: what each of them said when its read arrived there, and none where it said nothing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constantLatency } from '../../backtest/index.ts';
import { ExternalReferenceReplay } from '../../backtest/replay/externalReference.ts';
import { instrumentOf } from '../../src/core/index.ts';
import type { Gap } from '../../src/tape/index.ts';
import { bookRules } from '../core/market.ts';
import { runsOf } from '../many.ts';

const T = 1_700_000_000_000;
const recording = fc
  .record({
    steps: fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 1_000 })), { maxLength: 12 }),
    from: fc.integer({ min: 0, max: 60 }),
    more: fc.integer({ min: 0, max: 60 }),
    gaps: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 })), { maxLength: 3 }),
  })
  .map(({ steps, from, more, gaps }) => {
    const times: number[] = [];
    for (const [after] of steps) times.push((times.at(-1) ?? T + from) + after);
    let end = T;
    const found = gaps.map(([after, ms]): Gap => {
      const gap = { from: end + after, to: end + after + ms, why: 'test' };
      end = gap.to;
      return gap;
    });
    return {
      ...{ book: 'usd_mxn', source: 'test', gaps: found, to: (times.at(-1) ?? T + from) + more },
      ...{ at: Float64Array.from(times), mid: Float64Array.from(steps, ([, mid]) => mid) },
    };
  });

test('a reference is the product of the prices that each recording has when its read arrives, and none before, after or in a gap of any', () => {
  const instrument = instrumentOf(bookRules({ tickSize: '0.5' }));
  let [known, unknown] = [0, 0];
  fc.assert(
    fc.property(
      fc.tuple(recording, recording),
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 3, maxLength: 12 }),
      (mids, pauses) => {
        const legs = [
          { book: 'btc_usd', divides: false },
          { book: 'mxn_usd', divides: true },
        ];
        const [there, back] = [7, 12];
        const replay = new ExternalReferenceReplay(
          { legs, mids, everyMs: 1 },
          instrument,
          constantLatency(there, back),
        );
        const saidBy = ({ at, mid, gaps, to }: (typeof mids)[number], time: number): number => {
          const last = at.findLastIndex(from => from <= time);
          const isOut = last < 0 || time > to || gaps.some(gap => gap.from < time && time < gap.to);
          return isOut ? Number.NaN : mid[last]!;
        };
        let now = T;
        for (const pause of pauses) {
          now += pause;
          const price = saidBy(mids[0], now + there) / saidBy(mids[1], now + 2 * there + back) / 0.5;
          const { at, price: read } = replay.read(now);
          expect(at).toBe(now + 2 * (there + back));
          if (Number.isNaN(price)) {
            unknown++;
            expect(read).toBeNull();
          } else {
            known++;
            expect(read).toBeCloseTo(price, 9);
          }
        }
      },
    ),
    runsOf(2_000, 150),
  );
  expect(Math.min(known, unknown)).toBeGreaterThan(50);
});
