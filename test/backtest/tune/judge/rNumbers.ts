/** Random numbers as R makes them after set.seed: a Mersenne Twister (Matsumoto, Nishimura 1998) and the inverse of the normal law, so that examples that were published with R are made anew. */
import { normalQuantile } from '../../../../src/core/index.ts';

const LENGTH = 624;
const AHEAD = 397;
const SCRAMBLES = 50;
/** `rnorm` draws twice for each: 27 bits, then the rest. */
const BIG = 134_217_728;

/** The standard normal numbers of `rnorm` after this seed. */
export function normalsOfR(seed: number): () => number {
  const next = uniformsOfR(seed);
  return () => {
    const high = Math.floor(BIG * next());
    return normalQuantile((high + next()) / BIG);
  };
}

/** Between 0 and 1, neither included. */
function uniformsOfR(seed: number): () => number {
  let scrambled = seed >>> 0;
  const scramble = (): number => (scrambled = (Math.imul(69_069, scrambled) + 1) >>> 0);
  for (let i = 0; i < SCRAMBLES; i++) scramble();
  // The place in the state is a number of the seeding too, and is then set to its end.
  scramble();
  const state = Uint32Array.from({ length: LENGTH }, scramble);
  let at = LENGTH;
  return () => {
    if (at === LENGTH) {
      twist(state);
      at = 0;
    }
    let y = state[at++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    const least = 2 ** -33;
    return Math.min(1 - least, Math.max(least, (y >>> 0) * 2.3283064365386963e-10));
  };
}

function twist(state: Uint32Array): void {
  for (let i = 0; i < LENGTH; i++) {
    const y = (state[i]! & 0x80000000) | (state[(i + 1) % LENGTH]! & 0x7fffffff);
    state[i] = state[(i + AHEAD) % LENGTH]! ^ (y >>> 1) ^ ((y & 1) === 0 ? 0 : 0x9908b0df);
  }
}
