/**
 * Scores of fill models on lives that were not used in the fit. Lives of canceled orders are censored: Brier score and
 * calibration weight other lives by the inverse probability that an order is not canceled before (Graf et al. 1999).
 */
import { fillChance, isFilled, logLikelihood, TIME_TOLERANCE_MS, type FillMixture } from './fit.ts';
import type { OwnLife } from './ownLives.ts';

export type FillScores = {
  /** Mean logarithm of the probability of the observed lives. */
  readonly logLikelihood: number;
  /** Mean squared error of the fill probability, as a mean over horizons; 0 is best. `null` without horizons. */
  readonly brier: number | null;
  /** Probability that, of two orders, the one filled earlier had the higher fill probability; `null` without pairs. */
  readonly cIndex: number | null;
  readonly reliability: Reliability | null;
};

/** Predicted and observed shares of orders filled within `horizonMs`, in ten groups by the predicted probability. */
export type Reliability = {
  readonly horizonMs: number;
  /** Mean difference between predicted and observed shares of the groups, weighted by their orders. */
  readonly error: number;
  readonly groups: readonly ReliabilityGroup[];
};

/** `margin`: half of the 95% interval of `observed`. */
export type ReliabilityGroup = {
  readonly orders: number;
  readonly predicted: number;
  readonly observed: number;
  readonly margin: number;
};

const HORIZONS = 10;
const GROUPS = 10;
/** Minimum share of orders that are not canceled before a horizon. */
const UNCENSORED_MIN = 0.1;
/** Maximum number of orders for the pairs of the C-index. Of more orders, every second, third and so on is used. */
const PAIRED_MAX = 3_000;

/** Returns the scores of a mixture. `lives` must not be empty. */
export function fillScores(lives: readonly OwnLife[], mixture: FillMixture): FillScores {
  const sum = lives.reduce((all, life) => all + logLikelihood(life, mixture), 0);
  const uncensored = uncensoredShare(lives);
  const horizons = horizonsOf(lives).filter(at => uncensored(at) >= UNCENSORED_MIN);
  const briers = horizons.map(at => brierAt(lives, mixture, at, uncensored));
  const center = horizons[horizons.length >> 1];
  return {
    logLikelihood: sum / lives.length,
    brier: briers.length === 0 ? null : briers.reduce((all, one) => all + one, 0) / briers.length,
    cIndex: cIndexOf(lives, mixture),
    reliability: center === undefined ? null : reliabilityAt(lives, mixture, center, uncensored),
  };
}

/** Returns up to ten horizons in ms: evenly spaced quantiles of the lengths of the lives. */
function horizonsOf(lives: readonly OwnLife[]): readonly number[] {
  const ends = lives.map(({ endedAfter }) => endedAfter).sort((a, b) => a - b);
  const found = Array.from({ length: HORIZONS }, (_, i) => ends[Math.floor(((i + 0.5) / HORIZONS) * ends.length)]!);
  return [...new Set(found)].filter(at => at > 0);
}

/** Returns a function for the share of orders not canceled before a time (Kaplan-Meier estimate of the censoring). */
function uncensoredShare(lives: readonly OwnLife[]): (after: number) => number {
  const sorted = [...lives].sort((a, b) => a.endedAfter - b.endedAfter);
  const times: number[] = [];
  const shares: number[] = [];
  let share = 1;
  for (const [i, life] of sorted.entries()) {
    if (isFilled(life)) continue;
    share *= 1 - 1 / (sorted.length - i);
    times.push(life.endedAfter);
    shares.push(share);
  }
  return after => {
    let [low, high] = [0, times.length];
    while (low < high) {
      const center = (low + high) >> 1;
      if (times[center]! < after) low = center + 1;
      else high = center;
    }
    return low === 0 ? 1 : shares[low - 1]!;
  };
}

/** Returns 1 if an order was filled by a horizon, otherwise 0, and its weight; the weight is 0 if canceled before. */
function outcomeAt(life: OwnLife, at: number, uncensored: (after: number) => number): readonly [0 | 1, number] {
  const isByThen = isFilled(life) && life.filledAfter <= at;
  if (!isByThen && life.endedAfter < at) return [0, 0];
  const share = uncensored(Math.min(at, life.endedAfter));
  return [isByThen ? 1 : 0, share > 0 ? 1 / share : 0];
}

function brierAt(
  lives: readonly OwnLife[],
  mixture: FillMixture,
  at: number,
  uncensored: (after: number) => number,
): number {
  let [sum, weights] = [0, 0];
  for (const life of lives) {
    const [filled, weight] = outcomeAt(life, at, uncensored);
    if (weight === 0) continue;
    sum += weight * (fillChance(life, mixture, at) - filled) ** 2;
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

function reliabilityAt(
  lives: readonly OwnLife[],
  mixture: FillMixture,
  at: number,
  uncensored: (after: number) => number,
): Reliability {
  const sums = Array.from({ length: GROUPS }, () => ({ orders: 0, weight: 0, squares: 0, predicted: 0, observed: 0 }));
  for (const life of lives) {
    const [filled, weight] = outcomeAt(life, at, uncensored);
    if (weight === 0) continue;
    const chance = fillChance(life, mixture, at);
    const group = sums[Math.min(GROUPS - 1, Math.floor(chance * GROUPS))]!;
    group.orders++;
    group.weight += weight;
    group.squares += weight * weight;
    group.predicted += weight * chance;
    group.observed += weight * filled;
  }
  const all = sums.reduce((total, { weight }) => total + weight, 0);
  const groups = sums.flatMap(({ orders, weight, squares, predicted, observed }): readonly ReliabilityGroup[] => {
    if (orders === 0) return [];
    const share = observed / weight;
    // Different weights make the effective number of orders smaller than the actual number.
    const count = (weight * weight) / squares;
    const margin = 1.96 * Math.sqrt((share * (1 - share)) / count);
    return [{ orders, predicted: predicted / weight, observed: share, margin }];
  });
  const error = sums.reduce((sum, { predicted, observed }) => sum + Math.abs(predicted - observed), 0) / all;
  return { horizonMs: at, error, groups };
}

/**
 * Returns the concordance at the times of the fills (Antolini et al. 2005). A pair of equal probabilities counts half.
 */
function cIndexOf(lives: readonly OwnLife[], mixture: FillMixture): number | null {
  const every = Math.ceil(lives.length / PAIRED_MAX);
  const chosen = lives.filter((_, i) => i % every === 0);
  let [right, pairs] = [0, 0];
  for (const first of chosen) {
    if (!isFilled(first)) continue;
    const at = first.filledAfter + TIME_TOLERANCE_MS;
    const own = fillChance(first, mixture, at);
    for (const other of chosen) {
      if (other === first || other.endedAfter <= at) continue;
      const apart = own - fillChance(other, mixture, at);
      right += apart > 0 ? 1 : apart === 0 ? 0.5 : 0;
      pairs++;
    }
  }
  return pairs === 0 ? null : right / pairs;
}
