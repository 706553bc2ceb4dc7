/**
 * Parzen estimator: a mixture of one kernel around each given point and one uniform kernel, with sampling and density.
 */
import { normalCumulative, normalQuantile, type Random } from '../../../src/core/index.ts';
import {
  coordinateOf,
  countOf,
  holdsAt,
  valueAt,
  type Parameter,
  type ParameterValue,
  type Point,
  type Space,
} from './space.ts';

/** Distribution over the points of a space. */
export type Parzen = {
  draw(random: Random): Point;
  /**
   * Returns the log density in the unit cube; for parameters with steps, the log probability. The density is relative
   * to the uniform distribution, so that points with different active parameters are comparable.
   */
  logDensity(point: Point): number;
};

/**
 * Shape of the kernels along one parameter: the width, or for a parameter with listed values, the probability of
 * keeping the kernel's own value.
 */
type Axis = { readonly parameter: Parameter; readonly count: number; readonly width: number; readonly stays: number };

/** Coordinates of a kernel's point, one per parameter; NaN for a parameter that the point does not contain. */
type Kernel = Float64Array;

/** Returns the distribution around `points`; uniform without points. After more trials, kernels may be narrower. */
export function parzenOf(space: Space, points: readonly Point[], trials: number): Parzen {
  const kernels = points.map(point => kernelOf(space, point));
  const axes = space.map((parameter, i) => axisOf(parameter, kernels, i, trials));
  const scales = kernels.map(kernel => kernel.map((about, i) => scaleOf(axes[i]!, about)));
  return {
    draw: random => {
      // The index after the last kernel represents the uniform kernel.
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
      // The uniform kernel has density 1.
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

/**
 * Returns the shape along one parameter. The width follows Scott's rule from the deviation of the points. A minimum
 * width shrinks with the number of trials, because points that are close by chance must not restrict the search.
 */
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

/**
 * Minimum kernel width after one trial, as a share of a parameter's range. The width decreases with the number of
 * trials. The value was chosen by tests on the functions in docs/development/evidence/tune-search.md.
 */
const WIDTH_FIRST = 0.8;
/**
 * Smallest kernel width, as a share of a parameter's range. The value was chosen by tests on the functions in
 * docs/development/evidence/tune-search.md.
 */
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

/**
 * Returns the log density of a kernel at a coordinate, relative to the uniform density. For values in steps, the
 * density at the center of a step represents its probability.
 */
function logAlong({ parameter, count, width, stays }: Axis, about: number, scale: number, at: number): number {
  if (parameter.kind !== 'choice') return -0.5 * ((at - about) / width) ** 2 - scale;
  const isSame = Math.abs(about - at) < 0.5 / count;
  return Math.log((isSame ? stays : 0) * count + (1 - stays));
}

/** Returns the log of the integral of a normal kernel over the unit interval, which normalizes its density. */
function scaleOf({ width }: Axis, about: number): number {
  const within = normalCumulative((1 - about) / width) - normalCumulative(-about / width);
  return Math.log(width * Math.sqrt(2 * Math.PI) * within);
}
