/** Conversion of a polled REST book to levels in ticks and lots. The polled book lists levels or single orders. */
import {
  damageWithinDepth,
  DEPTH_LEVELS,
  levelTick,
  shownAmount,
  shownSum,
  type Amount,
  type BookSnapshot,
  type Instrument,
  type OrderBook,
  type Outcome,
  type Price,
  type Side,
} from '../core/index.ts';

export type PolledLevel = readonly [Side, Price, Amount];

/** Writes a book into `into` as one level per price. Returns why it wrote nothing; `null` if it wrote the book. */
export function writeLevels(snapshot: BookSnapshot, instrument: Instrument, into: OrderBook): string | null {
  const levels = levelsOf(snapshot, instrument);
  if (typeof levels === 'string') return levels;
  into.clear();
  for (const [side, price, lots] of levels) into.set(side, price, lots);
  return null;
}

/**
 * Returns each price level once, best first. Caps amounts that are too large to count exactly, counts unreadable
 * amounts as one lot, and omits asks whose price is too high to count exactly.
 *
 * If a price is damaged within the depth that decisions use, returns the reason as text.
 */
export function levelsOf(snapshot: BookSnapshot, instrument: Instrument): readonly PolledLevel[] | string {
  const damage = damageWithinDepth(snapshot, instrument);
  if (damage !== null) return damage;
  const sums: Record<Side, Map<Price, Amount>> = { buy: new Map(), sell: new Map() };
  for (const side of ['buy', 'sell'] as const) {
    const field = side === 'buy' ? 'bids' : 'asks';
    for (const [n, entry] of snapshot[field].entries()) {
      try {
        const price = levelTick(instrument, side, entry.price);
        if (price === null) continue;
        sums[side].set(price, shownSum(sums[side].get(price) ?? 0, shownAmount(instrument, entry.amount)));
      } catch (error) {
        if (error instanceof RangeError && sums[side].size >= DEPTH_LEVELS) continue;
        if (error instanceof RangeError) return `row ${n + 1} of ${field}: ${error.message}`;
        throw error;
      }
    }
  }
  return (['buy', 'sell'] as const).flatMap(side =>
    [...sums[side]].map(([price, lots]): PolledLevel => [side, price, lots]),
  );
}

type UnusedBook = Extract<Outcome<never>, { readonly kind: 'refused' }>;

/** Returns the outcome of a read whose book is not used. */
export const unusedBook = (message: string): UnusedBook => ({
  kind: 'refused',
  code: 'passed over',
  message,
  status: 200,
});
/** Returns the outcome of a read whose book is damaged. `why` is the reason from `levelsOf`. */
export const damagedBook = (why: string): UnusedBook => unusedBook(`the book cannot be used: ${why}`);
