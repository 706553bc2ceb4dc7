/**
 * Watch over the prices of several books whose currencies form cycles, like btc_mxn, btc_usd and usd_mxn: a correction
 * of each fair value while the prices agree within their costs, and doubt about a book while they do not
 * (formulas-desk E14).
 */
import {
  bestCycleGain,
  cycleCost,
  fitCrossRates,
  groupsInCycles,
  type CrossRateFit,
  type TakablePrices,
} from './crossRates.ts';
import { EwmaVolatility } from '../estimators/volatility.ts';
import { pairOf } from '../model/bookName.ts';
import type { PriceDoubt } from '../quoting/priceDoubt.ts';
import type { Millis } from '../model/units.ts';

export type CrossRateRules = {
  /** Maximum age of every read that is compared. */
  readonly withinMs: Millis;
};

/** Best prices of other traders in a book, with the start of their read. */
export type CrossRead = {
  readonly readAt: Millis;
  readonly bid: number;
  readonly ask: number;
  /** Taker fee, as a share of what is received. */
  readonly fee: number;
};

/** Result of a comparison for one book: the logarithms of the measured and the fitted price, or a doubt. */
type Verdict = { readonly at: Millis; readonly log: number; readonly fitted: number } | PriceDoubt;

/** State of the comparisons of one book. */
type ComparedBook = {
  /** Latest result. The bot uses a result after `IN_A_ROW` comparisons in a row with a result of the same kind. */
  verdict: Verdict | null;
  /** Number of comparisons in a row, each with new reads, whose result was of this kind. */
  count: number;
  /** Time of the first comparison in a row whose result was of this kind. */
  since: Millis;
  /** Time of the last comparison. */
  comparedAt: Millis;
  /** Times of the reads of all books in the last comparison that was counted. */
  counted: readonly Millis[];
  correction: Extract<Verdict, { readonly fitted: number }> | null;
  doubt: PriceDoubt | null;
};

/** Number of comparisons in a row, each with new reads of all its books, after which a result is used. */
const IN_A_ROW = 2;
/** Time for which the prices must agree before a doubt ends, so that quotes do not appear and disappear repeatedly. */
const AGREE_MS = 10_000;
/**
 * Multiple of the maximum age of a book. After this time without a comparison, a book is left out of the comparisons of
 * the others, and its moved quote returns.
 */
const UNCOMPARED_TIMES = 3;
/** Squared error in standard deviations above which a price is suspect. One correct price in 370 is above it. */
const SUSPECT_CHI_SQUARE = 9;
/** Relative difference below which two errors are equal, because their books are in the same cycles. */
const EQUAL_ERRORS = 1e-6;
/** Standard deviation that each price has at least, relative: half a basis point. */
const DEVIATION_MIN = 5e-5;
/** Relative correction below which it is a rounding error of logarithms, which could move a price by a whole tick. */
const CORRECTION_MIN = 1e-9;
const VOLATILITY = { startPerRootSecond: 0, memoryMs: 600_000, sampleMs: 2_000 };

const isDoubt = (verdict: Verdict): verdict is PriceDoubt => 'isPulled' in verdict;

export class CrossRateWatch {
  readonly #symbols: readonly string[];
  readonly #pairs: readonly { readonly base: string; readonly quote: string }[];
  readonly #rules: CrossRateRules;
  readonly #reads: (CrossRead | null)[];
  readonly #states: readonly ComparedBook[];
  readonly #volatilities: readonly EwmaVolatility[];
  /** Groups of books that are in common cycles. */
  readonly #blocks: readonly (readonly number[])[];
  /** Maximum age of a book that is quoted. */
  readonly #staleAfterMs: Millis;
  #startedAt: Millis | null = null;

