/**
 * Sobol sequence, scrambled by the seed. Every part of the sequence fills the unit cube more evenly than random points.
 */
import { directionNumbers, SOBOL_DIMENSIONS } from './directionNumbers.ts';
import { drawOf, type Search, type SearchOptions } from './search.ts';
import { pointAt, type Space } from './space.ts';

/** Returns a search that proposes the points of the Sobol sequence in order. Values do not affect the proposals. */
export function sobolSearch(space: Space, { seed }: SearchOptions): Search {
  const at = scrambledSobol(space.length, seed);
  let asked = 0;
  let told = 0;
  return {
    ask: () => pointAt(space, at(asked++)),
    tell: () => {
      told++;
      asked = Math.max(asked, told);
    },
  };
}

/**
 * Returns a function that computes the coordinates of a point of a scrambled sequence from its index, starting at 0.
 * Dimensions beyond the table are uniformly random.
 */
export function scrambledSobol(dimensions: number, seed: number): (index: number) => readonly number[] {
  const tables = Array.from({ length: Math.min(dimensions, SOBOL_DIMENSIONS) }, (_, i) => directionNumbers(i));
  const seeds = tables.map((_, i) => drawOf(seed, 0x50b01, i).integer(0, 2 ** 32 - 1));
  return index =>
    Array.from({ length: dimensions }, (_, i) => {
      const table = tables[i];
      if (table === undefined) return drawOf(seed, 0x50b02, i, index).next();
      return (scrambled(sobolBits(table, index), seeds[i]!) + 0.5) / 2 ** 32;
    });
}

/** Returns one coordinate of a point, as the 32 highest bits of a fraction. */
export function sobolBits(directions: Uint32Array, index: number): number {
  let bits = 0;
  const gray = index ^ (index >>> 1);
  for (let k = 0; k < 32; k++) if ((gray >>> k) & 1) bits ^= directions[k]!;
  return bits >>> 0;
}

/**
 * Scrambles bits by Owen's nested method, with a hash in which each bit depends only on higher bits (Laine, Karras
 * 2011; Burley 2020).
 */
function scrambled(bits: number, seed: number): number {
  let x = (reversed(bits) + seed) | 0;
  for (const factor of [0x6c50b47c, 0xb82f1e52, 0xc7afe638, 0x8d22f6e6]) x ^= Math.imul(x, factor);
  return reversed(x >>> 0);
}

function reversed(bits: number): number {
  let from = bits;
  let to = 0;
  for (let k = 0; k < 32; k++) {
    to = (to << 1) | (from & 1);
    from >>>= 1;
  }
  return to >>> 0;
}
