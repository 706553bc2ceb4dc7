/** The seeded randomness that every room is handed: xoroshiro128+, and the few distributions that are drawn from it. */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import type { Random } from './port.ts';

/** The same seed gives the same draws in any process. */
export function randomOf(seed: number): Random {
  const generator = xoroshiro128plus(seed | 0);
  const next = () => uniformFloat64(generator);
  return { next, integer: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/** Standard normal draw (Box-Muller; one of the pair is thrown away, so that a draw always takes two uniforms). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Exponential draw with the given mean. */
export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random.next());
