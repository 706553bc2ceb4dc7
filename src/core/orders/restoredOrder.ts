/** What a run is told of the orders that earlier ones left. */
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** An order of an earlier run whose end was not recorded: it may live. */
export type RestoredOrder = {
  readonly id: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /** What the restored ledger already has of it, in lots. */
  readonly filled: Amount;
  readonly oid: string | null;
  readonly at: Millis;
};
