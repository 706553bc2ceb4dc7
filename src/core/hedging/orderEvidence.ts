/**
 * Evidence of an immediate-or-cancel order on another exchange: what look-ups prove when answers are late, incomplete or
 * absent.
 */
import { counted } from '../text/counted.ts';
import type { OrderReport, OwnTrade } from '../ports/port.ts';
import { money, moneyOf, type DecimalText, type Millis, type Money, type Side } from '../model/units.ts';

/** Order as it was sent. `amount` is in the base currency. */
export type ElsewhereOrder = {
  readonly id: string;
  readonly book: string;
  readonly side: Side;
  readonly price: DecimalText;
  readonly amount: DecimalText;
};

/**
 * One complete look-up: the requests for the order and for its trades both succeeded. `startedAt` is on the monotonic
 * clock.
 */
export type LookUpAnswer = {
  readonly startedAt: Millis;
  readonly reports: readonly OrderReport[];
  readonly trades: readonly OwnTrade[];
  /**
   * Differences between balances there, read after the other requests, and the ledger, which does not contain this
   * order; `null` if that read failed, absent if there is no ledger.
   */
  readonly moved?: Moved | null;
};

/** Balances of the currencies of the order's book, minus the ledger. */
export type Moved = { readonly base: Money; readonly quote: Money };

/**
 * Result of the look-ups so far.
 * - ended: certainly ended. `trades` are all of its executions.
 * - not placed: certainly never accepted, and no request for it is on its way.
 * - live: in the book, although the order was immediate-or-cancel; it must be canceled.
 * - unknown: nothing is proven yet.
 */
export type ElsewhereVerdict =
  | { readonly kind: 'ended'; readonly filled: Money; readonly trades: readonly OwnTrade[] }
  | { readonly kind: 'not placed' }
  | { readonly kind: 'live' }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Delays after which the absence of an order or a trade from a list proves something. */
export type EvidenceTimes = {
  /** Maximum time after sending at which the exchange may still execute the request. */
  readonly requestLifeMs: Millis;
  /** Maximum delay until an order and its trades are listed. */
  readonly listingDelayMs: Millis;
};

/** Facts that earlier answers have shown of an order. */
export type KnownOrder = {
  /** Whether the exchange has answered that it accepted the order. */
  readonly isAccepted?: boolean;
  /** Whether earlier answers, with filled amounts, are lost. */
  readonly isRestored?: boolean;
};

export class OrderEvidence {
  readonly #order: ElsewhereOrder;
  /** Monotonic time from which an order that is not listed counts as absent. */
  readonly #conclusiveFrom: Millis;
  readonly #apartMs: Millis;
  #isAccepted: boolean;
  readonly #isRestored: boolean;
  /** Largest filled amount that any answer has shown. */
  #filledMin = money(0n);
  /** First of the consecutive conclusive look-ups without the order and with equal trades; `null` if there is none. */
  #unlisted: { readonly trades: string; readonly at: Millis } | null = null;

  /**
   * `sentAt` is the monotonic time at which the request had ended, or at which this process started: both are later
   * than the sending.
   */
  constructor(
    order: ElsewhereOrder,
    sentAt: Millis,
    { requestLifeMs, listingDelayMs }: EvidenceTimes,
    { isAccepted = false, isRestored = false }: KnownOrder = {},
  ) {
    this.#order = order;
    this.#isAccepted = isAccepted;
    this.#isRestored = isAccepted && isRestored;
    this.#conclusiveFrom = sentAt + requestLifeMs + listingDelayMs;
    this.#apartMs = listingDelayMs;
  }

  /** Whether a look-up that started at `startedAt` is late enough for the absence of the order to prove something. */
  isConclusive(startedAt: Millis): boolean {
    return startedAt >= this.#conclusiveFrom;
  }

  /**
   * Whether a second look-up with an equal result, if late enough, would prove that the order ended or was never
   * placed.
   */
  get isDeciding(): boolean {
    return this.#unlisted !== null;
  }

