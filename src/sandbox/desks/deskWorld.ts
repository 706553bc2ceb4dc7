/** Exchange interface that the RFQ and conversion desks depend on: clock, switches, book prices and swaps. */
import type { Amount, Clock, Instrument, Money, Price, Side } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import type { Switches } from '../switches/switches.ts';

/** Book as a desk sees it. Best prices are in ticks, 0 if a side is empty. */
export interface DeskBook {
  readonly instrument: Instrument;
  readonly rules: { readonly book: string };
  readonly engine: {
    bestBid(): number;
    bestAsk(): number;
    /** Calls `visit` for each level, best first, until it returns false. */
    eachLevel(side: Side, visit: (price: Price, total: Amount) => boolean): void;
  };
}

/** Receiver of the conversions that must be stored. No call may change the desk. */
export interface DeskWatcher<T> {
  /** Reports a conversion that was accepted or has changed. */
  changed(conversion: T): void;
  /** Called after each background step of a conversion. */
  executed(): void;
}

export type DeskSum = { readonly currency: string; readonly sum: Money };

export interface DeskWorld {
  readonly clock: Clock;
  readonly switches: Switches;
  readonly books: ReadonlyMap<string, DeskBook>;
  /** Exchanges one sum for another. Returns false, without effect, if the account cannot pay. */
  swap(account: Account, pay: DeskSum, receive: DeskSum): boolean;
}
