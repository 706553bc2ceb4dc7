/**
 * Profit per volume of a stream of trades, with a confidence sequence: an interval that stays valid for any number of
 * checks (E12).
 */

/** Profit and volume of one time block, in the same currency. */
export type TradedBlock = { readonly net: number; readonly volume: number };

export type RunningRatio = {
  /** Net divided by volume; NaN without volume. */
  readonly ratio: number;
  /**
   * Confidence interval of the ratio; `null` for fewer than 20 blocks with trades, or if all blocks have equal ratios.
   */
  readonly interval: { readonly low: number; readonly high: number } | null;
  /** Number of blocks with trades. */
  readonly blocks: number;
  /**
   * Returns how many more blocks like the given blocks would raise the interval's lower bound to `least`. Returns
   * `null` if no number of blocks is enough, or if the bound is already at least `least`.
   */
  readonly blocksMissing: (least: number) => number | null;
};

/**
 * Minimum number of blocks for an interval. The sequence is exact only for many blocks; its error with this minimum is
 * tested (`test/backtest/tune/judge`).
 */
const BLOCKS_MIN = 20;
/** Number of blocks at which the confidence sequence is narrowest. */
const NARROWEST_AT = 100;
/** Probability that the interval ever misses the true ratio. */
const ERROR_RATE = 0.05;
const BLOCKS_MAX = 1e7;

/**
 * Returns the ratio of profit to volume with an interval. With 95% probability, the intervals of all checks cover the
 * true ratio. Blocks must be long enough to be nearly independent.
 */
export function runningRatio(all: readonly TradedBlock[]): RunningRatio {
  const traded = all.filter(({ volume }) => volume > 0);
  const blocks = traded.length;
  const volume = traded.reduce((sum, block) => sum + block.volume, 0);
  const ratio = traded.reduce((sum, block) => sum + block.net, 0) / volume;
  // In linear approximation, the error of the ratio is the mean of net - ratio × volume, divided by the mean volume of
  // a block.
  const squares = traded.reduce((sum, block) => sum + (block.net - ratio * block.volume) ** 2, 0);
  const deviation = Math.sqrt(squares / (blocks - 1)) / (volume / blocks);
  const isKnown = blocks >= BLOCKS_MIN && deviation > 0;
  const half = deviation * reach(blocks);
  return {
    ratio,
    interval: isKnown ? { low: ratio - half, high: ratio + half } : null,
    blocks,
    blocksMissing: least => {
      if (!isKnown || !(ratio > least) || ratio - half >= least) return null;
      let [low, high] = [blocks, 2 * blocks];
      while (deviation * reach(high) > ratio - least && high < BLOCKS_MAX) [low, high] = [high, 2 * high];
      while (high - low > 1) {
        const between = Math.floor((low + high) / 2);
        if (deviation * reach(between) > ratio - least) low = between;
        else high = between;
      }
      return high >= BLOCKS_MAX ? null : high - blocks;
    },
  };
}

/** Returns half the width of the interval after `t` values with standard deviation 1, by Robbins' normal mixture. */
function reach(t: number): number {
  const square = (-2 * Math.log(ERROR_RATE) + Math.log(-2 * Math.log(ERROR_RATE) + 1)) / NARROWEST_AT;
  const grown = t * square + 1;
  return Math.sqrt(((2 * grown) / (t * t * square)) * Math.log(Math.sqrt(grown) / ERROR_RATE));
}
