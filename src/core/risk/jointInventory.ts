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
  /** Mid price in the quote currency; `null` if the book cannot be quoted or its data is old. */
  readonly mid: number | null;
  /** Whether the book can reduce inventory: it is neither halted nor paused. */
  readonly isActive: boolean;
};

/**
 * Weight of a book that cannot reduce inventory, next to 1 for the others. Its inventory still counts: the other
 * books skew against the part of it that moves with their own prices. A weight of exactly zero has no inverse.
 */
const INACTIVE_WEIGHT = 1e-4;

/**
 * Returns the matrix G with which quotes skew by -2 b'Gx, where x is the value held in each currency and b the
 * currencies of a book. G solves G K G = C, where C is the covariance of the currencies, and K the sum of
 * `weight` b b' over the books: 1/2 sqrt(gamma) is left out, because only ratios of G are used. (Bergault, Evangelista,
 * Gueant, Vieira, "Closed-form approximations in multi-asset market making", 2021.)
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

/** Returns the books that a chain of `symbols` connects to a currency. Only these books use joint inventory. */
export const connectedBooks = (symbols: readonly string[], currency: string): readonly string[] => {
  const paths = pathsTo(currency, symbols.map(pairOf));
  return symbols.filter(symbol => paths.has(pairOf(symbol)[0]));
};

export class JointInventory {
  readonly #names: readonly (readonly [base: string, quote: string])[];
  readonly #rules: JointInventoryRules;
  /** Currencies that books connect to the currency of the account, without that currency. */
  readonly #currencies: readonly string[];
  /** For each of `#currencies`: how the logarithms of the mid prices add to that of its value. */
  readonly #paths: readonly (readonly number[])[];
  /** For each book: +1 for its base currency, -1 for its quote currency; `null` if it is not connected. */
  readonly #holds: readonly (readonly number[] | null)[];
  readonly #moves: RunningCovariance;
  /** Values of one unit of each of `#currencies`, in the currency of the account, at the last sample. */
  #values: readonly number[] | null = null;
  /** For each book: how much of the inventory of every book counts for it, in its base currency. */
  #shares: readonly (readonly number[] | null)[] | null = null;

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
    this.#moves = new RunningCovariance(
      this.#currencies.map(currency => `${currency}_${rules.currency}`),
      rules,
    );
  }

  /** Samples the prices of all books if a sample is due. Call it before each event of the engine is applied. */
  observe(at: Millis, books: () => readonly JointBook[]): void {
    if (at < this.#moves.dueAt) return;
    const seen = books();
    const logs = this.#paths.map(path => logValue(path, seen));
    const { sampleMs } = this.#rules;
    this.#moves.sample(Math.floor(at / sampleMs) * sampleMs, logs);
    if (logs.every(log => log !== null)) this.#values = logs.map(Math.exp);
    this.#shares = this.#sharesOf(seen);
  }

  /**
   * Returns the inventory by which a book skews its quotes, in its base currency: its own, and what the other books hold
   * that moves with it. `positions`: inventory of each book. The result is the own inventory if nothing is known of
   * joint moves, or if nothing moves together.
   */
  inventoryOf(i: number, positions: readonly number[]): number {
    const shares = this.#shares?.[i] ?? null;
    return shares === null ? positions[i]! : dot(shares, positions);
  }

  /** State for the next run; `null` before the first sample. */
  get state(): RunningCovarianceState | null {
    return this.#moves.state;
  }

  restore(state: RunningCovarianceState, at: Millis): void {
    this.#moves.restore(state, at);
  }

  /**
   * Returns for each book how much of the inventory of every book counts for it; `null` for a book that is not
   * connected. `null` as long as values or covariance are unknown, and if no two books move together.
   */
  #sharesOf(books: readonly JointBook[]): readonly (readonly number[] | null)[] | null {
    const [covariance, values] = [this.#moves.covariance(), this.#values];
    if (covariance === null || values === null) return null;
    const connected = this.#holds.flatMap((holds, i) =>
      holds === null ? [] : [{ weight: books[i]!.isActive ? 1 : INACTIVE_WEIGHT, holds }],
    );
    const isSeparate =
      covariance.every((row, i) => row.every((value, j) => i === j || value === 0)) &&
      connected.every(({ holds }) => holds.reduce((sum, held) => sum + held, 0) === 1);
    if (isSeparate) return null;
    const skew = skewMatrix(covariance, connected);
    const valueOf = (currency: string): number => values[this.#currencies.indexOf(currency)] ?? 1;
    return this.#holds.map((holds, i) => {
      if (holds === null) return null;
      const byCurrency = skew.map(row => dot(row, holds));
      const ofOne = dot(byCurrency, holds) * valueOf(this.#names[i]![0]);
      const shares = this.#holds.map(
        (_, j) => (dot(byCurrency, this.#counted(j)) * valueOf(this.#names[j]![0])) / ofOne,
      );
      return shares.every(Number.isFinite) ? shares : null;
    });
  }

  /**
   * Returns the currencies in which the inventory of a book counts. The inventory of the books with that base currency
   * includes what trades in other books added to it. A quote currency that no book has as base counts as paid or
   * received.
   */
  #counted(j: number): readonly number[] {
    const holds = this.#holds[j];
    const bases = new Set(this.#names.map(([base]) => base));
    return this.#currencies.map((currency, c) => (holds && (holds[c]! > 0 || !bases.has(currency)) ? holds[c]! : 0));
  }
}

/**
 * Returns for each currency that books connect to `account`: the sum of logarithms of mid prices that gives the
 * logarithm of its value in `account`, as one factor (1, -1 or 0) per book.
 */
function pathsTo(
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
function logValue(path: readonly number[], books: readonly JointBook[]): number | null {
  let sum = 0;
  for (let i = 0; i < path.length; i++) {
    if (path[i] === 0) continue;
    const { mid } = books[i]!;
    if (mid === null || !(mid > 0)) return null;
    sum += path[i]! * Math.log(mid);
  }
  return sum;
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

const product = (a: Matrix, b: Matrix): Matrix =>
  a.map(row => b[0]!.map((_, j) => row.reduce((sum, value, k) => sum + value * b[k]![j]!, 0)));
