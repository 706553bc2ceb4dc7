/**
 * Events of the engine. `at` is the time of the event. An event that comes from a read also has the start time of the
 * read.
 */
import type { AdverseSelectionState } from '../quoting/adverseSelection.ts';
import type { PriceDoubt } from '../quoting/priceDoubt.ts';
import type { HedgeRow } from '../hedging/hedgeRow.ts';
import type { BasisState } from '../estimators/basisFilter.ts';
import type { LiveReading } from '../marketdata/livePrice.ts';
import type { BookLevels } from '../model/book.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Outcome } from '../ports/outcome.ts';
import type { OrderReport, OwnTrade } from '../ports/port.ts';
import type { HedgeDebtState } from '../risk/hedgeDebt.ts';
import type { KillSwitchState } from '../risk/killSwitch.ts';
import type { PastPriceState } from '../risk/pastPrice.ts';
import type { StoredTarget } from '../accounting/inventory.ts';
import type { ProfitSinceOpening } from '../accounting/profitSinceOpening.ts';
import type { TransitState } from '../accounting/transit.ts';
import type { AccountTier } from '../accounting/feeTier.ts';
import type {
  AccountLedger,
  BalancesEvent,
  ConversionEvent,
  ElsewhereEvent,
  TransferEvent,
} from '../accounting/accountEvents.ts';
import type { FirstFillsState } from '../accounting/firstFills.ts';
import type { TakerRequest } from '../hedging/takerOrder.ts';
import type { RunningCovarianceState } from '../risk/runningCovariance.ts';
import type { RestoredOrder } from '../orders/restoredOrder.ts';
import type { Amount, Millis, Money, Price, Side } from '../model/units.ts';

/** State of one book for the next run. */
export type BookState = StoredTarget & {
  /**
   * Amount of the base currency that belongs to the book; absent for the first book with its base currency, to which
   * belongs what no other book has.
   */
  readonly held?: Money;
  readonly guard: KillSwitchState | null;
  /** Markouts of earlier fills; absent if not measured. */
  readonly adverse?: AdverseSelectionState;
  /** Window of past prices; absent if price moves are not limited. */
  readonly pastPrices?: PastPriceState;
  /** Basis between this book and each source of the reference price; absent if none was measured. */
  readonly bases?: Readonly<Record<string, BasisState>>;
  /**
   * Number of consecutive failed hedges on the other exchange, and the hedge band of the latest hedge; absent if
   * neither needs to be restored.
   */
  readonly hedgeDebt?: HedgeDebtState;
  /** Doubt because of which the book was not quoted; absent if there was none. */
  readonly priceDoubt?: PriceDoubt;
  /** Profit since the opening of the ledger; absent in the state of an older Puntas. */
  readonly profit?: ProfitSinceOpening;
};

/** Ledger of all accounts, with the state of the first book. */
export type RestoredLedger = AccountLedger &
  TransitState &
  BookState & {
    /**
     * Symbol of the first book; absent in a ledger of one book. A ledger with a symbol stores each target only in
     * `targetRest`, because a later run without a book does not know the lot size of that book.
     */
    readonly symbol?: string;
    /** States of the other books, and of books that only earlier runs had, by symbol. */
    readonly books?: Readonly<Record<string, BookState>>;
    /** Joint moves of the currencies; absent without joint inventory. */
    readonly covariance?: RunningCovarianceState;
    /** Fills on an untried exchange; absent on any other exchange. */
    readonly firstFills?: FirstFillsState;
  };

/**
 * Public trade in an event: time, price, amount, and side of its taker (0: buy, 1: sell). Short, because it is
 * recorded.
 */
export type PastTrade = readonly [at: Millis, price: Price, amount: Amount, side: 0 | 1];

