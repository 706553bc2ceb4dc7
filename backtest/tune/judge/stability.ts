/** How the result holds around an optimum: what its neighbours in every parameter come to. */
import { cubeOf, countOf, holdsAt, pointAt, textOfPoint, valueAt } from '../search/space.ts';
import type { Parameter, ParameterValue, Point, Space } from '../search/space.ts';

/** A point beside the optimum, and the parameter that differs. */
export type Neighbour = { readonly key: string; readonly point: Point };

/** Parameters between bounds go this far each way, in widths of the parameter; those in steps at least a step. */
const REACH = 0.05;

/** The neighbours of a point, each with one parameter moved: numbers down and up, a choice to each of its other values. Parameters that a new choice brings in stand in their centre. */
export function neighboursOf(space: Space, point: Point, reach = REACH): readonly Neighbour[] {
  const cube = cubeOf(space, point);
  const found = new Map<string, Neighbour>();
  for (const [i, parameter] of space.entries()) {
    const at = cube[i];
    if (at === null || at === undefined) continue;
    for (const coordinate of movesOf(parameter, at, reach)) {
      const moved = withKept(space, point, i, valueAt(parameter, coordinate));
      const name = textOfPoint(moved);
      if (name !== textOfPoint(point) && !found.has(name)) found.set(name, { key: parameter.key, point: moved });
    }
  }
  return [...found.values()];
}

function movesOf(parameter: Parameter, at: number, reach: number): readonly number[] {
  const count = countOf(parameter);
  if (parameter.kind === 'choice') return parameter.values.map((_, i) => (i + 0.5) / count);
  // On a logarithmic scale steps are not even: the reach stands, and what comes out the same is dropped.
  const far = parameter.kind === 'log' ? reach : Math.max(reach, 1 / count);
  return [at - far, at + far].map(coordinate => Math.min(1, Math.max(0, coordinate)));
}

/** The point with one value changed; the others stay, down to their digits, where their conditions still hold. */
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

/** Values of neighbours; null of one that failed. */
export type JudgedNeighbour = { readonly key: string; readonly value: number | null };

export type Stability = {
  /** Share of all neighbours no more than `within` worse than the optimum; failed ones are not. NaN without any. */
  readonly share: number;
  /** By parameter: the same share, and what the worst neighbour loses (Infinity of one that failed). */
  readonly byKey: readonly { readonly key: string; readonly share: number; readonly worstLoss: number }[];
};

/** How many neighbours hold what the optimum promised. */
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
