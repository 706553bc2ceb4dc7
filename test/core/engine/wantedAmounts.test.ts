/** Whatever levels are wanted one after the other, each side has what is wanted, within the tolerance, once its orders were answered. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, Level, Side, Strategy } from '../../../src/core/index.ts';
import { ToyExchange } from '../toyExchange.ts';
import { between } from '../../draws.ts';

type Wanted = { readonly away: number; readonly lots: number };

/** A strategy that wants what the test says now. */
function quoting(): { now: readonly Wanted[]; readonly strategy: Strategy } {
  const level = (price: number, lots: number): Level => ({
    price,
    amount: lots as Amount,
    why: [{ name: 'wanted', ticks: price }],
  });
  const wanted: { now: readonly Wanted[]; readonly strategy: Strategy } = {
    now: [],
    strategy: {
      quote: ({ mid }) => ({
        bids: wanted.now.map(({ away, lots }) => level(mid - away, lots)),
        asks: wanted.now.map(({ away, lots }) => level(mid + away, lots)),
      }),
    },
  };
  return wanted;
}

/** Levels a fraction of a tick apart: some of them share a tick. */
const spacings = (lots: fc.Arbitrary<number>) =>
  fc.array(fc.record({ gap: between(0, 1.2), lots }), { minLength: 1, maxLength: 5 }).map(parts => {
    let away = 12;
    return parts.map(({ gap, lots: of }) => ({ away: (away += gap), lots: of }));
  });

function settled(
  steps: readonly (readonly Wanted[])[],
  tolerance: number,
  check: (has: number, wants: number) => void,
) {
  const wanted = quoting();
  wanted.now = steps[0]!;
  const toy = new ToyExchange({
    strategy: wanted.strategy,
    tolerance: { priceBps: 100, amountShare: 1 - tolerance, maxAgeMs: 3_600_000 },
    limits: {
      positionMax: 10_000,
      orderValueMax: 10n ** 9n,
      ordersMax: 20,
      collarBps: 1000,
      staleAfterMs: 3000,
    } as never,
  }).open();
  toy.rounds(4);
  for (const step of steps) {
    wanted.now = step;
    toy.rounds(6);
    const wants = step.reduce((sum, { lots }) => sum + lots, 0);
    for (const side of ['buy', 'sell'] as const satisfies readonly Side[]) {
      const has = toy.live.filter(o => o.side === side).reduce((sum, o) => sum + o.amount - o.filled, 0);
      check(has, wants);
    }
  }
}

describe('the amount on a side', () => {
  it('is within the configured tolerance of what is wanted, for any sequence of levels', () => {
    fc.assert(
      fc.property(
        fc.array(spacings(fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(0, 0.05, 0.2, 0.5),
        (steps, tolerance) =>
          settled(steps, tolerance, (has, wants) =>
            expect(Math.abs(has - wants)).toBeLessThanOrEqual(tolerance * wants),
          ),
      ),
      { numRuns: 150 },
    );
  });

  it('is all of it when levels of one amount merge on a tick and part again, whatever the tolerance', () => {
    fc.assert(
      fc.property(fc.array(spacings(fc.constant(20)), { minLength: 2, maxLength: 6 }), steps =>
        settled(steps, 0.5, (has, wants) => expect(has).toBe(wants)),
      ),
      { numRuns: 150 },
    );
  });
});
