/**
 * Transfers of an account: balance changes other than by trading, for the lists of fundings, withdrawals and ledger
 * entries. The number of stored transfers is bounded.
 */
import type { Millis, Money } from '../../core/index.ts';

export type Update = { readonly currency: string; readonly sum: Money };

export type Transfer = {
  /** Transfer id: sixteen hexadecimal digits, unique within the account. */
  readonly id: string;
  /**
   * Kind of the transfer. A reversed funding is a negative funding, a reversed withdrawal a positive withdrawal. A
   * `fee` is a refunded fee and belongs to no trade.
   */
  readonly kind: 'funding' | 'withdrawal' | 'conversion' | 'fee';
  /** Changes of the balances: positive for credits, negative for debits. */
  readonly updates: readonly Update[];
  readonly at: Millis;
  /** Elapsed time of the clock from which the lists show the transfer. */
  readonly listedAt: Millis;
};

/** Maximum number of stored transfers per account; the oldest are dropped first. */
export const TRANSFERS_MAX = 1_000;

export class Transfers {
  #all: Transfer[] = [];
  #next = 1;

  add(kind: Transfer['kind'], at: Millis, updates: readonly Update[], listedAt: Millis): void {
    this.#all.push({ id: (this.#next++).toString(16).padStart(16, '0'), kind, updates, at, listedAt });
    if (this.#all.length >= 2 * TRANSFERS_MAX) this.#all = this.#all.slice(-TRANSFERS_MAX);
  }

  /** Replaces the transfers with those of an earlier process, oldest first. */
  restore(transfers: readonly Transfer[]): void {
    this.#all = [...transfers];
    const newest = transfers.at(-1);
    if (newest) this.#next = Number.parseInt(newest.id, 16) + 1;
  }

  /** Returns all transfers, oldest first. */
  list(): readonly Transfer[] {
    return this.#all.slice(-TRANSFERS_MAX);
  }

  /** Returns the transfers that the lists show at this elapsed time. */
  listed(elapsed: Millis): readonly Transfer[] {
    return this.list().filter(({ listedAt }) => listedAt <= elapsed);
  }
}
