/**
 * Interface of observers at the exchange of a replay. Observers choose their sample times and do not change the replay.
 */
import type { OwnOrder } from './ownOrders.ts';
import type { TickBook } from '../rows/tickBook.ts';

/** Observer of a replay. All times are by the exchange's clock, in epoch ms. */
export interface Watcher {
  /** Time of the observer's next sample; Infinity if there is none. Every call of a method may change this time. */
  readonly dueAt: number;
  /**
   * Called after all events up to and including `at`. `ownBid` and `ownAsk` are the price indices of the bot's best
   * orders; NO_BID or NO_ASK without an order.
   */
  look(at: number, book: TickBook, ownBid: number, ownAsk: number): void;
  /** Called when an order starts to rest. The order's `front` is the amount ahead of it in the queue. */
  rested(order: OwnOrder, at: number): void;
  /**
   * Called at each execution; `place` is its price index. `mid` is twice the mid price just before the execution, as a
   * price index; 0 if a side was empty.
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
