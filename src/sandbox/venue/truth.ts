/** The exchange's true state, for a checker that sees everything and believes nobody: read only, nothing delayed or hidden. */
import type { Money } from '../../core/index.ts';
import type { VenueOrder } from './order.ts';
import type { OwnTradeRecord } from './ownTrades.ts';
import type { Venue } from './venue.ts';

export type AccountTruth = {
  readonly id: string;
  /** Oldest first; queued, resting, waiting for a stop, or being cancelled. */
  readonly live: readonly Readonly<VenueOrder>[];
  /** Those that lookup still shows. */
  readonly finished: readonly Readonly<VenueOrder>[];
  /** Oldest first, as many as are kept. */
  readonly trades: readonly OwnTradeRecord[];
  readonly balances: ReadonlyMap<string, { readonly total: Money; readonly locked: Money }>;
};

export type Truth = {
  readonly accounts: ReadonlyMap<string, AccountTruth>;
  /**
   * By currency: paid in, less what accounts hold, fees taken and the house's gain. All zero, always: money is moved, never made.
   */
  readonly imbalance: ReadonlyMap<string, bigint>;
};

/** Sums in 10^-18. Balances and lists are copies of this moment; the orders in them are the venue's own, and go on changing. */
export function truthOf(venue: Venue): Truth {
  const accounts = new Map<string, AccountTruth>();
  const imbalance = new Map<string, bigint>(venue.deposited);
  const take = (currency: string, sum: bigint) => imbalance.set(currency, (imbalance.get(currency) ?? 0n) - sum);
  for (const [currency, sum] of venue.feesTaken) take(currency, sum);
  for (const [currency, sum] of venue.house) take(currency, sum);
  for (const account of venue.accounts.values()) {
    const balances = new Map<string, { total: Money; locked: Money }>();
    for (const currency of account.currencies()) {
      balances.set(currency, { total: account.total(currency), locked: account.locked(currency) });
      take(currency, account.total(currency));
    }
    const trades: OwnTradeRecord[] = [];
    account.trades.each('asc', undefined, trade => trades.push(trade) > 0);
    accounts.set(account.id, {
      id: account.id,
      live: [...account.active.values()],
      finished: account.finished.values(),
      trades,
      balances,
    });
  }
  return { accounts, imbalance };
}
