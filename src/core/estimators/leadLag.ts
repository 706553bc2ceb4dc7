/**
 * Lead and lag of two prices that are read at different times: the covariance of Hayashi and Yoshida over shifts of time
 * (formulas-desk E13).
 */
import type { Millis } from '../model/units.ts';
import type { Random } from '../ports/port.ts';
import { blockBootstrap } from './blockBootstrap.ts';
import { changeAt, overlappingChanges, type PriceReads } from './hayashiYoshida.ts';

/** Lead of `x` over `y` with its 95% interval, in ms; negative if `y` leads. */
export type LeadLag = {
  readonly lagMs: Millis;
  readonly lowMs: Millis;
  readonly highMs: Millis;
  /**
   * Correlation of the changes at `lagMs`, with its 95% interval. Noise in the prices makes the correlation smaller.
   */
  readonly correlation: { readonly value: number; readonly low: number; readonly high: number };
  /** Correlation by lag, ascending. */
  readonly byLag: readonly { readonly lagMs: Millis; readonly correlation: number }[];
};

export type LeadLagOptions = {
  /** Smallest step between two lags, in ms: the resolution of the times of the reads. */
  readonly stepMs: Millis;
  /** Largest lag that is tried, in ms. Default: 60,000. */
  readonly lagMaxMs?: Millis;
  readonly random: Random;
};

/** Number of time blocks from which intervals are sampled. */
const BLOCKS = 30;
/**
 * Number of standard errors by which the largest of about a hundred correlations must exceed zero. By Student's t
 * distribution, chance alone does so in 5% of pairs of prices.
 */
const ERRORS_MIN = 3.6;
/**
 * Number of lags on each side of zero that are one step apart. The distance between larger lags is about a tenth of the
 * lag.
 */
const EVEN_LAGS = 10;

/**
 * Finds the lag with the largest covariance. Its interval comes from a bootstrap of 30 time blocks; each product of
 * changes belongs to the block that contains its later end. Returns `null` if a price has fewer than 60 reads, or if
 * the largest covariance may be due to chance.
 */
export function leadLagOf(x: PriceReads, y: PriceReads, options: LeadLagOptions): LeadLag | null {
  const { stepMs, lagMaxMs = 60_000, random } = options;
  if (Math.min(x.at.length, y.at.length) < 2 * BLOCKS) return null;
  const lags = lagsUpTo(lagMaxMs, stepMs);
  // All blocks have equally many reads of `x`, so that no block falls into a gap.
  const starts = Array.from({ length: BLOCKS - 1 }, (_, b) => x.at[Math.floor(((b + 1) * x.at.length) / BLOCKS)]!);
  const blocks = Array.from({ length: BLOCKS }, () => ({ products: new Float64Array(lags.length), xx: 0, yy: 0 }));
  /** Returns a lookup of the block at a time; the times of its calls must never decrease. */
  const blockAt = (): ((at: Millis) => (typeof blocks)[number]) => {
    let block = 0;
    return at => {
      while (at >= (starts[block] ?? Infinity)) block++;
      return blocks[block]!;
    };
  };
  lags.forEach((lagMs, l) => {
    const block = blockAt();
    overlappingChanges(x, y, lagMs, (product, end) => (block(end).products[l]! += product));
  });
  const [ofX, ofY] = [blockAt(), blockAt()];
  for (let i = 1; i < x.at.length; i++) ofX(x.at[i]!).xx += changeAt(x, i) ** 2;
  for (let j = 1; j < y.at.length; j++) ofY(y.at[j]!).yy += changeAt(y, j) ** 2;
  const total = (of: typeof blocks, l: number): number => of.reduce((sum, { products }) => sum + products[l]!, 0);
  const largest = (of: typeof blocks): number => {
    const sums = new Float64Array(lags.length);
    for (const { products } of of) for (let l = 0; l < lags.length; l++) sums[l]! += products[l]!;
    return sums.reduce((top, sum, l) => (sum > sums[top]! ? l : top), 0);
  };
  const at = largest(blocks);
  const correlation = (of: typeof blocks, l: number): number =>
    total(of, l) / Math.sqrt(of.reduce((sum, { xx }) => sum + xx, 0) * of.reduce((sum, { yy }) => sum + yy, 0));
  const mean = total(blocks, at) / BLOCKS;
  const variance = blocks.reduce((sum, { products }) => sum + (products[at]! - mean) ** 2, 0) / (BLOCKS - 1);
  if (!(BLOCKS * mean > ERRORS_MIN * Math.sqrt(BLOCKS * variance))) return null;
  const between = blockBootstrap(blocks, of => lags[largest([...of])]!, { random });
  const strength = blockBootstrap(blocks, of => correlation([...of], at), { random });
  if (between === null || strength === null || !(strength.value > 0)) return null;
  return {
    lagMs: lags[at]!,
    lowMs: Math.min(between.low, lags[at]!),
    highMs: Math.max(between.high, lags[at]!),
    correlation: { value: strength.value, low: strength.low, high: strength.high },
    byLag: lags.map((lagMs, l) => ({ lagMs, correlation: correlation(blocks, l) })),
  };
}

/** Returns lags from `-max` to `max`: whole steps near zero, then steps that grow with the lag. */
function lagsUpTo(max: Millis, stepMs: Millis): readonly Millis[] {
  const positive: number[] = [];
  for (let lag = stepMs; lag <= max; lag += stepMs * Math.max(1, Math.floor(lag / stepMs / EVEN_LAGS)))
    positive.push(lag);
  return [...positive.map(lag => -lag).reverse(), 0, ...positive];
}
