/** A law made of a kernel about each of some points, and a wide one for what none of them has shown: drawn from, and its density told. */
import { normalCumulative, normalQuantile } from '../../../src/core/index.ts';
import type { Random } from '../../../src/core/index.ts';
import { coordinateOf, countOf, holdsAt, valueAt } from './space.ts';
import type { Parameter, ParameterValue, Point, Space } from './space.ts';

/** A law over the points of a space. */
export type Parzen = {
  draw(random: Random): Point;
  /** The logarithm of density in the unit cube, of shares where a parameter has steps; relative to even draws, so that points with different parameters compare. */
  logDensity(point: Point): number;
};

/** One parameter within all kernels: how far they reach about their values, and the chance that a choice stays. */
type Axis = { readonly parameter: Parameter; readonly count: number; readonly width: number; readonly stays: number };

/** The coordinate of each parameter in a point; NaN where it is not there. */
type Kernel = Float64Array;

/** The law about these points; without any it is even. The more trials there were, the nearer a kernel may keep to its point. */
export function parzenOf(space: Space, points: readonly Point[], trials: number): Parzen {
  const kernels = points.map(point => kernelOf(space, point));
  const axes = space.map((parameter, i) => axisOf(parameter, kernels, i, trials));
  const scales = kernels.map(kernel => kernel.map((about, i) => scaleOf(axes[i]!, about)));
  return {
    draw: random => {
      // One more than there are: the last is the wide one.
      const kernel = kernels[random.integer(0, kernels.length)];
      const point: Record<string, ParameterValue> = {};
      for (const [i, axis] of axes.entries())
        if (holdsAt(axis.parameter, point)) point[axis.parameter.key] = drawAlong(axis, kernel?.[i], random);
      return point;
    },
    logDensity: point => {
      const at = kernelOf(space, point);
      const logs = kernels.map((kernel, k) => {
        let sum = 0;
        for (const [i, axis] of axes.entries()) {
          if (Number.isNaN(at[i]!) || Number.isNaN(kernel[i]!)) continue;
          sum += logAlong(axis, kernel[i]!, scales[k]![i]!, at[i]!);
        }
        return sum;
      });
      // The wide kernel is even: density 1.
      const most = Math.max(0, ...logs);
      const sum = logs.reduce((all, log) => all + Math.exp(log - most), Math.exp(-most));
      return most + Math.log(sum / (kernels.length + 1));
    },
  };
}

const kernelOf = (space: Space, point: Point): Kernel =>
  Float64Array.from(space, parameter =>
    holdsAt(parameter, point) ? coordinateOf(parameter, point[parameter.key]) : Number.NaN,
  );

/** Scott's rule on what the points deviate along the axis, and not below a width that shrinks with the trials: points that lie close by chance must not bind the search. */
function axisOf(parameter: Parameter, kernels: readonly Kernel[], i: number, trials: number): Axis {
  const seen = kernels.map(kernel => kernel[i]!).filter(x => !Number.isNaN(x));
  const count = countOf(parameter);
  const n = Math.max(1, seen.length);
  const mean = seen.reduce((sum, x) => sum + x, 0) / n;
  const deviation = Math.sqrt(seen.reduce((sum, x) => sum + (x - mean) ** 2, 0) / n);
  const scott = deviation * n ** (-1 / ((kernels[0]?.length ?? 1) + 4));
  const step = count === Infinity || parameter.kind === 'log' ? 0 : 0.5 / count;
  return {
    parameter,
    count,
    width: Math.max(WIDTH_MIN, WIDTH_FIRST / Math.sqrt(trials), step, scott),
    stays: seen.length / (seen.length + 1),
  };
}

/** Of a kernel, in widths of a parameter: after one trial (then by the root of their number), and at the least. Found on the functions of docs/development/evidence/tune-search.md. */
const WIDTH_FIRST = 0.8;
const WIDTH_MIN = 0.01;

function drawAlong(axis: Axis, about: number | undefined, random: Random): ParameterValue {
  const { parameter, count, width, stays } = axis;
  const u = random.next();
  if (about === undefined || Number.isNaN(about)) return valueAt(parameter, u);
  if (parameter.kind === 'choice') {
    const stay = stays + (1 - stays) / count;
    if (u < stay) return valueAt(parameter, about);
    return valueAt(parameter, random.next());
  }
  const low = normalCumulative(-about / width);
  const high = normalCumulative((1 - about) / width);
  return valueAt(parameter, about + width * normalQuantile(low + u * (high - low)));
}

/** The logarithm of a kernel's density at a coordinate, over that of even draws. Between values in steps the density at the middle of a step stands for its share. */
function logAlong({ parameter, count, width, stays }: Axis, about: number, scale: number, at: number): number {
  if (parameter.kind !== 'choice') return -0.5 * ((at - about) / width) ** 2 - scale;
  const isSame = Math.abs(about - at) < 0.5 / count;
  return Math.log((isSame ? stays : 0) * count + (1 - stays));
}

/** The logarithm of what the normal law is divided by within the cube. */
function scaleOf({ width }: Axis, about: number): number {
  const within = normalCumulative((1 - about) / width) - normalCumulative(-about / width);
  return Math.log(width * Math.sqrt(2 * Math.PI) * within);
}
