/**
 * All orders of the bot from intent to end: their states, the amounts reserved for them, and the evidence that they
 * ended.
 */
import { FinishedOrders } from './finishedOrders.ts';
import { nextState, type OrderInput, type OrderState } from './orderStates.ts';
import type { RestoredOrder } from './restoredOrder.ts';
import { amountCeil, amountFloor, type Instrument } from '../model/instrument.ts';
import type { Outcome } from '../ports/outcome.ts';
import type { OrderReport } from '../ports/port.ts';
import type { Amount, Millis, Money, Price, Side } from '../model/units.ts';

/** Reason why an order ended. */
export type Ending = 'filled' | 'canceled' | 'refused' | 'vanished' | 'never arrived';

export type Order = {
  /** Origin id, chosen by the bot and sent at most once in the life of the account. */
  readonly id: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  readonly placedAt: Millis;
  /** Sum of applied fills, in lots. */
  readonly filled: Amount;
  /**
   * Remainder of the applied fills that is below one lot, in 10^-18. An exchange may trade finer amounts than the
   * book's lot.
   */
  readonly filledRest?: Money;
  readonly state: OrderState;
  readonly ending: Ending | null;
  readonly oid: string | null;
  /** Whether the order never rests: it trades on arrival or is canceled. */
  readonly takes?: boolean;
  /** Strategy's levels that the order was placed for; absent for an order of an earlier run. */
  readonly placedFor?: LevelMakeup;
  /** Level that the order was placed for, from 1, best first; absent if unknown. */
  readonly level?: number;
};

/** The strategy's levels merged into one order: index of the first level, and number of levels (default: 1). */
export type LevelMakeup = { readonly index: number; readonly parts?: number };

type Live = {
  -readonly [K in keyof Order]: Order[K];
} & {
  filledRest: Money;
  /**
   * Filled amount that the exchange reported when the order was adopted. The trades of this amount may still arrive one
   * by one.
   */
  reportedFilled: Amount;
  /** Sum of applied trades. `filled` is the larger of this sum and `reportedFilled`, so that nothing counts twice. */
  traded: number;
  /**
   * Time from which reads count as evidence. Initially the time of the intent; later the time of the placement's
   * answer, of the first report of the order, or of a report after its end. Reads that started earlier may show an
   * older state.
   */
  answeredAt: Millis;
  closedAt: Millis;
  cancelSentAt: Millis;
  /** Number of cancel requests for the order without an answer yet. */
  cancelsWaiting: number;
  /** Whether a cancel was answered. After the answer, a look-up can confirm the end. */
  cancelAnswered: boolean;
  /** Final filled amount, once the exchange lists the order as finished. */
  finalFilled: Amount | null;
  /**
   * Whether the bot has reported that trades of the closed order are missing. The value is reset if the order reopens.
   */
  reportedMissing: boolean;
  /** Number of the last received order list that contained the order; 0 before the first. */
  lastListedIn: number;
  /** Number of complete reads without the order that started late enough for absence to count. */
  absences: number;
  negativeLookUps: number;
  emptyCancels: number;
  emptyTradeReads: number;
  /** Position of the order's end in the sequence of all ends, from 1; 0 before the order ends. */
  endNumber: number;
};

/** Assumed delays of the exchange, in ms. */
export type OrderDelays = {
  /** Maximum time after sending at which a request may still be executed. */
  readonly requestDelayMaxMs: Millis;
  /** Maximum delay between a trade and its record at the exchange. */
  readonly tradeReportDelayMaxMs: Millis;
  /** Pause before an inconclusive cancel is sent again. */
  readonly cancelAgainMs: Millis;
};

const ABSENCES_TO_CLOSE_UNKNOWN = 4;
const ABSENCES_TO_CLOSE_OPEN = 2;
/** Limits on the ended orders that are remembered. */
export type OrderMemory = {
  /** Maximum number of ended orders whose late fills are recognized. */
  readonly finishedMax: number;
  /** Maximum number of most recently ended orders that a pending read of the book may still show. */
  readonly justEndedMax: number;
};
const MEMORY: OrderMemory = { finishedMax: 5000, justEndedMax: 64 };
const LAST_FILLS_MAX = 64;
/**
 * Time after which the bot reports missing trades of an ended order: fills that the exchange counts but does not list.
 * The order's amount stays reserved.
 */
