/** Creation of searches by name. */
import { cmaEsSearch } from './cmaEs.ts';
import { randomSearch } from './randomSearch.ts';
import type { Search, SearchName, SearchOptions } from './search.ts';
import { sobolSearch } from './sobolSearch.ts';
import { flawOfSpace, type Space } from './space.ts';
import { tpeSearch } from './tpe.ts';

export const SEARCHES: Readonly<Record<SearchName, (space: Space, options: SearchOptions) => Search>> = {
  random: randomSearch,
  sobol: sobolSearch,
  tpe: tpeSearch,
  cmaEs: cmaEsSearch,
};

/** Creates the search `name`. Throws a RangeError with the first flaw of an invalid space. */
export function newSearch(name: SearchName, space: Space, options: SearchOptions): Search {
  const flaw = flawOfSpace(space);
  if (flaw !== null) throw new RangeError(flaw);
  return SEARCHES[name](space, options);
}
