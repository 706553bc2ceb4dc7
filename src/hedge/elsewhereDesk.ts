/** Desk of another exchange: reads the book there, sends one immediate-or-cancel order, and determines its outcome. */
import {
  DEPTH_LEVELS,
  emptyDepth,
  haveSameGrid,
  nullIfOutOfRange,
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
  type KnownOrder,
  type Millis,
  type Money,
  type Moved,
  type OwnTrade,
  type Outcome,
  type Side,
  type VenueClient,
} from '../core/index.ts';

export type ElsewhereClient = Pick<VenueClient, 'orderBook' | 'place' | 'lookUp' | 'orderTrades' | 'cancel'>;

export type ElsewhereDeskOptions = {
  readonly client: ElsewhereClient;
  readonly clock: Clock;
  /** Returns the latest rules of the book on the other exchange. */
  readonly instrument: () => Instrument;
  /**
   * Returns the streamed book of the other exchange; `null` if it is unknown. If absent, a book is requested for each
   * hedge.
   */
  readonly streamed?: (() => StreamedBook | null) | undefined;
  readonly times: EvidenceTimes;
};

/** Best levels of a stream, in ticks and lots of `instrument`. `at` is on the monotonic clock. */
export type StreamedBook = { readonly instrument: Instrument; readonly depth: Readonly<Depth>; readonly at: Millis };

/** Maximum age of a streamed book from which a hedge is priced. */
const STREAMED_MAX_MS: Millis = 1_000;

/** Result of sending an order: `refused` is certain, while `sent` and `unknown` need a look-up of the order. */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

export type ElsewhereSetup = Omit<ElsewhereTerms, 'rate' | 'midHere' | 'riskBps'> & {
  readonly desk: ElsewhereDesk;
  readonly at: HedgeAccount;
  /**
   * Expected time from the decision to the execution on the other exchange, and the quantile `z` of the price move in
   * that time (E17).
   */
  readonly latencyMs: Millis;
  readonly riskZ: number;
  /** Minimum value of a hedge, in the quote currency of the bot's own book. */
  readonly valueMin: Money;
  /** Number of reconciled hedges on the other exchange after which orders may exceed the smallest size. */
  readonly smallestUntil: number;
  /** Returns the volatility of the price, as a fraction per square root of a second. */
  readonly perRootSecond: () => number;
  /**
   * Returns the value of one unit of the other book's quote currency, in the quote currency of the bot's own book;
   * `null` if the value is unknown or too old.
   */
  readonly rate: () => Money | null;
  /**
   * Returns the funds of the account on the other exchange in a currency, without the amount that an open order may
   * spend.
   */
  readonly funds: (currency: string) => Money;
  /** Reads the balances on the other exchange and resolves to their differences from the ledger; `null` on failure. */
  readonly readMoved: () => Promise<Moved | null>;
  /** Reason why no hedge of this side may be sent now; `null` if there is none. */
  readonly closedBecause: (side: Side) => string | null;
};

type OpenElsewhere = {
  readonly order: ElsewhereOrder;
  /** Id that the exchange gave the order; `null` until an answer has shown it. */
  oid: string | null;
  readonly evidence: OrderEvidence;
  /** Whether the last look-up was late enough to prove the outcome, but failed or contradicted the order. */
  isUndecidable: boolean;
};

