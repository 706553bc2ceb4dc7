/** The probability of backtest overfitting by combinatorially symmetric cross-validation (CSCV; Bailey, Borwein, López de Prado, Zhu 2016; E11). */
import { blockBootstrap } from '../../../src/core/index.ts';
import type { BootstrapInterval, Random } from '../../../src/core/index.ts';
import type { Results } from './outOfSample.ts';

export type OverfittingOptions = {
  /** Stretches that the time is cut into, an even number: 16 without it, or what is best below the number of spans. */
  readonly blocks?: number;
  /** What is best: the mean, or the Sharpe ratio of the spans. */
  readonly measure?: 'mean' | 'sharpe';
  readonly random: Random;
  /** Samples of the interval; 200 without it. */
  readonly samples?: number;
};

/**
 * How often the best of one half ranks in the lower part of the other. Of an odd number of configurations one rank is the median itself, and there are three readings: `strict` counts only ranks below it,
 * `inclusive` the median as well (logit at most 0, the paper's), and `value` half of those at it, which is one half for pure noise whatever their number. Of an even number all three are equal.
 */
export type Overfitting = {
  readonly value: number;
  readonly strict: number;
  readonly inclusive: number;
  /** Of `value`, drawn anew by blocks; null where there are too few. */
  readonly interval: BootstrapInterval | null;
  /** One of each combination: the logarithm of the odds of the rank, above 0 where the best of the one half is in the better part of the other. */
  readonly logits: readonly number[];
  /** Share of combinations in which what was best in one half lost in the other. */
  readonly lossProbability: number;
  /** What the best of one half measured there, and in the other half; one of each combination. */
  readonly inSample: readonly number[];
  readonly outOfSample: readonly number[];
};

/** Sums of one stretch of time, of each configuration. */
type Block = { count: number; readonly sums: Float64Array; readonly squares: Float64Array };

/** The combinations of halves of these blocks, told one by one with what is below zero. */
type Tally = {
  below: number;
  atMedian: number;
  combinations: number;
  losses: number;
  readonly logits: number[];
  readonly inSample: number[];
  readonly outOfSample: number[];
};

/** Of results by configuration and span, in order of time. Throws a RangeError when there are not two configurations and as many spans as blocks. */
export function overfittingOf(results: Results, options: OverfittingOptions): Overfitting {
  const { measure = 'sharpe', random, samples = 200 } = options;
  const spans = results[0]?.length ?? 0;
  const blocks = options.blocks ?? Math.min(16, spans - (spans % 2));
  if (results.length < 2 || results.some(row => row.length !== spans))
    throw new RangeError(`${results.length} configurations; expected two or more, each with a value for every span`);
  if (!(Number.isSafeInteger(blocks) && blocks >= 2 && blocks % 2 === 0 && blocks <= Math.min(20, spans)))
    throw new RangeError(
      `${blocks} blocks of ${spans} spans; expected an even number from 2 to 20, and no more than spans`,
    );
  const cut = blocksOf(results, spans, blocks);
  const whole = tallyOf(cut, measure);
  return {
    value: shareOf(whole),
    strict: whole.below / whole.combinations,
    inclusive: (whole.below + whole.atMedian) / whole.combinations,
    // A block that was drawn twice stays on one side: halves that share it would agree by that alone.
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

/** The same blocks, each once, as heavy as it was drawn often. */
function joinedBlocks(drawn: readonly Block[]): readonly Block[] {
  const times = new Map<Block, number>();
  for (const block of drawn) times.set(block, (times.get(block) ?? 0) + 1);
  return [...times].map(([{ count, sums, squares }, k]) => ({
    count: k * count,
    sums: sums.map(x => k * x),
    squares: squares.map(x => k * x),
  }));
}

/** Every half of the blocks, an odd number as evenly as can be, as what is chosen on. Sums are kept by depth: one addition for each block that is taken in. */
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

/** a + sign times b, written to `to`. */
function combined(a: Block, b: Block, sign: 1 | -1, to: Block): Block {
  to.count = a.count + sign * b.count;
  for (let i = 0; i < to.sums.length; i++) {
    to.sums[i] = a.sums[i]! + sign * b.sums[i]!;
    to.squares[i] = a.squares[i]! + sign * b.squares[i]!;
  }
  return to;
}

/** Where the best inside ranks outside: r of N from the worst, ties in the centre of their ranks; its logit is that of r / (N + 1). */
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
  // Its equal with itself is taken out.
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

/** The mean, or the Sharpe ratio up to one factor of all: mean over root of mean square is the same order. What never varies has its mean's sign beyond all others. */
function scoreOf({ count, sums, squares }: Block, i: number, measure: 'mean' | 'sharpe'): number {
  const mean = sums[i]! / count;
  if (measure === 'mean') return mean;
  const square = squares[i]! / count;
  return square > 0 ? mean / Math.sqrt(square) : 0;
}

/** A score as what it stands for: of a Sharpe ratio the deviation has n - 1 below it. */
const measured = (score: number, { count }: Block, measure: 'mean' | 'sharpe'): number =>
  measure === 'mean' ? score : (score / Math.sqrt(1 - score ** 2)) * Math.sqrt((count - 1) / count);
