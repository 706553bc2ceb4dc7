/** What happens to the account, whatever books trade in it; `at` is the engine's time. */
import type { Cause, Causes } from './ledger.ts';
import type { Balance } from '../ports/port.ts';
import type { Millis, Money } from '../model/units.ts';

/** The ledger of an earlier run, of whatever books: trades after its marker are not in it. */
export type AccountLedger = {
  /** By currency, why the balance is what it is. */
  readonly causes: ReadonlyMap<string, Causes>;
  /** The last transfers, conversions and adjustments that are in it. */
  readonly sources: readonly string[];
  /** Trades after the marker that are in it all the same, with what was said of each. */
  readonly seen: ReadonlyMap<string, string>;
};

/** An exchange of one currency for another outside the book; `id` is ours. */
export type Conversion = {
  readonly id: string;
  readonly give: { readonly currency: string; readonly amount: Money };
  readonly get: { readonly currency: string; readonly amount: Money };
  /** Of one leg of a route: what its third currency is counted for, in the minor currency of the book. */
  readonly worth?: Money;
  /** How it is known that it was carried out, where the exchange did not say so itself. */
  readonly why?: string;
};

/** The balances were read. */
export type BalancesEvent = {
  readonly kind: 'balances';
  readonly at: Millis;
  readonly startedAt: Millis;
  /** No trade was recorded between the reads around it: then the totals must equal our ledger. */
  readonly quiet: boolean;
  readonly balances: readonly Balance[];
};

/**
 * Something became of a conversion of ours. `planned`: it will follow on another one; it counts both ways, and explains no difference of balances.
 * `in flight`: it may be carried out from now on, or may have been; it counts both ways until `done`, which gives the amounts that moved, or
 * `failed`: it was not, and never will be.
 */
export type ConversionEvent = {
  readonly kind: 'conversion';
  readonly at: Millis;
  readonly phase: 'planned' | 'in flight' | 'done' | 'failed';
  readonly conversion: Conversion;
};

/** Money that came (above zero) or went, and is explained. The same `source` again changes nothing. */
export type TransferEvent = {
  readonly kind: 'transfer';
  readonly at: Millis;
  readonly source: string;
  /** `fees`: some that had been paid were given back. */
  readonly cause: Extract<Cause, 'fees' | 'deposits' | 'withdrawals' | 'refunds' | 'adjustments'>;
  readonly currency: string;
  readonly amount: Money;
  /** By whoever moved it. */
  readonly occurredAt: Millis;
  readonly why: string;
};
