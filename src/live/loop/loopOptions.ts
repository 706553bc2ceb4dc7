/** Options of a run, grouped by subject, and its final report. */
import type {
  Clock,
  Engine,
  EngineEvent,
  Exchange,
  HedgeRow,
  MarketStream,
  Millis,
  TransferLists,
} from '../../core/index.ts';
import type { HedgeSetup } from '../../hedge/index.ts';
import type { LiveElsewhereHedging } from './elsewhereHedging.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';
import type { Journal } from '../state/journal.ts';
import type { FlattenFile } from '../safety/flatten.ts';
import type { BookLatch } from '../safety/bookLatch.ts';
import type { Latch } from '../safety/latch.ts';
import type { Log } from '../log.ts';
import type { LivePriceFeed } from '../market/livePriceSource.ts';
import type { PastTradesReads } from '../market/pastTrades.ts';
import type { ReferenceOptions } from '../market/reference.ts';
import type { RfqReferenceSetup } from '../market/rfqReferenceReads.ts';
import type { Opening } from './opening.ts';
import type { SharedReads } from './bookPolls.ts';
import type { OtherBook } from './otherBooks.ts';
import type { Rules } from '../rules.ts';

/** Identity of the bot. */
export type BotName = {
  readonly book: string;
  /** Prefix of the origin ids of all orders of the bot. */
  readonly instance: string;
  /** Command with which the operator lifts a halt of this bot. */
  readonly resumeCommand: string;
};

/** The exchange: its requests and its stream. */
export type ExchangeSide = {
  readonly exchange: Exchange;
  /** Market data stream. If absent, books are only polled. */
  readonly stream?: MarketStream | undefined;
  /** Lists of deposits and withdrawals. If absent, only the operator can explain transfers. */
  readonly transferLists?: TransferLists | undefined;
};

/** Optional activities in addition to quoting on the book. */
export type BesideQuoting = {
  /** Sources and interval of the reference price from other markets. If absent, no reference price is read. */
  readonly reference?: ReferenceOptions | undefined;
  /** Creates the feeds of live prices from which a run computes its reference price; absent if none are configured. */
  readonly newLivePrices?: (() => readonly LivePriceFeed[]) | undefined;
  /** Reads of RFQ prices as a reference price. If absent, no RFQ price is requested. */
  readonly rfqReference?: RfqReferenceSetup | undefined;
  /**
   * Hedging of inventory by conversions, taker orders or orders on another exchange. If absent, only quotes reduce
   * inventory.
   */
  readonly hedge?: HedgeSetup | undefined;
  /** Sources of the public trades from before the run, for a strategy that needs them; absent: only the exchange. */
  readonly pastTrades?: PastTradesReads | undefined;
  /** Other exchange, where the bot hedges. If absent, the bot hedges on no other exchange. */
  readonly place?: LiveElsewhereHedging | undefined;
};

/** State that outlives the run. */
export type StateSide = {
  readonly journal: Journal;
  readonly latch: Latch;
  /** Returns the latch of one book. If absent, only the whole bot can be halted, paused or set reduce-only. */
  readonly latchOf?: ((symbol: string) => BookLatch) | undefined;
  /** Bookings in the ledger that the operator requested. */
  readonly adjustments?: NumberedMailbox<'adjust'> | undefined;
  /** Settlements by the operator, for hedges whose outcome the exchange does not report. */
  readonly settlements?: NumberedMailbox<'settle'> | undefined;
  /** Request of the operator that the hedger close all inventory. */
  readonly flatten?: FlattenFile | undefined;
};

export type LoopTiming = {
  readonly decideEveryMs: Millis;
  readonly bookPollMs: Millis;
  readonly privatePollMs: Millis;
  readonly shutdownMs: Millis;
  readonly tradeReportDelayMaxMs: Millis;
  /** Maximum time between a transfer's appearance in the balances and in the lists, in either order, in ms. */
  readonly transferListDelayMaxMs: Millis;
};

/** Observers of the run. */
export type Watchers = {
  /** Called after each complete read of the open orders and the account's trades. */
  readonly onReconciled?: () => void;
  /**
   * Called at least every two seconds, to write the heartbeat. `isKeptOut`: the bot cannot send private requests,
   * because of a lockout or an exhausted budget.
   */
  readonly onTurn?: (isKeptOut: boolean) => void;
  /** Called after every step of the engine, with the duration of the step. */
  readonly onStep?: (ms: Millis) => void;
  /** Called with each change of a hedge. */
  readonly onHedge?: (row: HedgeRow) => void;
  /** Whether the sentinel sends heartbeats. If absent, the bot requires no heartbeat. */
  readonly sentinelAlive?: () => boolean;
};

/** Options of a run without its engine, which needs the rules of the book. */
export type RunParts = {
  readonly bot: BotName;
  readonly clock: Clock;
  readonly log: Log;
  readonly venue: ExchangeSide;
  readonly beside?: BesideQuoting;
  readonly state: StateSide;
  readonly timing: LoopTiming;
  /** Book reads that several books share; absent if the public budget suffices to read each book every `bookPollMs`. */
  readonly sharedReads?: SharedReads | undefined;
  readonly watchers?: Watchers;
  /** Symbols of paused books, which this run has only until their orders are settled. Default: none. */
  readonly leaving?: readonly string[];
  /** Number of fills that must reconcile before orders may exceed the smallest size. Default: 0. */
  readonly smallestUntil?: number;
};

export type LoopOptions = RunParts & {
  readonly engine: Engine;
  /** Further books of the account, besides the first. */
  readonly others?: readonly OtherBook[];
  /** Rules and balances that were read before the first quote, and hedges that a settlement has ended. */
  readonly start: {
    readonly rules: Rules;
    /** Rules of the further books, in their order. */
    readonly others: readonly Rules[];
    /** Symbols of the books that the exchange no longer lists. */
    readonly removed: readonly string[];
    readonly opening: Opening;
    readonly settled: readonly HedgeRow[];
    /** Public trades from before the run, by symbol, for the books whose strategies need them. */
    readonly histories: ReadonlyMap<string, Extract<EngineEvent, { kind: 'history' }>>;
  };
};

export type StopReport = {
  /** Origin ids of the bot's orders whose end is not verified. */
  readonly left: readonly string[];
  /**
   * Reason why the open orders could not be read; absent if they were read. Orders other than those in `left` may then
   * be open.
   */
  readonly unread?: string;
  /** Hedge on another exchange whose outcome is not proven, as text; absent if there is none. */
  readonly openHedge?: string;
  /** Whether the ledger equals the exchange's balances to the last digit; `null` if they were not compared. */
  readonly ledgerMatches: boolean | null;
  /** Error that ended the run; `null` if there was none. */
  readonly failure: string | null;
  /**
   * Symbols of books that a stop of their own had halted while the whole bot was not halted; absent if there is none.
   */
  readonly haltedAlone?: readonly string[];
};

type OrdersAtStop = Pick<StopReport, 'left' | 'unread' | 'openHedge'>;

/** Whether a stop has verified that no order of the bot is open, on any exchange. */
export const isAllGone = (report: OrdersAtStop): boolean => unverified(report).length === 0;

/**
 * Returns everything that a stop could not verify, one text each: ids of orders, the reason why the open orders are
 * unknown, and an open hedge on another exchange.
 */
export const unverified = ({ left, unread, openHedge }: OrdersAtStop): readonly string[] => [
  ...left,
  ...[unread, openHedge].filter(text => text !== undefined),
];
