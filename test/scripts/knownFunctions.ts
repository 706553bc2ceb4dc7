/** Functions whose maximum is known, and how many trials a search needs to come near it. */
import { newSearch } from '../../backtest/tune/search/searches.ts';
import type { SearchName } from '../../backtest/tune/search/search.ts';
import type { Parameter, Point, Space } from '../../backtest/tune/search/space.ts';

/** The textbooks minimize these: here they are turned over, and the maximum of each is 0 but for rounding of the constants. */
export type KnownFunction = {
  readonly name: string;
  readonly space: Space;
  readonly valueOf: (point: Point) => number;
  /** What counts as found: this near to the maximum. */
  readonly within: number;
};

const axes = (count: number, low: number, high: number): readonly Parameter[] =>
  Array.from({ length: count }, (_, i) => ({ key: `x${i}`, kind: 'linear', low, high }));
const numbersOf = (space: Space, point: Point): readonly number[] => space.map(({ key }) => Number(point[key]));

const SPHERE = axes(5, -5, 10);
const ROSENBROCK = axes(3, -2.048, 2.048);
const BRANIN: Space = [
  { key: 'x', kind: 'linear', low: -5, high: 10 },
  { key: 'y', kind: 'linear', low: 0, high: 15 },
];
const HARTMANN = axes(6, 0, 1);
const MIXED: Space = [
  { key: 'kind', kind: 'choice', values: ['flat', 'steep', 'bent'] },
  { key: 'far', kind: 'log', low: 0.01, high: 100 },
  { key: 'levels', kind: 'integer', low: 1, high: 20 },
  { key: 'skewed', kind: 'choice', values: [true, false] },
  { key: 'skew', kind: 'linear', low: -1, high: 1, when: { key: 'skewed', is: true } },
  { key: 'bend', kind: 'linear', low: 0, high: 4, step: 0.05, when: { key: 'kind', is: ['bent', 'steep'] } },
];

/** Hartmann's six-dimensional function (Dixon, Szego 1978). */
const A = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const P = [
  [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
  [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
  [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
  [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];
const ALPHA = [1, 1.2, 3, 3.2];
const hartmann = (x: readonly number[]): number =>
  ALPHA.reduce((sum, a, i) => sum + a * Math.exp(-x.reduce((s, v, j) => s + A[i]![j]! * (v - P[i]![j]!) ** 2, 0)), 0);

function branin(x: number, y: number): number {
  const bow = y - (5.1 / (4 * Math.PI ** 2)) * x * x + (5 / Math.PI) * x - 6;
  return bow * bow + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x) + 10;
}

/** Best where kind is bent, far 3, levels 7, skewed with 0.3, bend 1.35. */
function mixed({ kind, far, levels, skewed, skew, bend }: Point): number {
  const kinds = kind === 'bent' ? 0 : kind === 'steep' ? 0.5 : 1;
  const skewing = skewed === true ? (Number(skew) - 0.3) ** 2 : 0.6;
  const bending = bend === undefined ? 0 : 0.3 * (Number(bend) - 1.35) ** 2;
  return -(kinds + 0.4 * Math.log(Number(far) / 3) ** 2 + 0.02 * (Number(levels) - 7) ** 2 + skewing + bending);
}

export const KNOWN: readonly KnownFunction[] = [
  {
    name: 'sphere, 5 dimensions',
    space: SPHERE,
    valueOf: point => -numbersOf(SPHERE, point).reduce((sum, x) => sum + x * x, 0),
    within: 1,
  },
  {
    name: 'Rosenbrock, 3 dimensions',
    space: ROSENBROCK,
    valueOf: point => {
      const x = numbersOf(ROSENBROCK, point);
      return -x.slice(1).reduce((sum, next, i) => sum + 100 * (next - x[i]! ** 2) ** 2 + (1 - x[i]!) ** 2, 0);
    },
    within: 2,
  },
  {
    name: 'Branin, 2 dimensions',
    space: BRANIN,
    valueOf: ({ x, y }) => 0.397887357729739 - branin(Number(x), Number(y)),
    within: 0.1,
  },
  {
    name: 'Hartmann, 6 dimensions',
    space: HARTMANN,
    valueOf: point => hartmann(numbersOf(HARTMANN, point)) - 3.32236801141551,
    within: 0.5,
  },
  { name: 'mixed, 6 parameters', space: MIXED, valueOf: mixed, within: 0.1 },
];

/** The number of the first trial that came near enough; Infinity when none of `budget` did. */
export function trialsToFind(
  name: SearchName,
  { space, valueOf, within }: KnownFunction,
  seed: number,
  budget: number,
): number {
  const search = newSearch(name, space, { seed });
  for (let trial = 1; trial <= budget; trial++) {
    const point = search.ask();
    const value = valueOf(point);
    if (value >= -within) return trial;
    search.tell(point, value);
  }
  return Infinity;
}

/** The middle one, of an even number the higher of the two. */
export const medianOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
