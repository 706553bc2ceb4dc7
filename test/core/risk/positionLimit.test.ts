/** Inventory beyond its limit: halts, and after a resume only closes; what grows while it should only close halts all the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPositionLimitReason, positionLimitReason, PositionLimit } from '../../../src/core/risk/positionLimit.ts';

const QUIET = { reduces: false, halts: false };

describe('inventory against its limit', () => {
  it('is within up to the limit, and beyond only more than a twentieth above it, on both sides', () => {
    const limit = new PositionLimit(100);
    for (const sign of [1, -1]) {
      expect([100, 101].map(lots => limit.isWithin(sign * lots))).toEqual([true, false]);
      expect([105, 106].map(lots => limit.isBeyond(sign * lots))).toEqual([false, true]);
    }
  });

  it('is nothing where nothing limits it', () => {
    const limit = new PositionLimit(null);
    expect([limit.isWithin(0), limit.isBeyond(1e9), limit.check(1e9, false)]).toEqual([false, false, QUIET]);
  });

  it('halts at the first look beyond it', () => {
    expect(new PositionLimit(100).check(110, false)).toEqual({ reduces: false, halts: true });
  });

  it('only closes at the first look after a resume, and is quiet once it is within', () => {
    const limit = new PositionLimit(100);
    limit.resumed();
    expect(limit.check(110, false)).toEqual({ reduces: true, halts: false });
    expect(limit.check(110, true)).toEqual(QUIET);
    expect(limit.check(104, true)).toEqual(QUIET);
    expect(limit.check(110, false)).toEqual({ reduces: false, halts: true });
  });

  it('forgets a resume at the first look, also where inventory is within', () => {
    const limit = new PositionLimit(100);
    limit.resumed();
    expect(limit.check(50, false)).toEqual(QUIET);
    expect(limit.check(110, false)).toEqual({ reduces: false, halts: true });
  });

  it('halts while it only closes exactly when it is more than a twentieth above where it first was beyond, for any way', () => {
    const way = fc.array(fc.integer({ min: -150, max: 150 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(way, lots => {
        const limit = new PositionLimit(100);
        let first: number | null = null;
        for (const one of lots) {
          const size = Math.abs(one);
          if (size <= 105) first = null;
          else first ??= size;
          expect(limit.check(one, true)).toEqual({ reduces: false, halts: first !== null && size > first * 1.05 });
        }
      }),
    );
  });

  it('that is not a number halts while it only closes', () => {
    const limit = new PositionLimit(100);
    limit.check(110, true);
    expect(limit.isWithin(Number.NaN)).toBe(false);
  });

  it('is recognized by its reason', () => {
    expect(isPositionLimitReason(positionLimitReason('0.5 btc'))).toBe(true);
    expect(['position: 1 btc is beyond', 'a position: 1 is beyond its limit', ''].map(isPositionLimitReason)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
