/**
 * Probability of backtest overfitting by combinatorially symmetric cross-validation (CSCV; Bailey, Borwein, López de
 * Prado, Zhu 2016; E11).
 */
import { counted, blockBootstrap, type BootstrapInterval, type Random } from '../../../src/core/index.ts';
import type { Results } from './outOfSample.ts';

export type OverfittingOptions = {
  /**
   * Number of time blocks, which must be even. Default: the largest even number up to the number of spans, at most 16.
   */
  readonly blocks?: number;
  /** Score by which the best configuration is chosen: the mean or the Sharpe ratio over the spans. */
  readonly measure?: 'mean' | 'sharpe';
  readonly random: Random;
  /** Number of bootstrap samples for the interval. Default: 200. */
  readonly samples?: number;
};

/**
 * Probability of overfitting: share of splits in which the best configuration of one half ranks below the median in the
 * other half. With an odd number of configurations one rank is the median, and there are three variants:
 * - `strict` counts only ranks below the median;
 * - `inclusive` also counts the median (logit at most 0, as in the paper);
 * - `value` counts the median as one half, which gives 0.5 for pure noise.
 * With an even number of configurations all three are equal.
 */
export type Overfitting = {
  readonly value: number;
  readonly strict: number;
  readonly inclusive: number;
  /** Interval of `value`, from resampled blocks; `null` with too few blocks. */
  readonly interval: BootstrapInterval | null;
  /**
   * Log odds, per split, of the out-of-sample rank of the configuration that is best in sample. Positive if that rank
   * is above the median.
   */
  readonly logits: readonly number[];
  /** Share of splits in which the best configuration of one half had a loss in the other half. */
  readonly lossProbability: number;
  /**
   * Score, per split, that the best configuration of one half has in that half; `outOfSample` has its score in the
   * other half.
   */
  readonly inSample: readonly number[];
  readonly outOfSample: readonly number[];
};

/** Sums of the results in one time block, per configuration. */
type Block = { count: number; readonly sums: Float64Array; readonly squares: Float64Array };

/** Counts over all splits of the blocks into two halves, with the results of each split. */
type Tally = {
  below: number;
  atMedian: number;
  combinations: number;
  losses: number;
  readonly logits: number[];
  readonly inSample: number[];
  readonly outOfSample: number[];
};

/**
 * Computes the probability of overfitting. `results` are in order of time. Throws a RangeError if there are fewer than
 * two configurations, or fewer time spans than blocks.
 */
export function overfittingOf(results: Results, options: OverfittingOptions): Overfitting {
  const { measure = 'sharpe', random, samples = 200 } = options;
  const spans = results[0]?.length ?? 0;
  const blocks = options.blocks ?? Math.min(16, spans - (spans % 2));
  if (results.length < 2 || results.some(row => row.length !== spans))
    throw new RangeError(
      `expected at least 2 configurations with one value per time span, found ${counted(results.length, 'configuration')}`,
    );
  if (!(Number.isSafeInteger(blocks) && blocks >= 2 && blocks % 2 === 0 && blocks <= Math.min(20, spans)))
    throw new RangeError(
      `expected an even number of blocks from 2 to 20, and at most one block per time span, found ${counted(blocks, 'block')} and ${counted(spans, 'time span')}`,
    );
  const cut = blocksOf(results, spans, blocks);
  const whole = tallyOf(cut, measure);
  return {
    value: shareOf(whole),
    strict: whole.below / whole.combinations,
    inclusive: (whole.below + whole.atMedian) / whole.combinations,
    // If a block is drawn twice, both copies are in one half, because copies in both halves would make the halves
    // agree.
    interval: blockBootstrap(cut, drawn => shareOf(tallyOf(joinedBlocks(drawn), measure)), { random, samples }),
    logits: whole.logits,
    lossProbability: whole.losses / whole.combinations,
    inSample: whole.inSample,
    outOfSample: whole.outOfSample,
  };
}

const shareOf = ({ below, atMedian, combinations }: Tally): number =>
  combinations > 0 ? (below + atMedian / 2) / combinations : Number.NaN;

function blocksOf(results: Results, spans: number, blocks: number): readonly Block[] {
  return Array.from({ length: blocks }, (_, b) => {
    const from = Math.floor((b * spans) / blocks);
    const to = Math.floor(((b + 1) * spans) / blocks);
    const sums = new Float64Array(results.length);
    const squares = new Float64Array(results.length);
    results.forEach((row, configuration) => {
      for (let span = from; span < to; span++) {
        sums[configuration] = sums[configuration]! + row[span]!;
        squares[configuration] = squares[configuration]! + row[span]! ** 2;
      }
    });
    return { count: to - from, sums, squares };
  });
}

