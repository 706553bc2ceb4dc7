/** Interface of observers at the exchange's end of a replay; they choose their sample times and change nothing. */
import type { OwnOrder } from './ownOrders.ts';
import type { TickBook } from '../rows/tickBook.ts';

/** Observer; all times are the exchange's. */
export interface Watcher {
  /** Time of the observer's next sample; Infinity for none. Every call may change it. */
  readonly dueAt: number;
  /**
   * Called when everything up to and including `at` has happened. `ownBid` and `ownAsk` are the bot's best places;
   * NO_BID and NO_ASK if none rests.
   */
  look(at: number, book: TickBook, ownBid: number, ownAsk: number): void;
  /** Called when an order starts resting; `front` of the order is the amount ahead in the queue. */
  rested(order: OwnOrder, at: number): void;
  /**
   * Called at each execution, which is at `place`. `mid` is the mid price just before it times two, as places; 0 if a
   * side was empty.
   */
  filled(order: OwnOrder, lots: number, at: number, mid: number, place: number): void;
  canceled(order: OwnOrder, at: number): void;
}

export const NO_WATCHER: Watcher = {
  dueAt: Infinity,
  look: () => undefined,
  rested: () => undefined,
  filled: () => undefined,
  canceled: () => undefined,
};
