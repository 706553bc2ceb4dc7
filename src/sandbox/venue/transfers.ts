/** What came into an account and what left it, other than by trading: bounded, oldest first. For the funding, withdrawal and ledger lists. */
import type { Millis, Money } from '../../core/index.ts';

export type Update = { readonly currency: string; readonly sum: Money };

export type Transfer = {
  /** Sixteen hexadecimal digits, unlike those of any other transfer of the account. */
  readonly id: string;
  /** A funding that was taken back is a funding below zero, a withdrawal that came back one above; a fee that was given back has no trade. */
  readonly kind: 'funding' | 'withdrawal' | 'conversion' | 'fee';
  /** What it did to the balances: above zero what came in, below what left. */
  readonly updates: readonly Update[];
  readonly at: Millis;
  /** From when on the lists show it, in the clock's elapsed time. */
  readonly listedAt: Millis;
};

/** Transfers kept per account; the oldest go first. */
export const TRANSFERS_MAX = 1_000;

export class Transfers {
  #all: Transfer[] = [];
  #next = 1;

  add(kind: Transfer['kind'], at: Millis, updates: readonly Update[], listedAt: Millis): void {
    this.#all.push({ id: (this.#next++).toString(16).padStart(16, '0'), kind, updates, at, listedAt });
    if (this.#all.length >= 2 * TRANSFERS_MAX) this.#all = this.#all.slice(-TRANSFERS_MAX);
  }

  /** Oldest first. */
  list(): readonly Transfer[] {
    return this.#all.slice(-TRANSFERS_MAX);
  }

  /** Those that the lists show by now. */
  listed(elapsed: Millis): readonly Transfer[] {
    return this.list().filter(({ listedAt }) => listedAt <= elapsed);
  }
}
