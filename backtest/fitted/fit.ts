/**
 * Fit of the mixture of queue hypotheses to the bot's own orders, by maximum likelihood with censored lives: a canceled
 * order shows only that it was not filled before its cancel.
 *
 * An order's first execution has the time of a hypothesis with probability (1 - `unexplained`) times the hypothesis's
 * weight. With probability `unexplained`, no hypothesis explains the execution, and executions have a constant rate.
 * The expectation-maximization algorithm finds the weights; the likelihood is concave in the weights.
 */
import { QUEUE_HYPOTHESES, type WeightedHypothesis } from '../../src/fills/index.ts';
import type { OwnLife } from './ownLives.ts';

/** Maximum difference, in ms, between the time of a fill and its time under a hypothesis that explains the fill. */
export const TIME_TOLERANCE_MS = 2_000;

/** Weights of the entries of `OwnLife.reached`, the share of unexplained fills, and their rate per ms. */
export type FillMixture = {
  readonly weights: readonly number[];
  readonly unexplained: number;
  readonly rate: number;
};

/**
 * Prior of the weights, in orders: most for `expected`, and the rest for all hypotheses. With few fills, the model
 * therefore stays near the default.
 */
const PRIOR_EXPECTED = 1;
const PRIOR_OTHERS = 0.2;
/** Prior of the unexplained share: `PRIOR_UNEXPLAINED` unexplained orders among `PRIOR_ORDERS` orders. */
const PRIOR_UNEXPLAINED = 0.5;
const PRIOR_ORDERS = 50;
const STEPS_MAX = 500;
/** Largest change of a weight in one step at which the fit ends. */
const CHANGE_MIN = 1e-5;

/** Index of the hypothesis that equals the model `expected`. */
const EXPECTED = QUEUE_HYPOTHESES.findIndex(
  ({ cancels, shown, own }) => cancels === 'power2' && shown === 1 && own === 0,
);

/** Whether an order was executed, at least in part. */
export const isFilled = ({ filledAfter, endedAfter }: OwnLife): boolean => filledAfter <= endedAfter;

/** Returns the number of filled orders per ms of life; 0 without lives. */
export function fillRate(lives: readonly OwnLife[]): number {
  const time = lives.reduce((sum, { endedAfter }) => sum + endedAfter, 0);
  return time > 0 ? lives.filter(isFilled).length / time : 0;
}

/** Returns the fitted mixture of `QUEUE_HYPOTHESES`. */
export function fittedMixture(lives: readonly OwnLife[]): FillMixture {
  const others = PRIOR_OTHERS / QUEUE_HYPOTHESES.length;
  const prior = QUEUE_HYPOTHESES.map((_, j) => others + (j === EXPECTED ? PRIOR_EXPECTED : 0));
  return maximized(lives, prior);
}

/** Returns the mixture with all weight on one entry of `OwnLife.reached`, and with the fitted unexplained share. */
export function singleMixture(lives: readonly OwnLife[], entry: number): FillMixture {
  return maximized(
    lives,
    Array.from({ length: entry + 1 }, (_, j) => (j === entry ? 1 : 0)),
  );
}

/** Returns the mixture with the maximum likelihood; entries with a prior of 0 keep the weight 0. */
function maximized(lives: readonly OwnLife[], prior: readonly number[]): FillMixture {
  const rate = fillRate(lives);
  const count = prior.length;
  const active = prior.flatMap((one, j) => (one > 0 ? [j] : []));
  const rows = lives.map(life => ({
    fitting: Uint16Array.from(active.filter(j => isExplainedBy(life, j))),
    other: unexplainedDensity(life, rate),
  }));
  const sum = prior.reduce((all, one) => all + one, 0);
  let weights = prior.map(one => one / sum);
  let unexplained = 0.02;
  for (let step = 0; step < STEPS_MAX; step++) {
    const found = [...prior];
    let odd = PRIOR_UNEXPLAINED;
    /** Lives that every hypothesis explains; they add to each weight in proportion. */
    let common = 0;
    for (const { fitting, other } of rows) {
      const isCommon = fitting.length === active.length;
      let mass = isCommon ? 1 : 0;
      if (!isCommon) for (const j of fitting) mass += weights[j]!;
      const all = (1 - unexplained) * mass + unexplained * other;
      if (!(all > 0)) continue;
      odd += (unexplained * other) / all;
      const each = (1 - unexplained) / all;
      if (isCommon) common += each;
      else for (const j of fitting) found[j]! += weights[j]! * each;
    }
    for (const j of active) found[j]! += weights[j]! * common;
    const total = found.reduce((s, one) => s + one, 0);
    const next = found.map(one => one / total);
    const share = odd / (lives.length + PRIOR_ORDERS);
    let change = Math.abs(share - unexplained);
    for (let j = 0; j < count; j++) change = Math.max(change, Math.abs(next[j]! - weights[j]!));
    weights = next;
    unexplained = share;
    if (change < CHANGE_MIN) break;
  }
  return { weights, unexplained, rate };
}

/** Whether a hypothesis explains a life: it executes the order at the observed time, or not before the order left. */
function isExplainedBy(life: OwnLife, entry: number): boolean {
  const reached = life.reached[entry]!;
  return isFilled(life)
    ? Math.abs(reached - life.filledAfter) <= TIME_TOLERANCE_MS
    : reached > life.endedAfter - TIME_TOLERANCE_MS;
}

/** Returns the probability of the observed life at a constant rate of fills. */
function unexplainedDensity(life: OwnLife, rate: number): number {
  if (!isFilled(life)) return Math.exp(-rate * life.endedAfter);
  const from = Math.max(0, life.filledAfter - TIME_TOLERANCE_MS);
  return Math.exp(-rate * from) - Math.exp(-rate * (life.filledAfter + TIME_TOLERANCE_MS));
}

/** Returns the logarithm of the probability of the observed life. */
export function logLikelihood(life: OwnLife, { weights, unexplained, rate }: FillMixture): number {
  let mass = 0;
  for (let j = 0; j < weights.length; j++) if (weights[j]! > 0 && isExplainedBy(life, j)) mass += weights[j]!;
  return Math.log((1 - unexplained) * mass + unexplained * unexplainedDensity(life, rate));
}

/** Returns the probability that the order has its first execution within `after` ms. */
export function fillChance(life: OwnLife, { weights, unexplained, rate }: FillMixture, after: number): number {
  let mass = 0;
  const { reached } = life;
  for (let j = 0; j < weights.length; j++) if (reached[j]! <= after) mass += weights[j]!;
  return (1 - unexplained) * mass + unexplained * (1 - Math.exp(-rate * after));
}

/** Minimum weight of a hypothesis in a parameter file. */
const WEIGHT_MIN = 0.001;

/** Returns the hypotheses with at least `WEIGHT_MIN`, largest first; their weights add up to 1 except for rounding. */
export function weightedHypotheses({ weights }: FillMixture): readonly WeightedHypothesis[] {
  const kept = QUEUE_HYPOTHESES.flatMap((hypothesis, j) =>
    weights[j]! >= WEIGHT_MIN ? [{ ...hypothesis, weight: weights[j]! }] : [],
  ).sort((a, b) => b.weight - a.weight);
  const sum = kept.reduce((all, { weight }) => all + weight, 0);
  return kept.map(one => ({ ...one, weight: Number((one.weight / sum).toFixed(6)) }));
}
