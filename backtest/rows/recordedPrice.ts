/** Price of a recording at a time that only moves forward: the book, or the last trade of a recording without a book. */
import { money, opposite, type Millis, type Money, type Side } from '../../src/core/index.ts';
import { KIND, RecordedBook, type RecordedSide, type Tape } from '../../src/tape/index.ts';
import { GapIterator } from './gapIterator.ts';

/** Data from which prices are known: levels with amounts, best prices without amounts, or only the last trade. */
export type PriceKind = 'depth' | 'best prices' | 'last trades';

/** Age from which a price counts as unknown, in ms. */
export const PRICE_AGE_MAX_MS = 600_000;

/** Returns the best kind of prices that the rows of a recording give. */
export const priceKindOf = ({ columns, quotesOnly }: Tape): PriceKind => {
  if (!columns.kind.includes(KIND.level) && !columns.kind.includes(KIND.add)) return 'last trades';
  return quotesOnly ? 'best prices' : 'depth';
};

/** Executed order at recorded prices. `isWithinDepth`: whether the recorded levels were enough for the whole amount. */
export type RecordedExecution = { readonly value: Money; readonly isWithinDepth: boolean };

export class RecordedPrice {
  readonly kind: PriceKind;
  readonly #tape: Tape;
  readonly #book: RecordedBook;
  readonly #gaps: GapIterator;
  #row = 0;
  #lastTrade = 0;
  #at: Millis = -Infinity;
  #changes = 0;
  #now: Millis = -Infinity;

  constructor(tape: Tape) {
    this.#tape = tape;
    this.#book = new RecordedBook(tape.columns);
    this.#gaps = new GapIterator(tape.gaps);
    this.kind = priceKindOf(tape);
  }

  /** Best bid in ticks, or the last trade; 0 if unknown. */
  get bid(): number {
    return this.kind === 'last trades' ? this.#lastTrade : this.#book.bids.priceAt(0);
  }

  /** Best ask in ticks, or the last trade; 0 if unknown. */
  get ask(): number {
    return this.kind === 'last trades' ? this.#lastTrade : this.#book.asks.priceAt(0);
  }

  /** Lots at the best ask for a buyer and at the best bid for a seller; Infinity if the recording has no amounts. */
  bestLots(side: Side): number {
    return this.kind === 'depth' ? this.levelsFor(side).amountAt(0) : Infinity;
  }

  /** Time of the latest row; -Infinity before the first row. */
  get at(): Millis {
    return this.#at;
  }

  /** Number of rows so far that changed the book. Two cursors of one recording with equal numbers show one book. */
  get changes(): number {
    return this.#changes;
  }

  /** Time of the next row; Infinity after the last row. */
  get nextAt(): Millis {
    const { at, length } = this.#tape.columns;
    return this.#row < length ? at[this.#row]! : Infinity;
  }

  /** Applies all rows up to `at`, inclusive. */
  moveTo(at: Millis): void {
    const { columns } = this.#tape;
    for (; this.#row < columns.length && columns.at[this.#row]! <= at; this.#row++) {
      this.#at = columns.at[this.#row]!;
      if (columns.kind[this.#row] === KIND.trade) this.#lastTrade = columns.price[this.#row]!;
      else {
        this.#book.apply(this.#row);
        this.#changes++;
      }
    }
    this.#now = Math.max(this.#now, at);
  }

  /** Whether the price is known: recent, outside gaps, and with a bid that is not above the ask. */
  get isKnown(): boolean {
    const { bid, ask } = this;
    return bid > 0 && ask >= bid && this.#now - this.#at <= PRICE_AGE_MAX_MS && !this.#gaps.isIn(this.#now);
  }

  /** Mid price in the quote currency; NaN if unknown. */
  get mid(): number {
    return this.isKnown ? ((this.bid + this.ask) / 2) * Number(this.#tape.instrument.tick) : Number.NaN;
  }

  /**
   * Returns the exact value of an order of `base` against the recorded levels, rounded down for a sale and up for a
   * purchase. An amount beyond the recorded levels executes at the price of the last level. Call only while the price
   * is known.
   */
  executed(side: Side, base: Money): RecordedExecution {
    const { lotMoney, tickMoney } = this.#tape.instrument;
    const valueAt = (ticks: number, amount: bigint): bigint => BigInt(ticks) * tickMoney * amount;
    const executedFor = (product: bigint): Money => money((product + (side === 'buy' ? ONE - 1n : 0n)) / ONE);
    if (this.kind !== 'depth')
      return { value: executedFor(valueAt(side === 'sell' ? this.bid : this.ask, base)), isWithinDepth: true };
    const levels = this.levelsFor(side);
    let left: bigint = base;
    let product = 0n;
    let worst = 0;
    for (let i = 0; i < levels.length && left > 0n; i++) {
      worst = levels.priceAt(i);
      const offered = BigInt(levels.amountAt(i)) * lotMoney;
      const taken = offered < left ? offered : left;
      product += valueAt(worst, taken);
      left -= taken;
    }
    return { value: executedFor(product + valueAt(worst, left)), isWithinDepth: left === 0n };
  }

  /** Returns the levels that an order of this side takes, best price first. */
  levelsFor(side: Side): RecordedSide {
    return opposite(side) === 'buy' ? this.#book.bids : this.#book.asks;
  }
}

const ONE = 10n ** 18n;
