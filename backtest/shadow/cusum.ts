/**
 * Two-sided cumulative sums (CUSUM, Page 1954) of bounded, standardized observations. Each sum grows while the mean of
 * the observations is more than `slack` standard deviations away from its normal value.
 */

/** Fixed properties of one detector. */
export type Detection = {
  /** Distance of the mean from normal, in standard deviations, below which the sums do not grow. */
  readonly slack: number;
  /**
   * Normal mean and standard deviation. With `learned`, both come from that number of first observations, which raise
   * no alarm, and `deviation` is the smallest deviation.
   */
  readonly mean: number;
  readonly deviation: number;
  readonly learned?: number;
};

/** State of one detector, as plain data. */
export type CusumState = {
  /** Number of observations, and the sums of the learned ones. */
  count: number;
  mean: number;
  squares: number;
  /** Cumulative sums, in standard deviations. */
  above: number;
  below: number;
  isRaised: boolean;
};

/** Height of a sum, in standard deviations, at which the alarm is raised. */
export const ALARM_HEIGHT = 16;
/** Largest height. A sum that stays here falls below `CALM_HEIGHT` soon after the cause has ended. */
const HEIGHT_MAX = 24;
/** Height below which a raised alarm ends. */
const CALM_HEIGHT = 8;
/** Bound of one standardized observation: at least five observations are needed for an alarm. */
const OBSERVATION_MAX = 4;

export const newCusum = (): CusumState => ({ count: 0, mean: 0, squares: 0, above: 0, below: 0, isRaised: false });

/** Adds an observation. Returns whether it raised the alarm; ignores an observation that is not finite. */
export function observed(
  state: CusumState,
  { slack, mean, deviation, learned = 0 }: Detection,
  value: number,
): boolean {
  if (!Number.isFinite(value)) return false;
  state.count++;
  if (state.count <= learned) {
    const apart = value - state.mean;
    state.mean += apart / state.count;
    state.squares += apart * (value - state.mean);
    return false;
  }
  const [normal, spread] =
    learned > 0 ? [state.mean, Math.max(deviation, Math.sqrt(state.squares / learned))] : [mean, deviation];
  const z = Math.max(-OBSERVATION_MAX, Math.min(OBSERVATION_MAX, (value - normal) / spread));
  state.above = Math.min(HEIGHT_MAX, Math.max(0, state.above + z - slack));
  state.below = Math.min(HEIGHT_MAX, Math.max(0, state.below - z - slack));
  const height = Math.max(state.above, state.below);
  if (state.isRaised) {
    state.isRaised = height >= CALM_HEIGHT;
    return false;
  }
  state.isRaised = height >= ALARM_HEIGHT;
  return state.isRaised;
}
