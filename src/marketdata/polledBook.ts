/** A book as it was read over REST, by levels or by orders, as levels in ticks and lots. */
import { amountFloor, priceCeil, priceFloor } from '../core/index.ts';
import type { Amount, BookSnapshot, Instrument, OrderBook, Price, Side } from '../core/index.ts';

export type PolledLevel = readonly [Side, Price, Amount];

/** Sums a book into levels. False, with nothing written, when a number in it does not fit. */
export function writeLevels(snapshot: BookSnapshot, instrument: Instrument, into: OrderBook): boolean {
  const levels = levelsOf(snapshot, instrument);
  if (levels === null) return false;
  into.clear();
  for (const [side, price, lots] of levels) into.set(side, price, lots);
  return true;
}

/**
 * The levels, each price once, best first. Off the tick grid, as orders from before a change of the tick are, a price is moved towards
 * the other side: nothing is quoted through it. Null when a number does not fit: a price of nothing, or beyond 2^53 ticks or lots.
 */
export function levelsOf(snapshot: BookSnapshot, instrument: Instrument): readonly PolledLevel[] | null {
  const sums: Record<Side, Map<Price, number>> = { buy: new Map(), sell: new Map() };
  try {
    for (const side of ['buy', 'sell'] as const) {
      for (const entry of side === 'buy' ? snapshot.bids : snapshot.asks) {
        const price = side === 'buy' ? priceCeil(instrument, entry.price) : priceFloor(instrument, entry.price);
        if (price === 0) return null;
        sums[side].set(price, (sums[side].get(price) ?? 0) + amountFloor(instrument, entry.amount));
      }
    }
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  return (['buy', 'sell'] as const).flatMap(side =>
    [...sums[side]].map(([price, lots]): PolledLevel => [side, price, lots as Amount]),
  );
}
