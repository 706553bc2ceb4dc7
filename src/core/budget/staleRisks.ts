/** Estimates of what a stale quote of each of several books can cost, from what the bot sees of the books anyway. */
import { EwmaVolatility } from '../estimators/volatility.ts';
import { pairOf } from '../model/bookName.ts';
import type { Millis } from '../model/units.ts';
import { logValue, pathsTo } from '../risk/jointInventory.ts';
import type { StaleRisk } from './informationValue.ts';

/** A live quote of the bot: price in the quote currency, amount in the base currency. */
export type OwnQuote = { readonly price: number; readonly amount: number };

/** Volatility of a book whose price has not moved yet: one bp per square root of a second. */
const SIGMA_START = 1e-4;
/** Maximum factor between the volatility estimate and its start, so that a price that never moves keeps some value. */
const SIGMA_FACTOR_MAX = 100;
const SIGMA_MEMORY_MS: Millis = 10 * 60_000;
/** Minimum time between two sampled prices; closer ones would measure the bid-ask bounce. */
const SIGMA_SAMPLE_MS: Millis = 5_000;
/** Public trades per second that are assumed of a book without evidence. */
const TAKERS_START = 0.1;
/** Duration of observation that equals the assumption in weight, and the time after which evidence has lost weight. */
const TAKERS_PRIOR_S = 600;
const TAKERS_MEMORY_MS: Millis = 30 * 60_000;

/**
 * Rate of public trades, as a Gamma posterior mean that forgets. Every book is assumed to have the same share of takers
 * who know the price, so that the share does not change the order of the books.
 */
class TakerRate {
  #count = 0;
  #seenS = 0;
  #at: Millis | null = null;

  /** Advances to a time. `isComplete`: whether all public trades since the last call were seen. */
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
  /** For each book: how the logarithms of the mid prices give the value of its quote currency in that of the first. */
  readonly #paths: readonly (readonly number[] | null)[];

  /** `symbols`: the books, in the order in which later calls name them. */
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

  /** Counts a public trade of a book whose trades are all seen. */
  trade(i: number): void {
    this.#seen[i]!.takers.trade();
  }

  /** Advances the rates of public trades. `areComplete`: for each book, whether all its trades are seen. */
  advanceTo(at: Millis, areComplete: readonly boolean[]): void {
    this.#seen.forEach(({ takers }, i) => takers.advanceTo(at, areComplete[i] === true));
  }

  /** Last mid price of a book; `null` before the first. */
  mid(i: number): number | null {
    return this.#seen[i]!.mid;
  }

  /**
   * Returns the risk of each book with its live quotes. The nearest quote counts. A book whose quote currency the other
   * books do not connect to that of the first counts with the mean value of the others.
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
