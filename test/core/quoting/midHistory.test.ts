/** The mid price of a past time, beside a list of all mid prices that were seen. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MidHistory } from '../../../src/core/quoting/midHistory.ts';
import { runsOf } from '../../many.ts';

const START = 1.7e12;
const GAP_MS = 5_000;
const SIZE = 4;
const NEAR = [-5_001, -5_000, -1, 0, 1, 4_999, 5_000, 5_001];

type Seen = { readonly at: number; readonly mid: number };

/** The sightings that are still kept: those of the last `SIZE` times at which the mid price changed or came back after a gap. */
function keptOf(seen: readonly Seen[]): readonly Seen[] {
  const starts = seen.flatMap(({ at, mid }, i) => {
    const before = seen[i - 1];
    return before === undefined || before.mid !== mid || at - before.at > GAP_MS ? [i] : [];
  });
  return seen.slice(starts.at(-SIZE) ?? 0);
}

function midAt(seen: readonly Seen[], time: number): number {
  const kept = keptOf(seen);
  const before = kept.filter(({ at }) => at <= time).at(-1);
  if (before !== undefined && time - before.at <= GAP_MS) return before.mid;
  const after = kept.find(({ at }) => at > time);
  return after !== undefined && after.at - time <= GAP_MS ? after.mid : 0;
}

describe('the mid price of a past time', () => {
  const sightings = fc.array(
    fc.record({
      passed: fc.oneof(fc.constantFrom(0, 1, 4_999, 5_000, 5_001, 10_001), fc.integer({ min: 0, max: 12_000 })),
      mid: fc.constantFrom(0, 999.5, 1_000, 1_000, 1_001),
    }),
    { maxLength: 14 },
  );

  test('is the one that was seen last, for 5 s; in a gap the next one, for 5 s before it; and 0 beyond', () => {
    fc.assert(
      fc.property(sightings, steps => {
        const history = new MidHistory(SIZE);
        const seen: Seen[] = [];
        let at = START;
        expect(history.at(at)).toBe(0);
        for (const { passed, mid } of steps) {
          at += passed;
          history.see(at, mid);
          seen.push({ at, mid });
        }
        const times = seen.flatMap(({ at: about }) => NEAR.map(by => about + by));
        expect(times.map(time => history.at(time))).toEqual(times.map(time => midAt(seen, time)));
      }),
      runsOf(1_000, 150),
    );
  });

  test('is known for 4,096 changes, and forgotten with one more', () => {
    const history = new MidHistory();
    for (let n = 0; n < 4_096; n++) history.see(START + n * 1_000, 1_000 + n);
    expect(history.at(START)).toBe(1_000);
    history.see(START + 4_096_000, 1);
    expect([history.at(START + 1_000), history.at(START + 2_000)]).toEqual([1_001, 1_002]);
    // The first is gone: what is known of its time is what came within 5 s after it.
    expect(history.at(START)).toBe(1_001);
    expect(history.at(START - 5_000)).toBe(0);
  });
});