  /** `symbols`: books of the account. `staleAfterMs`: maximum age of a book that is quoted. */
  constructor(symbols: readonly string[], rules: CrossRateRules, staleAfterMs: Millis) {
    this.#staleAfterMs = staleAfterMs;
    this.#symbols = symbols;
    this.#pairs = symbols.map(pairOf).map(([base, quote]) => ({ base, quote }));
    this.#blocks = groupsInCycles(this.#pairs);
    this.#rules = rules;
    this.#reads = symbols.map(() => null);
    this.#volatilities = symbols.map(() => new EwmaVolatility(VOLATILITY));
    this.#states = symbols.map(() => ({
      verdict: null,
      count: 0,
      since: -Infinity,
      comparedAt: -Infinity,
      counted: [],
      correction: null,
      doubt: null,
    }));
  }

  /**
   * Applies a read of a book; `null` if the book cannot be quoted. Compares this book with the other books of its
   * cycles, if all were read within `withinMs`. Returns the indices of the books whose doubt has started, ended or
   * changed its effect.
   */
  read(i: number, at: Millis, read: CrossRead | null): readonly number[] {
    this.#reads[i] = read;
    this.#startedAt ??= at;
    const ended = this.#endMoves(at);
    if (read === null) return ended;
    this.#volatilities[i]!.observe(at, (read.bid + read.ask) / 2);
    const group = this.#comparable(i, at);
    if (group === null) return ended;
    const verdicts = this.#compare(group, at);
    return [...ended, ...group.filter(j => this.#apply(j, at, verdicts.get(j)!, group))];
  }

  /**
   * Returns a book and the books with which it can be compared now; `null` if there are none, or if a book of its
   * cycles must be read first. A book that was in no comparison for a long time is left out, because it may never be
   * read in time.
   */
  #comparable(i: number, at: Millis): readonly number[] | null {
    const block = this.#blocks.find(books => books.includes(i));
    if (block === undefined) return null;
    const fresh = block.filter(j => this.#isFresh(j, at));
    if (fresh.length === block.length) return block;
    const isWaiting = block.some(j => !fresh.includes(j) && !this.#isUncompared(j, at));
    return isWaiting ? null : (this.#groupsOf(fresh).find(books => books.includes(i)) ?? null);
  }

  #isFresh(j: number, at: Millis): boolean {
    const read = this.#reads[j]!;
    return read !== null && at - read.readAt <= this.#rules.withinMs;
  }

  #isUncompared(j: number, at: Millis): boolean {
    const since = Math.max(this.#states[j]!.comparedAt, this.#startedAt ?? at);
    return at - since > UNCOMPARED_TIMES * this.#staleAfterMs;
  }

  /**
   * Ends the doubts that move the quotes of books without a comparison for a long time. Returns these books' indices.
   */
  #endMoves(at: Millis): readonly number[] {
    const ended = this.#states.flatMap(({ doubt }, j) =>
      doubt?.isPulled === false && this.#isUncompared(j, at) ? [j] : [],
    );
    for (const j of ended) Object.assign(this.#states[j]!, { doubt: null, verdict: null, count: 0 });
    return ended;
  }

  /**
   * Returns the distance from the mid price of a book to its fair value: 0 without a correction, or if the last
   * comparison is older than `maxAgeMs`. Moves of the mid price since that comparison are subtracted. A move away from
   * the fair value does not increase the distance.
   */
  correction(i: number, mid: number, at: Millis, maxAgeMs: Millis): number {
    const { correction } = this.#states[i]!;
    if (correction === null || !(at - correction.at <= maxAgeMs)) return 0;
    const gap = correction.fitted - correction.log;
    const left = gap - (Math.log(mid) - correction.log);
    const share = gap < 0 ? Math.max(gap, Math.min(left, 0)) : Math.min(gap, Math.max(left, 0));
    return Math.abs(share) < CORRECTION_MIN ? 0 : mid * Math.expm1(share);
  }

  /** Returns the doubt about the price of a book; `null` if there is none. */
  doubt(i: number): PriceDoubt | null {
    return this.#states[i]!.doubt;
  }

  /** Restores the doubt in which an earlier run ended, if the book can still be compared with others. */
  restore(i: number, doubt: PriceDoubt): void {
    if (this.#blocks.some(books => books.includes(i))) this.#states[i]!.doubt = doubt;
  }

  #groupsOf(books: readonly number[]): readonly (readonly number[])[] {
    return groupsInCycles(books.map(j => this.#pairs[j]!)).map(group => group.map(k => books[k]!));
  }

  /**
   * Compares the books of a group, then repeatedly without the suspect books, until the rest agrees or has no cycle.
   */
  #compare(group: readonly number[], at: Millis): ReadonlyMap<number, Verdict> {
    const verdicts = new Map<number, Verdict>();
    const rest = [group];
    for (let books = rest.pop(); books !== undefined; books = rest.pop()) {
      const fit = fitCrossRates(
        books.map(j => ({ ...this.#pairs[j]!, log: this.#logOf(j), sd: this.#deviation(j, at) })),
        this.#pairs[books[0]!]!.quote,
      );
      const prices = this.#pricesOf(books);
      const suspects = this.#suspects(books, fit, prices);
      if (suspects.length === 0) {
        books.forEach((j, k) => {
          const log = this.#logOf(j);
          verdicts.set(j, { at, log, fitted: log - boundedByCosts(fit.residuals[k]!, prices, k) });
        });
        continue;
      }
      const pulled = this.#pulledOf(suspects);
      const names = group.map(j => this.#symbols[j]!);
      for (const j of suspects) {
        const distance = fit.distances[books.indexOf(j)]!;
        verdicts.set(j, { isPulled: pulled.includes(j), distance, books: names });
      }
      rest.push(...this.#groupsOf(books.filter(j => !suspects.includes(j))));
    }
    // A book that is in no cycle without the suspects has nothing to compare with.
    for (const j of group) if (!verdicts.has(j)) verdicts.set(j, { at, log: this.#logOf(j), fitted: this.#logOf(j) });
    return verdicts;
  }

  /**
   * Returns the suspect books: those with the largest error in standard deviations, among the books whose error is
   * above the threshold and through which a cycle gains after all costs. If there are books without which no cycle
   * gains, only they can be suspect. Books that are in the same cycles have equal errors.
   */
  #suspects(
    books: readonly number[],
    { studentized }: CrossRateFit,
    prices: readonly TakablePrices[],
  ): readonly number[] {
    const isFar = (k: number): boolean => studentized[k]! ** 2 > SUSPECT_CHI_SQUARE;
    if (!books.some((_, k) => isFar(k))) return [];
    const gaining = prices.flatMap((_, k) => (bestCycleGain(prices, k) > 0 ? [k] : []));
    const possible = gaining.filter(isFar);
    const alone = possible.filter(k => {
      const others = gaining.flatMap(m => (m === k ? [] : [prices[m]!]));
      return others.every((_, m) => !(bestCycleGain(others, m) > 0));
    });
    const chosen = alone.length > 0 ? alone : possible;
    const largest = Math.max(...chosen.map(k => Math.abs(studentized[k]!)));
    return chosen.filter(k => Math.abs(studentized[k]!) >= (1 - EQUAL_ERRORS) * largest).map(k => books[k]!);
  }

  /**
   * Returns which of several equally suspect books must not quote, because the data do not show which price is wrong:
   * those that already do not quote or, if all quote, those with the oldest read.
   */
  #pulledOf(suspects: readonly number[]): readonly number[] {
    const before = suspects.filter(j => this.#states[j]!.doubt?.isPulled === true);
    if (before.length > 0) return before;
    const oldest = Math.min(...suspects.map(j => this.#reads[j]!.readAt));
    return suspects.filter(j => this.#reads[j]!.readAt === oldest);
  }

  /** Applies a verdict to a book. Returns whether its doubt has started, ended or changed its effect. */
  #apply(j: number, at: Millis, verdict: Verdict, group: readonly number[]): boolean {
    const state = this.#states[j]!;
    const before = state.verdict;
    const isInRow = at - state.comparedAt <= this.#staleAfterMs;
    const isSame = isInRow && before !== null && isDoubt(before) === isDoubt(verdict);
    state.comparedAt = at;
    if (!isSame || group.every(k => this.#reads[k]!.readAt > (state.counted[k] ?? -Infinity))) {
      state.count = isSame ? state.count + 1 : 1;
      state.counted = this.#reads.map(read => read?.readAt ?? -Infinity);
    }
    if (!isSame) state.since = at;
    state.verdict = verdict;
    if (isDoubt(verdict)) state.correction = null;
    if (state.count < IN_A_ROW) return false;
    if (!isDoubt(verdict) && state.doubt !== null && at - state.since < AGREE_MS) return false;
    const doubted = state.doubt;
    state.doubt = isDoubt(verdict) ? verdict : null;
    if (!isDoubt(verdict)) state.correction = verdict;
    return doubted?.isPulled !== state.doubt?.isPulled;
  }

  #pricesOf(books: readonly number[]): readonly TakablePrices[] {
    return books.map(j => ({ ...this.#pairs[j]!, ...this.#reads[j]! }));
  }

  /** Logarithm of the mid price of a book that was read. */
  #logOf(j: number): number {
    const { bid, ask } = this.#reads[j]!;
    return Math.log((bid + ask) / 2);
  }

  /** Standard deviation of the logarithm of a mid price: from the spread, and from the moves since the read. */
  #deviation(j: number, at: Millis): number {
    const { bid, ask, readAt } = this.#reads[j]!;
    const halfSpread = Math.log(ask / bid) / 2;
    const moved = this.#volatilities[j]!.perRootSecond ** 2 * (Math.max(0, at - readAt) / 1_000);
    return Math.sqrt(halfSpread ** 2 / 3 + moved + DEVIATION_MIN ** 2);
  }
}

/**
 * Returns the residual of a book, limited to the costs of its cheapest cycle. Takers would gain from a larger
 * difference, so a correction must not rely on one.
 */
function boundedByCosts(residual: number, prices: readonly TakablePrices[], k: number): number {
  const { bid, ask, fee } = prices[k]!;
  // Every cycle through the book costs at least its half-spread and fee.
  if (Math.abs(residual) <= Math.log(ask / bid) / 2 - Math.log1p(-fee)) return residual;
  const cost = cycleCost(prices, k);
  return Math.max(-cost, Math.min(cost, residual));
}
