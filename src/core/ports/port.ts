/** Ports: interfaces to the outside world, for all waiting, I/O and randomness. */
import type { BookRules } from '../model/instrument.ts';
import type { DecimalText, Millis, Money, Side } from '../model/units.ts';
import type { Outcome } from './outcome.ts';

/** Clock with two readings that advance at the same speed. At speed 20, both advance 20 s per second of wall time. */
export interface Clock {
  /** Milliseconds since 1970 UTC. May go back if the machine's clock is set. */
  now(): Millis;
  /** Milliseconds since a fixed start. Never goes back; measure durations only with this reading. */
  elapsed(): Millis;
  /** Calls `call` once after `ms` of this clock, unless the timer is stopped first. */
  after(ms: Millis, call: () => void): Timer;
}

export interface Timer {
  stop(): void;
}

/** Resolves after `ms` of the clock, or immediately if the signal aborts. Never rejects. */
export function sleep(clock: Clock, ms: Millis, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      timer.stop();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Calls `call` every `ms` of the clock until the timer is stopped, for the first time after `ms`. */
export function repeatEvery(clock: Clock, ms: Millis, call: () => void): Timer {
  let isStopped = false;
  const turn = (): void => {
    call();
    if (!isStopped) timer = clock.after(ms, turn);
  };
  let timer = clock.after(ms, turn);
  return {
    stop: () => {
      isStopped = true;
      timer.stop();
    },
  };
}

/** Random numbers from a seed: equal seeds give equal sequences. */
export interface Random {
  /** Returns a uniform number in [0, 1). */
  next(): number;
  /** Returns a uniform integer in [from, to], both included. */
  integer(from: number, to: number): number;
}

/** One level of an aggregated book, or one order of an unaggregated book (with `oid`). */
export type BookEntry = {
  readonly price: DecimalText;
  /** Amount; `null` if unreadable. */
  readonly amount: DecimalText | null;
  readonly oid?: string;
};

/**
 * First damaged row of a side: its price is unreadable or out of order, or it belongs to another book. The row comes
 * after the first `after` entries.
 */
export type SideDamage = { readonly after: number; readonly why: string };

export type BookSnapshot = {
  readonly book: string;
  /** Sequence number: a 64-bit counter, exact to the last digit. */
  readonly sequence: bigint;
  readonly updatedAt: Millis;
  /** Bids, best price first. `asks` are in the same order: best price first. */
  readonly bids: readonly BookEntry[];
  readonly asks: readonly BookEntry[];
  /**
   * Damaged rows; absent if there are none. `bids` and `asks` include a row after a damaged row only if its place in
   * the price order is proven.
   */
  readonly damage?: { readonly bids?: SideDamage; readonly asks?: SideDamage };
};

export type FeeTier = { readonly volume: DecimalText; readonly maker: DecimalText; readonly taker: DecimalText };

export type AvailableBook = BookRules & {
  readonly marginEnabled?: boolean;
  /** Default chart type on the exchange's own pages. */
  readonly defaultChart?: string;
  readonly flatRate?: { readonly maker: DecimalText; readonly taker: DecimalText };
  /** Fee tiers, ascending by volume; each tier's volume is its upper bound. */
  readonly tiers: readonly FeeTier[];
};

export type PublicTrade = {
  readonly book: string;
  /** Id of the trade: a whole number as text. Later trades have larger numbers. */
  readonly tid: string;
  readonly createdAt: Millis;
  readonly price: DecimalText;
  readonly amount: DecimalText;
  /** Side of the resting order; the aggressor is on the opposite side. */
  readonly makerSide: Side;
};

/**
 * One execution of an order of the account. Amounts and fee are positive, whatever their signs in the exchange's reply.
 */
export type OwnTrade = {
  readonly book: string;
  readonly tid: string;
  readonly oid: string;
  readonly originId?: string;
  readonly createdAt: Millis;
  readonly side: Side;
  readonly price: DecimalText;
  readonly major: DecimalText;
  readonly minor: DecimalText;
  readonly feeAmount: DecimalText;
  readonly feeCurrency: string;
  readonly maker: boolean;
};

export type OrderReport = {
  readonly book: string;
  readonly oid: string;
  readonly originId?: string;
  readonly side: Side;
  readonly type: 'limit' | 'market';
  readonly status: 'queued' | 'open' | 'partially filled' | 'completed' | 'cancelled';
  /** Limit price of the order; absent for market orders. */
  readonly price?: DecimalText;
  readonly originalAmount: DecimalText;
  readonly unfilledAmount: DecimalText;
  readonly createdAt: Millis;
  /** Price at which a stop order triggers; absent for other orders. */
  readonly stop?: DecimalText;
  /** Time at which a stop order triggered; absent before that time. */
  readonly triggeredAt?: Millis;
};

export type Balance = {
  readonly currency: string;
  readonly total: DecimalText;
  readonly locked: DecimalText;
  readonly available: DecimalText;
  /**
   * Number of decimals to which the exchange rounds every change of this balance, or the amounts of its trades; absent
   * if it books these amounts exactly.
   */
  readonly decimals?: number;
};

/** The account's own fee rates on one book. */
export type BookFee = {
  readonly book: string;
  readonly maker: DecimalText;
  readonly taker: DecimalText;
  readonly volumeCurrency?: string;
  readonly currentVolume?: DecimalText;
  readonly nextVolume?: DecimalText;
  readonly nextMaker?: DecimalText;
};

export type TimeInForce = 'good till canceled' | 'fill or kill' | 'immediate or cancel' | 'post only';

/** Limit order that the event loop places. */
export type NewOrder = {
  readonly book: string;
  readonly side: Side;
  readonly price: DecimalText;
  readonly major: DecimalText;
  readonly originId: string;
  readonly timeInForce: TimeInForce;
};

export type Page = { readonly marker?: string; readonly limit?: number; readonly sort?: 'asc' | 'desc' };

/** Maximum sizes of replies. */
export type ExchangeLimits = {
  /** Number of open orders on the default page. A reply of this size may be incomplete. */
  readonly ordersPage: number;
  /** Maximum number of trades per request. */
  readonly tradesPage: number;
  /** Levels per side of an aggregated book. */
  readonly depth: number;
};

/**
 * Exchange interface of the event loop. Calls have deadlines and resolve to an Outcome, never reject. Cancels are
 * exempt from the request budget.
 */
export interface Exchange {
  readonly limits: ExchangeLimits;
  /** Whether the balances have a row for every currency of the exchange; absent if not. */
  readonly listsAllBalances?: true;
  availableBooks(): Promise<Outcome<readonly AvailableBook[]>>;
  orderBook(book: string, aggregate?: boolean): Promise<Outcome<BookSnapshot>>;
  trades(book: string, page?: Page): Promise<Outcome<readonly PublicTrade[]>>;
  /**
   * Reads the balances. A zero balance may have no row, because the exchange does not list it or its client omits it.
   * The currencies in `also` keep their row. `also` has no effect if every currency has a row.
   */
  balances(query?: { readonly also: readonly string[] }): Promise<Outcome<readonly Balance[]>>;
  fees(): Promise<Outcome<readonly BookFee[]>>;
  /** Reads open orders. `limit` is the page size; a reply with exactly that many orders may be incomplete. */
  openOrders(query: { readonly book?: string; readonly limit?: number }): Promise<Outcome<readonly OrderReport[]>>;
  userTrades(query: Page & { readonly book?: string }): Promise<Outcome<readonly OwnTrade[]>>;
  orderTrades(of: { readonly oid: string } | { readonly originId: string }): Promise<Outcome<readonly OwnTrade[]>>;
  lookUp(
    of: { readonly oids: readonly string[] } | { readonly originIds: readonly string[] },
  ): Promise<Outcome<readonly OrderReport[]>>;
  /**
   * Places an order. Calls `isWanted` just before sending; if `isWanted` returns false, resolves to `refused` with code
   * `not-sent`.
   */
  place(order: NewOrder, isWanted?: () => boolean): Promise<Outcome<{ readonly oid: string }>>;
  /** Resolves to the oids that the exchange reports as canceled. A missing id proves nothing. */
  cancel(
    of: { readonly oids: readonly string[] } | { readonly originIds: readonly string[] },
  ): Promise<Outcome<readonly string[]>>;
  /** Requests left in the current window: public per address, private per account. */
  budget(): { readonly public: number; readonly private: number };
  /** Rejects new calls and resolves when all pending calls have ended. */
  close(): Promise<void>;
}

/** Balance change from the exchange's own ledger (public-facts 9.4). */
export type TransferLine = {
  /** Id of the line, unique within its list. */
  readonly id: string;
  readonly operation: string;
  readonly createdAt: Millis;
  /** Balance changes: currencies in lower case, positive amounts if incoming. */
  readonly updates: readonly { readonly currency: string; readonly amount: Money }[];
  /** Reference of the deposit or withdrawal; absent if unknown. */
  readonly ref?: string;
};

/** List of the exchange's ledger whose lines explain balance differences. */
export type TransferList = {
  /** Name of the list at the exchange; part of the stored key of each line. */
  readonly name: string;
  readonly of: 'deposits' | 'withdrawals' | 'fees';
};

/** Transfer lists of the exchange. Calls resolve as in `Exchange`. */
export interface TransferLists {
  readonly lists: readonly TransferList[];
  /** Maximum number of lines per request. */
  readonly linesPage: number;
  /** Reads one page of a list, newest first. With `marker`, reads only lines older than that id. */
  transferLines(
    list: string,
    page: { readonly marker?: string; readonly limit: number },
  ): Promise<Outcome<readonly TransferLine[]>>;
}

/** APIs that convert at a firm price: RFQ quotes, and the simple conversions of the REST API. */
export type ConversionWay = 'rfq' | 'conversion';

/** One leg of a conversion; currency in lower case. */
export type ConversionLeg = { readonly currency: string; readonly amount: DecimalText };

/**
 * Offer to convert one amount at a firm price until the offer expires. The exchange reserves no funds for the offer.
 */
export type ConversionOffer = {
  readonly way: ConversionWay;
  /** Quote id. */
  readonly id: string;
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
  /** Time from creation to expiry, both on the exchange's clock. */
  readonly lifeMs: Millis;
  /** False if accepting the offer would fail. `most` may then give the largest amount that can be accepted. */
  readonly canConfirm: boolean;
  readonly most?: ConversionLeg;
};

export type ConversionState = {
  /**
   * Conversion id. If the conversion was found by its quote, the `conversion` API may return the quote id instead. Only
   * RFQ conversions are polled by this id.
   */
  readonly id: string;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
};

/** Convertible pair, with the decimals allowed for its amounts. */
export type ConversionPair = {
  readonly from: string;
  readonly to: string;
  readonly fromDecimals: number;
  readonly toDecimals: number;
};

/** Exchange interface of the hedger. Calls resolve as in `Exchange`. */
export interface ConversionDesk {
  /** Pairs for which quotes are available. */
  pairs(): Promise<Outcome<readonly ConversionPair[]>>;
  /** Requests a quote. Exactly one leg has an amount; the exchange computes the other. */
  offer(
    way: ConversionWay,
    ask: { readonly from: string; readonly to: string } & (
      { readonly give: DecimalText; readonly get?: never } | { readonly get: DecimalText; readonly give?: never }
    ),
  ): Promise<Outcome<ConversionOffer>>;
  /**
   * Accepts an offer. If the outcome is `refused`, the offer is certainly not executed, unless the field `meaning` is
   * `executed before`. Calls `isWanted` just before sending; if `isWanted` returns false, resolves to `refused` with
   * code `not-sent`.
   */
  accept(
    offer: Pick<ConversionOffer, 'way' | 'id'>,
    isWanted?: () => boolean,
  ): Promise<Outcome<{ readonly conversionId: string }>>;
  state(way: ConversionWay, conversionId: string): Promise<Outcome<ConversionState>>;
  /**
   * Finds the conversion of a quote; `null` if the exchange has none. `rfq` searches every page of its list.
   * `conversion` queries by quote id (interface document 4.11; because the reply is undocumented, an unexpected format
   * is `unknown`).
   */
  find(way: ConversionWay, quoteId: string): Promise<Outcome<ConversionState | null>>;
}

/** HTTP transport below signing and parsing: sockets in production, in-process calls in the simulation. */
export interface Transport {
  /** Sends a request. Rejects only with a TransportFailure. */
  send(request: WireRequest): Promise<WireReply>;
  close(): Promise<void>;
}

export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query exactly as sent and signed. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact body text; empty if none. */
  readonly body: string;
};

