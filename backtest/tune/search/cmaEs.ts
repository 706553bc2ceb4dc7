/**
 * Evolution strategy with covariance adaptation (CMA-ES). After convergence, the strategy restarts with twice the
 * population (IPOP; Auger, Hansen 2005). Choices are sampled by learned probabilities.
 */
import type { Random } from '../../../src/core/index.ts';
import { conditionOf, drawFrom, learn, roundNormal, widthOf, type AdaptedNormal } from './covariance.ts';
import { drawOf, type Search, type SearchOptions } from './search.ts';
import { countOf, cubeOf, pointAt, textOfPoint, type Parameter, type Point, type Space } from './space.ts';

export type CmaEsOptions = SearchOptions & {
  /**
   * Number of points in the first generation, rounded up to complete batches. Default: 4 + 3 ln(n) for n parameters.
   */
  readonly population?: number;
};

/** Initial standard deviation, as a share of a parameter's range. */
const SIGMA = 0.25;
/** Standard deviation at which a run has converged, as a share of a parameter's range. */
const CONVERGED = 1e-6;
/**
 * Maximum number of attempts to sample a point within the bounds. After the last attempt, coordinates outside are set
 * to the bound.
 */
const DRAWS = 50;
/** Learning rate of a choice's probabilities, per generation. */
const LEARNING_RATE = 0.4;
const POPULATION_MAX = 1024;

/** Point of a generation: its numeric coordinates, the index of each choice, and its value, if known. */
type Member = { readonly point: Point; readonly at: Float64Array; readonly chosen: readonly number[]; value?: number };

type Run = {
  readonly law: AdaptedNormal;
  readonly shares: number[][];
  /** Best value of each generation, in order. */
  readonly bests: number[];
};

/**
 * Returns the search. Requested points belong to the generation in which they were sampled. The search starts around
 * the best point that was reported without a request, if its value arrives before the first generation has values. If
 * all parameters have steps, points may repeat.
 */
export function cmaEsSearch(space: Space, options: CmaEsOptions): Search {
  const { seed, batch = 1 } = options;
  const numbers = space.flatMap((parameter, i) => (parameter.kind === 'choice' ? [] : [i]));
  const choices = space.flatMap((parameter, i) => (parameter.kind === 'choice' ? [i] : []));
  const floors = numbers.map(i => floorOf(space[i]!));
  const usual = 4 + Math.floor(3 * Math.log(Math.max(1, space.length)));
  const whole = (population: number): number => Math.ceil(Math.max(2, population) / batch) * batch;

  const begin = (start: readonly number[], population: number): Run => ({
    law: roundNormal(start, SIGMA, population),
    shares: choices.map(i => new Array<number>(countOf(space[i]!)).fill(1 / countOf(space[i]!))),
    bests: [],
  });
  let run = begin(
    numbers.map(() => 0.5),
    whole(options.population ?? usual),
  );
  let generation = 0;
  let members: Member[] = [];
  let asked = 0;
  let ownBest = -Infinity;

  const memberOf = (index: number): Member => {
    while (members.length <= index) members.push(drawnMember(space, run, drawOf(seed, generation, members.length)));
    return members[index]!;
  };
  const takeOwn = (point: Point, value: number | null): void => {
    if (generation > 0 || value === null || !(value > ownBest) || members.some(one => one.value !== undefined)) return;
    ownBest = value;
    const cube = cubeOf(space, point);
    run = begin(
      numbers.map(i => cube[i] ?? 0.5),
      run.law.population,
    );
    members = [];
    asked = 0;
  };
  const close = (): void => {
    const ranked = [...members].sort((a, b) => b.value! - a.value!);
    run.bests.push(ranked[0]!.value!);
    const useful = ranked.filter(({ value }) => value! > -Infinity);
    learn(
      run.law,
      useful.map(({ at }) => at),
      floors,
    );
    learnShares(run, useful, choices, space);
    generation++;
    members = [];
    asked = 0;
    if (!hasConverged(run, useful)) return;
    const random = drawOf(seed, -1, generation);
    run = begin(
      numbers.map(() => random.next()),
      whole(Math.min(POPULATION_MAX, run.law.population * 2)),
    );
  };

  return {
    ask: () => {
      // After a resume, points that already have a value are skipped, because the earlier process requested them.
      while (members[asked]?.value !== undefined) asked++;
      return memberOf(asked++).point;
    },
    tell: (point, value) => {
      const name = textOfPoint(point);
      const count = run.law.population;
      memberOf(Math.max(count, asked) - 1);
      const found = members.find(one => one.value === undefined && textOfPoint(one.point) === name);
      if (found === undefined) return takeOwn(point, value);
      found.value = value === null || Number.isNaN(value) ? -Infinity : value;
      // Points that were requested beyond the generation's size also belong to the generation, which ends when all its
      // points have values.
      if (asked > count) members.length = Math.max(asked, count);
      if (members.every(one => one.value !== undefined)) close();
    },
  };
}

