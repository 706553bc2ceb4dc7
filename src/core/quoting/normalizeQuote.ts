/**
 * Conversion of wanted levels to orders that the exchange's rules allow, or to the reasons why a level is not allowed.
 */
import { bestOf, type Depth } from '../model/book.ts';
import { valueOf, type Instrument } from '../model/instrument.ts';
import { withStep } from './steps.ts';
import type { AmountStep, Level, Quote, Step } from './strategy.ts';
import { opposite, type Amount, type Price, type Side } from '../model/units.ts';

/** Level in whole ticks and lots, within all bounds of its book. */
export type NormalizedLevel = {
  readonly side: Side;
  /**
   * Index of the strategy's level on this side, from 0. For merged levels, the index of the level whose price is used.
   */
  readonly index: number;
  /** Number of the strategy's levels that were merged into this level. Default: 1. */
  readonly parts?: number;
  readonly price: Price;
  readonly amount: Amount;
  /** Price steps of the strategy, then of the engine. The steps sum to the price. */
  readonly why: readonly Step[];
  /** Amount steps of the strategy, before any reduction or merge. */
  readonly amounts?: readonly AmountStep[];
};

/** Reason why a wanted level is not placed, or not in full. */
export type LevelRefusal =
  | 'price is not a number'
  | 'amount is not a number'
  | 'price below the minimum'
  | 'price above the maximum'
  | 'below the minimum amount'
  | 'below the minimum value'
  | 'merged into the next level'
  | 'cut to the maximum amount'
  | 'cut to the maximum value';

export type NormalizedQuote = {
  readonly levels: readonly NormalizedLevel[];
  readonly refusals: readonly { readonly side: Side; readonly index: number; readonly reason: LevelRefusal }[];
};

/** Whether the level is placed in spite of this reason, with a smaller amount. */
export const isCut = (reason: LevelRefusal): boolean =>
  reason === 'cut to the maximum amount' || reason === 'cut to the maximum value';

/**
 * Normalizes a quote. Rounds bids down and asks up to ticks. Post-only prices are at least one tick from the best price
 * of the other side.
 */
export function normalizeQuote(instrument: Instrument, depth: Depth, quote: Quote): NormalizedQuote {
  const levels: NormalizedLevel[] = [];
  const refusals: Refused[] = [];
  normalizeSide(instrument, depth, 'buy', quote.bids, levels, refusals);
  normalizeSide(instrument, depth, 'sell', quote.asks, levels, refusals);
  return { levels, refusals };
}

type Refused = NormalizedQuote['refusals'][number];

function normalizeSide(
  instrument: Instrument,
  depth: Depth,
  side: Side,
  wanted: readonly Level[],
  out: NormalizedLevel[],
  refusals: Refused[],
): void {
  // Levels too small for an order of their own are added to the next level outward.
  let carried = 0;
  let waiting: { index: number; small: LevelRefusal }[] | null = null;
  const first = out.length;
  const other = bestOf(depth, opposite(side));
  for (let index = 0; index < wanted.length; index++) {
    const level = wanted[index]!;
    const price = legalPrice(instrument, other, side, level.price);
    if (typeof price === 'string') {
      refusals.push({ side, index, reason: price });
      continue;
    }
    const asked = Math.floor(level.amount);
    if (!(asked >= 0 && asked <= Number.MAX_SAFE_INTEGER)) {
      refusals.push({ side, index, reason: 'amount is not a number' });
      continue;
    }
    const before = out.length > first ? out[out.length - 1]! : undefined;
    if (before?.price === price) {
      const both = cut(instrument, price, before.amount + asked, side, index, refusals);
      out[out.length - 1] = { ...before, amount: both, parts: (before.parts ?? 1) + 1 };
      refusals.push({ side, index, reason: 'merged into the next level' });
      continue;
    }
    const amount = cut(instrument, price, asked + carried, side, index, refusals);
    const small = tooSmall(instrument, price, amount);
    if (small === null) {
      const { amounts } = level;
      const why = withRounding(level, price);
      const parts = waiting === null ? null : waiting.length + 1;
      const made: NormalizedLevel = amounts
        ? { side, index, price, amount, why, amounts }
        : { side, index, price, amount, why };
      out.push(parts === null ? made : { ...made, parts });
      carried = 0;
      if (waiting !== null)
        for (const { index: merged } of waiting)
          refusals.push({ side, index: merged, reason: 'merged into the next level' });
      waiting = null;
      continue;
    }
    (waiting ??= []).push({ index, small });
    carried = amount;
  }
  if (waiting !== null) for (const { index, small } of waiting) refusals.push({ side, index, reason: small });
}

/**
 * Returns the nearest valid price that is not closer to the market than `wanted`, or the refusal. `other` is the best
 * price of the other side; 0 if none.
 */
function legalPrice(instrument: Instrument, other: number, side: Side, wanted: number): Price | LevelRefusal {
  if (!(Number.isFinite(wanted) && Math.abs(wanted) <= Number.MAX_SAFE_INTEGER)) return 'price is not a number';
  let price = side === 'buy' ? Math.floor(wanted) : Math.ceil(wanted);
  if (other > 0) price = side === 'buy' ? Math.min(price, other - 1) : Math.max(price, other + 1);
  if (!(price >= instrument.priceMin)) return 'price below the minimum';
  if (!(price <= instrument.priceMax)) return 'price above the maximum';
  return price as Price;
}

function cut(
  instrument: Instrument,
  price: Price,
  lots: number,
  side: Side,
  index: number,
  refusals: Refused[],
): Amount {
  let amount = lots;
  if (!(amount <= instrument.amountMax)) {
    amount = instrument.amountMax;
    refusals.push({ side, index, reason: 'cut to the maximum amount' });
  }
  if (isAboveValue(instrument, price, amount as Amount)) {
    amount = Number(instrument.valueMax / BigInt(price));
    refusals.push({ side, index, reason: 'cut to the maximum value' });
  }
  return amount as Amount;
}

/**
 * Value bounds of the last instrument, as floats. Bounds above 2^53 are infinite, because only exact products below
 * 2^53 are compared with them.
 */
let valueBounds: { readonly of: Instrument | null; readonly min: number; readonly max: number } = {
  of: null,
  min: 0,
  max: 0,
};

function boundsOf(instrument: Instrument): typeof valueBounds {
  const exact = (bound: bigint): number => (bound <= Number.MAX_SAFE_INTEGER ? Number(bound) : Infinity);
  if (valueBounds.of !== instrument)
    valueBounds = { of: instrument, min: exact(instrument.valueMin), max: exact(instrument.valueMax) };
  return valueBounds;
}

function isAboveValue(instrument: Instrument, price: Price, amount: Amount): boolean {
  const product = price * amount;
  return product <= Number.MAX_SAFE_INTEGER
    ? product > boundsOf(instrument).max
    : valueOf(price, amount) > instrument.valueMax;
}

function isBelowValue(instrument: Instrument, price: Price, amount: Amount): boolean {
  const product = price * amount;
  return product <= Number.MAX_SAFE_INTEGER
    ? product < boundsOf(instrument).min
    : valueOf(price, amount) < instrument.valueMin;
}

function tooSmall(instrument: Instrument, price: Price, amount: Amount): LevelRefusal | null {
  if (!(amount >= instrument.amountMin)) return 'below the minimum amount';
  if (isBelowValue(instrument, price, amount)) return 'below the minimum value';
  return null;
}

function withRounding(level: Level, price: Price): readonly Step[] {
  const shift = price - level.price;
  return shift === 0 ? level.why : withStep(level.why, { name: 'legal price', ticks: shift });
}