export type WireReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * Connection for text frames, below subscribing and parsing: a WebSocket in production, in-process calls in the
 * simulation.
 */
export interface StreamTransport {
  /** Starts to connect and returns immediately. Calls the listener only after returning. */
  connect(listener: StreamListener): StreamConnection;
}

/**
 * Events of one connection, in order: `open` at most once, then frames, then `closed` exactly once. `closed` is called
 * even if the connection never opened.
 */
export interface StreamListener {
  open(): void;
  text(frame: string): void;
  /** Called for a ping without content, which the transport answers itself. */
  ping?(): void;
  closed(why: string): void;
}

export interface StreamConnection {
  /** Sends a frame; does nothing before `open` or after `closed`. */
  send(frame: string): void;
  /** Closes the connection; the listener still receives `closed`. */
  close(): void;
}

/** Effect of one event on one order of a book. */
export type OrderChange =
  /** New, partially filled or modified order, which replaces its earlier state. `amount` is the remaining amount. */
  | {
      readonly kind: 'open';
      readonly oid: string;
      readonly side: Side;
      readonly price: DecimalText;
      /** Remaining amount; `null` if unreadable. */
      readonly amount: DecimalText | null;
    }
  /** Filled or canceled order, no longer in the book. */
  | { readonly kind: 'gone'; readonly oid: string; readonly filled: boolean };

