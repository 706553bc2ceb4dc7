/** What a number foretells of a move: its slope with an error, and whether it still does where it was not fitted. */
import { estimateOf } from './jackknife.ts';
import type { Estimate } from './jackknife.ts';

/** Stretches of as many seconds each: the first two thirds are fitted on, the last third judges. */
export const FORETOLD_STRETCHES = 15;
const FITTED = (2 * FORETOLD_STRETCHES) / 3;
/** Two-sided 95 and 99 % of Student's t with 14 degrees of freedom: as many stretches as there are, less one. */
const STUDENT_95 = 2.145;
const STUDENT_99 = 2.977;

export type Foretold = {
  /** Of all of it; the error from leaving out one stretch after the other. */
  readonly slope: Estimate;
  /** Of 95 %. */
  readonly low: number;
  readonly high: number;
  /** Correlation of the number with the move, on all of it. */
  readonly r: number;
  /** Correlation of the move in the last third with what the fit on the first two foretold. */
  readonly rLater: number;
  /** Share of the squared moves of the last third that this took away: below 0 it foretold worse than nothing. */
  readonly gainLater: number;
  /** Above zero by 99 %, as the best of a few is looked for, and a gain where it was not fitted. */
  readonly holds: boolean;
  /** Slope by its error on the first two thirds alone, to choose among several by. */
  readonly firstRatio: number;
};

/** Sums of one stretch, of the number x, of what is known without it z, and of the move y. */
export class ForetoldSums {
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

  /** What is no number is left out. */
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

  addAll(of: ForetoldSums): void {
    for (const key of KEYS) this[key] += of[key];
  }
}

const KEYS = ['n', 'x', 'z', 'y', 'xx', 'xz', 'zz', 'xy', 'zy', 'yy'] as const;

/** One for each stretch, empty. */
export const foretoldSums = (): ForetoldSums[] => Array.from({ length: FORETOLD_STRETCHES }, () => new ForetoldSums());

/** The stretch of each of so many seconds: those that are known are shared out evenly, in their order. */
export function stretchOfEach(length: number, isKnown: (i: number) => boolean): Uint8Array {
  let known = 0;
  for (let i = 0; i < length; i++) if (isKnown(i)) known++;
  const stretches = new Uint8Array(length);
  let before = 0;
  for (let i = 0; i < length; i++) {
    stretches[i] = Math.min(FORETOLD_STRETCHES - 1, Math.floor((before * FORETOLD_STRETCHES) / Math.max(1, known)));
    if (isKnown(i)) before++;
  }
  return stretches;
}

/** y = a + b x + c z by least squares. */
type Fit = { readonly a: number; readonly b: number; readonly c: number };

/**
 * The slope of y on x beside z, from one entry a stretch, in their order. Null where there is none: too little was seen, x never changed, or it says what z says
 * already (squared correlation above 0.9999).
 */
export function foretoldOf(stretches: readonly ForetoldSums[]): Foretold | null {
  const slopeOf = (of: readonly ForetoldSums[]): number => fitOf(together(of))?.b ?? Number.NaN;
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

/** The one whose slope is the most errors from nothing on the first two thirds, which the last third has not chosen; null of none. */
export function mostForetelling<T extends { readonly foretold: Foretold | null }>(of: readonly T[]): T | null {
  let best: T | null = null;
  for (const one of of)
    if (one.foretold !== null && !(one.foretold.firstRatio <= (best?.foretold?.firstRatio ?? -Infinity))) best = one;
  return best;
}

function together(of: readonly ForetoldSums[]): ForetoldSums {
  const sums = new ForetoldSums();
  for (const one of of) sums.addAll(one);
  return sums;
}

/** `withX` false: b is 0. */
function fitOf({ n, x, z, y, xx, xz, zz, xy, zy }: ForetoldSums, withX = true): Fit | null {
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

/** Sum of what a fit leaves, squared. */
const squares = ({ n, x, z, y, xx, xz, zz, xy, zy, yy }: ForetoldSums, { a, b, c }: Fit): number =>
  yy + a * a * n + b * b * xx + c * c * zz + 2 * (a * b * x + a * c * z + b * c * xz - a * y - b * xy - c * zy);

const correlation = ({ n, x, y, xx, yy, xy }: ForetoldSums): number =>
  (n * xy - x * y) / Math.sqrt((n * xx - x * x) * (n * yy - y * y));
