/** What a stream of trades earns for its volume, with an interval that holds however often one looks: a confidence sequence (E12). */

/** Of one block of time: what it brought, and what was traded for it, in one unit. */
export type TradedBlock = { readonly net: number; readonly volume: number };

export type RunningRatio = {
  /** Net for volume; NaN while nothing was traded. */
  readonly ratio: number;
  /** Null with fewer than 20 blocks that traded, or where they do not differ. */
  readonly interval: { readonly low: number; readonly high: number } | null;
  /** Blocks that traded. */
  readonly blocks: number;
  /** So many such blocks more would put the lower end at `least`, were the next ones like these; null where no number would, or it is there. */
  readonly blocksMissing: (least: number) => number | null;
};

/** The asymptotic sequence needs a beginning: its error at the first look is measured with so many (`test/backtest/tune/judge`). */
const BLOCKS_LEAST = 20;
/** The sequence is narrowest at about so many blocks. */
const NARROWEST_AT = 100;
const ERROR = 0.05;
const BLOCKS_MOST = 1e7;

/** 95 % at all looks together. Blocks must be long enough to hang together little. */
export function runningRatio(all: readonly TradedBlock[]): RunningRatio {
  const traded = all.filter(({ volume }) => volume > 0);
  const blocks = traded.length;
  const volume = traded.reduce((sum, block) => sum + block.volume, 0);
  const ratio = traded.reduce((sum, block) => sum + block.net, 0) / volume;
  // Linearized: the error of the ratio is the mean of these, for the mean volume of a block.
  const squares = traded.reduce((sum, block) => sum + (block.net - ratio * block.volume) ** 2, 0);
  const deviation = Math.sqrt(squares / (blocks - 1)) / (volume / blocks);
  const isKnown = blocks >= BLOCKS_LEAST && deviation > 0;
  const half = deviation * reach(blocks);
  return {
    ratio,
    interval: isKnown ? { low: ratio - half, high: ratio + half } : null,
    blocks,
    blocksMissing: least => {
      if (!isKnown || !(ratio > least) || ratio - half >= least) return null;
      let [low, high] = [blocks, 2 * blocks];
      while (deviation * reach(high) > ratio - least && high < BLOCKS_MOST) [low, high] = [high, 2 * high];
      while (high - low > 1) {
        const between = Math.floor((low + high) / 2);
        if (deviation * reach(between) > ratio - least) low = between;
        else high = between;
      }
      return high >= BLOCKS_MOST ? null : high - blocks;
    },
  };
}

/** Half of the interval after `t` values of deviation 1: Robbins' normal mixture. */
function reach(t: number): number {
  const square = (-2 * Math.log(ERROR) + Math.log(-2 * Math.log(ERROR) + 1)) / NARROWEST_AT;
  const grown = t * square + 1;
  return Math.sqrt(((2 * grown) / (t * t * square)) * Math.log(Math.sqrt(grown) / ERROR));
}
