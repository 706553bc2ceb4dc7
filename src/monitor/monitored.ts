/** The snapshot that metrics are read from: one book of a running bot, as it stands at the moment of asking. */
import type { AccountTier, DecisionCount, LimitUse, Millis, Money, Regime, Side, Snapshot } from '../core/index.ts';
import type { EventLoopDelay } from './eventLoop.ts';

/** What is shown of one book, as it stands at the moment of asking. */
export type Monitored = {
  readonly book: string;
  readonly majorCurrency: string;
  /** In which prices and profit are. */
  readonly minorCurrency: string;
  /** Live orders of ours by side. */
  readonly quotesLive: Readonly<Record<Side, number>>;
  /** Holdings by currency. */
  readonly position: ReadonlyMap<string, Money>;
  /** Prices of our best live orders; null on a side without one. */
  readonly quotePrice: Readonly<Record<Side, Money | null>>;
  /** Middle of the market without our orders; null while the book is not two-sided. */
  readonly mid: Money | null;
  /** Parts of the profit, in the minor currency; fees are negative. */
  readonly pnl: Readonly<Record<PnlPart, Money>>;
  /** Parts of the profit since the opening of the ledger, and of the last run. */
  readonly profitSinceOpening: Readonly<Record<PnlPart, Money>>;
  readonly profitOfRun: Readonly<Record<PnlPart, Money>>;
  /** Between our best live bid and ask, in bps of their middle; null unless both are live. */
  readonly spreadBps: number | null;
  /** Between everybody's best bid and ask, in bps of their middle; null while the book is not two-sided. */
  readonly marketSpreadBps: number | null;
  /** Since the last whole book was received; null before the first. */
  readonly bookAgeMs: Millis | null;
  readonly budget: { readonly public: number; readonly private: number };
  /** Market data comes from the stream; null when it is switched off or not there. */
  readonly streamUp: boolean | null;
  /** Major of others that is filled before our best order of each side; null while that is not known. */
  readonly queueAhead: Readonly<Record<Side, Money | null>>;
  /** Why a quote that is wanted is not shown; empty when all is well. Few and fixed words: each becomes a time series. */
  readonly notQuoting: readonly string[];
  /** What became of levels at all decisions, by reason: a closed set of words. */
  readonly decisions: readonly DecisionCount[];
  readonly regime: Regime;
  /** How often each regime was entered. */
  readonly regimes: Readonly<Record<Regime, number>>;
  /** What the strategy computes with: few and fixed names. */
  readonly figures: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
  readonly markouts: Snapshot['markouts'];
  readonly fees: MonitoredFees;
  readonly limits: MonitoredLimits;
  /** The run was stopped by request, and every order of ours is verified to be gone. */
  readonly isStoppedCleanly: boolean;
  readonly disk: MonitoredDisk;
  readonly eventLoop: EventLoopDelay;
  /** Nothing here is real money. */
  readonly isPaper: boolean;
};

export type MonitoredFees = { readonly makerRate: number; readonly tier?: AccountTier | null };

export type MonitoredLimits = {
  readonly uses: readonly LimitUse[];
  /** Since the sentinel last showed life; null when there is none to expect, Infinity when one is required and none ever did. */
  readonly sentinelAgeMs: Millis | null;
  /** Bytes that this user may still write where the state directory is; null while that cannot be told. */
  readonly diskFreeBytes: number | null;
};

export type MonitoredDisk = {
  /** The disk took the last write of the journal. */
  readonly journalWritable: boolean;
  /** Null without webhooks, and before its first second. `counts`: deliveries by what became of them, since the start. */
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
