/**
 * Fill samples: orders of the minimum amount at random times, sides and distances, next to the quotes of a strategy.
 * With them, a fill model that is fitted to own fills also has evidence at prices that the strategy does not choose.
 */
import { HOUR_MS } from '../model/durations.ts';
import { bestOf } from '../model/book.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Amount, Millis, Side } from '../model/units.ts';
import { mixed, randomOf } from '../ports/random.ts';
import type { Level, Quote, Strategy, View } from './strategy.ts';

export type FillSampleRules = {
  /** Number of samples per hour. The hour is divided into this number of equal parts, each with one sample. */
  readonly perHour: number;
  /** Time after which a sample that has not filled is canceled; at most one part of the hour. */
  readonly lifeMs: Millis;
  /** Maximum distance of a sample behind the best price of its side, in bps. */
  readonly withinBps: number;
  /** Maximum number of levels on both sides together, including the sample. */
  readonly levelsMax: number;
};

/** Name of the price step in the `why` of a sample. */
export const FILL_SAMPLE = 'fill sample';

/** Sample of one part of an hour. `price` is in ticks, not rounded; `null` until the sample starts. */
type Sample = {
  readonly part: number;
  readonly from: Millis;
  readonly to: Millis;
  readonly side: Side;
  readonly bps: number;
  price: number | null;
  isOver: boolean;
};

/**
 * Returns the strategy with samples, or the strategy itself without rules. A sample is quoted only on a side on which
 * the strategy quotes. A fill on that side ends the sample, so that each sample fills at most once. Equal seeds give
 * equal samples: the runs of a bot use one seed, and none quotes a sample that an earlier run may have quoted.
 */
export function withFillSamples(
  rules: FillSampleRules | undefined,
  strategy: Strategy,
  instrument: Instrument,
  seed: number,
): Strategy {
  if (rules === undefined) return strategy;
  let sample: Sample | null = null;
  return {
    ...strategy,
    quote(view) {
      const quote = strategy.quote(view);
      const part = Math.floor((view.at * rules.perHour) / HOUR_MS);
      if (sample?.part !== part) {
        const isFirst = sample === null;
        sample = drawSample(rules, part, seed);
        sample.isOver = isFirst && view.at > sample.from;
      }
      return withSample(quote, sample, view, instrument, rules.levelsMax);
    },
  };
}

/** Returns the random sample of one part of an hour. */
function drawSample({ perHour, lifeMs, withinBps }: FillSampleRules, part: number, seed: number): Sample {
  const random = randomOf(mixed(seed ^ mixed(part)));
  const length = HOUR_MS / perHour;
  const from = part * length + random.next() * Math.max(0, length - lifeMs);
  const side = random.next() < 0.5 ? 'buy' : 'sell';
  return { part, from, to: from + lifeMs, side, bps: random.next() * withinBps, price: null, isOver: false };
}

function withSample(quote: Quote, sample: Sample, view: View, instrument: Instrument, levelsMax: number): Quote {
  const { side } = sample;
  const levels = side === 'buy' ? quote.bids : quote.asks;
  if (sample.isOver || view.at < sample.from || levels.length === 0) return quote;
  const fill = side === 'buy' ? view.lastBuy : view.lastSell;
  if (view.at >= sample.to || (sample.price !== null && fill !== null && fill.at >= sample.from)) {
    sample.isOver = true;
    return quote;
  }
  if (quote.bids.length + quote.asks.length >= levelsMax) return quote;
  const sign = side === 'buy' ? 1 : -1;
  sample.price ??= bestOf(view.depth, side) * (1 - (sign * sample.bps) / 10_000);
  const level = levelAt(sample.price, side, instrument);
  const opposite = side === 'buy' ? quote.asks[0] : quote.bids[0];
  // The sample would trade with the strategy's quote on the other side, because the market has moved through that
  // quote.
  if (opposite !== undefined && (opposite.price - level.price) * sign <= 1) return quote;
  // Best price first; the sample comes after a level with the same price.
  const at = levels.findIndex(({ price }) => price * sign < level.price * sign);
  const all = at < 0 ? [...levels, level] : [...levels.slice(0, at), level, ...levels.slice(at)];
  return side === 'buy' ? { ...quote, bids: all } : { ...quote, asks: all };
}

/** Returns the level at a price, with the minimum amount that the exchange accepts there. */
function levelAt(price: number, side: Side, { amountMin, valueMin }: Instrument): Level {
  const ticks = BigInt(Math.max(1, side === 'buy' ? Math.floor(price) : Math.ceil(price)));
  const lots = Math.max(amountMin, Number((valueMin + ticks - 1n) / ticks));
  return { price, amount: lots as Amount, why: [{ name: FILL_SAMPLE, ticks: price }] };
}
