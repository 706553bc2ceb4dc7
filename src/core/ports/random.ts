/** Seeded random numbers for every layer: xoroshiro128+, and the distributions derived from it. */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import type { Random } from './port.ts';

/**
 * Returns a generator; equal seeds give equal sequences in any process. The seed is a 32-bit integer.
 *
 * The seed is mixed, because the first outputs of xoroshiro128+ are nearly the same for all small seeds.
 */
export function randomOf(seed: number): Random {
  const generator = xoroshiro128plus(mixed((seed | 0) + 0x9e3779b9));
  const next = () => uniformFloat64(generator);
  return { next, integer: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/** Mixes all bits of a 32-bit number bijectively (finalizer of MurmurHash3, Appleby 2011). */
export function mixed(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** Returns a seed for `randomOf` from a text. */
export const seedFromText = (text: string): number =>
  [...text].reduce((seed, char) => mixed(seed ^ char.charCodeAt(0)), 0);

/**
 * Returns a standard normal draw (Box-Muller). Discards the second value of each pair, so that every draw uses exactly
 * two uniform numbers.
 */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Returns an exponential draw with the given mean. */
export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random.next());
