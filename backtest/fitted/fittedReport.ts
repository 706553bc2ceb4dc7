/** Result of a fit: the parameter file of the fill model `fitted`, with scores of the models on the last orders. */
import { blockBootstrap, type Millis, type Random } from '../../src/core/index.ts';
import {
  BOUNDS,
  CANCEL_RULES,
  EXPECTED_HYPOTHESIS,
  FITTED_KIND,
  QUEUE_HYPOTHESES,
  type WeightedHypothesis,
} from '../../src/fills/index.ts';
import { fittedMixture, isFilled, logLikelihood, singleMixture, weightedHypotheses, type FillMixture } from './fit.ts';
import type { OwnLife } from './ownLives.ts';
import { fillScores, type FillScores } from './scores.ts';

/** Minimum number of filled orders for a fit. */
export const FITTED_FILLS_MIN = 60;
/** Minimum number of filled orders in the last third of the orders. */
const HELD_OUT_FILLS_MIN = 15;
/** Number of time blocks for the standard errors and for the interval. */
const BLOCKS = 10;

export type FittedParameter = {
  readonly name: string;
  readonly value: number;
  /** Standard error: jackknife over ten time blocks; `null` if the fit is not used. */
  readonly error: number | null;
};

export type FittedReport = {
  readonly kind: typeof FITTED_KIND;
  readonly book: string;
  /** Arrival of the first and of the last order; `null` without orders. */
  readonly from: Millis | null;
  readonly to: Millis | null;
  readonly orders: number;
  readonly fills: number;
  /** Number of orders that never rested, or whose life the recordings do not show completely. */
  readonly unused: number;
  /** Reason why the file has the model `expected` instead of a fit; `null` if it has a fit. */
  readonly fallback: string | null;
  readonly hypotheses: readonly WeightedHypothesis[];
  readonly parameters: readonly FittedParameter[];
  /** Scores, on the last third of the orders, of a fit to the first two thirds; `null` with too few fills. */
  readonly heldOut: HeldOutFills | null;
};

export type HeldOutFills = {
  readonly orders: number;
  readonly fills: number;
  readonly models: readonly (FillScores & { readonly model: string })[];
  /** Mean gain of the log-likelihood per order over the best other model, with its 95% interval. */
  readonly gain: {
    readonly over: string;
    readonly value: number;
    readonly low: number | null;
    readonly high: number | null;
  };
};

const FALLBACK: readonly WeightedHypothesis[] = [{ ...EXPECTED_HYPOTHESIS, weight: 1 }];

/** Fits the lives of a book's orders, and evaluates the fit. The reported parameters are fitted to all lives. */
export function fittedReport(book: string, given: readonly OwnLife[], unused: number, random: Random): FittedReport {
  const lives = [...given].sort((a, b) => a.arrivedAt - b.arrivedAt);
  const fills = lives.filter(isFilled).length;
  const about = {
    ...{ kind: FITTED_KIND as typeof FITTED_KIND, book, orders: lives.length, fills, unused },
    ...{ from: lives[0]?.arrivedAt ?? null, to: lives.at(-1)?.arrivedAt ?? null },
  };
  const cut = Math.floor((lives.length * 2) / 3);
  const [first, last] = [lives.slice(0, cut), lives.slice(cut)];
  const lastFills = last.filter(isFilled).length;
  if (fills < FITTED_FILLS_MIN || lastFills < HELD_OUT_FILLS_MIN) {
    const fallback = `too few fills: ${fills} of ${FITTED_FILLS_MIN} filled orders, ${lastFills} of ${HELD_OUT_FILLS_MIN} in the last third`;
    return { ...about, fallback, hypotheses: FALLBACK, parameters: [], heldOut: null };
  }
  const heldOut = heldOutFills(first, last, random);
  const { over, low } = heldOut.gain;
  if (low === null || !(low > 0)) {
    const fallback = `on the last third of the orders, a fit is not better than ${over} with 95% confidence`;
    return { ...about, fallback, hypotheses: FALLBACK, parameters: [], heldOut };
  }
  const mixture = fittedMixture(lives);
  return {
    ...about,
    fallback: null,
    hypotheses: weightedHypotheses(mixture),
    parameters: parametersOf(lives, mixture),
    heldOut,
  };
}