const MISSING_AFTER_MS = 60_000;

/** New fact about one order, for counters and logs. */
export type OrderNews =
  | {
      readonly kind: 'unknown' | 'resolved' | 'reopened' | 'late fill' | 'adopted' | 'trades missing';
      readonly order: Order;
    }
  | { readonly kind: 'ended'; readonly order: Order; readonly ending: Ending };

const NOTHING = 0n as Money;

export class Orders {
  readonly #instrument: Instrument;
  readonly #delays: OrderDelays;
  readonly #live = new Map<string, Live>();
  /** List of the live orders; `null` if it must be rebuilt after a change of the orders or of their filled amounts. */
  #liveList: readonly Order[] | null = null;
  readonly #finished: FinishedOrders<Live>;
  /** Most recently ended orders, which a pending read may still show. */
  #justEnded: Live[] = [];
  readonly #justEndedMax: number;
  /** Latest applied fills. A book whose read started before a fill was applied may still show the filled amount. */
  readonly #lastFills: { readonly order: Order; readonly lots: number; readonly at: Millis }[] = [];
  readonly #byOid = new Map<string, Live>();
  readonly #news: (news: OrderNews) => void;
  /** Number of order lists received from the exchange. */
  #answers = 0;
  /**
   * Start of the last complete trade read. A closed order stays reserved until such a read starts late enough after its
   * end.
   */
  #tradesReadAt = -Infinity;

  constructor(
    instrument: Instrument,
    delays: OrderDelays,
    news: (news: OrderNews) => void,
    memory: OrderMemory = MEMORY,
  ) {
    this.#instrument = instrument;
    this.#delays = delays;
    this.#news = news;
    this.#finished = new FinishedOrders(memory.finishedMax);
    this.#justEndedMax = memory.justEndedMax;
  }

