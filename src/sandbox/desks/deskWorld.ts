/** What the RFQ desk and the conversions need of the exchange that they belong to: its clock, its switches, the prices of its books, and a swap. */
import type { Amount, Clock, Instrument, Money, Price, Side } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import type { Switches } from '../switches/switches.ts';

/** One book as a desk sees it. Best prices in ticks, 0 where a side is empty. */
export interface DeskBook {
  readonly instrument: Instrument;
  readonly rules: { readonly book: string };
  readonly engine: {
    bestBid(): number;
    bestAsk(): number;
    /** Calls for each level, best first, until `visit` returns false. */
    eachLevel(side: Side, visit: (price: Price, total: Amount) => boolean): void;
  };
}

export type DeskSum = { readonly currency: string; readonly sum: Money };

export interface DeskWorld {
  readonly clock: Clock;
  readonly switches: Switches;
  readonly books: ReadonlyMap<string, DeskBook>;
  /** False, and nothing moved, when the account cannot pay. */
  swap(account: Account, pay: DeskSum, receive: DeskSum): boolean;
}
