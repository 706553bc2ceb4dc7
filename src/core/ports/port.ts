/** The ports: what the outside world must be for the rooms of this project. Everything that waits, asks or rolls dice comes in here. */
import type { BookRules } from '../model/instrument.ts';
import type { DecimalText, Millis, Money, Side } from '../model/units.ts';
import type { Outcome } from './outcome.ts';

/** Time. Both readings run on one scale: at speed 20 a clock shows 20 s while a wall second passes. */
export interface Clock {
  /** Milliseconds since 1970 UTC. May step back when the machine's clock is set. */
  now(): Millis;
  /** Milliseconds since some fixed start. Never steps back; the only reading that durations are taken from. */
  elapsed(): Millis;
  /** Calls once after `ms` of this clock, unless stopped first. */
  after(ms: Millis, call: () => void): Timer;
}

export interface Timer {
  stop(): void;
}

/** Resolves after `ms` of the clock, or at once when the signal aborts. Never rejects. */
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

/** Randomness with a seed: the same seed gives the same draws. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [from, to], both included. */
  integer(from: number, to: number): number;
}

/** One level of an aggregated book, or one order of a whole book (then with `oid`). */
export type BookEntry = {
  readonly price: DecimalText;
  /** `null` if it cannot be read. */
  readonly amount: DecimalText | null;
  readonly oid?: string;
};

/** The first row of a side whose price cannot be read, or that breaks the order of the rows: it is behind the first `after` entries. */
export type SideDamage = { readonly after: number; readonly why: string };

export type BookSnapshot = {
  readonly book: string;
  /** 64-bit counter, every digit kept. */
  readonly sequence: bigint;
  readonly updatedAt: Millis;
  /** Best first. */
  readonly bids: readonly BookEntry[];
  readonly asks: readonly BookEntry[];
  /** Absent where every price was read. Rows behind a damaged one are kept while their order proves their place. */
  readonly damage?: { readonly bids?: SideDamage; readonly asks?: SideDamage };
};

export type FeeTier = { readonly volume: DecimalText; readonly maker: DecimalText; readonly taker: DecimalText };

export type AvailableBook = BookRules & {
  readonly marginEnabled?: boolean;
  /** What the exchange's own pages draw of it. */
  readonly defaultChart?: string;
  readonly flatRate?: { readonly maker: DecimalText; readonly taker: DecimalText };
  /** Ascending by volume; each tier's volume is its upper bound. */
  readonly tiers: readonly FeeTier[];
};

export type PublicTrade = {
  readonly book: string;
  readonly tid: string;
  readonly createdAt: Millis;
  readonly price: DecimalText;
  readonly amount: DecimalText;
  /** Side of the resting order; the aggressor is the opposite side. */
  readonly makerSide: Side;
};

/** One execution of ours. Amounts and fee are positive here whatever their sign on the wire. */
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
  /** Absent on market orders. */
  readonly price?: DecimalText;
  readonly originalAmount: DecimalText;
  readonly unfilledAmount: DecimalText;
  readonly createdAt: Millis;
};

export type Balance = {
  readonly currency: string;
  readonly total: DecimalText;
  readonly locked: DecimalText;
  readonly available: DecimalText;
};

/** The account's own rates on one book. */
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

/** A limit order as the loop places it. */
export type NewOrder = {
  readonly book: string;
  readonly side: Side;
  readonly price: DecimalText;
  readonly major: DecimalText;
  readonly originId: string;
  readonly timeInForce: TimeInForce;
};

export type Page = { readonly marker?: string; readonly limit?: number; readonly sort?: 'asc' | 'desc' };

/** How much one reply holds. */
export type ExchangeLimits = {
  /** Open orders on its usual page: a reply of this many may be cut. */
  readonly ordersPage: number;
  /** The most trades that may be asked for at once. */
  readonly tradesPage: number;
  /** Levels a side of an aggregated book. */
  readonly depth: number;
};

/**
 * What the loop needs of an exchange. Every call has a deadline inside and never rejects for what the world does: it resolves to an Outcome.
 * `placeable` and the read lanes keep the request budget; cancels are exempt.
 */
