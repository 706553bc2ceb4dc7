/** Record of decisions on levels: counts of all outcomes by reason and, if traced, the last decision in full. */
import { isCut, type NormalizedLevel, type NormalizedQuote } from '../quoting/normalizeQuote.ts';
import { remaining, type Order } from '../orders/orders.ts';
import type { OrderState } from '../orders/orderStates.ts';
import type { QuotePlan } from '../quoting/quoteReconciler.ts';
import { ACTIONS, REASONS, silenceReason, type DecisionAction, type Reason } from './reasons.ts';
import type { RiskRefusal } from '../risk/preTradeRisk.ts';
import type { Quote } from '../quoting/strategy.ts';
import type { EmptySide, EmptySides } from './emptySides.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** Count of one action with one reason on one side. */
export type DecisionCount = {
  readonly side: Side;
  readonly action: DecisionAction;
  readonly reason: Reason;
  readonly count: number;
};

export type Decided = {
  readonly side: Side;
  readonly action: DecisionAction;
  readonly reason: Reason;
  /** Text that details the reason; `null` if the reason needs no details. */
  readonly detail: string | null;
  /**
   * Index of the strategy's level on this side, from 0; `null` for the whole side or for an order without a wanted
   * level.
   */
  readonly index: number | null;
  /** Normalized level; `null` if it may not be placed. */
  readonly level: NormalizedLevel | null;
  /**
   * Order that the level had before the decision, or the order that the decision places; `null` if there is neither.
   */
  readonly order: DecidedOrder | null;
};

export type DecidedOrder = {
  readonly id: string;
  readonly price: Price;
  readonly remaining: Amount;
  readonly state: OrderState;
};

/** Last decision, with the outcome of every level. */
export type Decision = {
  readonly at: Millis;
  /** Reason why the bot could not quote; `null` if the bot could quote. */
  readonly refusal: RiskRefusal | null;
  /** Quote that the strategy returned; `null` if the strategy was not called. */
  readonly quote: Quote | null;
  readonly decided: readonly Decided[];
};

const REASON_AT = Object.fromEntries(REASONS.map((reason, i) => [reason, i])) as Readonly<Record<Reason, number>>;
const ACTION_AT = Object.fromEntries(ACTIONS.map((action, i) => [action, i])) as Readonly<
  Record<DecisionAction, number>
>;
export const REASON_TO_WAIT: Readonly<Partial<Record<OrderState, Reason>>> = {
  unknown: 'its order is unknown',
  canceling: 'its order is being canceled',
};
const SIDES = ['buy', 'sell'] as const;
/** Reason for an empty side before the first decision. */
const NOT_READY: EmptySide = { reason: 'not ready', words: null, level: null };
const ALL_SHOWN: EmptySides = { buy: null, sell: null };
const NO_LEVELS: EmptySide = { reason: 'held back by the strategy', words: null, level: null };

export class Decisions {
  readonly #counts = new Float64Array(SIDES.length * ACTIONS.length * REASONS.length);
  readonly #isTraced: boolean;
  #silent: string[] = [];
  /**
   * Whether a level of the side has an order that is live, being sent or being replaced. `#unshown` has the first
   * reason why a level has no order.
   */
  readonly #isShown: Record<Side, boolean> = { buy: false, sell: false };
  readonly #unshown: Record<Side, EmptySide | null> = { buy: NOT_READY, sell: NOT_READY };
  #last: { at: Millis; refusal: RiskRefusal | null; quote: Quote | null; decided: Decided[] } | null = null;

  /** If `isTraced` is true, the last decision is kept in full, which costs allocations. */
  constructor(isTraced: boolean) {
    this.#isTraced = isTraced;
  }

