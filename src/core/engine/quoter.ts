/**
 * Commands of one decision: normalized levels of the strategy's quote, planned against live orders and approved
 * individually.
 */
import type { AdverseSelection } from '../quoting/adverseSelection.ts';
import type { Decisions } from './decisions.ts';
import { refusalDetail } from './emptySides.ts';
import type { BookEngineOptions } from './engineTypes.ts';
import { normalizeQuote, type NormalizedLevel } from '../quoting/normalizeQuote.ts';
import { isInBook, type Order, type Orders } from '../orders/orders.ts';
import { pullReasonOf } from '../quoting/quotePuller.ts';
import type { OriginIds } from '../orders/originIds.ts';
import { reconcileSide, type ExcessReason } from '../quoting/quoteReconciler.ts';
import type { HedgeRooms } from '../risk/hedgeDebt.ts';
import { approvePlace, type RiskContext, type RiskRefusal } from '../risk/preTradeRisk.ts';
import type { Approved, PlaceCommand } from '../orders/commands.ts';
import { planWithoutExcess, reducedPlan } from '../quoting/regimeAdjustments.ts';
import { PostOnlyBackoff } from '../quoting/postOnlyBackoff.ts';
import { RefusalBackoff } from '../quoting/refusalBackoff.ts';
import type { Figure, Quote } from '../quoting/strategy.ts';
import { TakerOrder } from '../hedging/takerOrder.ts';
import type { Millis } from '../model/units.ts';

/** Refusals that block only new quotes. Live quotes stay while the strategy wants them. */
const KEEPS_QUOTES: readonly RiskRefusal[] = ['too many unknown orders'];

/** Parts of the engine that the quoter uses, too. */
export type QuoterParts = {
  readonly ids: OriginIds;
  readonly orders: Orders;
  readonly decisions: Decisions;
  readonly adverseSelection: AdverseSelection | null;
  /**
   * Returns the present maximum lots of orders per side, so that hedges on another exchange can keep up; `null` without
   * such hedges.
   */
  readonly hedgeRooms: () => HedgeRooms | null;
  /**
   * Returns the origin ids of the orders that the limits over all books no longer allow, each with the kind of limit.
   */
  readonly excess: (at: Millis) => ReadonlyMap<string, ExcessReason>;
};

/** Approved and reserved placements; `cancels` are origin ids of live orders, in a list that the caller owns. */
export type DecidedCommands = { readonly places: readonly Approved<PlaceCommand>[]; readonly cancels: string[] };

export class Quoter {
  /** Pending taker order, until it is sent or refused. */
  readonly takerOrder: TakerOrder;
  /** Pause of each side after the exchange has rejected orders of that side. */
  readonly refusalBackoff = new RefusalBackoff();
  /** Prices at which orders would trade on arrival, although the visible book does not show why. */
  readonly postOnlyBackoff = new PostOnlyBackoff();
  readonly #options: Pick<BookEngineOptions, 'onNews' | 'tolerance'>;
  readonly #parts: QuoterParts;
  #figures: readonly Figure[] = [];
  #places: Approved<PlaceCommand>[] = [];
  #cancels: string[] = [];

  constructor(options: Pick<BookEngineOptions, 'onNews' | 'tolerance'>, parts: QuoterParts) {
    this.#options = options;
    this.#parts = parts;
    this.takerOrder = new TakerOrder((id, why) => options.onNews?.({ kind: 'not taken', id, why }));
  }

  /** Named values from which the strategy computed its last quote. */
  get figures(): readonly Figure[] {
    return this.#figures;
  }

