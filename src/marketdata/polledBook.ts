/** A book as it was read over REST, by levels or by orders, as levels in ticks and lots. */
import { damageWithinDepth, DEPTH_LEVELS, levelTick, shownAmount, shownSum } from '../core/index.ts';
import type { Amount, BookSnapshot, Instrument, OrderBook, Outcome, Price, Side } from '../core/index.ts';

export type PolledLevel = readonly [Side, Price, Amount];

/** Sums a book into levels. Returns why nothing was written, `null` if the book was. */
export function writeLevels(snapshot: BookSnapshot, instrument: Instrument, into: OrderBook): string | null {
  const levels = levelsOf(snapshot, instrument);
  if (typeof levels === 'string') return levels;
  into.clear();
  for (const [side, price, lots] of levels) into.set(side, price, lots);
  return null;
}

/**
 * The levels, each price once, best first. An amount that cannot be counted is capped, and one that cannot be read counts as one lot; an ask above
 * every tick is left out. Returns a text, why the book cannot be used, where a price is damaged within the depth that decisions use.
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

type PassedOver = Extract<Outcome<never>, { readonly kind: 'refused' }>;

/** A book that was read and is not used, as the outcome of its reading. */
export const passedOver = (message: string): PassedOver => ({
  kind: 'refused',
  code: 'passed over',
  message,
  status: 200,
});
/** `why`: the row, from `levelsOf`. */
export const damagedBook = (why: string): PassedOver => passedOver(`the book cannot be used: ${why}`);
