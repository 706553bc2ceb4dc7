/** Snapshot from which metrics are read: the current state of one book of a running bot. */
import type {
  AccountTier,
  DecisionCount,
  LimitUse,
  Millis,
  Money,
  Regime,
  Side,
  Snapshot,
  SourceStatus,
} from '../core/index.ts';
import type { EventLoopDelay } from './eventLoop.ts';

/** Current state of one book. */
export type Monitored = {
  readonly book: string;
  readonly majorCurrency: string;
  /** Currency of prices and profit. */
  readonly minorCurrency: string;
  /** Number of the bot's live orders by side. */
  readonly quotesLive: Readonly<Record<Side, number>>;
  /** Holdings by currency; `null` if they were not compared with the exchange's balances. */
  readonly position: ReadonlyMap<string, Money> | null;
  /** Prices of the bot's best live orders; `null` on a side without orders. */
  readonly quotePrice: Readonly<Record<Side, Money | null>>;
  /** Mid price of the market without the bot's orders; `null` if a side is empty. */
  readonly mid: Money | null;
  /** Parts of the profit, in the quote currency; fees are negative. Null if trades could not be read. */
  readonly pnl: Readonly<Record<PnlPart, Money>> | null;
  /** Parts of the profit since the opening of the ledger. `profitOfRun` has the parts of the last run's profit. */
  readonly profitSinceOpening: Readonly<Record<PnlPart, Money>> | null;
  readonly profitOfRun: Readonly<Record<PnlPart, Money>> | null;
  /** Spread between the bot's best live bid and ask, in bps of their mid price; `null` if a side has no live order. */
  readonly spreadBps: number | null;
  /** Spread between the market's best bid and ask, in bps of their mid price; `null` if a side is empty. */
  readonly marketSpreadBps: number | null;
  /** Time since the last full book was received; `null` before the first book. */
  readonly bookAgeMs: Millis | null;
  readonly budget: { readonly public: number; readonly private: number };
  /** Use of the request budgets that several books share; `null` with one book. */
  readonly bookBudget: {
    readonly bookReads: number;
    readonly readWaits: number;
    readonly placementWaits: number;
  } | null;
  /** Whether market data comes from the stream; `null` if the stream is off or unavailable. */
  readonly streamUp: boolean | null;
  /**
   * Amount of other traders' orders that would be filled before the bot's best order of each side, in the base
   * currency; `null` if unknown.
   */
  readonly queueAhead: Readonly<Record<Side, Money | null>>;
  /**
   * Reasons why wanted quotes are not live; empty if every wanted quote is live. The reasons are a small fixed set,
   * because each reason is a time series.
   */
  readonly notQuoting: readonly string[];
  /** Counts of all decisions on levels, by reason. The reasons are a fixed set. */
  readonly decisions: readonly DecisionCount[];
  readonly regime: Regime;
  /** Number of times that the bot entered each regime. */
  readonly regimes: Readonly<Record<Regime, number>>;
  /** Figures that the strategy computes, with a small fixed set of names. */
  readonly figures: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
  /** Sources of the reference price; empty if none are configured. */
  readonly sources: readonly SourceStatus[];
  /** Figures of hedges on the other exchange; `null` if the bot does not hedge there. */
  readonly elsewhere: Snapshot['elsewhere'];
  readonly markouts: Snapshot['markouts'];
  readonly fees: MonitoredFees;
  readonly limits: MonitoredLimits;
  /** Whether the run was stopped on request, and the exchange confirmed that none of its orders is open. */
  readonly isStoppedCleanly: boolean;
  readonly disk: MonitoredDisk;
  readonly eventLoop: EventLoopDelay;
  /** Number of chat updates by outcome; `null` without a remote control, and before its first report. */
  readonly remote: Readonly<Record<string, number>> | null;
  /** Whether the run is on paper, without real money. */
  readonly isPaper: boolean;
};

export type MonitoredFees = { readonly makerRate: number; readonly tier?: AccountTier | null };

export type MonitoredLimits = {
  readonly uses: readonly LimitUse[];
  /**
   * Time since the sentinel's last heartbeat, in ms. Without any heartbeat: Infinity if a sentinel is required,
   * otherwise `null`.
   */
  readonly sentinelAgeMs: Millis | null;
  /** Number of bytes that the user of this process can still write in the state directory; `null` if unknown. */
  readonly diskFreeBytes: number | null;
};

export type MonitoredDisk = {
  /** Whether the last write of the journal succeeded. */
  readonly journalWritable: boolean;
  /**
   * State of the webhook inbox; `null` without webhooks, and before the first report of the inbox. `counts`: deliveries
   * by outcome, since the start.
   */
  readonly inbox: {
    readonly counts: Readonly<Record<InboxOutcome, number>>;
    readonly keptBytes: number;
    readonly problem: string | null;
  } | null;
};

export type InboxOutcome = 'stored' | 'repeated' | 'turnedAway' | 'tooMany' | 'waiting' | 'noRoom' | 'failed';

export const SIDES: readonly Side[] = ['buy', 'sell'];

export type PnlPart = 'spread' | 'inventory' | 'fees' | 'hedging';
export type OrderEvent = 'placed' | 'canceled' | 'filled' | 'refused' | 'unknown';
export type RequestOutcome = 'done' | 'refused' | 'unknown';
