import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomOf, VirtualClock } from '../../../../src/core/index.ts';
import { nonceV2 } from '../../../../src/exchange/bitso/wire/nonce.ts';
import { nonceV1 } from '../nonceV1.ts';

const steps = fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { maxLength: 200 });

describe('nonce v2', () => {
  it('is 13 digits of milliseconds and 6 of salt', () => {
    const clock = new VirtualClock(1_789_000_000_123);
    const nonce = nonceV2(clock, randomOf(1)).next();
    expect(nonce).toMatch(/^1789000000123\d{6}$/);
  });

  it('never repeats nor goes back, however the clock steps, and always has 19 digits', () => {
    fc.assert(
      fc.property(steps, fc.integer(), (moves, seed) => {
        const clock = new VirtualClock();
        const source = nonceV2(clock, randomOf(seed));
        let last = 0n;
        for (const ms of moves) {
          clock.step(ms);
          const nonce = source.next();
          expect(nonce).toMatch(/^\d{19}$/);
          expect(BigInt(nonce)).toBeGreaterThan(last);
          last = BigInt(nonce);
          expect(source.last()).toBe(last);
        }
      }),
    );
  });

  it('starts above the high-water mark of an earlier run', () => {
    const clock = new VirtualClock();
    const before = nonceV2(clock, randomOf(1));
    before.next();
    clock.step(-3_600_000);
    const after = nonceV2(clock, randomOf(1), before.last());
    expect(BigInt(after.next())).toBe(before.last() + 1n);
  });

  it('has 19 digits even when the machine believes it is 1970', () => {
    expect(nonceV2(new VirtualClock(0), randomOf(1)).next()).toBe('1000000000000000000');
  });

  it('throws rather than send more digits than the format has', () => {
    expect(() => nonceV2(new VirtualClock(10_000_000_000_000), randomOf(1)).next()).toThrow(RangeError);
  });
});

describe('nonce v1', () => {
  it('strictly increases, however the clock steps', () => {
    fc.assert(
      fc.property(steps, moves => {
        const clock = new VirtualClock();
        const source = nonceV1(clock);
        let last = 0n;
        for (const ms of moves) {
          clock.step(ms);
          const nonce = BigInt(source.next());
          expect(nonce).toBeGreaterThan(last);
          last = nonce;
        }
      }),
    );
  });
});
