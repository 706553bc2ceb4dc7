/** Events about the account, which apply to all of its books. In every event, `at` is engine time. */
import type { FirstCount } from './firstFills.ts';
import type { Cause, Causes } from './ledger.ts';
import type { Balance, OwnTrade } from '../ports/port.ts';
import type { Millis, Money } from '../model/units.ts';

/**
 * Ledger that an earlier run stored, for all books. The next run reads the trades that are newer than the stored trade
 * id. Of these trades, the ledger contains only those in `seen`.
 */
export type AccountLedger = {
  /** Sums of each currency by cause; the sums of a currency add up to its balance. */
  readonly causes: ReadonlyMap<string, Causes>;
  /**
   * Names (`source`) of the latest entries for transfers, conversions and adjustments, so that a repeated event is not
   * booked again.
   */
  readonly sources: readonly string[];
  /**
   * Trades in the ledger that are newer than the stored trade id, by trade id, each with its content as the exchange
   * reported it.
   */
  readonly seen: ReadonlyMap<string, string>;
  /** Currencies with trades whose opening amounts are not booked yet; absent if there are none. */
  readonly unopened?: readonly string[] | undefined;
  /** Currencies whose changes the exchange rounds; absent if there are none. */
  readonly roundings?: ReadonlyMap<string, Rounding> | undefined;
};

/**
 * Rounding of a currency by the exchange: the number of decimals of its balance, and the number of booked amounts since
 * the ledger last equaled the balance. Each of these amounts may differ by one unit of the last decimal.
 */
export type Rounding = { readonly decimals: number; readonly amounts: number };

/** Whether the difference of a balance from the ledger can be rounding. */
export function isRounding(rounding: Rounding | undefined, difference: Money): boolean {
  if (rounding === undefined) return false;
  const limit = BigInt(rounding.amounts) * 10n ** BigInt(Math.max(18 - rounding.decimals, 0));
  return difference <= limit && difference >= -limit;
}

/** Conversion of one currency into another outside the book; the bot assigns `id`. */
export type Conversion = {
  readonly id: string;
  readonly give: { readonly currency: string; readonly amount: Money };
  readonly get: { readonly currency: string; readonly amount: Money };
  /**
   * For a leg of a route through a third currency: value of the third-currency amount, in the quote currency of the
   * book.
   */
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
   * Whether the trade reads before and after this balance read show no trade between them. If so, the reported balances
   * must equal the bot's ledger.
   */
  readonly quiet: boolean;
  /**
   * Name of the other exchange that was read; absent for the bot's own exchange. Currencies on the other exchange are
   * named like `usdt@other`.
   */
  readonly place?: string;
  /**
   * Value of one unit of the quote currency of the other exchange's book, in the quote currency of the bot's book;
   * absent if unknown.
   */
  readonly rate?: Money;
  /** Hedges on the other exchange that have reconciled before this read; absent if hedges may have any size. */
  readonly firstHedges?: FirstCount;
  readonly balances: readonly Balance[];
};

/**
 * State change of the bot's conversion.
 * - planned: starts after another conversion. Limits count both possible outcomes; a balance difference is not
 *   explained by a planned conversion.
 * - in flight: the exchange may execute the conversion or may have executed it. Limits count both possible outcomes.
 * - done: executed, with the converted amounts.
 * - failed: not executed, and never will be.
 */
export type ConversionEvent = {
  readonly kind: 'conversion';
  readonly at: Millis;
  readonly phase: 'planned' | 'in flight' | 'done' | 'failed';
  readonly conversion: Conversion;
};

/**
 * Incoming (positive) or outgoing (negative) amount with a known cause. An event with a repeated `source` changes
 * nothing.
 */
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
  /**
   * Whether the amount is one side of a transfer between the two exchanges. It counts as held until the other side is
   * booked.
   */
  readonly inTransit?: true;
};

/**
 * State change of the bot's order on another exchange.
 * - in flight: the exchange may execute the order or may have executed it. `conversion` has the amounts at the limit
 *   price; limits count both possible outcomes.
 * - ended: certainly ended, with all of its trades. `rate` is the value of one unit of the quote currency there, in the
 *   quote currency of the bot's book.
 */
export type ElsewhereEvent = {
  readonly kind: 'elsewhere';
  readonly at: Millis;
  readonly conversion: Conversion;
} & (
  | { readonly phase: 'in flight' }
  | { readonly phase: 'ended'; readonly trades: readonly OwnTrade[]; readonly rate: Money }
);
