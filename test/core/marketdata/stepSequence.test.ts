/** Steps of a book beside a model that keeps all of them, and damaged rows of a complete book. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HELD_MAX, StepSequence } from '../../../src/core/index.ts';
import { damageWithinDepth, levelTick } from '../../../src/core/marketdata/bookDamage.ts';
import { plain } from '../market.ts';

const stepAt = (sequence: number) => ({ sequence: BigInt(sequence), changes: [] }) as never;

describe('the steps of a book', () => {
  const event = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('step' as const), by: fc.constantFrom(1, 1, 1, 2, 3, 0, -2) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('book' as const), by: fc.integer({ min: -5, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), by: fc.constant(0) }) },
  );

  it('are applied one after the other, held without a book while they are consecutive, and continue from a book they reach', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), events => {
        const steps = new StepSequence();
        let at: number | null = null;
        let held: number[] = [];
        let newest = 100;
        for (const { kind, by } of events) {
          if (kind === 'reset') {
            steps.reset();
            [at, held] = [null, []];
          } else if (kind === 'book') {
            const sequence = newest + by;
            const reaches = held.length === 0 || held[0]! <= sequence + 1;
            expect(steps.reaches(BigInt(sequence))).toBe(reaches);
            if (!reaches) continue;
            const later = held.filter(one => one > sequence);
            expect(steps.begin(BigInt(sequence)).map(one => Number(one.sequence))).toEqual(later);
            [at, held] = [later.at(-1) ?? sequence, []];
          } else {
            const sequence = newest + by;
            newest = Math.max(newest, sequence);
            const last = held.at(-1);
            let said = 'held';
            if (at !== null) said = sequence <= at ? 'old' : sequence === at + 1 ? 'applied' : 'gap';
            if (said === 'applied') at = sequence;
            else if (said === 'gap') [at, held] = [null, [sequence]];
            else if (said === 'held' && (last === undefined || sequence > last))
              held = last === undefined || sequence === last + 1 ? [...held, sequence] : [sequence];
            expect(steps.take(stepAt(sequence))).toBe(said);
          }
          expect(steps.at).toBe(at === null ? null : BigInt(at));
        }
      }),
    );
  });

  it('are held up to a bound; the one after it begins again', () => {
    const steps = new StepSequence();
    for (let n = 1; n <= HELD_MAX; n++) steps.take(stepAt(n));
    expect(steps.reaches(0n)).toBe(true);
    steps.take(stepAt(HELD_MAX + 1));
    expect([steps.reaches(BigInt(HELD_MAX - 1)), steps.reaches(BigInt(HELD_MAX))]).toEqual([false, true]);
  });
});

describe('a damaged row of a book', () => {
  const row = (price: string) => ({ oid: 'o', price, amount: '1' });
  const bookOf = (bids: readonly string[], asks: readonly string[], damage: object) =>
    ({ sequence: 1n, bids: bids.map(row), asks: asks.map(row), damage }) as never;
  const prices = (count: number, away: -1 | 1) =>
    Array.from({ length: count }, (_, i) => String(1_000 + away * (i + 1)));

  it.each([
    ['none', {}, null],
    ['a bid behind 50 levels', { bids: { after: 50, why: 'b' } }, null],
    ['a bid behind 49 levels', { bids: { after: 49, why: 'b' } }, 'b'],
    ['an ask behind 50 levels', { asks: { after: 50, why: 'a' } }, null],
    ['an ask behind 49 levels', { asks: { after: 49, why: 'a' } }, 'a'],
    ['one on each side', { bids: { after: 3, why: 'b' }, asks: { after: 3, why: 'a' } }, 'b'],
  ])('makes it unusable only if it may be among the levels that decisions use: %s', (_, damage, why) => {
    expect(damageWithinDepth(bookOf(prices(60, -1), prices(60, 1), damage), plain)).toBe(why);
  });

  it('is behind as many levels as there are prices: rows of one price are one, and uncountable ones none', () => {
    const asks = prices(50, 1);
    const of = (all: readonly string[], after: number) =>
      damageWithinDepth(bookOf([], all, { asks: { after, why: 'a' } }), plain);
    expect(of([asks[0]!, ...asks], 50)).toBe('a');
    expect(of([asks[0]!, ...asks], 51)).toBeNull();
    expect(of(['99999999999999999', ...asks], 50)).toBe('a');
    expect(of(['0.5', ...asks], 51)).toBeNull();
  });

  it('has a tick towards the other side, none above what can be counted, and an error for everything else', () => {
    expect([levelTick(plain, 'buy', '999.2'), levelTick(plain, 'sell', '999.2')]).toEqual([1_000, 999]);
    expect(levelTick(plain, 'sell', '99999999999999999')).toBeNull();
    expect(() => levelTick(plain, 'buy', '99999999999999999')).toThrow(
      '99999999999999999 is more than 2^53 units of 1',
    );
    expect(() => levelTick(plain, 'sell', '0.5')).toThrow('expected a price of at least one tick (1), found 0.5');
    expect(() => levelTick(plain, 'sell', 'x')).toThrow(RangeError);
  });
});
