/** Uniform sampling from the unit cube: the baseline for all other searches. */
import { drawOf, type Search, type SearchOptions } from './search.ts';
import { randomPoint, type Space } from './space.ts';

/** Returns a search that samples each point independently of all values. */
export function randomSearch(space: Space, { seed }: SearchOptions): Search {
  let asked = 0;
  let told = 0;
  return {
    ask: () => randomPoint(space, drawOf(seed, asked++)),
    tell: () => {
      told++;
      asked = Math.max(asked, told);
    },
  };
}
