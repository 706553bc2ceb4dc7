import fc from 'fast-check';

const STEPS = 2 ** 32;

/**
 * A number from `min` to `max`, drawn evenly, with both bounds now and then. `fc.double` draws by the exponent: of its
 * numbers between 0 and 1, 97% are below 1e-10.
 */
export function between(min: number, max: number): fc.Arbitrary<number> {
  const step = (max - min) / STEPS;
  // Failures shrink towards 0, or the bound that is nearest to it.
  const origin = min > 0 ? min : max < 0 ? max : 0;
  const steps = fc.integer({ min: Math.round((min - origin) / step), max: Math.round((max - origin) / step) });
  const inside = steps.map(n => Math.min(max, Math.max(min, origin + n * step)));
  return fc.oneof({ weight: 8, arbitrary: inside }, { weight: 1, arbitrary: fc.constantFrom(min, max) });
}