  /** Orders that may be live or may still be filled: all except `done`. */
  get live(): readonly Order[] {
    return (this.#liveList ??= [...this.#live.values()]);
  }

  /** Whether the trades of an ended order are overdue. */
  get areTradesMissing(): boolean {
    for (const order of this.#live.values()) if (order.reportedMissing) return true;
    return false;
  }

  get(id: string): Order | undefined {
    return this.#known(id);
  }

  byOid(oid: string): Order | undefined {
    return this.#byOid.get(oid);
  }

  /** Returns the lots of one side's orders that may still be filled in the worst case. */
  reserved(side: Side): number {
    let lots = 0;
    for (const order of this.#live.values()) if (order.side === side) lots += remaining(order);
    return lots;
  }

  /**
   * Yields the orders that a book whose read started at `startedAt` may show: quotes that are not known to have ended
   * before the read. With `takers`, also orders that never rest, which lock funds nevertheless.
   */
  *inBookSince(startedAt: Millis, takers = false): IterableIterator<Order> {
    const isShown = (order: Order): boolean => takers || order.takes !== true;
    for (const order of this.#live.values()) {
      if (isShown(order) && (mayLive(order) || order.closedAt >= startedAt)) yield order;
    }
    for (const order of this.#justEnded) if (isShown(order) && order.closedAt >= startedAt) yield order;
  }

  /** Returns the maximum number of lots of an order in a book whose read started at `startedAt`. */
  lotsInBookSince(order: Order, startedAt: Millis): Amount {
    let lots: number = order.amount - order.filled;
    for (const fill of this.#lastFills) if (fill.order === order && fill.at >= startedAt) lots += fill.lots;
    return lots as Amount;
  }

  intend(
    id: string,
    side: Side,
    price: Price,
    amount: Amount,
    at: Millis,
    more: Pick<Order, 'takes' | 'level' | 'placedFor'> = {},
  ): Order {
    if (this.#known(id)) throw new Error(`origin id ${id} has been used before`);
    const order: Live = {
      id,
      side,
      price,
      amount,
      placedAt: at,
      filled: 0 as Amount,
      state: 'intent',
      ending: null,
      oid: null,
      takes: more.takes ?? false,
      ...(more.level === undefined ? {} : { level: more.level }),
      answeredAt: at,
      closedAt: at,
      cancelSentAt: -Infinity,
      cancelsWaiting: 0,
      cancelAnswered: false,
      reportedFilled: 0 as Amount,
      traded: 0,
      finalFilled: null,
      reportedMissing: false,
      lastListedIn: 0,
      absences: 0,
      negativeLookUps: 0,
      emptyCancels: 0,
      emptyTradeReads: 0,
      endNumber: 0,
      filledRest: NOTHING,
    };
    if (more.placedFor !== undefined) order.placedFor = more.placedFor;
    this.#live.set(id, order);
    this.#liveList = null;
    return order;
  }

  /** Adds an order of an earlier run that may be live. The state of the order is unknown until evidence arrives. */
  restore(left: RestoredOrder, at: Millis): void {
    const order = this.intend(left.id, left.side, left.price, left.amount, Math.min(left.at, at)) as Live;
    // The wall clock may have changed between two runs, so the maximum request delay counts from now.
    order.answeredAt = at;
    this.#liveList = null;
    order.filled = left.filled;
    order.traded = left.filled;
    order.filledRest = left.filledRest ?? NOTHING;
    if (left.oid !== null) this.#learnOid(order, left.oid);
    this.#move(order, 'lose');
    this.#news({ kind: 'unknown', order });
  }

  sent(id: string): void {
    this.#move(this.#mine(id), 'send');
  }

  /**
   * Applies the answer to a placement. `exists` means that the exchange rejected the placement because the order
   * already exists.
   */
  answered(id: string, outcome: Outcome<{ readonly oid: string }>, exists: boolean, at: Millis): void {
    const order = this.#mine(id);
    this.#startEvidence(order, at);
    if (outcome.kind === 'done') {
      this.#learnOid(order, outcome.value.oid);
      this.#move(order, 'accept');
    } else if (outcome.kind === 'refused' && !exists) {
      // Evidence that the order is or was live outweighs a rejection.
      if (mayLive(order) && order.oid === null && order.filled === 0) this.#end(order, 'refuse', 'refused');
    } else if (order.oid === null) {
      // If the order already has an oid, the order exists, so the lost answer does not matter.
      const before = order.state;
      this.#move(order, 'lose');
      if (order.state === 'unknown' && before !== 'unknown') this.#news({ kind: 'unknown', order });
    }
  }

  cancelSent(id: string, at: Millis): void {
    const order = this.#mine(id);
    order.cancelSentAt = at;
    order.cancelsWaiting++;
    this.#move(order, 'cancel');
  }

  /**
   * Applies the answer to a cancel.
   *
   * The exchange processes cancels after it answers (public facts 8), so the orders in the answer may still be live. A
   * look-up or read must confirm their end. If the request was for a single order without a known oid, an oid in the
   * answer is the oid of that order.
   */
  cancelAnswered(ids: readonly string[], outcome: Outcome<readonly string[]>, startedAt: Millis, at: Millis): void {
    for (const id of ids) {
      const order = this.#known(id);
      if (order && order.cancelsWaiting > 0) order.cancelsWaiting--;
    }
    if (outcome.kind !== 'done') return;
    for (const oid of outcome.value) {
      const known = this.#byOid.get(oid);
      const alone = ids.length === 1 ? this.#live.get(ids[0]!) : undefined;
      const order = known ?? (alone?.oid === null ? alone : undefined);
      if (!order) continue;
      this.#learnOid(order, oid);
      if (order.state === 'unknown') {
        this.#startEvidence(order, at);
        this.#move(order, 'accept');
        this.#news({ kind: 'resolved', order });
      }
      if (!mayLive(order)) continue;
      this.#move(order, 'cancel');
      order.cancelSentAt = at;
    }
    for (const id of ids) {
      const order = this.#live.get(id);
      if (order) order.cancelAnswered = true;
    }
    if (ids.length !== 1 || outcome.value.length > 0) return;
    const order = this.#live.get(ids[0]!);
    if (order && startedAt >= this.#expiry(order)) order.emptyCancels++;
  }

  /**
   * Applies a read of open orders. A listed order is proven to be live.
   *
   * Absence counts only in a complete read that started late enough. For unknown orders, the read must start
   * `requestDelayMaxMs` or more after the placement's answer was lost; for others, after the placement's answer or the
   * first report.
   */
  read(reports: readonly OrderReport[], complete: boolean, startedAt: Millis, at: Millis): void {
    const answer = ++this.#answers;
    for (const report of reports) {
      const order = this.#find(report.originId, report.oid);
      if (!order) continue;
      order.lastListedIn = answer;
      this.#see(order, report, startedAt, at);
    }
    if (!complete) return;
    for (const order of this.live as readonly Live[]) {
      if (order.lastListedIn !== answer) this.#absent(order, startedAt, at);
    }
  }

  /**
   * Applies a look-up by id. The exchange lists finished orders for a while, and their unfilled amount gives the final
   * fill.
   */
  lookedUp(ids: readonly string[], reports: readonly OrderReport[], startedAt: Millis, at: Millis): void {
    const answer = ++this.#answers;
    for (const report of reports) {
      const order = this.#find(report.originId, report.oid);
      if (!order) continue;
      order.lastListedIn = answer;
      if (report.status !== 'completed' && report.status !== 'cancelled') {
        this.#see(order, report, startedAt, at);
        continue;
      }
      this.#learnOid(order, report.oid);
      this.#liveList = null;
      order.finalFilled = this.#finalFilled(order, report);
      if (order.state === 'unknown') this.#news({ kind: 'resolved', order });
      this.#close(order, report.status === 'completed' ? 'filled' : 'canceled', at);
    }
    for (const id of ids) {
      const order = this.#live.get(id);
      if (order?.state !== 'unknown' || order.lastListedIn === answer) continue;
      if (startedAt >= this.#expiry(order)) order.negativeLookUps++;
    }
  }

  /**
   * Applies a complete read of the account's trades that started at `startedAt`. The caller has already applied the
   * trades.
   */
  tradesRead(startedAt: Millis): void {
    this.#tradesReadAt = Math.max(this.#tradesReadAt, startedAt);
    for (const order of this.#live.values()) if (startedAt >= this.#expiry(order)) order.emptyTradeReads++;
  }

  /**
   * Applies one execution of `lots` plus `rest` (below one lot), in any state. Returns false if no order has this id or
   * oid.
   */
  filled(id: string | null, oid: string, lots: Amount, at: Millis, rest: Money = NOTHING): boolean {
    const order = this.#find(id, oid);
    if (!order) return false;
    const late = order.state === 'done';
    this.#learnOid(order, oid);
    const wasUnknown = order.state === 'unknown';
    order.traded += lots + this.#wholeOf(order, rest);
    if (!(order.traded <= order.amount)) throw new Error(`the fills of order ${order.id} exceed its amount`);
    const before = order.filled;
    this.#liveList = null;
    order.filled = Math.max(order.reportedFilled, order.traded) as Amount;
    this.#lastFills.push({ order, lots: order.filled - before, at });
    if (this.#lastFills.length > LAST_FILLS_MAX) this.#lastFills.shift();
    if (late) this.#news({ kind: 'late fill', order });
    else if (order.filled === order.amount) {
      if (mayLive(order)) order.closedAt = at;
      this.#end(order, 'fill all', order.ending ?? 'filled');
    } else {
      this.#move(order, 'fill');
      if (wasUnknown) {
        // The order exists, so its absence from earlier reads proves nothing.
        this.#dropEvidence(order);
        this.#news({ kind: 'resolved', order });
      }
      this.#settleIfExplained(order);
    }
    return true;
  }

  /** Adds a remainder below one lot to earlier remainders; returns the complete lots in the sum. */
  #wholeOf(order: Live, rest: Money): number {
    const { lotMoney } = this.#instrument;
    const sum = order.filledRest + rest;
    order.filledRest = (sum % lotMoney) as Money;
    return Number(sum / lotMoney);
  }

  /** Adopts an order with the bot's prefix that this run did not place, so that the order is counted and canceled. */
  adopt(
    report: OrderReport & { readonly originId: string },
    price: Price,
    amount: Amount,
    filled: Amount,
    at: Millis,
  ): Order {
    const order = this.intend(report.originId, report.side, price, amount, at) as Live;
    this.#liveList = null;
    order.filled = filled;
    order.reportedFilled = filled;
    this.#appear(order, report.oid);
    this.#news({ kind: 'adopted', order });
    return order;
  }

  /** Closes orders whose end is proven, and settles closed orders after the trade report delay. */
  tick(at: Millis): void {
    // Ended orders are deleted during this loop; none is added.
    for (const order of this.#live.values()) {
      if (order.state === 'unknown' && this.#isProvenGone(order)) this.#close(order, 'never arrived', at);
      if (order.state !== 'closed-unsettled') continue;
      if (
        this.#tradesReadAt - order.closedAt >= this.#delays.tradeReportDelayMaxMs &&
        // The amount that was reported at the adoption of an order may contain its trades, so their sum proves nothing.
        // Only the delay settles such an order.
        (order.finalFilled === null || order.reportedFilled > 0)
      ) {
        this.#end(order, 'settle');
      } else if (!order.reportedMissing && at - order.closedAt >= MISSING_AFTER_MS) {
        order.reportedMissing = true;
        this.#news({ kind: 'trades missing', order });
      }
    }
  }

  /**
   * Whether a cancel is due; an inconclusive cancel is repeated after a pause. Few cancels of an order wait for an answer
   * at a time: while the exchange does not answer, more of them would delay the first cancels of other orders.
   */
  isCancelDue(order: Order, at: Millis): boolean {
    const { cancelSentAt, cancelsWaiting } = order as Live;
    const waitingMax = order.state === 'unknown' ? 1 : 2;
    return at - cancelSentAt >= this.#delays.cancelAgainMs && cancelsWaiting < waitingMax;
  }

  /** Whether a look-up may reveal the end or the final amount of the order. */
  needsLookUp(order: Order): boolean {
    const live = order as Live;
    if (order.state === 'unknown') return true;
    if (order.state === 'closed-unsettled') return live.finalFilled === null;
    // A taker order has ended when its placement is answered.
    if (order.takes === true && order.oid !== null) return true;
    return live.absences > 0 || (order.state === 'canceling' && live.cancelAnswered);
  }

  #isProvenGone(order: Live): boolean {
    return (
      order.absences >= ABSENCES_TO_CLOSE_UNKNOWN &&
      order.negativeLookUps >= 1 &&
      order.emptyCancels >= 1 &&
      order.emptyTradeReads >= 1
    );
  }

  /**
   * Returns the time after which the placement can no longer be executed. Counts from the lost answer, because the
   * request may have waited in a queue before it was sent.
   */
  #expiry(order: Live): Millis {
    return order.answeredAt + this.#delays.requestDelayMaxMs;
  }

  #dropEvidence(order: Live): void {
    order.absences = 0;
    order.negativeLookUps = 0;
    order.emptyCancels = 0;
    order.emptyTradeReads = 0;
  }

  /** Sets the time from which absence in reads counts. Absence in earlier reads proves nothing. */
  #startEvidence(order: Live, at: Millis): void {
    order.answeredAt = at;
    this.#dropEvidence(order);
  }

  #see(order: Live, report: OrderReport, startedAt: Millis, at: Millis): void {
    this.#dropEvidence(order);
    // A completely filled order is not live, so a read of open orders that lists the order is older than its last
    // trade.
    if (order.filled === order.amount) return;
    if (order.oid === null) order.answeredAt = at;
    if (!mayLive(order)) {
      // A read that started before the recorded end of the order proves nothing.
      if (startedAt <= order.closedAt) return;
      this.#finished.reopen(order.id);
      this.#justEnded = this.#justEnded.filter(ended => ended !== order);
      this.#live.set(order.id, order);
      this.#liveList = null;
      order.ending = null;
      order.finalFilled = null;
      order.reportedMissing = false;
      order.answeredAt = at;
      order.cancelsWaiting = 0;
      this.#news({ kind: 'reopened', order });
    } else if (order.state === 'unknown') this.#news({ kind: 'resolved', order });
    this.#appear(order, report.oid);
  }

  #appear(order: Live, oid: string): void {
    this.#learnOid(order, oid);
    this.#move(order, 'see');
    if (order.filled > 0 || order.filledRest > 0n) this.#move(order, 'fill');
  }

  #absent(order: Live, startedAt: Millis, at: Millis): void {
    if (order.state === 'unknown') {
      if (startedAt >= this.#expiry(order)) order.absences++;
      return;
    }
    // A cancel may have arrived before the placement, so absence counts only after the placement's answer with an oid.
    if (!mayLive(order) || order.oid === null || startedAt <= order.answeredAt) return;
    order.absences++;
    // Reads may be outdated. Fills or look-ups usually reveal the end sooner; absence closes the order only after the
    // trade report delay.
    if (order.absences < ABSENCES_TO_CLOSE_OPEN) return;
    if (startedAt - order.answeredAt >= this.#delays.tradeReportDelayMaxMs) this.#close(order, 'vanished', at);
  }

  #close(order: Live, ending: Ending, at: Millis): void {
    if (mayLive(order)) {
      order.ending = ending;
      order.closedAt = at;
      this.#move(order, 'close');
    }
    this.#settleIfExplained(order);
  }

  #settleIfExplained(order: Live): void {
    if (order.state === 'closed-unsettled' && order.finalFilled !== null && order.filled >= order.finalFilled)
      this.#end(order, 'settle');
  }

  #end(order: Live, input: OrderInput, ending: Ending = order.ending!): void {
    order.ending = ending;
    this.#move(order, input);
    this.#live.delete(order.id);
    this.#liveList = null;
    // The map has no key for an order without an oid, so deleting `undefined` changes nothing.
    this.#byOid.delete(this.#finished.add(order)?.oid as string);
    this.#justEnded.push(order);
    if (this.#justEnded.length > this.#justEndedMax) this.#justEnded.shift();
    this.#news({ kind: 'ended', order, ending });
  }

  #move(order: Live, input: OrderInput): void {
    const next = nextState(order.state, input);
    if (next === null) throw new Error(`order ${order.id}: ${input} is impossible in state ${order.state}`);
    order.state = next;
  }

  #learnOid(order: Live, oid: string): void {
    if (order.oid === oid) return;
    if (order.oid !== null)
      throw new Error(`order ${order.id} has two order ids of the exchange: ${order.oid} and ${oid}`);
    order.oid = oid;
    this.#byOid.set(oid, order);
  }

  #finalFilled(order: Live, report: OrderReport): Amount {
    const { originalAmount, unfilledAmount } = report;
    // Fast path: most orders end without a fill.
    if (originalAmount === unfilledAmount) return 0 as Amount;
    const lots = amountFloor(this.#instrument, originalAmount) - amountCeil(this.#instrument, unfilledAmount);
    return Math.min(order.amount, lots) as Amount;
  }

  #known(id: string): Live | undefined {
    return this.#live.get(id) ?? this.#finished.get(id);
  }

