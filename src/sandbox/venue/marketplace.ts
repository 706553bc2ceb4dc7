/** Interface of a book for market simulators, whose orders need neither account nor funds. */
import type { Venue } from './venue.ts';
import type { FollowedPlace, QueuePart } from '../markets/market.ts';
import { opposite, type Amount, type Millis, type Price, type Side } from '../../core/index.ts';
import { SYNTHETIC_OWNER } from '../matching/matching.ts';
import type { VenueBook } from './venueBook.ts';

/** Returns the interface of a book. Throws a RangeError if the book is not listed. */
export function marketplaceOf(venue: Venue, name: string): FollowedPlace {
  const book = venue.books.get(name);
  if (!book) throw new RangeError(`no book ${name}: expected one of ${[...venue.books.keys()].join(', ')}`);
  const { engine } = book;
  return {
    instrument: book.instrument,
    clock: venue.clock,
    random: venue.marketRandom,
    feed: book.feed,
    place: (side, price, amount, timeInForce) => book.placeSynthetic(side, price, amount, timeInForce),
    takeStanding: (side, price, amount, since) => takeStanding(book, side, price, amount, since),
    cancel: id => book.cancelSynthetic(id),
    reduce: (id, by) => book.reduceSynthetic(id, by),
    bestBid: () => engine.bestBid(),
    bestAsk: () => engine.bestAsk(),
    amountAt: (side, price) => engine.amountAt(side, price),
    accountOrders: side => book.accountOrders(side),
    queueAt: (side, price) => queueAt(book, side, price),
    isLast: id => engine.isLast(id),
    enlarge: (id, by) => book.enlargeSynthetic(id, by),
    hit: (id, amount) => book.hit(id, amount),
    onCancel: call => void book.cancels.push(call),
    onSyntheticFill: call => void book.syntheticFillListeners.push(call),
  };
}

function queueAt(book: VenueBook, side: Side, price: Price): readonly QueuePart[] {
  const queue: QueuePart[] = [];
  book.engine.eachOrderAt(side, price, (id, owner, left) => {
    queue.push(owner === SYNTHETIC_OWNER ? left : book.oidOf(id, owner));
  });
  return queue;
}

function takeStanding(book: VenueBook, side: Side, limit: Price, amount: Amount, since: Millis): Amount {
  let left: number = amount;
  let late = false;
  const met: { readonly id: number; readonly lots: Amount }[] = [];
  book.engine.eachOrder(opposite(side), (id, owner, price, lots, at) => {
    if (side === 'buy' ? price > limit : price < limit) return false;
    if (owner !== SYNTHETIC_OWNER && at >= since) {
      late = true;
      return true;
    }
    met.push({ id, lots: Math.min(lots, left) as Amount });
    left -= Math.min(lots, left);
    return left > 0;
  });
  // Account orders placed at or after `since` must not be filled. Usually there are none, and one IOC order gives the
  // same result as filling each order separately, as below.
  if (!late) return book.placeSynthetic(side, limit, amount, 'IOC').traded;
  for (const { id, lots } of met) book.hit(id, lots);
  return (amount - left) as Amount;
}