  /**
   * Decides which commands to send. `refusal` is the reason that blocks new quotes; `null` if new quotes are allowed.
   * Does not call `wanted` if the refusal cancels all quotes.
   */
  decide(at: Millis, refusal: RiskRefusal | null, riskContext: RiskContext, wanted: () => Quote): DecidedCommands {
    this.#places = [];
    this.#cancels = [];
    this.#parts.decisions.begin(at, refusal);
    this.#take(at, riskContext);
    if (refusal === null || KEEPS_QUOTES.includes(refusal)) this.#quote(at, riskContext, wanted());
    else this.#cancelAll(refusal, riskContext);
    return { places: this.#places, cancels: this.#cancels };
  }

  /**
   * Returns the origin ids of quotes that must be canceled. `why` returns the reason as text, or `null` to keep the
   * quote.
   */
  pull(why: (order: Order) => string | null): string[] {
    const ids: string[] = [];
    for (const order of this.#parts.orders.live) {
      const words = isInBook(order) && order.takes !== true ? why(order) : null;
      if (words === null) continue;
      const reason = pullReasonOf(words);
      ids.push(order.id);
      this.#parts.decisions.count(order.side, 'canceled', reason);
      this.#options.onNews?.({ kind: 'canceling', order, reason });
    }
    return ids;
  }

  #quote(at: Millis, riskContext: RiskContext, quote: Quote): void {
    const { orders, decisions } = this.#parts;
    this.#figures = quote.figures ?? this.#figures;
    const normalized = normalizeQuote(riskContext.instrument, riskContext.depth, quote);
    const { reduceOnly } = riskContext;
    const { takerOrder } = this;
    const levels = takerOrder.levelsAllowedWith(normalized.levels, reduceOnly);
    decisions.strategyCalled(quote, normalized, levels);
    const excess = this.#parts.excess(at);
    for (const side of ['buy', 'sell'] as const) {
      const reconciled = reconcileSide(side, levels, orders.live, this.#options.tolerance, at);
      const allowed = excess.size === 0 ? reconciled : planWithoutExcess(reconciled, excess);
      const full = takerOrder.cancelBlockingOrders(allowed, reduceOnly);
      const plan = reduceOnly ? reducedPlan(full, side, riskContext.position, orders.live) : full;
      decisions.recordPlan(side, plan);
      for (const { order, reason } of plan.cancel) {
        this.#cancels.push(order.id);
        this.#options.onNews?.({ kind: 'canceling', order, reason });
      }
      const isPaused = this.refusalBackoff.isPaused(side, at);
      for (const level of plan.place)
        if (isPaused) decisions.notPlaced(level, 'paused after refusals');
        else if (this.postOnlyBackoff.holds(side, level.price, at))
          decisions.notPlaced(level, 'post-only refused, waits for the book');
        else this.#place(level, riskContext, at);
    }
  }

  #place(level: NormalizedLevel, riskContext: RiskContext, at: Millis): void {
    const { ids, orders, decisions, adverseSelection, hedgeRooms } = this.#parts;
    const id = ids.next;
    const command: PlaceCommand = { kind: 'place', id, side: level.side, price: level.price, amount: level.amount };
    // Each placement is reserved as soon as it is approved, so that the next check counts it.
    const verdict = approvePlace(command, { ...riskContext, orders: orders.live, hedgeRooms: hedgeRooms() });
    if (typeof verdict === 'string') return decisions.notPlaced(level, verdict);
    ids.take();
    const placedFor = { index: level.index, parts: level.parts ?? 1 };
    orders.intend(id, level.side, level.price, level.amount, at, { level: level.index + 1, placedFor });
    orders.sent(id);
    this.postOnlyBackoff.onPlaced(id, level.side);
    adverseSelection?.placed(id, level.index);
    this.#places.push(verdict);
    decisions.placed(level, orders.get(id)!);
    this.#options.onNews?.({ kind: 'placing', command, level });
  }

  /**
   * Sends the taker order, if one is requested. Waits while conflicting quotes are being canceled. A quote conflicts if
   * the taker order would trade with it. In reduce-only, quotes on the side of the taker order also conflict.
   */
  #take(at: Millis, riskContext: RiskContext): void {
    const { orders } = this.#parts;
    const command = this.takerOrder.due(at);
    if (command === null) return;
    const verdict = approvePlace(command, riskContext);
    if (verdict === 'would cross our own order' || verdict === 'reduce only') return;
    if (typeof verdict === 'string') return this.takerOrder.refuse(verdict);
    this.takerOrder.sent();
    orders.intend(command.id, command.side, command.price, command.amount, at, { takes: true });
    orders.sent(command.id);
    this.#places.push(verdict);
    this.#options.onNews?.({ kind: 'taking', command });
  }

  #cancelAll(reason: RiskRefusal, riskContext: RiskContext): void {
    const { orders, decisions } = this.#parts;
    decisions.refused(
      reason,
      refusalDetail(reason, () => riskContext),
    );
    for (const order of orders.live) {
      if (!isInBook(order)) continue;
      this.#cancels.push(order.id);
      decisions.record(order.side, 'canceled', reason, null, null, order);
      this.#options.onNews?.({ kind: 'canceling', order, reason });
    }
  }
}
