/** Seeded random numbers for every layer: xoroshiro128+, and the distributions derived from it. */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import type { Random } from './port.ts';

/** Returns a generator; equal seeds give equal sequences in any process. */
export function randomOf(seed: number): Random {
  const generator = xoroshiro128plus(seed | 0);
  const next = () => uniformFloat64(generator);
  return { next, integer: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/**
 * Returns a standard normal draw (Box-Muller). Discards the second value of each pair, so that every draw uses exactly
 * two uniform numbers.
 */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Returns an exponential draw with the given mean. */
export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random.next());
