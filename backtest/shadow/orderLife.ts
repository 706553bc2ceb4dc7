/** Life of one of the bot's post-only orders, as the recording shows it, with what the models expect of it. */
import type { Millis, Money, Side } from '../../src/core/index.ts';
import type { ExpectedFills, ModelOrder } from './expectedFills.ts';

/** Order in one scenario of the models. */
export type ScenarioOrder = {
  readonly fills: ExpectedFills;
  state: 'coming' | 'resting' | 'gone';
  order: ModelOrder | null;
};

export type OrderLife = {
  readonly id: string;
  readonly side: Side;
  /** Price in ticks. */
  readonly price: number;
  readonly lots: number;
  readonly decidedAt: Millis;
  answeredAt: Millis | null;
  /** Time of the decision to cancel; `null` if none was made. */
  cancelDecidedAt: Millis | null;
  /** Times of the start and of the answer of the successful cancel; `null` if there is none. */
  canceled: { readonly startedAt: Millis; readonly at: Millis } | null;
  /** Time at which the bot knew that the order had ended; `null` while it may be live. */
  endedAt: Millis | null;
  /** Whether all lots of the order were filled. The models keep a filled order in the queue for another `GRACE_MS`. */
  isFilled: boolean;
  /** Whether the exchange rejected the order. The models then do not place it either. */
  isRejected: boolean;
  /** Whether the outcome of the placement was unknown. The order then has no expectation. */
  isUnknown: boolean;
  /** Whether the exchange's time of the order was compared with the bot's clock. */
  isTimed: boolean;
  /** Sums of its trades: lots, value, charged fee and expected fee; all but the lots in the quote currency. */
  filled: number;
  paid: Money;
  fee: Money;
  /** Time of the order's first trade at the exchange, limited to the time from decision to report; `null` if none. */
  firstFilledAt: Millis | null;
  feeExpected: Money;
  trades: number;
  /** Lots of others at its price in the last processed book; `null` if not shown. */
  shown: number | null;
  /** Lots of public trades at or through the order's price since its decision. */
  traded: number;
  /**
   * Whether the models can expect its fills: the stream recorded every book and trade of its life, and the outcome of
   * its placement is known.
   */
  isMeasured: boolean;
  readonly modelled: ScenarioOrder;
  readonly measured: ScenarioOrder;
};

/** Receiver of the events in the orders' lives, at their measured times and in order of time. */
export type LifeObserver = {
  /** Called when an order starts to rest; `life.shown` has the lots of others at its price. */
  rested(life: OrderLife, at: Millis): void;
  /** Called when a resting order has left the book. */
  left(life: OrderLife): void;
  /** Receives the recorded lots of others at the price of an order; `null` if the book does not show the price. */
  levelShown(life: OrderLife, shown: number | null): void;
  /** Receives a public trade. */
  traded(taker: Side, place: number, lots: number, at: Millis): void;
  /** Called when a life is complete, even if the order never rested. `leftAt`: time at which it left the exchange. */
  settled(life: OrderLife, leftAt: Millis): void;
};
