import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MicropriceCounts,
  micropriceAdjustment,
  randomOf,
  type Random,
  type ImbalanceState,
} from '../../../src/core/index.ts';

const BUCKETS = 4;
const touchOf = (bucket: number, spread = 1): ImbalanceState => ({
  bidAmount: bucket + 0.5,
  askAmount: BUCKETS - bucket - 0.5,
  spread,
});

/**
 * A market whose micro-price is known: the bucket of imbalance walks, and the middle moves up a tick with a chance that grows with the bucket, down with
 * the mirror's, after which all buckets are equally likely.
 */
const UP = [0.01, 0.03, 0.08, 0.2];
function step(random: Random, bucket: number): { bucket: number; move: number } {
  const u = random.next();
  const up = UP[bucket]!;
  const down = UP[BUCKETS - 1 - bucket]!;
  if (u < up + down) return { bucket: random.integer(0, BUCKETS - 1), move: u < up ? 1 : -1 };
  const walk = bucket + random.integer(-1, 1);
  return { bucket: Math.max(0, Math.min(BUCKETS - 1, walk)), move: 0 };
}

/** What the middle gains on average until it is forgotten where it began: after each move that is the case, so only the first move counts. */
function truth(): number[] {
  let value = new Array<number>(BUCKETS).fill(0);
  for (let turn = 0; turn < 5_000; turn++) {
    value = value.map((_, b) => {
      const up = UP[b]!;
      const down = UP[BUCKETS - 1 - b]!;
      const stay = 1 - up - down;
      const at = (to: number) => value[Math.max(0, Math.min(BUCKETS - 1, to))]!;
      return up - down + (stay * (at(b - 1) + at(b) + at(b + 1))) / 3;
    });
  }
  return value;
}

function counted(seed: number, steps: number): MicropriceCounts {
  const random = randomOf(seed);
  const counts = new MicropriceCounts(BUCKETS, []);
  let bucket = 1;
  for (let n = 0; n < steps; n++) {
    const next = step(random, bucket);
    counts.add(touchOf(bucket), touchOf(next.bucket), next.move);
    bucket = next.bucket;
  }
  return counts;
}

describe('the micro-price', () => {
  test('recovers the correction of a generated market', () => {
    const [row] = counted(2, 100_000).table().adjustTicks;
    const expected = truth();
    expect(Math.abs(expected[3]!)).toBeGreaterThan(0.3);
    row!.forEach((ticks, b) => expect(Math.abs(ticks - expected[b]!)).toBeLessThan(0.03));
  });

  test('is antisymmetric in the imbalance, whatever was counted', () => {
    const touches = fc.record({
      bidAmount: fc.integer({ min: 1, max: 100 }),
      askAmount: fc.integer({ min: 1, max: 100 }),
      spread: fc.integer({ min: 1, max: 5 }),
    });
    const samples = fc.array(fc.tuple(touches, touches, fc.integer({ min: -3, max: 3 })), { maxLength: 60 });
    fc.assert(
      fc.property(samples, touches, (list, touch) => {
        const counts = new MicropriceCounts(5, [1, 3]);
        for (const [from, to, move] of list) counts.add(from, to, move);
        const table = counts.table();
        // A share on the border of two buckets has its mirror in the lower of the two.
        fc.pre((5 * touch.bidAmount) % (touch.bidAmount + touch.askAmount) !== 0);
        const mirrored = { ...touch, bidAmount: touch.askAmount, askAmount: touch.bidAmount };
        expect(micropriceAdjustment(table, touch)).toBeCloseTo(-micropriceAdjustment(table, mirrored), 6);
      }),
      { numRuns: 50 },
    );
  });

  test('of a state that was never seen is the middle', () => {
    const table = new MicropriceCounts(4, [2]).table();
    expect(table.adjustTicks).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  test('counts of two halves add up to those of the whole', () => {
    const [first, second] = [counted(1, 500), counted(2, 700)];
    const samples = first.samples + second.samples;
    first.addAll(second);
    expect([first.samples, samples]).toEqual([1_200, 1_200]);
  });

  test('passes over a touch that is none, and knows no correction for it', () => {
    const counts = new MicropriceCounts(BUCKETS, []);
    const bad = [
      { ...touchOf(1), spread: 0 },
      { ...touchOf(1), bidAmount: Number.NaN },
      { bidAmount: 0, askAmount: 0, spread: 1 },
    ];
    for (const touch of bad) counts.add(touch, touchOf(1), 1);
    counts.add(touchOf(1), touchOf(1), Number.NaN);
    expect(counts.samples).toBe(0);
    for (const touch of bad) expect(micropriceAdjustment(counts.table(), touch)).toBeNaN();
  });
});
