/**
 * Inventory of several books as one risk: the inventory by which each book skews its quotes if the prices of the books
 * move together (formulas-desk E12).
 */
import { functionOfMatrix } from '../estimators/linear.ts';
import { RunningCovariance, type CovarianceRules, type RunningCovarianceState } from './runningCovariance.ts';
import { pairOf } from '../model/bookName.ts';
import type { Millis } from '../model/units.ts';

type Matrix = readonly (readonly number[])[];

export type JointInventoryRules = CovarianceRules & {
  /** Currency in which the account is valued. It has no risk by definition. */
  readonly currency: string;
};

/** A book, as its joint inventory needs it. */
export type JointBook = {
  /** Returns the mid price in the quote currency; `null` if the book cannot be quoted or its data is old. */
  mid(at: Millis): number | null;
  /** Whether the book can reduce inventory: it is neither halted nor paused. */
  readonly isActive: boolean;
};

/**
 * Weight of a book that cannot reduce inventory; the other books have weight 1. The inventory of the book still counts:
 * the other books skew against the part that moves with their own prices. A weight of exactly zero has no inverse.
 */
const INACTIVE_WEIGHT = 1e-4;

/**
 * Returns the matrix G with which quotes skew by -2 b'Gx. Here, x is the value held in each currency, and b is `holds`
 * of a book. G solves G K G = C, where C is the covariance of the currencies, and K the sum of `weight` b b' over the
 * books: 1/2 sqrt(gamma) is left out, because only ratios of G are used. (Bergault, Evangelista, Gueant, Vieira,
 * "Closed-form approximations in multi-asset market making", 2021.)
 */
export function skewMatrix(
  covariance: Matrix,
  books: readonly { readonly weight: number; readonly holds: readonly number[] }[],
): Matrix {
  const k = covariance.map((row, a) =>
    row.map((_, b) => books.reduce((sum, { weight, holds }) => sum + weight * holds[a]! * holds[b]!, 0)),
  );
  const root = functionOfMatrix(k, value => Math.sqrt(Math.max(0, value)));
  const inverse = functionOfMatrix(k, value => (value > 0 ? 1 / Math.sqrt(value) : 0));
  const between = functionOfMatrix(product(product(root, covariance), root), value => Math.sqrt(Math.max(0, value)));
  return product(product(inverse, between), inverse);
}

/** Returns the books that no chain of `symbols` connects to a currency, so that their inventory has no known value. */
export const booksApartFrom = (currency: string, symbols: readonly string[]): readonly string[] => {
  const paths = pathsTo(currency, symbols.map(pairOf));
  return symbols.filter(symbol => !paths.has(pairOf(symbol)[0]));
};

export class JointInventory {
  readonly #names: readonly (readonly [base: string, quote: string])[];
  readonly #rules: JointInventoryRules;
  /** Currencies that books connect to the currency of the account, without that currency. */
  readonly #currencies: readonly string[];
  /** For each of `#currencies`: factors of the logarithmic mid prices, whose sum is the logarithm of its value. */
  readonly #paths: readonly (readonly number[])[];
  /** For each book: +1 for its base currency, -1 for its quote currency; `null` if it is not connected. */
  readonly #holds: readonly (readonly number[] | null)[];
  readonly #moves: RunningCovariance;
  /** Values of one unit of each of `#currencies`, in the currency of the account, when last known; NaN before. */
  readonly #values: number[];
  /** For each book: whether it was active when `#shares` was computed. */
  #active: readonly boolean[];
  /** For each book: factors of the positions of all books, whose sum is the inventory by which it skews its quotes. */
  #shares: readonly (readonly number[] | null)[] = [];

