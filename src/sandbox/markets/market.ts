/** Market simulators of the embedded exchange: actors without accounts that make and take liquidity in a book. */
import type { Amount, Clock, Instrument, Millis, Price, Random, Side } from '../../core/index.ts';

/**
 * Delays of a book's public data. A stream frame waits for the longer of `delayMs` and the delay that the stream
 * switches set.
 */
export type MarketFeed = {
  /** Minimum time between an event and its stream frames, in ms. */
  delayMs: Millis;
  /**
   * Elapsed time of the clock until which no data is published: stream frames wait, and requests for order book and
   * trades fail.
   */
  silentUntil: Millis;
  /** Whether stream frames of the book are dropped, as by the switch `streamFrames` for all books. */
  isWithheld: boolean;
};

/**
 * Interface of a book for market simulators. Simulator orders need no funds, and match by the same price-time rules as
 * account orders.
 */
export interface Marketplace {
  readonly instrument: Instrument;
  readonly clock: Clock;
  readonly random: Random;
  /** Places an order and matches it immediately. `rested` is the unmatched amount that stays in the book under `id`. */
  place(
    side: Side,
    price: Price,
    amount: Amount,
    timeInForce: 'GTC' | 'IOC',
  ): { readonly id: number; readonly traded: Amount; readonly rested: Amount };
  /**
   * Takes resting orders at `price` or better immediately, except account orders placed at or after `since`, measured
   * by the clock's `now`. Returns the traded amount.
   */
  takeStanding(side: Side, price: Price, amount: Amount, since: Millis): Amount;
  /** Cancels a simulator order. Returns the open amount that was canceled, or 0 if the order no longer exists. */
  cancel(id: number): Amount;
  /**
   * Reduces a simulator order by `by` lots without loss of queue position. Removes the order if nothing remains.
   * Returns the remaining open amount.
   */
  reduce(id: number, by: Amount): Amount;
  /** Best bid of all orders, including account orders; 0 if there is none. */
  bestBid(): Price;
  /** Best ask of all orders, including account orders; 0 if there is none. */
  bestAsk(): Price;
  /** Returns the total amount of all orders at a price. */
  amountAt(side: Side, price: Price): Amount;
  /** Delays of the public data; the market simulator of the book can change these delays. */
  readonly feed: MarketFeed;
  /** Registers a function that is called after each cancel of an account order, outside of any match. */
  onCancel(call: () => void): void;
  /**
   * Registers a function that is called after each execution of a simulator order. The call is during the match and
   * must not place orders.
   */
  onSyntheticFill(call: (id: number, side: Side, price: Price, amount: Amount, maker: boolean) => void): void;
}

/** Resting order of an account. `at` is the time at which the order was entered, measured by the clock's `now`. */
export type AccountOrder = {
  readonly id: number;
  /** Id of the order in the exchange's interface; unlike `id`, the same after a restart. */
  readonly oid: string;
  readonly price: Price;
  readonly left: Amount;
  readonly at: Millis;
};

/** Order in the queue of a price: the lots of a simulator order, or the oid of an account order. */
export type QueuePart = Amount | string;

/** Interface for a market that decides itself which orders an execution fills. */
export interface FollowedPlace extends Marketplace {
  /** Returns the account orders of a side, best price first, then oldest first. */
  accountOrders(side: Side): readonly AccountOrder[];
  /** Returns all orders at a price, oldest first. */
  queueAt(side: Side, price: Price): readonly QueuePart[];
  /** Whether a resting order is the last one in the queue of its price. */
  isLast(id: number): boolean;
  /** Adds `by` lots to a simulator order without loss of queue position. Throws if the order does not exist. */
  enlarge(id: number, by: Amount): void;
  /** Fills `amount` of a resting order at its price, ignoring queue priority. Throws if less is open. */
  hit(id: number, amount: Amount): void;
}

/** Source of other traders' orders: the seeded flow, a recorded tape or a followed exchange. */
export interface Market {
  /** Starts to place and cancel orders, on the marketplace's clock, until stopped. */
  start(place: FollowedPlace): void;
  stop(): void;
}
