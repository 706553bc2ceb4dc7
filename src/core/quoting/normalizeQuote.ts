/** Turns wanted levels into orders that the exchange's rules allow, or into refusals by name. */
import { bestOf } from '../model/book.ts';
import type { Depth } from '../model/book.ts';
import { valueOf } from '../model/instrument.ts';
import type { Instrument } from '../model/instrument.ts';
import type { AmountStep, Level, Quote, Step } from './strategy.ts';
import { opposite } from '../model/units.ts';
import type { Amount, Price, Side } from '../model/units.ts';

/** A level on the tick and lot grid, within every bound of its book. */
export type NormalizedLevel = {
  readonly side: Side;
  /** Which of the strategy's levels on this side it is, 0 the first; of merged ones that whose price it has. */
  readonly index: number;
  readonly price: Price;
  readonly amount: Amount;
  /** The strategy's steps and ours after them; they add up to the price. */
  readonly why: readonly Step[];
  /** The strategy's, before it was cut or merged. */
  readonly amounts?: readonly AmountStep[];
};

/** Why a wanted level is not shown as it was asked for. */
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

/** A level that was cut is shown all the same. */
export const isCut = (reason: LevelRefusal): boolean =>
  reason === 'cut to the maximum amount' || reason === 'cut to the maximum value';

/** Bids are floored and asks are ceiled to ticks, away from the market; post-only prices stop one tick short of the other side's best. */
export function normalizeQuote(instrument: Instrument, depth: Depth, quote: Quote): NormalizedQuote {
  const levels: NormalizedLevel[] = [];
  const refusals: { side: Side; index: number; reason: LevelRefusal }[] = [];
  for (const side of ['buy', 'sell'] as const) {
    normalizeSide(instrument, depth, side, side === 'buy' ? quote.bids : quote.asks, levels, (index, reason) =>
      refusals.push({ side, index, reason }),
    );
  }
  return { levels, refusals };
}

function normalizeSide(
  instrument: Instrument,
  depth: Depth,
  side: Side,
  wanted: readonly Level[],
  out: NormalizedLevel[],
  refuse: (index: number, reason: LevelRefusal) => void,
): void {
  // Amounts too small for an order of their own, waiting for the next level out: their sum, and whose they are.
  let carried = 0;
  let waiting: { index: number; small: LevelRefusal }[] | null = null;
  const first = out.length;
  for (let index = 0; index < wanted.length; index++) {
    const level = wanted[index]!;
    const price = legalPrice(instrument, depth, side, level.price, reason => refuse(index, reason));
    if (price === 0) continue;
    const asked = Math.floor(level.amount);
    if (!(asked >= 0 && asked <= Number.MAX_SAFE_INTEGER)) {
      refuse(index, 'amount is not a number');
      continue;
    }
    const before = out.length > first ? out[out.length - 1]! : undefined;
    if (before?.price === price) {
      out[out.length - 1] = { ...before, amount: cut(instrument, price, before.amount + asked, index, refuse) };
      refuse(index, 'merged into the next level');
      continue;
    }
    const amount = cut(instrument, price, asked + carried, index, refuse);
    const small = tooSmall(instrument, price, amount);
    if (small === null) {
      const { amounts } = level;
      out.push({ side, index, price, amount, why: withRounding(level, price), ...(amounts && { amounts }) });
      carried = 0;
      for (const { index: merged } of waiting ?? []) refuse(merged, 'merged into the next level');
      waiting = null;
      continue;
    }
    (waiting ??= []).push({ index, small });
    carried = amount;
  }
  if (waiting !== null) for (const { index, small } of waiting) refuse(index, small);
}

/** The nearest legal price away from the market; 0 when there is none, after saying why. */
function legalPrice(
  instrument: Instrument,
  depth: Depth,
  side: Side,
  wanted: number,
  refuse: (reason: LevelRefusal) => void,
): Price | 0 {
  if (!(Number.isFinite(wanted) && Math.abs(wanted) <= Number.MAX_SAFE_INTEGER)) {
    refuse('price is not a number');
    return 0;
  }
  let price = side === 'buy' ? Math.floor(wanted) : Math.ceil(wanted);
  const other = bestOf(depth, opposite(side));
  if (other > 0) price = side === 'buy' ? Math.min(price, other - 1) : Math.max(price, other + 1);
  if (!(price >= instrument.priceMin)) {
    refuse('price below the minimum');
    return 0;
  }
  if (!(price <= instrument.priceMax)) {
    refuse('price above the maximum');
    return 0;
  }
  return price as Price;
}

function cut(
  instrument: Instrument,
  price: Price,
  lots: number,
  index: number,
  refuse: (index: number, reason: LevelRefusal) => void,
): Amount {
  let amount = lots;
  if (!(amount <= instrument.amountMax)) {
    amount = instrument.amountMax;
    refuse(index, 'cut to the maximum amount');
  }
  if (isAboveValue(instrument, price, amount as Amount)) {
    amount = Number(instrument.valueMax / BigInt(price));
    refuse(index, 'cut to the maximum value');
  }
  return amount as Amount;
}

/** The bounds of the value as numbers, of the instrument that was last asked for: exact beside products that are; infinite where they are beyond those. */
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
  return shift === 0 ? level.why : [...level.why, { name: 'legal price', ticks: shift }];
}
