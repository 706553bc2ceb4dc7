/** A book as it was read over REST, by levels or by orders, as levels for the engine. */
import { amountFloor, priceCeil, priceFloor } from '../core/index.ts';
import type { Amount, BookSnapshot, Instrument, OrderBook, Price, Side } from '../core/index.ts';

/**
 * Sums a book into levels. Off the tick grid, as orders from before a change of the tick are, a price is moved towards the other side:
 * nothing is quoted through it. False, with nothing written, when a number does not fit: a price of nothing, or beyond 2^53 ticks or lots.
 */
export function writeLevels(snapshot: BookSnapshot, instrument: Instrument, into: OrderBook): boolean {
  const levels = levelsOf(snapshot, instrument);
  if (levels === null) return false;
  into.clear();
  for (const [side, price, lots] of levels) into.set(side, price, (into.amountAt(side, price) + lots) as Amount);
  return true;
}

type Level = readonly [Side, Price, Amount];

function levelsOf(snapshot: BookSnapshot, instrument: Instrument): readonly Level[] | null {
  const levels: Level[] = [];
  try {
    for (const side of ['buy', 'sell'] as const) {
      for (const entry of side === 'buy' ? snapshot.bids : snapshot.asks) {
        const price = side === 'buy' ? priceCeil(instrument, entry.price) : priceFloor(instrument, entry.price);
        if (price === 0) return null;
        levels.push([side, price, amountFloor(instrument, entry.amount)]);
      }
    }
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  return levels;
}