/** Returns the minimum deviation along a parameter: a fifth of a step, so that the next step is sometimes sampled. */
function floorOf(parameter: Parameter): number {
  const count = countOf(parameter);
  return count === Infinity || parameter.kind === 'log' ? 0 : 0.2 / count;
}

/** Samples one point: numbers from the normal distribution, choices by their probabilities. */
function drawnMember(space: Space, { law, shares }: Run, random: Random): Member {
  const at = withinBounds(law, random);
  const chosen = shares.map(of => drawnShare(of, random));
  let number = 0;
  let choice = 0;
  const cube = space.map(parameter =>
    parameter.kind === 'choice' ? (chosen[choice++]! + 0.5) / parameter.values.length : at[number++]!,
  );
  return { point: pointAt(space, cube), at, chosen };
}

function withinBounds(law: AdaptedNormal, random: Random): Float64Array {
  let at = drawFrom(law, random);
  for (let i = 1; i < DRAWS && at.some(x => !(x >= 0 && x <= 1)); i++) at = drawFrom(law, random);
  return at.map(x => Math.min(1, Math.max(0, x)));
}

function drawnShare(shares: readonly number[], random: Random): number {
  let left = random.next();
  for (const [i, share] of shares.entries()) {
    left -= share;
    if (left < 0) return i;
  }
  return shares.length - 1;
}

/**
 * Moves each choice's probabilities towards the frequencies of its values in the better half of the points. Each
 * probability keeps a minimum, so that later generations can still contain the value.
 */
function learnShares({ law, shares }: Run, ranked: readonly Member[], choices: readonly number[], space: Space): void {
  for (const [k, of] of shares.entries()) {
    const { key } = space[choices[k]!]!;
    const seen = law.weights.flatMap((weight, i) =>
      ranked[i] !== undefined && Object.hasOwn(ranked[i].point, key) ? [{ weight, index: ranked[i].chosen[k]! }] : [],
    );
    const whole = seen.reduce((sum, { weight }) => sum + weight, 0);
    if (!(whole > 0)) continue;
    const found = new Array<number>(of.length).fill(0);
    for (const { weight, index } of seen) found[index] = found[index]! + weight / whole;
    const least = Math.min(1 / of.length, 0.5 / law.population);
    const moved = of.map((share, i) => Math.max(least, share + LEARNING_RATE * (found[i]! - share)));
    const sum = moved.reduce((all, share) => all + share, 0);
    moved.forEach((share, i) => (of[i] = share / sum));
  }
}

/**
 * Whether the run has converged: minimum width, equal values, no improvement for many generations, or a degenerate
 * distribution.
 */
function hasConverged({ law, bests }: Run, useful: readonly Member[]): boolean {
  const n = law.mean.length;
  const long = 10 + Math.ceil((30 * n) / law.population);
  const latest = bests.slice(-long).filter(Number.isFinite);
  const values = [...latest, ...useful.map(({ value }) => value!)];
  const flat =
    bests.length >= long && Math.max(...values) - Math.min(...values) <= 1e-12 * (1e-12 + Math.abs(values[0] ?? 0));
  if (flat) return true;
  if (bests.length > 2 * long && Math.max(...bests.slice(-long)) <= Math.max(...bests.slice(0, -long))) return true;
  return n > 0 && !(widthOf(law) > CONVERGED && conditionOf(law) < 1e14 && Number.isFinite(law.sigma));
}