export type EngineEvent =
  /**
   * State of an earlier run. This event comes before every other event. `smallestUntil`: number of fills that must
   * reconcile before orders may exceed the smallest size, on an untried exchange; absent on any other exchange.
   */
  | {
      readonly kind: 'restore';
      readonly at: Millis;
      readonly orders: readonly RestoredOrder[];
      readonly ledger: RestoredLedger | null;
      readonly smallestUntil?: number;
    }
  /** Passage of time. With `symbol`, only this book decides. */
  | { readonly kind: 'timer'; readonly symbol?: string; readonly at: Millis }
  /**
   * Current order book. `startedAt` is the start of the read, if the book includes the bot's orders; `null` if it
   * excludes them. The driver owns `book` and may change it after the step, so the engine copies the levels that it
   * needs.
   */
  | {
      readonly kind: 'book';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis | null;
      readonly book: BookLevels;
    }
  /**
   * Public trade. The event has an amount and a taker side only if the driver reports every trade. Otherwise, the
   * driver reports only the last of several trades.
   */
  | {
      readonly kind: 'public trade';
      readonly symbol?: string;
      readonly at: Millis;
      readonly price: Price;
      readonly amount?: Amount;
      readonly side?: Side;
      /** Number of the trade at the exchange; present only if the strategy needs a history of trades. */
      readonly tid?: string;
      /**
       * Time of the trade at the exchange, at most `at`; present only if the strategy needs a history of trades. Older
       * recordings lack it: there, `at` counts as the time of the trade.
       */
      readonly tradedAt?: Millis;
    }
  /**
   * Public trades up to now, for a strategy that needs a history of trades: complete since `since`. From this event on,
   * the driver reports every trade once. A later event of this kind says that trades were lost before `since`. It also
   * ends a gap that a `history gap` event started.
   */
  | {
      readonly kind: 'history';
      readonly symbol?: string;
      readonly at: Millis;
      readonly since: Millis;
      /** Origin of the trades, as text for the operator. */
      readonly source: string;
      /** Number of the newest trade at the exchange; `null` if unknown. */
      readonly last: string | null;
      readonly trades: readonly PastTrade[];
    }
  /**
   * Start or end of a time in which public trades may be missing, for a strategy that needs a history of trades. At the
   * end, the missed trades have been reported.
   */
  | { readonly kind: 'history gap'; readonly symbol?: string; readonly at: Millis; readonly isOpen: boolean }
  /**
   * Reference price from other markets, in ticks of this book, not rounded. `startedAt` is the start of the read, from
   * which the age of the price is measured.
   */
  | {
      readonly kind: 'reference';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly price: number;
    }
  /**
   * Reading of a book elsewhere that is part of a source of the reference price, or the reason why there is no reading.
   * `startedAt` is the time from which the age of the reading is measured.
   */
  | {
      readonly kind: 'source';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly feed: string;
      readonly reading: LiveReading | string;
    }
  /**
   * RFQ's indicative bid and ask for one unit of the base currency, in ticks of this book. `startedAt` is the start of
   * the read.
   */
  | {
      readonly kind: 'witness';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly bid: number;
      readonly ask: number;
    }
  /** The exchange no longer lists the book. This state ends with the next `rules` event. */
  | { readonly kind: 'book removed'; readonly symbol?: string; readonly at: Millis }
  /**
   * Balances could not be read for a while, although the exchange answers. This state ends with the next `balances`
   * event.
   */
  | { readonly kind: 'balances unread'; readonly at: Millis; readonly reason: string }
  /** New rules of the book, and the account's fee rates (in 10^-8). */
  | {
      readonly kind: 'rules';
      readonly symbol?: string;
      readonly at: Millis;
      readonly instrument: Instrument;
      readonly makerRate: number;
      readonly takerRate: number;
      /** The account's fee tier; absent if the exchange does not report it. */
      readonly tier?: AccountTier | null;
    }
  | BalancesEvent
  /**
   * Trades of the account since the last `trades` event, oldest first. `complete` is true if no newer trade is unread.
   */
  | {
      readonly kind: 'trades';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly complete: boolean;
      readonly trades: readonly OwnTrade[];
    }
  /**
   * Open orders of the book. `complete` is true if the page was not full and every row that may be the bot's was
   * readable. `current` is true if the page was not full, but a row that may be the bot's was unreadable. In this case,
   * listed orders are up to date, but the absence of an order proves nothing.
   */
  | {
      readonly kind: 'open orders';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly complete: boolean;
      readonly current?: boolean;
      readonly orders: readonly OrderReport[];
    }
  | {
      readonly kind: 'looked up';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly ids: readonly string[];
      readonly outcome: Outcome<readonly OrderReport[]>;
    }
  | {
      readonly kind: 'placed';
      readonly symbol?: string;
      readonly at: Millis;
      readonly id: string;
      readonly outcome: Outcome<{ readonly oid: string }>;
    }
  | {
      readonly kind: 'canceled';
      readonly symbol?: string;
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly ids: readonly string[];
      readonly outcome: Outcome<readonly string[]>;
    }
  | ConversionEvent
  /**
   * Request of the hedger for a taker order that moves inventory towards its target. The pre-trade risk gate approves
   * the taker order once no order of the bot would trade with it.
   */
  | ({ readonly kind: 'take'; readonly symbol?: string; readonly at: Millis } & TakerRequest)
  /** Change of a hedge, for readers of the recording. The engine uses only the hedge band, if hedges compute it. */
  | { readonly kind: 'hedge'; readonly symbol?: string; readonly at: Millis; readonly row: HedgeRow }
  | TransferEvent
  | ElsewhereEvent
  /** Permanent stop: from this event on, the bot places no orders. */
  | { readonly kind: 'stop'; readonly at: Millis }
  /** A halt, of one book if `symbol` is present. */
  | { readonly kind: 'halt'; readonly symbol?: string; readonly at: Millis; readonly reason: string }
  /** Start of a pause, which stops quoting until `pause over`. Another pause replaces the reason. */
  | { readonly kind: 'pause'; readonly symbol?: string; readonly at: Millis; readonly reason: string }
  /** End of the pause. A halt, a block by the sentinel, or reduce-only continues. */
  | { readonly kind: 'pause over'; readonly symbol?: string; readonly at: Millis }
  /** Start of reduce-only, which lasts until a resume or a `reduced` event. */
  | { readonly kind: 'reduce'; readonly symbol?: string; readonly at: Millis; readonly reason: string }
  /** End of reduce-only. A halt or a pause continues. */
  | { readonly kind: 'reduced'; readonly symbol?: string; readonly at: Millis }
  /** The process or machine was suspended. Reads that started before the suspension are outdated. */
  | { readonly kind: 'slept'; readonly at: Millis }
  /**
   * State of the sentinel: whether it sends a heartbeat, and whether it blocks quotes. Without `sentinel` events, no
   * sentinel is required.
   */
  | { readonly kind: 'sentinel'; readonly at: Millis; readonly alive: boolean; readonly holds?: boolean }
  /**
   * The operator resumed trading. The engine ends a halt or reduce-only, and books the difference between reported
   * balances and ledger. A resume of one book only ends its halt or reduce-only.
   */
  | { readonly kind: 'resume'; readonly symbol?: string; readonly at: Millis };