/** Returns each drawn block once, with its sums multiplied by the number of times that the block was drawn. */
function joinedBlocks(drawn: readonly Block[]): readonly Block[] {
  const times = new Map<Block, number>();
  for (const block of drawn) times.set(block, (times.get(block) ?? 0) + 1);
  return [...times].map(([{ count, sums, squares }, k]) => ({
    count: k * count,
    sums: sums.map(x => k * x),
    squares: squares.map(x => k * x),
  }));
}

/**
 * Evaluates every split of the blocks into two halves, which are nearly equal for an odd number of blocks. The sums of
 * each recursion depth are stored, so that an added block costs one addition.
 */
function tallyOf(blocks: readonly Block[], measure: 'mean' | 'sharpe'): Tally {
  const tally: Tally = {
    ...{ below: 0, atMedian: 0, combinations: 0, losses: 0 },
    ...{ logits: [], inSample: [], outOfSample: [] },
  };
  if (blocks.length < 2) return tally;
  const n = blocks[0]!.sums.length;
  const nothing = (): Block => ({ count: 0, sums: new Float64Array(n), squares: new Float64Array(n) });
  const all = blocks.reduce((sum, block) => combined(sum, block, 1, nothing()), nothing());
  const outside = nothing();
  const levels = Array.from({ length: blocks.length + 1 }, nothing);
  const scores = new Float64Array(n);
  const grow = (depth: number, left: number, from: number): void => {
    const inside = levels[depth]!;
    if (left === 0) return judge(tally, inside, combined(all, inside, -1, outside), measure, scores);
    for (let i = from; i <= blocks.length - left; i++) {
      combined(inside, blocks[i]!, 1, levels[depth + 1]!);
      grow(depth + 1, left - 1, i + 1);
    }
  };
  for (const size of new Set([Math.floor(blocks.length / 2), Math.ceil(blocks.length / 2)])) grow(0, size, 0);
  return tally;
}

/** Writes a + sign × b to `to` and returns `to`. */
function combined(a: Block, b: Block, sign: 1 | -1, to: Block): Block {
  to.count = a.count + sign * b.count;
  for (let i = 0; i < to.sums.length; i++) {
    to.sums[i] = a.sums[i]! + sign * b.sums[i]!;
    to.squares[i] = a.squares[i]! + sign * b.squares[i]!;
  }
  return to;
}

/**
 * Chooses the configuration with the best score in half `inside`, and adds its rank in half `outside` to the tally.
 * Rank r counts from 1, the worst, to the number N of configurations; equal scores get the mean of their ranks. The
 * logit is computed from r / (N + 1).
 */
function judge(tally: Tally, inside: Block, outside: Block, measure: 'mean' | 'sharpe', scores: Float64Array): void {
  const n = inside.sums.length;
  let best = 0;
  let most = -Infinity;
  for (let i = 0; i < n; i++) {
    const value = scoreOf(inside, i, measure);
    if (value > most) {
      most = value;
      best = i;
    }
    scores[i] = scoreOf(outside, i, measure);
  }
  const its = scores[best]!;
  // The sum starts at 0.5, because the comparison of the configuration with itself adds another 0.5.
  let rank = 0.5;
  for (let i = 0; i < n; i++) rank += scores[i]! < its ? 1 : scores[i] === its ? 0.5 : 0;
  const centre = (n + 1) / 2;
  if (rank < centre) tally.below++;
  else if (rank === centre) tally.atMedian++;
  if (its < 0) tally.losses++;
  tally.combinations++;
  tally.logits.push(Math.log(rank / (n + 1 - rank)));
  tally.inSample.push(measured(most, inside, measure));
  tally.outOfSample.push(measured(its, outside, measure));
}

/**
 * Returns the mean, or an increasing function of the Sharpe ratio: mean divided by the root of the mean square. A
 * constant series has the score 1, -1 or 0, by the sign of its mean.
 */
function scoreOf({ count, sums, squares }: Block, i: number, measure: 'mean' | 'sharpe'): number {
  const mean = sums[i]! / count;
  if (measure === 'mean') return mean;
  const square = squares[i]! / count;
  return square > 0 ? mean / Math.sqrt(square) : 0;
}

/** Converts a score to the mean, or to the Sharpe ratio with the sample variance (divisor n - 1). */
const measured = (score: number, { count }: Block, measure: 'mean' | 'sharpe'): number =>
  measure === 'mean' ? score : (score / Math.sqrt(1 - score ** 2)) * Math.sqrt((count - 1) / count);
