import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RunHash } from '../../../backtest/replay/runHash.ts';

describe('the hash of a run', () => {
  const hashOf = (facts: readonly (number | string)[]) => {
    const hash = new RunHash();
    for (const fact of facts)
      if (typeof fact === 'number') hash.number(fact);
      else hash.text(fact);
    return hash.digest();
  };
  const fact = fc.oneof(fc.double({ noNaN: true }), fc.string({ maxLength: 9, unit: 'binary' }));

  test('is equal for equal facts, and another when one of them is another, is missing or stands elsewhere', () => {
    fc.assert(
      fc.property(fc.array(fact, { minLength: 1, maxLength: 20 }), fact, fc.nat(), (facts, other, any) => {
        const at = any % facts.length;
        expect(hashOf([...facts])).toBe(hashOf(facts));
        expect(hashOf(facts.filter((_, i) => i !== at))).not.toBe(hashOf(facts));
        if (typeof other === typeof facts[at] && other !== facts[at])
          expect(hashOf(facts.map((one, i) => (i === at ? other : one)))).not.toBe(hashOf(facts));
      }),
    );
    expect(hashOf(['ab', 'c'])).not.toBe(hashOf(['a', 'bc']));
    expect(hashOf([-0])).toBe(hashOf([0]));
  });

  test('hears the last of ever so many facts, and of one text that is longer than what is hashed at once', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => i);
    expect(hashOf([...many, 1])).not.toBe(hashOf([...many, 2]));
    const long = 'x'.repeat(100_001);
    expect(hashOf([`${long}a`])).not.toBe(hashOf([`${long}b`]));
    expect(hashOf([0, ...many])).not.toBe(hashOf([1, ...many]));
  });
});