  /** `symbols`: books of the account. */
  constructor(symbols: readonly string[], rules: JointInventoryRules) {
    this.#names = symbols.map(pairOf);
    this.#rules = rules;
    const paths = pathsTo(rules.currency, this.#names);
    this.#currencies = [...paths.keys()].filter(currency => currency !== rules.currency);
    this.#paths = this.#currencies.map(currency => paths.get(currency)!);
    this.#holds = this.#names.map(([base, quote]) =>
      paths.has(base) ? this.#currencies.map(of => Number(of === base) - Number(of === quote)) : null,
    );
    this.#values = this.#currencies.map(() => Number.NaN);
    this.#active = symbols.map(() => true);
    this.#moves = new RunningCovariance(
      this.#currencies.map(currency => `${currency}_${rules.currency}`),
      rules,
    );
  }

  /**
   * Samples the prices of all books if a sample is due, and records which books are active. Call `observe` before each
   * event of the engine is applied.
   */
  observe(at: Millis, books: readonly JointBook[]): void {
    const isDue = at >= this.#moves.dueAt;
    if (!isDue && books.every(({ isActive }, i) => isActive === this.#active[i])) return;
    this.#active = books.map(({ isActive }) => isActive);
    if (isDue) {
      const mids = books.map(book => book.mid(at));
      const { sampleMs } = this.#rules;
      const logs = this.#paths.map(path => logValue(path, mids));
      this.#moves.sample(Math.floor(at / sampleMs) * sampleMs, logs);
      this.#storeValues(logs);
    }
    this.#shares = this.#newShares();
  }

  #storeValues(logs: readonly (number | null)[]): void {
    logs.forEach((log, c) => {
      if (log !== null) this.#values[c] = Math.exp(log);
    });
  }

  /**
   * Returns the inventory by which a book skews its quotes, in its base currency: its own inventory, and the part of
   * the other books' inventory that moves with it. `positions`: inventory of each book. The result is the own inventory
   * if the joint moves are unknown, or if no prices move together.
   */
  inventoryOf(i: number, positions: readonly number[]): number {
    const shares = this.#shares[i] ?? null;
    return shares === null ? positions[i]! : dot(shares, positions);
  }

  /** State for the next run; `null` before the first sample. */
  get state(): RunningCovarianceState | null {
    return this.#moves.state;
  }

  restore(state: RunningCovarianceState, at: Millis): void {
    this.#moves.restore(state, at);
    this.#storeValues(this.#moves.state?.logs ?? []);
    this.#shares = this.#newShares();
  }

  /**
   * Returns `#shares` for the current estimates; `null` for a book with a currency whose value or variance is unknown.
   * Empty if no two books move together.
   */
  #newShares(): readonly (readonly number[] | null)[] {
    const all = this.#currencies.map((_, c) => c);
    const known = all.filter(c => Number.isFinite(this.#values[c]!) && this.#moves.variance(c) !== null);
    const holdsOf = this.#holds.map(holds =>
      holds !== null && all.every(c => holds[c] === 0 || known.includes(c)) ? known.map(c => holds[c]!) : null,
    );
    const usable = holdsOf.flatMap((holds, i) =>
      holds === null ? [] : [{ weight: this.#active[i]! ? 1 : INACTIVE_WEIGHT, holds }],
    );
    const covariance = this.#moves.covariance(known);
    const isSeparate =
      covariance.every((row, i) => row.every((value, j) => i === j || value === 0)) &&
      usable.every(({ holds }) => holds.reduce((sum, held) => sum + held, 0) === 1);
    if (usable.length < 2 || isSeparate) return [];
    const skew = skewMatrix(covariance, usable);
    const valueOf = (currency: string): number => this.#values[this.#currencies.indexOf(currency)] ?? 1;
    return holdsOf.map((holds, i) => {
      if (holds === null) return null;
      const byCurrency = skew.map(row => dot(row, holds));
      const ofOne = dot(byCurrency, holds) * valueOf(this.#names[i]![0]);
      const shares = this.#holds.map((other, j) => {
        const value = valueOf(this.#names[j]![0]);
        if (other === null || !Number.isFinite(value)) return 0;
        return (dot(byCurrency, this.#counted(other, known)) * value) / ofOne;
      });
      return shares.every(Number.isFinite) ? shares : null;
    });
  }

  /**
   * Returns `holds` of a book, with 0 for a quote currency that is the base currency of another book: the inventory of
   * that other book already includes the amounts that trades in this book paid or received.
   */
  #counted(holds: readonly number[], currencies: readonly number[]): readonly number[] {
    const bases = new Set(this.#names.map(([base]) => base));
    return currencies.map(c => (holds[c]! > 0 || !bases.has(this.#currencies[c]!) ? holds[c]! : 0));
  }
}

/**
 * Returns for each currency that books connect to `account` one factor (1, -1 or 0) per book. The sum of the
 * logarithmic mid prices with these factors is the logarithm of the currency's value in `account`.
 */
export function pathsTo(
  account: string,
  books: readonly (readonly [base: string, quote: string])[],
): ReadonlyMap<string, readonly number[]> {
  const paths = new Map<string, readonly number[]>([[account, books.map(() => 0)]]);
  for (let found = 0; found < paths.size;) {
    found = paths.size;
    books.forEach(([base, quote], i) => {
      const [ofBase, ofQuote] = [paths.get(base), paths.get(quote)];
      if (ofQuote !== undefined && ofBase === undefined)
        paths.set(
          base,
          ofQuote.map((factor, k) => factor + Number(k === i)),
        );
      else if (ofBase !== undefined && ofQuote === undefined)
        paths.set(
          quote,
          ofBase.map((factor, k) => factor - Number(k === i)),
        );
    });
  }
  return paths;
}

/** Returns the logarithm of a currency's value; `null` if a mid price on its path is unknown. */
export function logValue(path: readonly number[], mids: readonly (number | null)[]): number | null {
  let sum = 0;
  for (let i = 0; i < path.length; i++) {
    if (path[i] === 0) continue;
    const mid = mids[i]!;
    if (mid === null || !(mid > 0)) return null;
    sum += path[i]! * Math.log(mid);
  }
  return sum;
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

const product = (a: Matrix, b: Matrix): Matrix =>
  a.map(row => b[0]!.map((_, j) => row.reduce((sum, value, k) => sum + value * b[k]![j]!, 0)));