/** One step in a book's sequence of changes. */
export type BookDiff = {
  readonly book: string;
  /** Sequence number: a 64-bit counter, exact to the last digit. Snapshots use the same counter. */
  readonly sequence: bigint;
  readonly changes: readonly OrderChange[];
  /** Send time on the exchange's clock. */
  readonly sentAt?: Millis;
};

/** Public trade with the ids of both orders, if the exchange reports them. */
export type StreamTrade = PublicTrade & { readonly makerOid?: string; readonly takerOid?: string };

export type StreamNews =
  /** Connected and subscribed. From this news on, every event is delivered, unless later news reports a loss. */
  | { readonly kind: 'up' }
  /** Disconnected, or the attempt to connect failed. The stream reconnects automatically. */
  | { readonly kind: 'down'; readonly reason: string }
  /** A frame without content, which proves that the exchange is up. */
  | { readonly kind: 'alive' }
  /** One step of an order-by-order book. */
  | { readonly kind: 'diff'; readonly diff: BookDiff }
  /**
   * Complete book by levels, from an exchange that sends no steps. `sequence` grows with each book. `sentAt` is the
   * send time in the frame; absent if the frame has none, or if the book was requested. If `sentAt` is absent,
   * `updatedAt` is an estimate.
   */
  | { readonly kind: 'book'; readonly snapshot: BookSnapshot; readonly sentAt?: Millis }
  | { readonly kind: 'trades'; readonly trades: readonly StreamTrade[] }
  /** A frame could not be read, so some of its content may be missing. */
  | { readonly kind: 'fault'; readonly reason: string };

/** Public stream of one book: subscribes, parses, and reconnects after every loss. */
export interface MarketStream {
  /** Starts the stream; call it once. Calls the listener until `close`. */
  start(listener: (news: StreamNews) => void): void;
  /** Drops the connection and opens a new one. */
  restart(reason: string): void;
  close(): void;
}

/**
 * Error of a request without a complete answer. If `sent` is false, no byte was sent, so the request was certainly not
 * executed.
 */
export class TransportFailure extends Error {
  readonly sent: boolean;
  constructor(message: string, sent: boolean) {
    super(message);
    this.name = 'TransportFailure';
    this.sent = sent;
  }
}