export interface Exchange {
  readonly limits: ExchangeLimits;
  availableBooks(): Promise<Outcome<readonly AvailableBook[]>>;
  orderBook(book: string, aggregate?: boolean): Promise<Outcome<BookSnapshot>>;
  trades(book: string, page?: Page): Promise<Outcome<readonly PublicTrade[]>>;
  balances(): Promise<Outcome<readonly Balance[]>>;
  fees(): Promise<Outcome<readonly BookFee[]>>;
  /** `limit` is the page size asked for: a reply of exactly that many orders may be incomplete. */
  openOrders(query: { readonly book?: string; readonly limit?: number }): Promise<Outcome<readonly OrderReport[]>>;
  userTrades(query: Page & { readonly book?: string }): Promise<Outcome<readonly OwnTrade[]>>;
  orderTrades(of: { readonly oid: string } | { readonly originId: string }): Promise<Outcome<readonly OwnTrade[]>>;
  lookUp(
    of: { readonly oids: readonly string[] } | { readonly originIds: readonly string[] },
  ): Promise<Outcome<readonly OrderReport[]>>;
  /** `isWanted` is asked at the last moment: an order that waited for its turn and is wanted no more is refused as `not-sent`. */
  place(order: NewOrder, isWanted?: () => boolean): Promise<Outcome<{ readonly oid: string }>>;
  /** Resolves to the oids that the exchange says it canceled; an id that is missing proves nothing. */
  cancel(
    of: { readonly oids: readonly string[] } | { readonly originIds: readonly string[] },
  ): Promise<Outcome<readonly string[]>>;
  /** Requests left in the current window, by scope. */
  budget(): { readonly public: number; readonly private: number };
  /** Refuses new calls and resolves when those under way have ended. */
  close(): Promise<void>;
}

/** A change of balances as the exchange's own ledger lists it (public-facts 9.4). */
export type MoneyMoved = {
  /** Its own there. */
  readonly id: string;
  readonly operation: string;
  readonly createdAt: Millis;
  /** Lower-case currency; above zero what came. */
  readonly updates: readonly { readonly currency: string; readonly amount: Money }[];
  /** Of the deposit or withdrawal, as far as it is told. */
  readonly ref?: string;
};

/** A list of the exchange's own ledger that a bot looks into when its balances are not what it knows of. */
export type MoneyList = {
  /** The exchange's word for it; part of what is remembered of each of its lines. */
  readonly name: string;
  readonly of: 'deposits' | 'withdrawals' | 'fees';
};

/** Every call as in `Exchange`. */
export interface MoneyLists {
  readonly lists: readonly MoneyList[];
  /** The most lines that may be asked for at once. */
  readonly linesPage: number;
  /** One page of the list of that name, newest first, older than the line with the id `marker` when given. */
  moneyMoved(
    list: string,
    page: { readonly marker?: string; readonly limit: number },
  ): Promise<Outcome<readonly MoneyMoved[]>>;
}

/** The two interfaces that convert at a firm price: quotes asked for (rfq), and the simple conversions of the REST interface. */
export type ConversionWay = 'rfq' | 'conversion';

/** One leg of a conversion, lower-case currency. */
export type ConversionLeg = { readonly currency: string; readonly amount: DecimalText };

/** A firm price for one amount, until it expires. It reserves nothing. */
export type ConversionOffer = {
  readonly way: ConversionWay;
  /** Of the quote. */
  readonly id: string;
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
  /** From its creation to its end, both on the exchange's own clock. */
  readonly lifeMs: Millis;
  /** False: accepting it would fail; then `most` may say what would not. */
  readonly canConfirm: boolean;
  readonly most?: ConversionLeg;
};

export type ConversionState = {
  /** Of the conversion. Found by its quote, the older interface may tell the quote's here: only RFQ's are followed by it. */
  readonly id: string;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
};

/** A pair that can be converted, and the decimals that its amounts may have. */
export type ConversionPair = {
  readonly from: string;
  readonly to: string;
  readonly fromDecimals: number;
  readonly toDecimals: number;
};

