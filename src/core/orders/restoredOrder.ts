/** What a run is told of the orders that earlier ones left. */
import type { Amount, Millis, Money, Price, Side } from '../model/units.ts';

/** An order of an earlier run whose end was not recorded: it may live. */
export type RestoredOrder = {
  readonly id: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /** What the restored ledger already has of it, in lots. */
  readonly filled: Amount;
  /** What it has beyond `filled`, below one lot; absent: nothing. */
  readonly filledRest?: Money;
  readonly oid: string | null;
  readonly at: Millis;
};
