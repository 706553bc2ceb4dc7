/**
 * Two-sided cumulative sums (CUSUM, Page 1954) of bounded, standardized observations. Each sum grows while the mean of
 * the observations is more than `slack` standard deviations away from its normal value.
 */

/** Fixed properties of one detector. */
export type Detection = {
  /** Distance of the mean from normal, in standard deviations, below which the sums do not grow. */
  readonly slack: number;
  /**
   * Normal mean and standard deviation. With `learned`, both are learned from the first `learned` observations, which
   * raise no alarm, and from later ones while the sums are low. `deviation` is then the minimum deviation.
   */
  readonly mean: number;
  readonly deviation: number;
  readonly learned?: number;
};

/** State of one detector, as plain data. */
export type CusumState = {
  count: number;
  /** Learned mean and variance, and the weight of the observations in them. */
  mean: number;
  variance: number;
  weight: number;
  /** Cumulative sums, in standard deviations. */
  above: number;
  below: number;
  isRaised: boolean;
};

/** Height of a sum, in standard deviations, at which the alarm is raised. */
export const ALARM_THRESHOLD = 16;
/** Maximum height of a sum, so that the sum falls below `CALM_HEIGHT` soon after the cause has ended. */
const HEIGHT_MAX = 24;
/** Height below which a raised alarm ends. */
const CALM_HEIGHT = 8;
/** Bound of one standardized observation: at least five observations are needed for an alarm. */
const OBSERVATION_MAX = 4;

/**
 * Height above which nothing is learned, so that a lasting change is not learned as normal before it raises the alarm.
 */
const LEARNING_HEIGHT = 4;
/**
 * Maximum weight of the learned values, in observations. Changes that take many more observations are learned as
 * normal.
 */
const WEIGHT_MAX = 2_000;

/** Returns the state before the first observation. */
export const newCusum = (): CusumState => ({
  ...{ count: 0, mean: 0, variance: 0, weight: 0, above: 0, below: 0, isRaised: false },
});

/** Adds an observation. Returns whether it raised the alarm; ignores an observation that is not finite. */
export function addObservation(state: CusumState, detection: Detection, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const { slack, mean, deviation, learned = 0 } = detection;
  state.count++;
  if (state.count <= learned) {
    learn(state, value);
    return false;
  }
  const [normal, spread] =
    learned > 0 ? [state.mean, Math.max(deviation, Math.sqrt(state.variance))] : [mean, deviation];
  const z = Math.max(-OBSERVATION_MAX, Math.min(OBSERVATION_MAX, (value - normal) / spread));
  state.above = Math.min(HEIGHT_MAX, Math.max(0, state.above + z - slack));
  state.below = Math.min(HEIGHT_MAX, Math.max(0, state.below - z - slack));
  const height = Math.max(state.above, state.below);
  if (learned > 0 && height < LEARNING_HEIGHT) learn(state, normal + z * spread);
  if (state.isRaised) {
    state.isRaised = height >= CALM_HEIGHT;
    return false;
  }
  state.isRaised = height >= ALARM_THRESHOLD;
  return state.isRaised;
}

/** Updates the mean and the variance (Welford, with a maximum weight). */
function learn(state: CusumState, value: number): void {
  state.weight = Math.min(WEIGHT_MAX, state.weight + 1);
  const apart = value - state.mean;
  state.mean += apart / state.weight;
  state.variance += (apart * (value - state.mean) - state.variance) / state.weight;
}
