/**
 * Tree-structured Parzen estimators. The distribution of good points is compared with the distribution of the other
 * points (Bergstra et al. 2011), over all parameters jointly (Falkner et al. 2018).
 */
import { parzenOf } from './parzen.ts';
import { drawOf, type Search, type SearchOptions } from './search.ts';
import { scrambledSobol } from './sobolSearch.ts';
import { countOf, pointAt, textOfPoint, type Point, type Space } from './space.ts';

export type TpeOptions = SearchOptions & {
  /** Number of points of a Sobol sequence before the first estimate. Default: 10. */
  readonly startup?: number;
  /**
   * Number of candidates sampled from the distribution of good points. The most promising candidate is proposed.
   * Default: 24.
   */
  readonly candidates?: number;
};

const STARTUP = 10;
const CANDIDATES = 24;
/** Share of points that count as good. */
const GOOD = 0.1;
/** Maximum number of points that count as good. */
const GOOD_MAX = 25;
/** Maximum number of attempts to sample candidates, if all sampled candidates were already tried. */
const DRAWS = 4;

type Told = { readonly point: Point; readonly value: number };

/**
 * Returns the search. Failed points count as the worst. Requested points without a value count as bad, so that the
 * points of a batch spread out.
 */
export function tpeSearch(space: Space, options: TpeOptions): Search {
  const { seed, startup = STARTUP, candidates = CANDIDATES } = options;
  const sobol = scrambledSobol(space.length, seed);
  const told: Told[] = [];
  const pending = new Map<string, Point[]>();
  const tried = new Set<string>();
  let asked = 0;

  const next = (index: number): Point => {
    if (told.length < Math.max(2, startup)) return pointAt(space, sobol(index));
    // The sort is stable, so the earlier of two points with equal values ranks higher.
    const ranked = [...told].sort((a, b) => (a.value === b.value ? 0 : b.value - a.value)).map(({ point }) => point);
    const good = Math.min(GOOD_MAX, Math.ceil(GOOD * ranked.length));
    const likely = parzenOf(space, ranked.slice(0, good), ranked.length);
    const unlikely = parzenOf(space, [...ranked.slice(good), ...[...pending.values()].flat()], ranked.length);
    const isCountable = space.every(parameter => countOf(parameter) < Infinity);
    let best: Point | null = null;
    for (let draw = 0; draw < (isCountable ? DRAWS : 1); draw++) {
      const random = drawOf(seed, index, draw);
      let most = -Infinity;
      for (let i = 0; i < candidates; i++) {
        const point = likely.draw(random);
        const promise = likely.logDensity(point) - unlikely.logDensity(point);
        const isNew = !tried.has(textOfPoint(point));
        if (best === null || (isNew && promise > most)) best = point;
        if (isNew && promise > most) most = promise;
      }
      if (most > -Infinity) break;
    }
    return best!;
  };

  return {
    ask: () => {
      const point = next(asked++);
      const name = textOfPoint(point);
      pending.set(name, [...(pending.get(name) ?? []), point]);
      tried.add(name);
      return point;
    },
    tell: (point, value) => {
      const name = textOfPoint(point);
      const waiting = pending.get(name)?.slice(1) ?? [];
      if (waiting.length > 0) pending.set(name, waiting);
      else pending.delete(name);
      tried.add(name);
      told.push({ point, value: value === null || Number.isNaN(value) ? -Infinity : value });
      asked = Math.max(asked, told.length);
    },
  };
}