const BOOK_KINDS = [
  'book',
  'public trade',
  'history',
  'history gap',
  'reference',
  'source',
  'witness',
  'book removed',
  'rules',
  'take',
  'hedge',
] as const;
const IS_BOOK_KIND: ReadonlySet<string> = new Set(BOOK_KINDS);

/** Events of one book. With several books, `symbol` names the book. */
export type OneBookEvent = Extract<EngineEvent, { kind: (typeof BOOK_KINDS)[number] }>;

/** Events of the account, of which every book learns, or only the book `symbol` if present. */
export type AccountEvent = Exclude<EngineEvent, OneBookEvent | { kind: 'restore' }>;

/** Whether an event is of one book, so that only this book learns of it. */
export const isBookEvent = (event: EngineEvent): event is OneBookEvent => IS_BOOK_KIND.has(event.kind);

const READ_KINDS = ['timer', 'trades', 'open orders', 'looked up', 'placed', 'canceled'] as const;
const IS_READ_KIND: ReadonlySet<string> = new Set(READ_KINDS);

/**
 * Reads of the account, answers of the exchange, and the passage of time. If the event has a symbol, only this book
 * learns of the event and decides.
 */
export type ReadEvent = Extract<EngineEvent, { kind: (typeof READ_KINDS)[number] }>;

/** Whether an event is a read of the account, an answer of the exchange, or the passage of time. */
export const isReadEvent = (event: EngineEvent): event is ReadEvent => IS_READ_KIND.has(event.kind);
