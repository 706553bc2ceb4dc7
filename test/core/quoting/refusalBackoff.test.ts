/** Pauses after refusals: twice as long each time, up to a minute, and short again once a placement was accepted. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RefusalBackoff } from '../../../src/core/quoting/refusalBackoff.ts';
import { runsOf } from '../../many.ts';

/** Milliseconds for which a side is paused from `at` on. */
function lengthOf(pauses: RefusalBackoff, at: number): number {
  let ms = 0;
  while (pauses.isPaused('buy', at + ms)) ms += 500;
  return ms;
}

describe('a side that the exchange refuses', () => {
  it('pauses equally long each time if it only waits for its share, and no later pause is longer because of it', () => {
    const pauses = new RefusalBackoff();
    for (const at of [0, 1_000, 2_000, 3_000]) {
      pauses.waits('buy', at);
      expect(lengthOf(pauses, at)).toBe(1_000);
    }
    pauses.refused('buy', 5_000);
    expect(lengthOf(pauses, 5_000)).toBe(1_000);
    pauses.waits('buy', 5_000);
    pauses.refused('buy', 6_000);
    expect(lengthOf(pauses, 6_000)).toBe(2_000);
    pauses.waits('buy', 6_500);
    expect(lengthOf(pauses, 6_000)).toBe(2_000);
  });

  it('pauses twice as long each time, up to a minute, and from the beginning after it was accepted', () => {
    const pauses = new RefusalBackoff();
    let at = 0;
    const next = (): number => {
      pauses.refused('buy', at);
      const ms = lengthOf(pauses, at);
      at += ms;
      return ms;
    };
    expect(Array.from({ length: 9 }, next)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
    ]);
    expect(pauses.isPaused('sell', 0)).toBe(false);
    pauses.accepted('sell');
    expect(next()).toBe(60_000);
    pauses.accepted('buy');
    expect(next()).toBe(1_000);
  });

  it('counts several levels that were refused at once as one refusal', () => {
    const pauses = new RefusalBackoff();
    for (let n = 0; n < 5; n++) pauses.refused('buy', 0);
    expect(lengthOf(pauses, 0)).toBe(1_000);
    pauses.refused('buy', 1_000);
    expect(lengthOf(pauses, 1_000)).toBe(2_000);
  });

  it('is paused for as long as its refusals since the last acceptance say, and no acceptance cuts a pause short', () => {
    const answer = fc.record({
      side: fc.constantFrom('buy', 'sell'),
      isAccepted: fc.constantFrom(true, false, false),
      passed: fc.constantFrom(0, 0, 1, 999, 1_000, 2_000, 4_000, 64_000),
    });
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 20 }), answers => {
        const pauses = new RefusalBackoff();
        const ends = { buy: 0, sell: 0 };
        const lengths = { buy: 1_000, sell: 1_000 };
        let now = 0;
        for (const { side, isAccepted, passed } of answers) {
          now += passed;
          if (isAccepted) {
            pauses.accepted(side);
            lengths[side] = 1_000;
          } else {
            pauses.refused(side, now);
            if (now >= ends[side]) {
              ends[side] = now + lengths[side];
              lengths[side] = Math.min(60_000, 2 * lengths[side]);
            }
          }
          for (const of of ['buy', 'sell'] as const)
            for (const at of [now, ends[of] - 1, ends[of]])
              if (at >= now) expect(pauses.isPaused(of, at)).toBe(at < ends[of]);
        }
      }),
      runsOf(5_000, 250),
    );
  });
});
