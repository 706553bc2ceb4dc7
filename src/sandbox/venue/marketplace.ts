/** A book of the embedded exchange as a market actor sees it: house orders without account or funds. */
import type { Venue } from './venue.ts';
import type { FollowedPlace } from '../markets/market.ts';

/** Throws a RangeError when the book is not listed. */
export function marketplaceOf(venue: Venue, name: string): FollowedPlace {
  const book = venue.books.get(name);
  if (!book) throw new RangeError(`no book ${name}: expected one of ${[...venue.books.keys()].join(', ')}`);
  const { engine } = book;
  return {
    instrument: book.instrument,
    clock: venue.clock,
    random: venue.marketRandom,
    place: (side, price, amount, timeInForce) => book.placeHouse(side, price, amount, timeInForce),
    cancel: id => book.cancelHouse(id),
    reduce: (id, by) => book.reduceHouse(id, by),
    bestBid: () => engine.bestBid(),
    bestAsk: () => engine.bestAsk(),
    amountAt: (side, price) => engine.amountAt(side, price),
    accountOrders: side => book.accountOrders(side),
    hit: (id, amount) => book.hit(id, amount),
    onCancel: call => void book.cancels.push(call),
    onHouseFill: call => void book.houseFills.push(call),
  };
}
