/** Desk of another exchange: reads the book there, sends one immediate-or-cancel order, and determines its outcome. */
import {
  DEPTH_LEVELS,
  emptyDepth,
  OrderEvidence,
  priceExact,
  shownAmount,
  reasonOfFailure,
  type BookEntry,
  type BookSnapshot,
  type Clock,
  type Depth,
  type ElsewhereOrder,
  type ElsewhereTerms,
  type ElsewhereVerdict,
  type EvidenceTimes,
  type HedgeAccount,
  type Instrument,
  type Millis,
  type Money,
  type OwnTrade,
  type Outcome,
  type Side,
  type VenueClient,
} from '../core/index.ts';

export type ElsewhereClient = Pick<VenueClient, 'orderBook' | 'place' | 'lookUp' | 'orderTrades' | 'cancel'>;

export type ElsewhereDeskOptions = {
  readonly client: ElsewhereClient;
  readonly clock: Clock;
  /** Returns the latest rules of the book there. */
  readonly instrument: () => Instrument;
  /** Returns the book of a stream there; `null` if it is unknown. If absent, each hedge reads the book. */
  readonly streamed?: (() => StreamedBook | null) | undefined;
  readonly times: EvidenceTimes;
};

/** Best levels of a stream, in ticks and lots of `instrument`. `at` is on the monotonic clock. */
export type StreamedBook = { readonly instrument: Instrument; readonly depth: Readonly<Depth>; readonly at: Millis };

/** Maximum age of a streamed book from which a hedge is priced. */
const STREAMED_MAX_MS: Millis = 1_000;

/** Result of sending: `refused` is certain, `sent` and `unknown` need a look-up. */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

export type ElsewhereSetup = Omit<ElsewhereTerms, 'rate' | 'midHere' | 'riskBps'> & {
  readonly desk: ElsewhereDesk;
  readonly at: HedgeAccount;
  /** Expected time from the decision to the execution there, and the quantile `z` of the price move in it (E17). */
  readonly latencyMs: Millis;
  readonly riskZ: number;
  /** Minimum value of a hedge, in the quote currency here. */
  readonly valueMin: Money;
  /** Number of completed hedges there after which orders may exceed the smallest size. */
  readonly smallestUntil: number;
  /** Volatility, as a fraction in the root of a second. */
  readonly perRootSecond: () => number;
  /** Value of one unit of the quote currency there, in the quote currency here; `null` if unknown or too old. */
  readonly rate: () => Money | null;
  /** Funds there in a currency that no order may spend. */
  readonly funds: (currency: string) => Money;
  /** Reason why no hedge of this side may be sent now; `null` if there is none. */
  readonly closedBecause: (side: Side) => string | null;
};

type OpenElsewhere = {
  readonly order: ElsewhereOrder;
  readonly evidence: OrderEvidence;
  /** Whether the last look-up was late enough to decide, and failed or contradicted the order. */
  isUndecidable: boolean;
};

export class ElsewhereDesk {
  readonly #options: ElsewhereDeskOptions;
  /** Order whose end is not proven; `null` if there is none. */
  #open: OpenElsewhere | null = null;
  #isSending = false;

  constructor(options: ElsewhereDeskOptions) {
    this.#options = options;
  }

  /** Whether an order on the other exchange may still execute, or its end is not proven. */
  get isOpen(): boolean {
    return this.#open !== null || this.#isSending;
  }

  /**
   * Whether look-ups do not decide: the last one was late enough to do so, but failed or contradicts the order. Only the
   * operator can then state the outcome.
   */
  get isUndecidable(): boolean {
    return this.#open?.isUndecidable === true;
  }

  /** Stops looking the open order up, because its outcome has been stated. */
  drop(): void {
    this.#open = null;
  }

  /**
   * Returns the best levels of the book there, from the stream if they are recent, otherwise read now, up to the first
   * damaged or unreadable level. Returns the reason as text if the book cannot be read. `startedAt` is on the monotonic
   * clock.
   */
  async depth(): Promise<{ readonly depth: Readonly<Depth>; readonly startedAt: Millis } | string> {
    const { client, clock } = this.#options;
    const instrument = this.#options.instrument();
    const startedAt = clock.elapsed();
    const streamed = this.#options.streamed?.() ?? null;
    const isSameGrid = streamed?.instrument.tick === instrument.tick && streamed.instrument.lot === instrument.lot;
    if (streamed !== null && isSameGrid && startedAt - streamed.at <= STREAMED_MAX_MS)
      return { depth: streamed.depth, startedAt: streamed.at };
    const outcome = await client.orderBook(instrument.symbol, true);
    if (outcome.kind !== 'done') return `the book on the other exchange could not be read: ${reasonOfFailure(outcome)}`;
    if (outcome.value.book !== instrument.symbol)
      return `expected the book ${instrument.symbol} from the other exchange, found ${outcome.value.book}`;
    return { depth: depthOf(instrument, outcome.value), startedAt };
  }

