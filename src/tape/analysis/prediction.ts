/**
 * Prediction of a price move from one number, such as an imbalance: slope with standard error, and a test on data that
 * the fit did not use.
 */
import { estimateOf, type Estimate } from './jackknife.ts';

/**
 * Number of time blocks. All blocks have equally many seconds with data. The first two thirds of the blocks are for the
 * fit, the last third is for the test.
 */
export const PREDICTION_BLOCKS = 15;
const FITTED = (2 * PREDICTION_BLOCKS) / 3;
/** Two-sided 95% quantile of Student's t with 14 degrees of freedom, one fewer than the time blocks. */
const STUDENT_95 = 2.145;
/** Two-sided 99% quantile of Student's t with 14 degrees of freedom. */
const STUDENT_99 = 2.977;

export type Prediction = {
  /** Slope on all data; its standard error comes from omitting one time block at a time. */
  readonly slope: Estimate;
  /** Lower bound of the slope's 95% confidence interval. */
  readonly low: number;
  /** Upper bound of the slope's 95% confidence interval. */
  readonly high: number;
  /** Correlation of the predicting number with the move, on all data. */
  readonly r: number;
  /** Correlation of the moves in the last third of the data with their predictions by a fit on the first two thirds. */
  readonly rLater: number;
  /**
   * Relative reduction of the squared error in the last third of the data, compared with a fit without the predicting
   * number. Negative if the predicting number makes the prediction worse.
   */
  readonly gainLater: number;
  /**
   * Whether the prediction is valid: the slope is above zero at the 99% level, and `gainLater` is above 0. The level is
   * high, because the best of several predictions is chosen.
   */
  readonly holds: boolean;
  /**
   * Slope divided by its standard error, on the first two thirds of the data only; for choosing among several
   * predictors.
   */
  readonly firstRatio: number;
};

/** Sums of one time block, over samples of the predicting number x, a control variable z and the move y. */
export class PredictionSums {
  n = 0;
  x = 0;
  z = 0;
  y = 0;
  xx = 0;
  xz = 0;
  zz = 0;
  xy = 0;
  zy = 0;
  yy = 0;

  /** Adds one sample; ignores the sample if a value is not finite. */
  add(x: number, y: number, z = 0): void {
    if (!Number.isFinite(x + y + z)) return;
    this.n++;
    this.x += x;
    this.z += z;
    this.y += y;
    this.xx += x * x;
    this.xz += x * z;
    this.zz += z * z;
    this.xy += x * y;
    this.zy += z * y;
    this.yy += y * y;
  }

  addAll(of: PredictionSums): void {
    for (const key of KEYS) this[key] += of[key];
  }
}

const KEYS = ['n', 'x', 'z', 'y', 'xx', 'xz', 'zz', 'xy', 'zy', 'yy'] as const;

/** Creates empty sums, one per time block. */
export const predictionSums = (): PredictionSums[] =>
  Array.from({ length: PREDICTION_BLOCKS }, () => new PredictionSums());

/** Returns the time block of each second. Blocks have equally many seconds with data, in order. */
export function blockOfEach(length: number, isKnown: (i: number) => boolean): Uint8Array {
  let known = 0;
  for (let i = 0; i < length; i++) if (isKnown(i)) known++;
  const stretches = new Uint8Array(length);
  let before = 0;
  for (let i = 0; i < length; i++) {
    stretches[i] = Math.min(PREDICTION_BLOCKS - 1, Math.floor((before * PREDICTION_BLOCKS) / Math.max(1, known)));
    if (isKnown(i)) before++;
  }
  return stretches;
}

/** Fit of y = a + b x + c z by least squares. */
type Fit = { readonly a: number; readonly b: number; readonly c: number };

/**
 * Fits y on x with the control z. `stretches` has the sums of every time block, in order. Returns `null` if there is
 * too little data, x never changes, or x and z are redundant (squared correlation above 0.9999).
 */
export function predictionOf(stretches: readonly PredictionSums[]): Prediction | null {
  const slopeOf = (of: readonly PredictionSums[]): number => fitOf(together(of))?.b ?? Number.NaN;
  const first = stretches.slice(0, FITTED);
  const last = together(stretches.slice(FITTED));
  const slope = estimateOf(stretches, slopeOf);
  const firstSlope = estimateOf(first, slopeOf);
  const fitted = fitOf(together(first));
  if (slope === null || firstSlope === null || fitted === null || !(last.n > 1 && slope.error > 0)) return null;
  const alone = fitOf(together(first), false);
  const gainLater = 1 - squares(last, fitted) / squares(last, alone ?? { a: 0, b: 0, c: 0 });
  return {
    slope,
    low: slope.value - STUDENT_95 * slope.error,
    high: slope.value + STUDENT_95 * slope.error,
    r: correlation(together(stretches)),
    rLater: Math.sign(fitted.b) * correlation(last),
    gainLater,
    holds: slope.value > STUDENT_99 * slope.error && gainLater > 0,
    firstRatio: firstSlope.value / firstSlope.error,
  };
}

/**
 * Returns the predictor with the largest ratio of slope to error; `null` if no predictor has a prediction. The ratio
 * comes from the first two thirds of the data, so the last third remains for the test.
 */
export function strongestPredictor<T extends { readonly foretold: Prediction | null }>(of: readonly T[]): T | null {
  let best: T | null = null;
  for (const one of of)
    if (one.foretold !== null && !(one.foretold.firstRatio <= (best?.foretold?.firstRatio ?? -Infinity))) best = one;
  return best;
}

function together(of: readonly PredictionSums[]): PredictionSums {
  const sums = new PredictionSums();
  for (const one of of) sums.addAll(one);
  return sums;
}

/** Fits the sums; if `withX` is false, the slope b is 0. */
function fitOf({ n, x, z, y, xx, xz, zz, xy, zy }: PredictionSums, withX = true): Fit | null {
  if (!(n > 1)) return null;
  const [vxx, vxz, vzz] = [xx - (x * x) / n, xz - (x * z) / n, zz - (z * z) / n];
  const [vxy, vzy] = [xy - (x * y) / n, zy - (z * y) / n];
  const hasZ = vzz > 0;
  const own = vxx - (hasZ ? (vxz * vxz) / vzz : 0);
  if (withX && !(vxx > 0 && own > 1e-4 * vxx)) return null;
  const b = withX ? (vxy - (hasZ ? (vxz * vzy) / vzz : 0)) / own : 0;
  const c = hasZ ? (vzy - b * vxz) / vzz : 0;
  return { a: (y - b * x - c * z) / n, b, c };
}

/** Returns the sum of squared residuals for a fit. */
const squares = ({ n, x, z, y, xx, xz, zz, xy, zy, yy }: PredictionSums, { a, b, c }: Fit): number =>
  yy + a * a * n + b * b * xx + c * c * zz + 2 * (a * b * x + a * c * z + b * c * xz - a * y - b * xy - c * zy);

const correlation = ({ n, x, y, xx, yy, xy }: PredictionSums): number =>
  (n * xy - x * y) / Math.sqrt((n * xx - x * x) * (n * yy - y * y));
