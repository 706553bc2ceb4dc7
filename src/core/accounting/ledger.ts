/**
 * Double-entry ledger by currency: balances at the exchange on one side, their causes on the other. Every change has
 * one entry.
 */
import { money, type Millis, type Money } from '../model/units.ts';

/** Causes of balance changes. Each cause is a counter-account of the balances; paid fees are negative. */
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

/** Sums of one currency by cause, positive for incoming money. The sums add up to the balance of the currency. */
export type Causes = Readonly<Record<Cause, Money>>;

/** Change of one balance with its cause: two postings. */
export type Change = { readonly cause: Cause; readonly currency: string; readonly amount: Money };

/** Returns the sum of the changes of one currency. */
export function changesIn(changes: readonly Change[], currency: string): Money {
  let sum = 0n;
  for (const change of changes) if (change.currency === currency) sum += change.amount;
  return money(sum);
}

/** Changes of one event. An entry is booked completely and never changed. */
export type LedgerEntry = {
  /** Unique name of the booked event in the account. */
  readonly source: string;
  readonly at: Millis;
  readonly why: string | null;
  readonly changes: readonly Change[];
};

/** Default number of entry ids (`source`) kept, so that no transfer, conversion or adjustment is booked twice. */
export const SOURCES_MAX = 300;

export class Ledger {
  readonly #balances = new Map<string, Money>();
  readonly #causes = new Map<string, Record<Cause, Money>>();
  readonly #sources = new Set<string>();
  readonly #sourcesMax: number;
  #onEntry: ((entry: LedgerEntry) => void) | null = null;
  #version = 0;

  constructor(sourcesMax = SOURCES_MAX) {
    this.#sourcesMax = sourcesMax;
  }

  /** Number of entries so far; increases with every entry. */
  get version(): number {
    return this.#version;
  }

  get balances(): ReadonlyMap<string, Money> {
    return this.#balances;
  }

  get causes(): ReadonlyMap<string, Causes> {
    return this.#causes;
  }

  /** Names (`source`) of the latest entries that were booked with `book`, oldest first. */
  get sources(): readonly string[] {
    return [...this.#sources];
  }

  balance(currency: string): Money {
    return this.#balances.get(currency) ?? NOTHING;
  }

  /** Calls `onEntry` with every later entry. */
  listen(onEntry: (entry: LedgerEntry) => void): void {
    this.#onEntry = onEntry;
  }

  /** Continues from the bookings of an earlier run. */
  restore(causes: ReadonlyMap<string, Causes>, sources: readonly string[]): void {
    for (const [currency, row] of causes) {
      this.#causes.set(currency, { ...row });
      this.#balances.set(currency, sumOfCauses(row));
    }
    for (const source of sources) this.#sources.add(source);
  }

  /** Books an entry; returns false if its source was already booked. */
  book(entry: LedgerEntry): boolean {
    if (this.#sources.has(entry.source)) return false;
    this.#sources.add(entry.source);
    if (this.#sources.size > this.#sourcesMax) this.#sources.delete(this.#sources.values().next().value!);
    this.post(entry);
    return true;
  }

  /** Books an entry that is known to be new. */
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

/** Returns a sum for every cause of a currency; a cause that is missing in `some` has the sum 0. */
export const causesOf = (some: Partial<Causes>): Causes => ({ ...NONE, ...some });

/** Returns the exact balance of one currency; negative if outgoing amounts exceed incoming amounts. */
export function sumOfCauses(causes: Causes): Money {
  let sum = 0n;
  for (const cause of CAUSES) sum += causes[cause];
  return money(sum);
}

/**
 * Sums the changes of entries by currency and cause. A ledger that booked these entries has the same sums in `causes`.
 */
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