  /**
   * Sends an order. The caller has stored the order on disk. Throws if an earlier order is still open, because its
   * amount could be hedged twice.
   */
  async send(order: ElsewhereOrder): Promise<SendResult> {
    if (this.isOpen)
      throw new Error(`cannot send order ${order.id}: an earlier order on the other exchange is still open`);
    this.#isSending = true;
    try {
      const { id, book, side, price, amount } = order;
      const outcome = await this.#options.client.place({
        book,
        side,
        price,
        major: amount,
        originId: id,
        timeInForce: 'immediate or cancel',
      });
      // With a duplicate id, a request for this order arrived before.
      if (outcome.kind === 'refused' && outcome.meaning !== 'duplicate id')
        return { kind: 'refused', why: `${outcome.code}: ${outcome.message}` };
      this.#track(order);
      return outcome.kind === 'done' ? { kind: 'sent' } : { kind: 'unknown', why: reasonOfFailure(outcome) };
    } finally {
      this.#isSending = false;
    }
  }

  /** Continues with an order of an earlier run, which may have been sent. The order is never sent again. */
  restore(order: ElsewhereOrder): void {
    if (this.isOpen)
      throw new Error(`cannot restore order ${order.id}: an earlier order on the other exchange is still open`);
    this.#track(order);
  }

  /** Looks the open order up once. After `ended` and `not placed`, no order is open. */
  async find(): Promise<ElsewhereVerdict> {
    const open = this.#open;
    if (open === null) throw new Error('cannot look up an order: no order is open on the other exchange');
    const startedAt = this.#options.clock.elapsed();
    const { verdict, isDeciding } = await this.#lookUp(open, startedAt);
    open.isUndecidable = verdict.kind === 'unknown' && !isDeciding && open.evidence.isConclusive(startedAt);
    return verdict;
  }

  async #lookUp(
    open: OpenElsewhere,
    startedAt: Millis,
  ): Promise<{ readonly verdict: ElsewhereVerdict; readonly isDeciding: boolean }> {
    const { client } = this.#options;
    const { id } = open.order;
    const looked = await client.lookUp({ originIds: [id] });
    const reports = completeValue(looked);
    if (reports === null) return { verdict: lookUpFailed('the look-up of the order', looked), isDeciding: false };
    const own = reports.filter(({ originId }) => originId === id);
    const oids = own.map(({ oid }) => oid);
    const [oid] = oids;
    const listed = await client.orderTrades(oid === undefined ? { originId: id } : { oid });
    const trades = completeValue(listed);
    if (trades === null) return { verdict: lookUpFailed("the read of the order's trades", listed), isDeciding: false };
    const verdict = open.evidence.read({ startedAt, reports: own, trades: tradesOf(trades, oids, id) });
    if (verdict.kind === 'ended' || verdict.kind === 'not placed') this.#open = null;
    else if (verdict.kind === 'live') await client.cancel(oid === undefined ? { originIds: [id] } : { oids });
    return { verdict, isDeciding: open.evidence.isDeciding };
  }

  #track(order: ElsewhereOrder): void {
    const { clock, times } = this.#options;
    this.#open = { order, evidence: new OrderEvidence(order, clock.elapsed(), times), isUndecidable: false };
  }
}

/** Returns the value of an answer that is complete, or `null`. A row that cannot be read may be the one that counts. */
const completeValue = <T>(outcome: Outcome<readonly T[]>): readonly T[] | null =>
  outcome.kind === 'done' && (outcome.unreadable ?? []).length === 0 ? outcome.value : null;

/** Returns the trades of the orders `oids`; without an order, those that carry the id of the bot. */
const tradesOf = (trades: readonly OwnTrade[], oids: readonly string[], id: string): readonly OwnTrade[] =>
  trades.filter(({ oid, originId }) =>
    oids.length > 0 ? oids.includes(oid) : originId === undefined || originId === id,
  );

const lookUpFailed = (what: string, outcome: Outcome<unknown>): ElsewhereVerdict => ({
  kind: 'unknown',
  reason: `${what} failed: ${outcome.kind === 'done' ? 'a row of the answer could not be read' : reasonOfFailure(outcome)}`,
});

function depthOf(instrument: Instrument, { bids, asks, damage }: BookSnapshot): Depth {
  const depth = emptyDepth(DEPTH_LEVELS);
  const fill = (rows: readonly BookEntry[], prices: Float64Array, amounts: Float64Array, end: number): number => {
    let count = 0;
    for (const { price, amount } of rows.slice(0, Math.min(end, DEPTH_LEVELS))) {
      const ticks = amount === null ? null : priceExact(instrument, price);
      if (ticks === null) break;
      prices[count] = ticks;
      amounts[count++] = shownAmount(instrument, amount);
    }
    return count;
  };
  depth.bids = fill(bids, depth.bidPrices, depth.bidAmounts, damage?.bids?.after ?? Infinity);
  depth.asks = fill(asks, depth.askPrices, depth.askAmounts, damage?.asks?.after ?? Infinity);
  return depth;
}
