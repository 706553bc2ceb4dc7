/** Account events, for all books that trade in the account; `at` is engine time. */
import type { Cause, Causes } from './ledger.ts';
import type { Balance } from '../ports/port.ts';
import type { Millis, Money } from '../model/units.ts';

/** Ledger of an earlier run, for all books. Of the trades after its marker, it includes only those in `seen`. */
export type AccountLedger = {
  /** Part of each currency's balance by cause. */
  readonly causes: ReadonlyMap<string, Causes>;
  /** Sources of the latest entries for transfers, conversions and adjustments, to recognize repeats. */
  readonly sources: readonly string[];
  /** Included trades that are newer than the marker, each with its reported content. */
  readonly seen: ReadonlyMap<string, string>;
};

/** Conversion of one currency into another outside the book; the bot assigns `id`. */
export type Conversion = {
  readonly id: string;
  readonly give: { readonly currency: string; readonly amount: Money };
  readonly get: { readonly currency: string; readonly amount: Money };
  /** Value of the third-currency leg of a route, in the quote currency of the book. */
  readonly worth?: Money;
  /** Evidence of the execution, if the exchange did not report the execution itself. */
  readonly why?: string;
};

/** Balances of the account, as read from the exchange. */
export type BalancesEvent = {
  readonly kind: 'balances';
  readonly at: Millis;
  readonly startedAt: Millis;
  /**
   * Whether the trade reads before and after this balance read show no trade in between. Then the totals must equal the
   * bot's ledger.
   */
  readonly quiet: boolean;
  readonly balances: readonly Balance[];
};

/**
 * State change of the bot's conversion.
 * - planned: starts after another conversion. Both outcomes count, and it explains no balance difference.
 * - in flight: may be, or may have been, executed. Both outcomes count.
 * - done: executed, with the amounts that moved.
 * - failed: not executed, and never will be.
 */
export type ConversionEvent = {
  readonly kind: 'conversion';
  readonly at: Millis;
  readonly phase: 'planned' | 'in flight' | 'done' | 'failed';
  readonly conversion: Conversion;
};

/** Incoming (positive) or outgoing amount with a known cause. A repeated `source` changes nothing. */
export type TransferEvent = {
  readonly kind: 'transfer';
  readonly at: Millis;
  readonly source: string;
  /** `fees` means refunded fees. */
  readonly cause: Extract<Cause, 'fees' | 'deposits' | 'withdrawals' | 'refunds' | 'adjustments'>;
  readonly currency: string;
  readonly amount: Money;
  /** Time of the transfer according to its source. */
  readonly occurredAt: Millis;
  readonly why: string;
};
