/** Read-only view of the exchange's true state for test oracles, without delays. */
import type { Money } from '../../core/index.ts';
import type { VenueOrder } from './order.ts';
import type { OwnTradeRecord } from './ownTrades.ts';
import type { Venue } from './venue.ts';

export type AccountTruth = {
  readonly id: string;
  /** Active orders, oldest first: queued, resting, waiting for a stop, or being canceled. */
  readonly live: readonly Readonly<VenueOrder>[];
  /** Finished orders that lookup still shows. */
  readonly finished: readonly Readonly<VenueOrder>[];
  /** All stored trades of the account, oldest first. */
  readonly trades: readonly OwnTradeRecord[];
  readonly balances: ReadonlyMap<string, { readonly total: Money; readonly locked: Money }>;
};

export type Truth = {
  readonly accounts: ReadonlyMap<string, AccountTruth>;
  /**
   * Net deposits minus account balances, fees and the simulators' net gain, by currency. Always zero, because the
   * exchange never creates money.
   */
  readonly imbalance: ReadonlyMap<string, bigint>;
};

/**
 * Returns the true state, with sums in units of 10^-18. Balances and lists are copies. The orders in the lists are the
 * venue's own objects and keep changing.
 */
export function truthOf(venue: Venue): Truth {
  const accounts = new Map<string, AccountTruth>();
  const imbalance = new Map<string, bigint>(venue.deposited);
  const take = (currency: string, sum: bigint) => imbalance.set(currency, (imbalance.get(currency) ?? 0n) - sum);
  for (const [currency, sum] of venue.feesTaken) take(currency, sum);
  for (const [currency, sum] of venue.simulatorNetGain) take(currency, sum);
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
