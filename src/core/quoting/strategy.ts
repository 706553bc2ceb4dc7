/** What a strategy sees and says: a view of the market in, wanted levels with their reasons out. It never sees an order. */
import type { Depth } from '../model/book.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** One step of a price's waterfall, in ticks. The steps of a level add up to its price. */
export type Step = { readonly name: string; readonly ticks: number };

/** A wanted quote. `price` may lie between ticks: bids are floored and asks are ceiled afterwards, never by the strategy. */
export type Level = {
  readonly price: number;
  readonly amount: Amount;
  readonly why: readonly Step[];
  /** How the amount came about, where there is more to say than the amount. */
  readonly amounts?: readonly AmountStep[];
};

/** One step of an amount, in lots. The steps of a level add up to what it asks for. */
export type AmountStep = { readonly name: string; readonly lots: number };

/** Wanted levels, best first. A side that shows nothing says why. */
export type Quote = {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly noBid?: string;
  readonly noAsk?: string;
  /** What the model computed with, for people and metrics; the same object as long as nothing changed. */
  readonly figures?: readonly Figure[];
  /** The fair value that it was counted from, where the configuration makes one of parts. */
  readonly fair?: Fair;
};

export type Figure = { readonly name: string; readonly value: number; readonly unit: string };

export type LastFill = { readonly at: Millis; readonly side: Side; readonly price: Price };

/** One public trade; `side` is the taker's. */
export type SeenTrade = {
  readonly at: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly side: Side;
};

/** A price from elsewhere: another book through a cross rate, or a feed. In ticks of this instrument, as it was at `at`; not on the grid. */
export type Reference = { readonly at: Millis; readonly price: number };

/** What RFQ would pay (bid) and ask for one major, in ticks, not on the grid; as it was at `at`. */
export type RfqPrices = { readonly at: Millis; readonly bid: number; readonly ask: number };

/** What our price is taken to be, as the steps in ticks that lead to it: the middle, then what each part adds. The steps add up to the price. */
export type Fair = { readonly price: number; readonly steps: readonly Step[] };

/** The market and our own standing at one moment. Arrays are reused: read them during the call only. */
export type View = {
  readonly at: Millis;
  readonly instrument: Instrument;
  /** The book without our own orders; two-sided and not crossed. */
  readonly depth: Depth;
  /** Middle of the touch of that book, in ticks. */
  readonly mid: number;
  /** Where quotes are counted from, when the configuration has a `fairValue`; absent: the middle. */
  readonly fair?: Fair;
  /** Last public trade's price; 0 before the first. */
  readonly lastTrade: Price;
  /** Every public trade is told (`Strategy.trade`): the market is heard from a feed. False: at times only the last one is known. */
  readonly hearsTrades: boolean;
  /** The last price from elsewhere, of any age; null when there is none. */
  readonly reference: Reference | null;
  /** The last RFQ price, of any age; null when there is none. */
  readonly rfqPrices?: RfqPrices | null;
  /** Major currency held beyond the target, in lots; negative when short of it. */
  readonly position: number;
  /** Bound of |position| in the worst case. */
  readonly positionMax: Amount;
  /** Our rates in parts of 10^-8. */
  readonly makerRate: number;
  readonly takerRate: number;
  /** What one more unit of volume is worth for the next fee tier, in parts of 10^-8; it is off `makerRate` already where the configuration counts it. */
  readonly tierWorth?: number;
  /** How far markouts of our fills ask each side to move out, in bps of the price; 0 where they do not. */
  readonly widenBps: Readonly<Record<Side, number>>;
  /** Last execution of ours on each side. */
  readonly lastBuy: LastFill | null;
  readonly lastSell: LastFill | null;
};

export interface Strategy {
  quote(view: View): Quote;
  /** Hears of each public trade, between quotes, for a strategy that estimates something from them. */
  trade?(trade: SeenTrade): void;
}
