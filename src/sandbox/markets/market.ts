/** What a market is to the embedded exchange: actors without accounts that make and take liquidity in one of its books. */
import type { Amount, Clock, Instrument, Millis, Price, Random, Side } from '../../core/index.ts';

/** What delays a book's public data beyond the switches of the stream. */
export type MarketFeed = {
  /** Least time between an event and its frames, in ms. */
  delayMs: Millis;
  /** Until then, of the clock's elapsed time, nothing is told: frames wait, and its order book and trades are not answered. */
  silentUntil: Millis;
};

/** One book as a market actor sees it. House orders need no funds; they match by the same price-time rules as everybody's. */
export interface Marketplace {
  readonly instrument: Instrument;
  readonly clock: Clock;
  readonly random: Random;
  /** Matches at once, before any event of a later time. `rested` is what stays in the book under `id`. */
  place(
    side: Side,
    price: Price,
    amount: Amount,
    timeInForce: 'GTC' | 'IOC',
  ): { readonly id: number; readonly traded: Amount; readonly rested: Amount };
  /** Takes at once what stands at `price` or better, but passes by accounts' orders that came at `since` (the clock's `now`) or later. Returns what it took. */
  takeStanding(side: Side, price: Price, amount: Amount, since: Millis): Amount;
  /** Removes what is left of a house order; returns that amount, 0 when nothing was left. */
  cancel(id: number): Amount;
  /** Takes `by` lots off a house order without losing its place in the queue; an order reduced to nothing is gone. Returns what is left. */
  reduce(id: number, by: Amount): Amount;
  /** Best prices with everybody's orders in; 0 when the side is empty. */
  bestBid(): Price;
  bestAsk(): Price;
  /** Everybody's amount at a price. */
  amountAt(side: Side, price: Price): Amount;
  /** How its public data is told; its market may change that. */
  readonly feed: MarketFeed;
  /** Called after an account's order was canceled, outside of any match. */
  onCancel(call: () => void): void;
  /** Called after each execution of a house order, inside the match: remember it, place nothing. */
  onHouseFill(call: (id: number, side: Side, price: Price, amount: Amount, maker: boolean) => void): void;
}

/** An order of an account, as it rests; `at`: since when, on the clock's `now`. */
export type AccountOrder = { readonly id: number; readonly price: Price; readonly left: Amount; readonly at: Millis };

/** What a market needs that decides by itself whose turn an execution is. */
export interface FollowedPlace extends Marketplace {
  /** Accounts' orders of a side, best price first, at one price the oldest first. */
  accountOrders(side: Side): readonly AccountOrder[];
  /** The house takes so much of a resting order at its price, whatever stands before it. Throws when it has not so much left. */
  hit(id: number, amount: Amount): void;
}

/** A source of other people's orders: the seeded flow, or a recorded tape. */
export interface Market {
  /** Fills the book at once and then acts on the marketplace's clock until stopped. */
  start(place: FollowedPlace): void;
  stop(): void;
}