type DepthElsewhere = {
  readonly depth: Readonly<Depth>;
  readonly instrument: Instrument;
  readonly startedAt: Millis;
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
   * Whether look-ups cannot prove the outcome: the last one was late enough to prove it, but failed or contradicted the
   * order. Only the operator can then state the outcome.
   */
  get isUndecidable(): boolean {
    return this.#open?.isUndecidable === true;
  }

  /** Whether an answer has shown that the exchange accepted the open order. */
  get isAccepted(): boolean {
    return this.#open?.evidence.isAccepted === true;
  }

  /** Stops looking the open order up, because its outcome has been stated. */
  drop(): void {
    this.#open = null;
  }

  /**
   * Returns the best levels of the other exchange's book, up to the first damaged or unreadable level: those of the
   * stream if they are recent, otherwise those of a new read. If the read fails, returns the reason as text. Prices and
   * amounts are in ticks and lots of `instrument`; `startedAt` is on the monotonic clock.
   */
  async depth(): Promise<DepthElsewhere | string> {
    const { client, clock } = this.#options;
    const instrument = this.#options.instrument();
    const startedAt = clock.elapsed();
    const streamed = this.#options.streamed?.() ?? null;
    if (
      streamed !== null &&
      haveSameGrid(streamed.instrument, instrument) &&
      startedAt - streamed.at <= STREAMED_MAX_MS
    )
      return { depth: streamed.depth, instrument, startedAt: streamed.at };
    const outcome = await client.orderBook(instrument.symbol, true);
    if (outcome.kind !== 'done') return `the book on the other exchange could not be read: ${reasonOfFailure(outcome)}`;
    if (outcome.value.book !== instrument.symbol)
      return `expected the book ${instrument.symbol} from the other exchange, found ${outcome.value.book}`;
    return { depth: depthOf(instrument, outcome.value), instrument, startedAt };
  }

  /**
   * Sends an order, which the caller must have stored on disk. The client calls `isWanted` just before sending, because
   * the order may wait there; if it returns false, the order is not sent and counts as refused. Throws if an earlier
   * order is still open, because its amount could be hedged twice.
   */
  async send(order: ElsewhereOrder, isWanted: () => boolean = () => true): Promise<SendResult> {
    if (this.isOpen)
      throw new Error(`cannot send order ${order.id}: an earlier order on the other exchange is still open`);
    this.#isSending = true;
    try {
      const { id, book, side, price, amount } = order;
      const sent = { book, side, price, major: amount, originId: id, timeInForce: 'immediate or cancel' } as const;
      const outcome = await this.#options.client.place(sent, isWanted);
      // A rejection for a duplicate id proves that an earlier request for this order arrived, so the order is tracked.
      if (outcome.kind === 'refused' && outcome.meaning !== 'duplicate id')
        return { kind: 'refused', why: `${outcome.code}: ${outcome.message}` };
      this.#track(
        order,
        { isAccepted: outcome.kind !== 'unknown' },
        outcome.kind === 'done' ? outcome.value.oid : null,
      );
      return outcome.kind === 'done' ? { kind: 'sent' } : { kind: 'unknown', why: reasonOfFailure(outcome) };
    } finally {
      this.#isSending = false;
    }
  }

  /**
   * Continues with an order of an earlier run, which may have been sent. The order is never sent again. `isAccepted`:
   * whether an answer in that run has shown that the exchange accepted the order.
   */
  restore(order: ElsewhereOrder, isAccepted: boolean): void {
    if (this.isOpen)
      throw new Error(`cannot restore order ${order.id}: an earlier order on the other exchange is still open`);
    this.#track(order, { isAccepted, isRestored: true }, null);
  }

  /**
   * Looks the open order up once. After `ended` and `not placed`, no order is open. `readMoved` reads the balances there
   * and resolves to their differences from the ledger, or to `null` if they could not be read.
   */
  async find(readMoved?: () => Promise<Moved | null>): Promise<ElsewhereVerdict> {
    const open = this.#open;
    if (open === null) throw new Error('cannot look up an order: no order is open on the other exchange');
    const startedAt = this.#options.clock.elapsed();
    const { verdict, isDeciding } = await this.#lookUp(open, startedAt, readMoved);
    open.isUndecidable = verdict.kind === 'unknown' && !isDeciding && open.evidence.isConclusive(startedAt);
    return verdict;
  }

  async #lookUp(
    open: OpenElsewhere,
    startedAt: Millis,
    readMoved?: () => Promise<Moved | null>,
  ): Promise<{ readonly verdict: ElsewhereVerdict; readonly isDeciding: boolean }> {
    const { client } = this.#options;
    const { id } = open.order;
    const looked = await client.lookUp({ originIds: [id] });
    const reports = completeValue(looked);
    if (reports === null) return { verdict: lookUpFailed('the look-up of the order', looked), isDeciding: false };
    const own = reports.filter(({ originId }) => originId === id);
    open.oid ??= own[0]?.oid ?? null;
    // An order that is not listed may still have trades under the id that an earlier answer has shown.
    const oids = own.length === 0 && open.oid !== null ? [open.oid] : own.map(({ oid }) => oid);
    const [oid] = oids;
    const listed = await client.orderTrades(oid === undefined ? { originId: id } : { oid });
    const trades = completeValue(listed);
    if (trades === null) return { verdict: lookUpFailed("the read of the order's trades", listed), isDeciding: false };
    const answer = { startedAt, reports: own, trades: tradesOf(trades, oids, id) };
    const isAbsent = own.length === 0 && open.evidence.isConclusive(startedAt);
    const moved = isAbsent ? await readMoved?.() : undefined;
    const verdict = open.evidence.read(moved === undefined ? answer : { ...answer, moved });
    if (verdict.kind === 'ended' || verdict.kind === 'not placed') this.#open = null;
    else if (verdict.kind === 'live') await client.cancel(oid === undefined ? { originIds: [id] } : { oids });
    return { verdict, isDeciding: open.evidence.isDeciding };
  }

  #track(order: ElsewhereOrder, known: KnownOrder, oid: string | null): void {
    const { clock, times } = this.#options;
    const evidence = new OrderEvidence(order, clock.elapsed(), times, known);
    this.#open = { order, oid, evidence, isUndecidable: false };
  }
}

/**
 * Returns the value of an answer; `null` if a row of it is unreadable, because that row may be the one that proves the
 * outcome.
 */
const completeValue = <T>(outcome: Outcome<readonly T[]>): readonly T[] | null =>
  outcome.kind === 'done' && (outcome.unreadable ?? []).length === 0 ? outcome.value : null;

/**
 * Returns the trades of the orders `oids`. If `oids` is empty, returns the trades with the origin id `id` or with none.
 */
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
      const ticks = amount === null ? null : nullIfOutOfRange(() => priceExact(instrument, price));
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
