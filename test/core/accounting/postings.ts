/** Entries of the ledger as double-entry bookkeeping has them. */
import { money, type Cause, type LedgerEntry, type Money } from '../../../src/core/index.ts';

export type Posting = { readonly account: 'balance' | Cause; readonly currency: string; readonly amount: Money };

/** Both sides of an entry; they add up to nothing in every currency. */
export const postingsOf = ({ changes }: LedgerEntry): readonly Posting[] =>
  changes.flatMap(({ cause, currency, amount }) => [
    { account: 'balance', currency, amount } as const,
    { account: cause, currency, amount: money(-amount) },
  ]);
