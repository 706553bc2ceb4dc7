/** Stability of an optimum: the results of its neighbors along every parameter. */
import {
  cubeOf,
  countOf,
  holdsAt,
  pointAt,
  textOfPoint,
  valueAt,
  type Parameter,
  type ParameterValue,
  type Point,
  type Space,
} from '../search/space.ts';

/** Point next to the optimum, with the key of the parameter that differs. */
export type Neighbour = { readonly key: string; readonly point: Point };

/**
 * Distance of a neighbor in each direction, as a share of the parameter's range. A parameter with steps moves by at
 * least one step.
 */
const REACH = 0.05;

/**
 * Returns the neighbors of a point, each with one parameter changed. A number is decreased and increased; a choice is
 * replaced by each of its other values. Parameters that a new choice activates are at the center of their range.
 */
export function neighboursOf(space: Space, point: Point): readonly Neighbour[] {
  const cube = cubeOf(space, point);
  const found = new Map<string, Neighbour>();
  for (const [i, parameter] of space.entries()) {
    const at = cube[i];
    if (at === null || at === undefined) continue;
    for (const coordinate of movesOf(parameter, at)) {
      const moved = withKept(space, point, i, valueAt(parameter, coordinate));
      const name = textOfPoint(moved);
      if (name !== textOfPoint(point) && !found.has(name)) found.set(name, { key: parameter.key, point: moved });
    }
  }
  return [...found.values()];
}

function movesOf(parameter: Parameter, at: number): readonly number[] {
  const count = countOf(parameter);
  if (parameter.kind === 'choice') return parameter.values.map((_, i) => (i + 0.5) / count);
  // On a logarithmic scale steps are uneven, so neighbors at a constant distance can coincide. Duplicates are dropped.
  const far = parameter.kind === 'log' ? REACH : Math.max(REACH, 1 / count);
  return [at - far, at + far].map(coordinate => Math.min(1, Math.max(0, coordinate)));
}

/**
 * Returns the point with one value changed. The other parameters keep their exact values as long as their conditions
 * are true.
 */
function withKept(space: Space, point: Point, changed: number, value: ParameterValue): Point {
  const centre = pointAt(
    space,
    space.map(() => 0.5),
  );
  const made: Record<string, ParameterValue> = {};
  for (const [i, parameter] of space.entries()) {
    if (!holdsAt(parameter, made)) continue;
    const { key } = parameter;
    made[key] = i === changed ? value : (point[key] ?? centre[key] ?? valueAt(parameter, 0.5));
  }
  return made;
}

/** Value of a neighbor; `null` if its run failed. */
export type JudgedNeighbour = { readonly key: string; readonly value: number | null };

export type Stability = {
  /** Share of the neighbors that ran and were at most `within` worse than the optimum; NaN without neighbors. */
  readonly share: number;
  /**
   * Results per parameter, from the neighbors in which that parameter differs. `worstLoss` is how far the worst of
   * these neighbors is below the optimum; Infinity if a neighbor failed.
   */
  readonly byKey: readonly { readonly key: string; readonly share: number; readonly worstLoss: number }[];
};

/** Computes the shares of neighbors that are at most `within` worse than the optimum. */
export function stabilityOf(best: number, neighbours: readonly JudgedNeighbour[], within: number): Stability {
  const holds = ({ value }: JudgedNeighbour): boolean => value !== null && value >= best - within;
  const shareOf = (of: readonly JudgedNeighbour[]): number => of.filter(holds).length / of.length;
  const keys = [...new Set(neighbours.map(({ key }) => key))];
  return {
    share: shareOf(neighbours),
    byKey: keys.map(key => {
      const own = neighbours.filter(one => one.key === key);
      return { key, share: shareOf(own), worstLoss: Math.max(...own.map(({ value }) => best - (value ?? -Infinity))) };
    }),
  };
}
