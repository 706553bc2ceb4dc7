/** Even draws from the unit cube: the search that every other one has to beat. */
import { drawOf } from './search.ts';
import type { Search, SearchOptions } from './search.ts';
import { randomPoint } from './space.ts';
import type { Space } from './space.ts';

/** Draws each point by itself; what it is told it only counts. */
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
