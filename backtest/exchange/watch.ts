/** Who looks at the exchange's end of a replay, at times of its own choosing, and changes nothing. */
import type { OwnOrder } from './ownOrders.ts';
import type { TickBook } from '../rows/tickBook.ts';

/** All times are the exchange's. */
export interface Watcher {
  /** Its next look; Infinity for none. It may change with every call. */
  readonly dueAt: number;
  /** Everything up to and at `at` has happened. Best own places: NO_BID and NO_ASK where none rests. */
  look(at: number, book: TickBook, ownBid: number, ownAsk: number): void;
  /** An order came to rest; its `front` is what is ahead of it. */
  rested(order: OwnOrder, at: number): void;
  /** `mid`: twice the middle of the book before this moment, as places; 0 when a side was empty. `place`: where it traded. */
  filled(order: OwnOrder, lots: number, at: number, mid: number, place: number): void;
  canceled(order: OwnOrder, at: number): void;
}

export const NOBODY: Watcher = {
  dueAt: Infinity,
  look: () => undefined,
  rested: () => undefined,
  filled: () => undefined,
  canceled: () => undefined,
};
