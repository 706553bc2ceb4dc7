/** Damaged rows of a complete book, and whether a damaged row may be among the levels that decisions use. */
import { DEPTH_LEVELS } from '../model/book.ts';
import { priceCeil, priceFloor, TooLarge, type Instrument } from '../model/instrument.ts';
import type { BookEntry, BookSnapshot } from '../ports/port.ts';
import type { DecimalText, Price, Side } from '../model/units.ts';

/**
 * Returns the price of a level in ticks. A price between two ticks, such as the price of an order older than a tick
 * change, is rounded towards the other side. So no quote crosses that order.
 *
 * Returns `null` for an ask too high to be counted in ticks, because it is behind all other asks. Throws RangeError for
 * any other price that cannot be counted in ticks, and for text that is not decimal.
 */
export function levelTick(instrument: Instrument, side: Side, price: DecimalText): Price | null {
  let ticks: Price;
  try {
    ticks = side === 'buy' ? priceCeil(instrument, price) : priceFloor(instrument, price);
  } catch (error) {
    if (side === 'sell' && error instanceof TooLarge) return null;
    throw error;
  }
  if (ticks > 0) return ticks;
  throw new RangeError(`expected a price of at least one tick (${instrument.tick}), found ${price}`);
}

/**
 * Returns why a book is unusable: a damaged row may be among the best `DEPTH_LEVELS` levels of its side. Returns `null`
 * if every damaged row has at least `DEPTH_LEVELS` levels before it.
 */
export function damageWithinDepth({ bids, asks, damage }: BookSnapshot, instrument: Instrument): string | null {
  return damageOf(bids, damage?.bids, 'buy', instrument) ?? damageOf(asks, damage?.asks, 'sell', instrument);
}

function damageOf(
  entries: readonly BookEntry[],
  damage: NonNullable<BookSnapshot['damage']>['bids'],
  side: Side,
  instrument: Instrument,
): string | null {
  if (damage === undefined) return null;
  const levels = new Set<number>();
  for (const { price } of entries.slice(0, damage.after)) {
    let tick: Price | null = null;
    try {
      tick = levelTick(instrument, side, price);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (tick !== null) levels.add(tick);
    if (levels.size >= DEPTH_LEVELS) return null;
  }
  return damage.why;
}
