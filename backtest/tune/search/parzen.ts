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

/** The law about these points; without any it is even. */
export function parzenOf(space: Space, points: readonly Point[]): Parzen {
  const kernels = points.map(point => kernelOf(space, point));
  const axes = space.map((parameter, i) => axisOf(parameter, kernels, i, space.length));
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
      const logs = kernels.map(kernel => {
        let sum = 0;
        for (const [i, axis] of axes.entries()) {
          if (Number.isNaN(at[i]!) || Number.isNaN(kernel[i]!)) continue;
          sum += logAlong(axis, kernel[i]!, at[i]!);
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

/** Scott's rule on what the points deviate along the axis; not below what as many even points would be apart. */
function axisOf(parameter: Parameter, kernels: readonly Kernel[], i: number, dimensions: number): Axis {
  const seen = kernels.map(kernel => kernel[i]!).filter(x => !Number.isNaN(x));
  const count = countOf(parameter);
  const n = seen.length;
  const stays = n / (n + 1);
  const mean = seen.reduce((sum, x) => sum + x, 0) / n;
  const deviation = Math.sqrt(seen.reduce((sum, x) => sum + (x - mean) ** 2, 0) / Math.max(1, n - 1));
  const scott = (n > 1 ? deviation : 0.3) * n ** (-1 / (dimensions + 4));
  const least = count === Infinity || parameter.kind === 'log' ? LEAST_WIDTH : 0.5 / count;
  return { parameter, count, width: Math.max(least, scott), stays };
}

const LEAST_WIDTH = 1e-3;

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

/** The logarithm of a kernel's density at a coordinate, over that of even draws. */
function logAlong(axis: Axis, about: number, at: number): number {
  const { parameter, count, width, stays } = axis;
  if (parameter.kind === 'choice') {
    const isSame = Math.abs(about - at) < 0.5 / count;
    return Math.log((isSame ? stays : 0) * count + (1 - stays));
  }
  const whole = normalCumulative((1 - about) / width) - normalCumulative(-about / width);
  if (count === Infinity || parameter.kind === 'log')
    return -0.5 * ((at - about) / width) ** 2 - Math.log(width * Math.sqrt(2 * Math.PI) * whole);
  const half = 0.5 / count;
  const share = normalCumulative((at + half - about) / width) - normalCumulative((at - half - about) / width);
  return Math.log(Math.max(1e-300, (share * count) / whole));
}
