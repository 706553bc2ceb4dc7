/** The ledger by currency, double entry: what the exchange holds for us on one side, why it does on the other. Every change is booked once. */
import { money } from '../model/units.ts';
import type { Millis, Money } from '../model/units.ts';

/** Why a balance is what it is: the accounts that stand against it. Fees are below zero when paid. */
export const CAUSES = [
  'opening',
  'trades',
  'fees',
  'conversions',
  'deposits',
  'withdrawals',
  'refunds',
  'adjustments',
] as const;
export type Cause = (typeof CAUSES)[number];

/** What each cause has brought of one currency (above zero) or taken; together they are the balance. */
export type Causes = Readonly<Record<Cause, Money>>;

/** A change of one balance and its cause: two postings. */
export type Change = { readonly cause: Cause; readonly currency: string; readonly amount: Money };

/** One thing that happened. It is booked whole, and never changed. */
export type LedgerEntry = {
  /** Names it among everything that ever happens to the account: no second entry has it. */
  readonly source: string;
  readonly at: Millis;
  readonly why: string | null;
  readonly changes: readonly Change[];
};

/** Sources remembered to recognise repeats. Trades and whoever tells of the others have their own memory; this is the last gate. */
export const SOURCES_MAX = 300;

export class Ledger {
  readonly #balances = new Map<string, Money>();
  readonly #causes = new Map<string, Record<Cause, Money>>();
  readonly #sources = new Set<string>();
  #onEntry: ((entry: LedgerEntry) => void) | null = null;
  #version = 0;

  /** Grows with every entry. */
  get version(): number {
    return this.#version;
  }

  get balances(): ReadonlyMap<string, Money> {
    return this.#balances;
  }

  get causes(): ReadonlyMap<string, Causes> {
    return this.#causes;
  }

  /** The last ones that were booked with `book`, oldest first. */
  get sources(): readonly string[] {
    return [...this.#sources];
  }

  balance(currency: string): Money {
    return this.#balances.get(currency) ?? NOTHING;
  }

  /** Tells every entry from now on. */
  listen(onEntry: (entry: LedgerEntry) => void): void {
    this.#onEntry = onEntry;
  }

  /** Goes on with what an earlier run booked. */
  restore(causes: ReadonlyMap<string, Causes>, sources: readonly string[]): void {
    if (this.#causes.size > 0) throw new Error('the ledger is open already');
    for (const [currency, row] of causes) {
      this.#causes.set(currency, { ...row });
      this.#balances.set(currency, sumOfCauses(row));
    }
    for (const source of sources) this.#sources.add(source);
  }

  /** Books what nobody has booked under this source; false when somebody has. */
  book(entry: LedgerEntry): boolean {
    if (this.#sources.has(entry.source)) return false;
    this.#sources.add(entry.source);
    if (this.#sources.size > SOURCES_MAX) this.#sources.delete(this.#sources.values().next().value ?? '');
    this.post(entry);
    return true;
  }

  /** Books what is known to be new. */
  post(entry: LedgerEntry): void {
    this.#version++;
    for (const { cause, currency, amount } of entry.changes) {
      let row = this.#causes.get(currency);
      if (row === undefined) this.#causes.set(currency, (row = { ...NONE }));
      row[cause] = money(row[cause] + amount);
      this.#balances.set(currency, money(this.balance(currency) + amount));
    }
    this.#onEntry?.(entry);
  }
}

const NOTHING = money(0n);
const NONE: Causes = {
  opening: NOTHING,
  trades: NOTHING,
  fees: NOTHING,
  conversions: NOTHING,
  deposits: NOTHING,
  withdrawals: NOTHING,
  refunds: NOTHING,
  adjustments: NOTHING,
};

/** Causes of a currency of which only some are known; the others are 0. */
export const causesOf = (some: Partial<Causes>): Causes => ({ ...NONE, ...some });

/** The balance of one currency, exact; below zero when more was taken than ever came. */
export function sumOfCauses(causes: Causes): Money {
  let sum = 0n;
  for (const cause of CAUSES) sum += causes[cause];
  return money(sum);
}

/** What entries amount to, by currency: from nothing, the same as a ledger that has booked them. */
export function causesFrom(entries: Iterable<Pick<LedgerEntry, 'changes'>>): Map<string, Record<Cause, Money>> {
  const all = new Map<string, Record<Cause, Money>>();
  for (const { changes } of entries) {
    for (const { cause, currency, amount } of changes) {
      let row = all.get(currency);
      if (row === undefined) all.set(currency, (row = { ...NONE }));
      row[cause] = money(row[cause] + amount);
    }
  }
  return all;
}