/**
 * Fits a mixture to the first lives, and scores it and the shipped models on the last lives. Each shipped model also
 * has an unexplained share, fitted to the first lives. Otherwise, one fill that a model excludes would reject the
 * model.
 */
export function heldOutFills(first: readonly OwnLife[], last: readonly OwnLife[], random: Random): HeldOutFills {
  const fitted = fittedMixture(first);
  const mixtures = BOUNDS.map((_, k) => singleMixture(first, QUEUE_HYPOTHESES.length + k));
  const others = mixtures.map((mixture, k) => ({ model: BOUNDS[k]!, ...fillScores(last, mixture) }));
  const best = others.reduce((top, { logLikelihood: value }, k) => (value > others[top]!.logLikelihood ? k : top), 0);
  const gains = last.map(life => logLikelihood(life, fitted) - logLikelihood(life, mixtures[best]!));
  const blocks = timeBlocks(gains).map(block => ({
    sum: block.reduce((all, one) => all + one, 0),
    count: block.length,
  }));
  const interval = blockBootstrap(
    blocks,
    of => of.reduce((all, { sum }) => all + sum, 0) / of.reduce((all, { count }) => all + count, 0),
    { random },
  );
  return {
    orders: last.length,
    fills: last.filter(isFilled).length,
    models: [...others, { model: 'fitted', ...fillScores(last, fitted) }],
    gain: {
      over: BOUNDS[best]!,
      value: gains.reduce((all, one) => all + one, 0) / gains.length,
      low: interval?.low ?? null,
      high: interval?.high ?? null,
    },
  };
}

/** Returns consecutive blocks of nearly equal size. */
function timeBlocks<T>(all: readonly T[]): readonly (readonly T[])[] {
  const at = (i: number): number => Math.round((i * all.length) / BLOCKS);
  return Array.from({ length: BLOCKS }, (_, i) => all.slice(at(i), at(i + 1))).filter(block => block.length > 0);
}

/** Parameters in the order of the report: sums of the weights of similar hypotheses, and the unexplained share. */
const SUMS: readonly (readonly [name: string, of: (mixture: FillMixture) => number])[] = [
  ['fewer lots ahead than displayed', mixture => weightWhere(mixture, ({ shown }) => shown < 1)],
  ['lots ahead as displayed', mixture => weightWhere(mixture, ({ shown, own }) => shown === 1 && own === 0)],
  ['more lots ahead than displayed', mixture => weightWhere(mixture, ({ shown, own }) => shown > 1 || own > 0)],
  ...CANCEL_RULES.map(
    rule =>
      [`cancels: ${rule}`, (mixture: FillMixture) => weightWhere(mixture, ({ cancels }) => cancels === rule)] as const,
  ),
  ['fills that no hypothesis explains', ({ unexplained }) => unexplained],
];

const weightWhere = ({ weights }: FillMixture, isPart: (of: (typeof QUEUE_HYPOTHESES)[number]) => boolean): number =>
  QUEUE_HYPOTHESES.reduce((sum, hypothesis, j) => (isPart(hypothesis) ? sum + weights[j]! : sum), 0);

function parametersOf(lives: readonly OwnLife[], mixture: FillMixture): readonly FittedParameter[] {
  const blocks = timeBlocks(lives);
  const without = blocks.map((_, i) => fittedMixture(blocks.flatMap((block, k) => (k === i ? [] : block))));
  return SUMS.map(([name, of]) => {
    const values = without.map(of);
    const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
    const squares = values.reduce((sum, one) => sum + (one - mean) ** 2, 0);
    return { name, value: of(mixture), error: Math.sqrt((squares * (values.length - 1)) / values.length) };
  });
}
