/** Randomness by name: every part of the simulation draws from a stream of its own, so that switching one fault off moves no other. */
import { randomOf, type Random } from '../../../src/core/index.ts';

export type Chance = Random & {
  /** True with this probability. */
  hit(probability: number): boolean;
  between(from: number, to: number): number;
  pick<T>(from: readonly T[]): T;
};

/** The same seed and name give the same draws in any process. */
export function chanceOf(seed: number, name: string): Chance {
  const random = randomOf(mixed(seed, name));
  return {
    ...random,
    hit: probability => random.next() < probability,
    between: (from, to) => from + random.next() * (to - from),
    pick: from => from[random.integer(0, from.length - 1)]!,
  };
}

/** FNV-1a over the name, started from the seed. */
function mixed(seed: number, name: string): number {
  let hash = (0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)) | 0;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash ^ (hash >>> 15);
}
