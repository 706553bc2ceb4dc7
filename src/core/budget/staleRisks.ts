/** Estimated risk of a stale quote in each of several books, from data that the bot reads anyway. */
import { EwmaVolatility } from '../estimators/volatility.ts';
import { pairOf } from '../model/bookName.ts';
import type { Millis } from '../model/units.ts';
import { logValue, pathsTo } from '../risk/jointInventory.ts';
import type { StaleRisk } from './informationValue.ts';

/** A live quote of the bot: price in the quote currency, amount in the base currency. */
export type OwnQuote = { readonly price: number; readonly amount: number };

/** Volatility of a book whose price has not moved yet: one bp per square root of a second. */
const SIGMA_START = 1e-4;
/** Maximum factor between the volatility estimate and its start, so that a price that never moves keeps some risk. */
const SIGMA_FACTOR_MAX = 100;
const SIGMA_MEMORY_MS: Millis = 10 * 60_000;
/** Minimum time between two sampled prices; closer ones would measure the bid-ask bounce. */
const SIGMA_SAMPLE_MS: Millis = 5_000;
/** Assumed number of public trades per second in a book without evidence. */
const TAKERS_START = 0.1;
/** Duration of an observation that has the same weight as the assumption. */
const TAKERS_PRIOR_S = 600;
/** Time after which the weight of evidence has fallen to 1/e. */
const TAKERS_MEMORY_MS: Millis = 30 * 60_000;

/**
 * Rate of public trades: a Gamma posterior mean in which older evidence has less weight. Takers who know the price are
 * assumed to be the same share in every book, so that the share does not change the order of the books.
 */
class TakerRate {
  #count = 0;
  #seenS = 0;
  #at: Millis | null = null;

  /** Advances to a time. `isComplete`: whether all public trades since the last call were counted. */
  advanceTo(at: Millis, isComplete: boolean): void {
    const passed = this.#at === null ? 0 : Math.max(0, at - this.#at);
    this.#at = at;
    const kept = Math.exp(-passed / TAKERS_MEMORY_MS);
    this.#count *= kept;
    this.#seenS = this.#seenS * kept + (isComplete ? passed / 1_000 : 0);
  }

  trade(): void {
    this.#count++;
  }

  get perSecond(): number {
    return (this.#count + TAKERS_START * TAKERS_PRIOR_S) / (this.#seenS + TAKERS_PRIOR_S);
  }
}

type Seen = { readonly volatility: EwmaVolatility; readonly takers: TakerRate; mid: number | null };

export class StaleRisks {
  readonly #seen: readonly Seen[];
  /**
   * For each book: factors of the logarithmic mid prices, whose sum is the logarithm of the value of its quote currency
   * in the quote currency of the first book. `null` if no books connect these currencies.
   */
  readonly #paths: readonly (readonly number[] | null)[];

  /** `symbols`: symbols of the books. Later calls name a book by its index in this list. */
  constructor(symbols: readonly string[]) {
    this.#seen = symbols.map(() => ({
      volatility: new EwmaVolatility({
        ...{ startPerRootSecond: SIGMA_START, factorMax: SIGMA_FACTOR_MAX },
        ...{ memoryMs: SIGMA_MEMORY_MS, sampleMs: SIGMA_SAMPLE_MS },
      }),
      takers: new TakerRate(),
      mid: null,
    }));
    const names = symbols.map(pairOf);
    const paths = names[0] === undefined ? new Map<string, readonly number[]>() : pathsTo(names[0][1], names);
    this.#paths = names.map(([, quote]) => paths.get(quote) ?? null);
  }

  /** Adds the mid price of a book that was just read, without the bot's orders; `null` if it has none. */
  read(i: number, at: Millis, mid: number | null): void {
    if (mid === null || !(mid > 0 && mid < Infinity)) return;
    const seen = this.#seen[i]!;
    seen.mid = mid;
    seen.volatility.observe(at, mid);
  }

  /** Counts a public trade of a book. Called only while the bot receives every trade of this book. */
  trade(i: number): void {
    this.#seen[i]!.takers.trade();
  }

  /** Advances the rates of public trades. `areComplete`: for each book, whether the bot receives all its trades. */
  advanceTo(at: Millis, areComplete: readonly boolean[]): void {
    this.#seen.forEach(({ takers }, i) => takers.advanceTo(at, areComplete[i] === true));
  }

  /** Returns the last mid price of a book; `null` before the first. */
  mid(i: number): number | null {
    return this.#seen[i]!.mid;
  }

  /**
   * Returns the risk of each book with its live quotes. Only the quote nearest to the mid price counts. If the
   * value of a quote is unknown, `worth` is the mean of the others: without a quote, without a mid price, or if no books
   * connect its quote currency to that of the first book.
   */
  of(quotes: readonly (readonly OwnQuote[])[]): readonly StaleRisk[] {
    const mids = this.#seen.map(({ mid }) => mid);
    const nearest = quotes.map((each, i) => nearestOf(each, mids[i]!));
    const worths = nearest.map((quote, i) => {
      const path = this.#paths[i] ?? null;
      const log = path === null ? null : logValue(path, mids);
      return quote === null || log === null ? null : quote.price * quote.amount * Math.exp(log);
    });
    const known = worths.filter(worth => worth !== null);
    const mean = known.length === 0 ? 1 : known.reduce((sum, worth) => sum + worth, 0) / known.length;
    return this.#seen.map(({ volatility, takers, mid }, i) => {
      const quote = nearest[i] ?? null;
      return {
        sigma: volatility.perRootSecond,
        distance: quote === null || mid === null ? Infinity : Math.abs(quote.price / mid - 1),
        takers: takers.perSecond,
        worth: worths[i] ?? mean,
      };
    });
  }
}

function nearestOf(quotes: readonly OwnQuote[], mid: number | null): OwnQuote | null {
  if (mid === null) return null;
  return quotes.reduce<OwnQuote | null>(
    (found, quote) => (found === null || Math.abs(quote.price - mid) < Math.abs(found.price - mid) ? quote : found),
    null,
  );
}
