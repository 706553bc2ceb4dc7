/**
 * Cross rates (formulas-desk E14): values of currencies from the prices of several books at once, how far each book is
 * from the others, and what a cycle of books gains.
 */
import { solve } from '../estimators/linear.ts';

/** Base and quote currency of a book. */
export type Pair = { readonly base: string; readonly quote: string };

/** Price of a book as a measurement. */
export type MeasuredPrice = Pair & {
  /** Logarithm of the mid price. */
  readonly log: number;
  /** Standard deviation of `log`. */
  readonly sd: number;
};

/** Weighted least-squares fit of the values of all currencies. Lists are in the order of the prices. */
export type CrossRateFit = {
  /** Logarithm of the value of each currency in the account currency, which itself has 0. */
  readonly values: ReadonlyMap<string, number>;
  /** Measured minus fitted logarithm of each price. */
  readonly residuals: readonly number[];
  /** Residuals in their own standard deviations; 0 for a price that no other prices imply. */
  readonly studentized: readonly number[];
  /** Measured logarithm minus the logarithm that the other prices imply; 0 if they imply none. */
  readonly distances: readonly number[];
  /** Standard deviations of the fitted logarithms. */
  readonly sds: readonly number[];
  /**
   * Sum of the squared residuals in standard deviations: chi-square with one degree of freedom per independent cycle.
   */
  readonly chiSquare: number;
  /** Number of independent cycles. */
  readonly cycles: number;
};

/** Share of a price's variance that must remain in its residual; with less, no other prices imply the price. */
const IMPLIED_SHARE_MIN = 1e-9;

/**
 * Fits the values of all currencies to the prices. The weight of a price is the inverse of its variance. Throws
 * RangeError if the books do not connect every currency to `account`.
 */
export function fitCrossRates(prices: readonly MeasuredPrice[], account: string): CrossRateFit {
  const currencies = [...new Set(prices.flatMap(({ base, quote }) => [base, quote]))].filter(name => name !== account);
  const n = currencies.length;
  const columns = prices.map(({ base, quote }) => [currencies.indexOf(base), currencies.indexOf(quote)] as const);
  const normal = new Float64Array(n * n);
  const right = new Float64Array(n);
  prices.forEach(({ log, sd }, i) => {
    const weight = 1 / (sd * sd);
    const [base, quote] = columns[i]!;
    if (base >= 0) {
      normal[base * n + base]! += weight;
      right[base]! += weight * log;
    }
    if (quote >= 0) {
      normal[quote * n + quote]! += weight;
      right[quote]! -= weight * log;
    }
    if (base >= 0 && quote >= 0) {
      normal[base * n + quote]! -= weight;
      normal[quote * n + base]! -= weight;
    }
  });
  const values = solve(normal, right);
  const between = ([base, quote]: readonly [number, number], of: ArrayLike<number>): number =>
    (base >= 0 ? of[base]! : 0) - (quote >= 0 ? of[quote]! : 0);
  const variances = columns.map(column => {
    const unit = new Float64Array(n);
    if (column[0] >= 0) unit[column[0]] = 1;
    if (column[1] >= 0) unit[column[1]] = -1;
    return between(column, solve(normal, unit));
  });
  const residuals = prices.map(({ log }, i) => log - between(columns[i]!, values));
  const left = prices.map(({ sd }, i) => {
    const share = 1 - variances[i]! / (sd * sd);
    return share > IMPLIED_SHARE_MIN ? share : Infinity;
  });
  return {
    values: new Map([...currencies.map((name, c) => [name, values[c]!] as const), [account, 0]]),
    residuals,
    studentized: residuals.map((residual, i) => residual / (prices[i]!.sd * Math.sqrt(left[i]!))),
    distances: residuals.map((residual, i) => residual / left[i]!),
    sds: variances.map(variance => Math.sqrt(Math.max(0, variance))),
    chiSquare: residuals.reduce((sum, residual, i) => sum + (residual / prices[i]!.sd) ** 2, 0),
    cycles: prices.length - n,
  };
}

/**
 * Returns the groups of books whose prices imply each other: any two books of a group are in one cycle. Books that are
 * in no cycle are in no group. Groups are lists of indices, in order.
 */
export function groupsInCycles(books: readonly Pair[]): readonly (readonly number[])[] {
  const tree: number[] = [];
  let labels = books.map((_, i) => i);
  books.forEach(({ base, quote }, i) => {
    const path = pathBetween(books, tree, base, quote);
    if (path === null) {
      tree.push(i);
      return;
    }
    // A book outside the spanning tree and the path between its currencies in the tree form a cycle. Cycles that share
    // a book are one group.
    const joined = new Set([i, ...path].map(j => labels[j]!));
    labels = labels.map(label => (joined.has(label) ? i : label));
  });
  const groups = [...new Set(labels)].map(label => labels.flatMap((one, i) => (one === label ? [i] : [])));
  return groups.filter(({ length }) => length > 1);
}

/** Returns the books of a forest that connect two currencies; `null` if the forest does not connect them. */
function pathBetween(
  books: readonly Pair[],
  forest: readonly number[],
  from: string,
  to: string,
): readonly number[] | null {
  if (from === to) return [];
  for (const i of forest) {
    const { base, quote } = books[i]!;
    if (base !== from && quote !== from) continue;
    const others = forest.filter(j => j !== i);
    const path = pathBetween(books, others, base === from ? quote : base, to);
    if (path !== null) return [i, ...path];
  }
  return null;
}

/** Best prices of a book and the taker fee, as a share of what is received. */
export type TakablePrices = Pair & { readonly bid: number; readonly ask: number; readonly fee: number };

/**
 * Returns the largest amount of `to` that one unit of `from` buys, by taking from a chain of `books` that visits no
 * currency twice; 0 if no chain connects them.
 */
export function bestChain(books: readonly TakablePrices[], from: string, to: string): number {
  if (from === to) return 1;
  let best = 0;
  const others = books.filter(({ base, quote }) => base !== from && quote !== from);
  for (const { base, quote, bid, ask, fee } of books) {
    if (base !== from && quote !== from) continue;
    const received = (base === from ? bid : 1 / ask) * (1 - fee);
    const next = base === from ? quote : base;
    best = Math.max(best, received * (next === to ? 1 : bestChain(others, next, to)));
  }
  return best;
}

/**
 * Returns the relative gain of the best cycle through the book with the index `i`, in either direction, after all fees;
 * negative if every such cycle loses.
 */
export function bestCycleGain(books: readonly TakablePrices[], i: number): number {
  const book = books[i]!;
  const others = books.filter((_, j) => j !== i);
  const sold = bestChain([book], book.base, book.quote) * bestChain(others, book.quote, book.base);
  const bought = bestChain([book], book.quote, book.base) * bestChain(others, book.base, book.quote);
  return Math.max(sold, bought) - 1;
}

/**
 * Returns the sum of half-spreads and fees, as logarithms, of the cheapest cycle through the book with the index `i`.
 */
export function cycleCost(books: readonly TakablePrices[], i: number): number {
  const atPar = books.map(book => {
    const half = Math.sqrt(book.ask / book.bid);
    return { ...book, bid: 1 / half, ask: half };
  });
  return -Math.log1p(bestCycleGain(atPar, i));
}
