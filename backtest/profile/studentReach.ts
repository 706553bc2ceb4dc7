/** Quantile of Student's t distribution for the few degrees of freedom of days and of blocks with fills. */
import { normalCumulative, studentQuantile } from '../../src/core/index.ts';

/** Degrees of freedom from which the approximation of `studentQuantile` is exact enough. */
const MANY = 100;
/** Number of intervals of an integral by Simpson's rule, which must be even. */
const STEPS = 64;

/**
 * Returns the quantile of Student's t distribution that has the same probability above it as `normal`, a positive
 * quantile of the normal distribution. `freedom`: degrees of freedom, at least 1. With x = sqrt(freedom) tan(a), the
 * density of t is proportional to cos(a)^(freedom - 1); Newton's method solves for the angle. The result is exact to
 * about six digits.
 */
export function studentReach(normal: number, freedom: number): number {
  if (freedom >= MANY) return studentQuantile(normal, freedom);
  const density = (angle: number): number => Math.cos(angle) ** (freedom - 1);
  const wanted = Math.log(2 * (1 - normalCumulative(normal)) * above(0, density));
  let angle = Math.atan(studentQuantile(normal, freedom) / Math.sqrt(freedom));
  for (let i = 0; i < 8; i++) {
    const tail = above(angle, density);
    angle = Math.min(Math.PI / 2 - 1e-9, angle + ((Math.log(tail) - wanted) * tail) / density(angle));
  }
  return Math.sqrt(freedom) * Math.tan(angle);
}

/** Returns the integral of `density` from `angle` to a right angle. */
function above(angle: number, density: (angle: number) => number): number {
  const step = (Math.PI / 2 - angle) / STEPS;
  let all = density(angle) + density(Math.PI / 2);
  for (let i = 1; i < STEPS; i++) all += (i % 2 === 1 ? 4 : 2) * density(angle + i * step);
  return (all * step) / 3;
}
