/**
 * Strategy interface. A strategy receives a view of the market and returns wanted levels with reasons. Strategies never
 * see orders.
 */
import type { Depth } from '../model/book.ts';
import type { SourceStatus } from '../marketdata/livePrice.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** One step of a price, in ticks. The steps of a level sum to its price. */
export type Step = { readonly name: string; readonly ticks: number };

/**
 * Wanted level. `price` need not be a multiple of the tick: the engine rounds bids down and asks up. Strategies never
 * round.
 */
export type Level = {
  readonly price: number;
  readonly amount: Amount;
  readonly why: readonly Step[];
  /** Steps of the amount; absent if the amount needs no explanation. */
  readonly amounts?: readonly AmountStep[];
};

/** One step of an amount, in lots. The steps of a level sum to the requested amount. */
export type AmountStep = { readonly name: string; readonly lots: number };

/** Wanted levels, best first. If a side is empty, `noBid` or `noAsk` has the reason. */
export type Quote = {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly noBid?: string;
  readonly noAsk?: string;
  /** Error of a strategy file, with the remedy, because of which both sides are empty; absent without an error. */
  readonly failure?: string;
  /** Present if both sides are empty until a strategy file has the data that it needs, which takes no action. */
  readonly isLearning?: true;
  /** Named values from which the strategy computed the quote, for display and metrics. */
  readonly figures?: readonly Figure[];
  /** Fair value from which the quote was computed; absent if the configuration has no `fairValue`. */
  readonly fair?: Fair;
};

/** Returns the quote without the sides for which a reason is given. */
export function withoutSides(quote: Quote, noBid: string | null, noAsk: string | null): Quote {
  if (noBid === null && noAsk === null) return quote;
  return {
    ...quote,
    ...(noBid === null ? {} : { bids: [], noBid }),
    ...(noAsk === null ? {} : { asks: [], noAsk }),
  };
}

export type Figure = { readonly name: string; readonly value: number; readonly unit: string };

export type LastFill = { readonly at: Millis; readonly side: Side; readonly price: Price };

/**
 * One public trade; `side` is the taker's side. `at` never decreases. It is the time at which the bot received the
 * trade. If the strategy needs a history of trades, `at` is the time at the exchange instead, unless that is later.
 */
export type SeenTrade = {
  readonly at: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly side: Side;
};

/** Public trades without a gap since a time: each once, oldest first. */
export type PastTrades = { readonly since: Millis; readonly trades: readonly SeenTrade[] };

/**
 * Reference price of other books through a cross rate, or of a feed, in ticks of this instrument, not rounded. `at` is
 * the time of the price.
 */
export type Reference = {
  readonly at: Millis;
  readonly price: number;
  /**
   * Combined price of the live sources without their basis, and the state of each source; absent if the price has no
   * live sources.
   */
  readonly live?: { readonly there: number; readonly sources: readonly SourceStatus[] };
};

/** Bid and ask from RFQ for one unit of the base currency, in ticks, not rounded. `at` is the time of the prices. */
export type RfqPrices = { readonly at: Millis; readonly bid: number; readonly ask: number };

/** Fair value with its steps in ticks: the mid price, then each part's contribution. The steps sum to the price. */
export type Fair = { readonly price: number; readonly steps: readonly Step[] };

/** Market and account at one time. Arrays are reused: read them only during the call. */
export type View = {
  readonly at: Millis;
  readonly instrument: Instrument;
  /** The book without the bot's orders; two-sided and not crossed. */
  readonly depth: Depth;
  /** Mid price of `depth`, in ticks. */
  readonly mid: number;
  /**
   * Center of the quotes if the configuration has a `fairValue`, or if other books correct the price of this one. If
   * absent, the mid price is the center.
   */
  readonly fair?: Fair;
  /** Price of the last public trade; 0 before the first trade. */
  readonly lastTrade: Price;
  /** Whether a feed reports every public trade to `Strategy.trade`. If false, trades may be missing. */
  readonly hearsTrades: boolean;
  /** Latest reference price, which may be old; `null` if there is none. */
  readonly reference: Reference | null;
  /** Latest RFQ prices, which may be old; `null` if there are none. */
  readonly rfqPrices?: RfqPrices | null;
  /** Held amount of the base currency minus the target, in lots. */
  readonly position: number;
  /**
   * Inventory by which a strategy skews its prices, in lots, at most `positionMax` or |position|: with
   * `jointInventory`, this includes the inventory of other books that moves with this book. If absent, equal to
   * `position`. Limits of inventory always use `position`.
   */
  readonly skewPosition?: number;
  /** Maximum of |position|, in lots, even if all possibly live orders fill. */
  readonly positionMax: Amount;
  /** Maker fee of the account, in 10^-8; `takerRate` is its taker fee. */
  readonly makerRate: number;
  readonly takerRate: number;
  /**
   * Value of one more unit of volume as progress towards the next fee tier, in 10^-8 of the unit. If the configuration
   * counts this value, `makerRate` is already reduced by it.
   */
  readonly tierWorth?: number;
  /** Widening of each side because of the markouts of the bot's fills, in bps of the price; 0 for no widening. */
  readonly widenBps: Readonly<Record<Side, number>>;
  /** Last execution of a buy order of the bot; `lastSell` is the last execution of a sell order. */
  readonly lastBuy: LastFill | null;
  readonly lastSell: LastFill | null;
};

export interface Strategy {
  quote(view: View): Quote;
  /**
   * Receives each public trade, between two calls of `quote`. Strategies that estimate values from trades implement
   * this method.
   */
  trade?(trade: SeenTrade): void;
  /** Time, in ms, of complete public trades that the strategy needs before it quotes; absent if none. */
  readonly historyMs?: number;
  /**
   * Receives the public trades up to now, before the first view. Called again if the driver lost trades: the trades are
   * complete only from the new `since` on.
   */
  history?(past: PastTrades): void;
  /**
   * Called with `true` if public trades may be missing from now on, and with `false` when the missed trades have been
   * reported. A call of `history` also ends such a gap.
   */
  historyGap?(isOpen: boolean): void;
  /** Log of the quotes; present if they come from code that a replay must not run. */
  readonly quoteLog?: QuoteLog;
}

/** Quotes that code outside of this program returned. They are recorded, so that a replay does not run that code. */
export interface QuoteLog {
  /** Returns the quotes since the previous call, in the order in which they were returned, and clears the log. */
  take(): readonly Quote[];
  /** In a replay, sets the quotes that the next decisions get. */
  give(quotes: readonly Quote[]): void;
  /** Error after which the code no longer quotes; `null` if it has not failed. */
  readonly failure: string | null;
  /** First failure or invalid quote; `null` if there was none. */
  readonly fault: string | null;
  /** Stops the quotes, as an error of the code does. A new run calls this if the code failed in the run before. */
  fail(failure: string): void;
}