  begin(at: Millis, refusal: RiskRefusal | null): void {
    if (this.#silent.length > 0) this.#silent = [];
    for (const side of SIDES) {
      this.#isShown[side] = false;
      this.#unshown[side] = null;
    }
    if (this.#isTraced) this.#last = { at, refusal, quote: null, decided: [] };
  }

  /** Records the strategy's quote, the normalized levels, and the levels that may be placed in the book now. */
  strategyCalled(quote: Quote, { levels, refusals }: NormalizedQuote, shown: readonly NormalizedLevel[]): void {
    if (this.#last !== null) this.#last.quote = quote;
    if (quote.noBid !== undefined) this.#silence('buy', quote.noBid);
    if (quote.noAsk !== undefined) this.#silence('sell', quote.noAsk);
    for (const { side, index, reason } of refusals) {
      this.#silent.push(`${bidOrAsk(side)} level ${index + 1}: ${reason}`);
      if (isCut(reason)) continue;
      this.record(side, 'not placed', reason, index);
      const level = (side === 'buy' ? quote.bids : quote.asks)[index];
      // A merged level counts as part of the next level, which has an outcome of its own.
      if (reason !== 'merged into the next level') this.#misses(side, { reason, words: null, level: level ?? null });
    }
    if (shown !== levels)
      for (const level of levels) if (!shown.includes(level)) this.notPlaced(level, 'makes way for a hedge');
  }

  notPlaced(level: NormalizedLevel, reason: Reason): void {
    this.#silent.push(`${bidOrAsk(level.side)}: ${reason}`);
    this.record(level.side, 'not placed', reason, level.index, level);
    this.#misses(level.side, { reason, words: null, level });
  }

  #silence(side: Side, words: string): void {
    this.#silent.push(`${bidOrAsk(side)}: ${words}`);
    const reason = silenceReason(words);
    this.record(side, 'not placed', reason, null, null, null, words);
    this.#misses(side, { reason, words, level: null });
  }

  #misses(side: Side, what: EmptySide): void {
    this.#unshown[side] ??= what;
  }

  /** Records a placement; `order` is null in a preview. */
  placed(level: NormalizedLevel, order: Order | null): void {
    this.#isShown[level.side] = true;
    this.record(level.side, 'placed', 'as wanted', level.index, level, order);
  }

  /** Reasons for empty sides, from the last decision. A side is not empty if its orders are being sent or replaced. */
  get unshown(): EmptySides {
    const { buy, sell } = this.#isShown;
    if (buy && sell) return ALL_SHOWN;
    return {
      buy: buy ? null : (this.#unshown.buy ?? NO_LEVELS),
      sell: sell ? null : (this.#unshown.sell ?? NO_LEVELS),
    };
  }

  /** Records a refusal that applies to both sides. */
  refused(reason: RiskRefusal, detail: string | null): void {
    for (const side of SIDES) {
      this.record(side, 'not placed', reason, null, null, null, detail);
      this.#misses(side, { reason, words: detail, level: null });
    }
  }

  /**
   * Levels and sides for which the last decision placed no order, or an order smaller than wanted, with reasons as
   * text.
   */
  get silent(): readonly string[] {
    return this.#silent;
  }

  record(
    side: Side,
    action: DecisionAction,
    reason: Reason,
    index: number | null = null,
    level: NormalizedLevel | null = null,
    order: Order | null = null,
    detail: string | null = null,
  ): void {
    this.count(side, action, reason);
    if (this.#last === null) return;
    this.#last.decided.push({ side, action, reason, detail, index, level, order: order && describeOrder(order) });
  }

  /** Records the actions of a plan for levels that have an order. */
  recordPlan(side: Side, { cancel, keep, wait }: QuotePlan): void {
    if (keep.length > 0 || wait.length > 0) this.#isShown[side] = true;
    else for (const { level } of cancel) if (level !== null) this.#isShown[side] = true;
    for (const { order, reason, level } of cancel)
      this.record(side, 'canceled', reason, level?.index ?? null, level, order);
    for (const { order, level } of keep)
      this.record(side, 'kept', order.price === level.price ? 'as wanted' : 'queue place', level.index, level, order);
    for (const { order, level } of wait)
      this.record(side, 'waits', REASON_TO_WAIT[order.state] ?? 'its order is on its way', level.index, level, order);
  }

  /** Counts an event outside a decision, such as a rejection by the exchange. */
  count(side: Side, action: DecisionAction, reason: Reason): void {
    const at = ((side === 'buy' ? 0 : ACTIONS.length) + ACTION_AT[action]) * REASONS.length + REASON_AT[reason];
    this.#counts[at] = this.#counts[at]! + 1;
  }

  /** Last decision in full; `null` before the first decision, or if decisions are not traced. */
  get last(): Decision | null {
    return this.#last;
  }

  /** Counts of outcomes; an outcome that never occurred is left out. */
  get counts(): readonly DecisionCount[] {
    const list: DecisionCount[] = [];
    let at = 0;
    for (const side of SIDES)
      for (const action of ACTIONS)
        for (const reason of REASONS) {
          const count = this.#counts[at++]!;
          if (count > 0) list.push({ side, action, reason, count });
        }
    return list;
  }
}

const describeOrder = (order: Order): DecidedOrder => ({
  id: order.id,
  price: order.price,
  remaining: remaining(order) as Amount,
  state: order.state,
});

/** Returns `bid` for the buy side and `ask` for the sell side. */
export const bidOrAsk = (side: Side): 'bid' | 'ask' => (side === 'buy' ? 'bid' : 'ask');
