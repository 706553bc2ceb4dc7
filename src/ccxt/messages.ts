/** Messages between the thread of ccxt and the thread of the bot. */
import type { AvailableBook, DecimalText, Millis, Outcome } from '../core/index.ts';

/** Price and amount of a level, as text. */
export type TextLevel = readonly [price: DecimalText, amount: DecimalText];

/**
 * Book by levels, best price first. `sentAt` is the book's time on the exchange's clock, in epoch ms; `null` if
 * unknown.
 */
export type TextBook = {
  readonly bids: readonly TextLevel[];
  readonly asks: readonly TextLevel[];
  readonly sentAt: Millis | null;
  /** Number of levels with more digits than a double keeps; 0 if all levels are the exchange's own text. */
  readonly inexact: number;
};

/** Public trade. `id` is the exchange's id; `null` if the trade has none. */
export type TextTrade = {
  readonly id: string | null;
  readonly at: Millis;
  readonly price: DecimalText;
  readonly amount: DecimalText;
  readonly takerSide: 'buy' | 'sell';
};

export type TradesRead = { readonly trades: readonly TextTrade[]; readonly unreadable: readonly string[] };

export type CcxtThreadData = {
  /** File with the ccxt class of the exchange. */
  readonly file: string;
  readonly id: string;
  readonly book: string;
  /** Origin that replaces the origin of every address of the ccxt class; absent for the exchange's own addresses. */
  readonly url?: string;
  /** Market of the book as an earlier thread read it, so that a restart does not read all markets again. */
  readonly market?: object;
  readonly wants: Wants;
  /** Maximum number of levels per side. */
  readonly levels: number;
  /** Maximum time of a request, from its start to the end of its body, in ms. */
  readonly requestMs: Millis;
};

/**
 * Data that the thread streams if the ccxt class has the streams: `prices` needs only the book. `tape` streams the book
 * and trades or nothing. `polls` never streams.
 */
export type Wants = 'prices' | 'tape' | 'polls';

export type FromCcxt =
  | {
      readonly kind: 'ready';
      readonly market: object;
      /** Whether the thread streams. Otherwise the books must be requested. */
      readonly streams: boolean;
      /** Minimum time between two requests, as stated in the ccxt class, in ms. */
      readonly rateLimitMs: Millis;
    }
  | { readonly kind: 'book'; readonly book: TextBook }
  /** The exchange sent the same book again. */
  | { readonly kind: 'same'; readonly sentAt: Millis | null }
  | ({ readonly kind: 'trades' } & TradesRead)
  /** The thread cannot continue and must be replaced. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'answer'; readonly request: number; readonly outcome: Outcome<unknown> };

/** Requests to the thread, and the values of their answers. */
export type CcxtAnswers = {
  readonly rules: AvailableBook;
  readonly book: TextBook;
  readonly trades: TradesRead;
};

export type ToCcxt = { readonly request: number; readonly what: keyof CcxtAnswers };