/** What a hedge needs of an exchange; every call as in `Exchange`. */
export interface ConversionDesk {
  /** Pairs of quotes that can be asked for. */
  pairs(): Promise<Outcome<readonly ConversionPair[]>>;
  /** Exactly one leg has an amount; the other is what the exchange makes of it. */
  offer(
    way: ConversionWay,
    ask: { readonly from: string; readonly to: string } & (
      { readonly give: DecimalText; readonly get?: never } | { readonly get: DecimalText; readonly give?: never }
    ),
  ): Promise<Outcome<ConversionOffer>>;
  /** Carries an offer out. Refused with a code that says so: certainly not. */
  accept(offer: Pick<ConversionOffer, 'way' | 'id'>): Promise<Outcome<{ readonly conversionId: string }>>;
  state(way: ConversionWay, conversionId: string): Promise<Outcome<ConversionState>>;
  /**
   * The conversion of a quote; null when the exchange knows none. `rfq`: searched on every page of its list. `conversion`: asked for by the
   * quote's id (interface document 4.11; its reply is not described, so that one of another shape is `unknown`).
   */
  find(way: ConversionWay, quoteId: string): Promise<Outcome<ConversionState | null>>;
}

/** One HTTP exchange, below signing and parsing: over sockets in production, in process in the simulation. */
export interface Transport {
  /** Rejects only with a TransportFailure. */
  send(request: WireRequest): Promise<WireReply>;
  close(): Promise<void>;
}

export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query exactly as they go on the request line, and as they are signed. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact text of the body; empty for none. */
  readonly body: string;
};

export type WireReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** A connection of text frames, below subscribing and parsing: a WebSocket in production, in process in the simulation. */
export interface StreamTransport {
  /** Starts to connect and returns at once; the listener is called later, never before this has returned. */
  connect(listener: StreamListener): StreamConnection;
}

/** What one connection tells, in order: `open` at most once, then frames, then `closed` exactly once, also when it never opened. */
export interface StreamListener {
  open(): void;
  text(frame: string): void;
  closed(why: string): void;
}

export interface StreamConnection {
  /** Nothing happens to a frame that is sent before `open` or after `closed`. */
  send(frame: string): void;
  /** Ends it; `closed` still follows. */
  close(): void;
}

/** What one event did to one order of a book. */
export type OrderChange =
  /** New, partially filled or modified: the order now is as said, whatever it was before. `amount` is what remains. */
  | {
      readonly kind: 'open';
      readonly oid: string;
      readonly side: Side;
      readonly price: DecimalText;
      /** `null` if it cannot be read. */
      readonly amount: DecimalText | null;
    }
  /** Filled or canceled: it is in the book no more. */
  | { readonly kind: 'gone'; readonly oid: string; readonly filled: boolean };

/** One step of a book's sequence. */
export type BookDiff = {
  readonly book: string;
  /** 64-bit counter, every digit kept; the same counter as a snapshot's. */
  readonly sequence: bigint;
  readonly changes: readonly OrderChange[];
  /** When the exchange sent it, on its own clock. */
  readonly sentAt?: Millis;
};

/** A public trade with the ids of both orders. */
export type StreamTrade = PublicTrade & { readonly makerOid: string; readonly takerOid: string };

export type StreamNews =
  /** Connected and subscribed: from here on nothing is missed unless a later piece of news says so. */
  | { readonly kind: 'up' }
  /** Disconnected, or given up; it connects again by itself. */
  | { readonly kind: 'down'; readonly reason: string }
  /** The exchange is there: a frame without content for us. */
  | { readonly kind: 'alive' }
  /** One step of a book that is told order by order. */
  | { readonly kind: 'diff'; readonly diff: BookDiff }
  /** A whole book by levels, from a venue that tells no steps: `updatedAt` is when it was sent, `sequence` grows with every one. */
  | { readonly kind: 'book'; readonly snapshot: BookSnapshot }
  | { readonly kind: 'trades'; readonly trades: readonly StreamTrade[] }
  /** A frame could not be read: something of it may be missing. */
  | { readonly kind: 'fault'; readonly reason: string };

/** The public stream of one book, subscribed, parsed and connected again after every loss. */
export interface MarketStream {
  /** To be called once. The listener is called until `close`. */
  start(listener: (news: StreamNews) => void): void;
  /** Drops the connection and makes a new one. */
  restart(reason: string): void;
  close(): void;
}

/** The request got no whole answer. `sent: false` means that no byte of it left; then it was certainly not carried out. */
export class TransportFailure extends Error {
  readonly sent: boolean;
  constructor(message: string, sent: boolean) {
    super(message);
    this.name = 'TransportFailure';
    this.sent = sent;
  }
}