  /** Returns the order with this id; if there is none, the order with this oid. */
  #find(id: string | null | undefined, oid: string): Live | undefined {
    // An absent id is not a key of the maps, so it finds no order.
    return this.#known(id as string) ?? this.#byOid.get(oid);
  }

  #mine(id: string): Live {
    const order = this.#known(id);
    if (!order) throw new Error(`order ${id} does not exist`);
    return order;
  }
}

/** Returns the lots of one side's orders that may still be filled. */
export const lotsOnSide = (orders: readonly Order[], side: Side): number =>
  orders.reduce((lots, order) => (order.side === side ? lots + remaining(order) : lots), 0);

/**
 * Returns the amount that may still be filled, in lots. Exact once the exchange has reported the final filled amount.
 */
export function remaining(order: Order): number {
  return ((order as Live).finalFilled ?? order.amount) - order.filled;
}

/** Whether the order may be in the exchange's book. */
export const mayLive = (order: Order): boolean => order.state !== 'closed-unsettled' && order.state !== 'done';

/**
 * Whether the order will probably be filled further if nothing else happens: it may be in the book and no cancel is
 * pending, or the exchange has reported it as filled and does not list its trades yet.
 */
export const isExpectedToFill = ({ state, ending }: Order): boolean =>
  state === 'closed-unsettled' ? ending === 'filled' : state !== 'canceling' && state !== 'done';

/** Whether an order is known to be in the book, and no cancel is pending. */
export const isInBook = ({ state }: Pick<Order, 'state'>): boolean => state === 'open' || state === 'partially filled';