  /** Whether any answer has shown that the exchange accepted the order. Later answers without the order do not refute it. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Applies a look-up whose two requests both succeeded. A failed look-up proves nothing and is not applied. */
  read(answer: LookUpAnswer): ElsewhereVerdict {
    const reports = answer.reports.filter(({ originId }) => originId === this.#order.id);
    const problem = this.#contradiction(reports, answer.trades);
    if (problem !== null) return this.#unproven(problem);
    const [report] = reports;
    const traded = sumOfMajors(answer.trades);
    const reported = money(report ? moneyOf(report.originalAmount) - moneyOf(report.unfilledAmount) : 0n);
    for (const shown of [traded, reported]) if (shown > this.#filledMin) this.#filledMin = shown;
    if (report !== undefined || traded > 0n) this.#isAccepted = true;
    if (report === undefined) return this.#readUnlisted(answer, traded);
    this.#unlisted = null;
    if (report.status !== 'completed' && report.status !== 'cancelled')
      return report.status === 'queued' ? this.#unproven('the exchange has not processed the order yet') : LIVE;
    if (reported < this.#filledMin) return this.#unproven(SHOWN_MORE);
    if (report.status === 'completed' && reported !== moneyOf(report.originalAmount))
      return this.#unproven('the exchange reports the order as completed, but not as fully filled');
    return traded === reported
      ? { kind: 'ended', filled: traded, trades: answer.trades }
      : this.#unproven('the trades of the order do not add up to its filled amount yet');
  }

  /**
   * Applies a look-up that does not list the order: the order ended long ago, or was never placed. Two equal look-ups
   * prove this, unless they contradict an earlier answer. The first must start when even the latest possible execution
   * would already be listed; the second, at least the listing delay later. `traded` is the sum of the trades.
   */
  #readUnlisted({ startedAt, trades, moved }: LookUpAnswer, traded: Money): ElsewhereVerdict {
    if (!this.isConclusive(startedAt)) return this.#unproven('the exchange does not list the order yet');
    if (traded < this.#filledMin) return this.#unproven(SHOWN_MORE);
    if (this.#isRestored && traded < moneyOf(this.#order.amount))
      return this.#unproven('the exchange no longer lists the order, and lists trades of less than its amount');
    if (this.#isAccepted && trades.length === 0)
      return this.#unproven('the exchange accepted the order, but lists neither the order nor trades of it');
    if (moved === null) return this.#unproven('the exchange does not list the order, and its balances are unknown');
    if (moved !== undefined && hasMore(this.#order, moved, traded))
      return this.#unproven(
        'the exchange does not list the order, but the balances there have changed as if the order had been executed',
      );
    const seen = trades
      .map(({ tid }) => tid)
      .toSorted()
      .join(' ');
    if (this.#unlisted?.trades !== seen) this.#unlisted = { trades: seen, at: startedAt };
    if (!(startedAt - this.#unlisted.at >= this.#apartMs && startedAt > this.#unlisted.at))
      return {
        kind: 'unknown',
        reason: 'the exchange does not list the order; a second look-up must confirm that the order is not listed',
      };
    return trades.length === 0 ? { kind: 'not placed' } : { kind: 'ended', filled: traded, trades };
  }

  /** Returns why the answer contradicts the order as it was sent; `null` if it does not. */
  #contradiction(reports: readonly OrderReport[], trades: readonly OwnTrade[]): string | null {
    const { id, book, side, amount } = this.#order;
    if (reports.length > 1) return `the exchange lists ${counted(reports.length, 'order')} with the id ${id}`;
    const isOther = reports.some(
      report => report.book !== book || report.side !== side || moneyOf(report.originalAmount) !== moneyOf(amount),
    );
    if (isOther) return `the exchange lists an order with the id ${id}, but with another book, side or amount`;
    if (trades.some(trade => trade.book !== book || trade.side !== side))
      return `the exchange lists trades for the order id ${id}, but of another book or side`;
    if (new Set(trades.map(({ tid }) => tid)).size < trades.length) return 'a trade of the order is listed twice';
    return sumOfMajors(trades) > moneyOf(amount) ? 'the trades exceed the amount of the order' : null;
  }

  #unproven(reason: string): ElsewhereVerdict {
    this.#unlisted = null;
    return { kind: 'unknown', reason };
  }
}

/** Factor within which the average price of an execution is of the order's price. */
const PRICE_FACTOR = 2n;

/** Whether balances changed as an execution of the order changes them, by more than the listed trades (`traded`). */
function hasMore({ side, price }: ElsewhereOrder, moved: Moved, traded: Money): boolean {
  const sign = side === 'buy' ? 1n : -1n;
  const [base, paid] = [moved.base * sign, moved.quote * -sign];
  const atPrice = (base * moneyOf(price)) / ONE;
  return base > traded && paid * PRICE_FACTOR >= atPrice && paid <= atPrice * PRICE_FACTOR;
}

const ONE = 10n ** 18n;
const SHOWN_MORE = 'an earlier answer of the exchange showed a larger filled amount';
const LIVE: ElsewhereVerdict = { kind: 'live' };

function sumOfMajors(trades: readonly OwnTrade[]): Money {
  let sum = 0n;
  for (const { major } of trades) sum += moneyOf(major);
  return money(sum);
}
