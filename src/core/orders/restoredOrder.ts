/** Orders of earlier runs, as passed to a new run. */
import type { Amount, Millis, Money, Price, Side } from '../model/units.ts';

/** Order of an earlier run; may be live, because no end of the order is recorded. */
export type RestoredOrder = {
  readonly id: string;
  /** Symbol of the book; absent with one book. */
  readonly symbol?: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /** Filled amount that the restored ledger includes, in lots. */
  readonly filled: Amount;
  /** Filled amount beyond `filled`, below one lot; absent if none. */
  readonly filledRest?: Money;
  readonly oid: string | null;
  readonly at: Millis;
};
