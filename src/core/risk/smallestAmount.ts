/** Smallest amount of an order that a book accepts, also after a fall of its price. */
import type { Depth } from '../model/book.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Amount } from '../model/units.ts';

/** Returns the smallest amount, in lots, whose value would still reach the minimum if prices fell by 20%. */
export function smallestAmountAt({ amountMin, valueMin }: Instrument, { bids, bidPrices }: Depth): Amount {
  const price = BigInt(Math.max(1, bids === 0 ? 1 : bidPrices[0]!));
  const byValue = Number((valueMin * 5n + price * 4n - 1n) / (price * 4n));
  return Math.max(amountMin, byValue) as Amount;
}
