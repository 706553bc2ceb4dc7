/** Options of a run, grouped by subject, and its final report. */
import type { Clock, Engine, Exchange, MarketStream, Millis, TransferLists } from '../../core/index.ts';
import type { HedgeSetup } from '../../hedge/index.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';
import type { Journal } from '../state/journal.ts';
import type { FlattenFile } from '../safety/flatten.ts';
import type { Latch } from '../safety/latch.ts';
import type { Log } from '../log.ts';
import type { ReferenceOptions } from '../market/reference.ts';
import type { RfqReferenceSetup } from '../market/rfqReferenceReads.ts';
import type { Opening } from './opening.ts';
import type { Rules } from '../rules.ts';

/** Identity of the bot. */
export type BotName = {
  /** Symbol of the book that it quotes on. */
  readonly book: string;
  /** Prefix of the origin id of all its orders. */
  readonly instance: string;
  /** Command with which the operator lifts a halt of this bot. */
  readonly resumeCommand: string;
};

/** The exchange: its requests and its stream. */
export type ExchangeSide = {
  readonly exchange: Exchange;
  /** If absent, books are only polled. */
  readonly stream?: MarketStream | undefined;
  /** Lists of deposits and withdrawals. If absent, only the operator can explain transfers. */
  readonly moneyLists?: TransferLists | undefined;
};

/** Optional activities in addition to quoting on the book. */
export type BesideQuoting = {
  /** Reference price from other markets, and its interval; if absent, none is read. */
  readonly reference?: ReferenceOptions | undefined;
  /** Reads reference prices from RFQ; if absent, none are requested. */
  readonly rfqReference?: RfqReferenceSetup | undefined;
  /** Hedges inventory by conversion. If absent, only quotes reduce inventory. */
  readonly hedge?: HedgeSetup | undefined;
};

/** State that outlives the run. */
export type StateSide = {
  readonly journal: Journal;
  readonly latch: Latch;
  /** Bookings from the operator. */
  readonly adjustments?: NumberedMailbox<'adjust'> | undefined;
  /** Settlements from the operator, for hedges whose outcome cannot be looked up. */
  readonly settlements?: NumberedMailbox<'settle'> | undefined;
  /** Request of the operator that the hedger close all inventory. */
  readonly flatten?: FlattenFile | undefined;
};

export type LoopTiming = {
  readonly decideEveryMs: Millis;
  readonly bookPollMs: Millis;
  readonly privatePollMs: Millis;
  readonly shutdownMs: Millis;
  /** Maximum delay of a trade's record, in ms. */
  readonly tradeReportDelayMaxMs: Millis;
  /** Maximum time between a transfer's appearance in the balances and in the lists, in either order, in ms. */
  readonly transferListDelayMaxMs: Millis;
};

/** External monitors of the run. */
export type Watchers = {
  /** Called after each complete and successful private read. */
  readonly onReconciled?: () => void;
  /** Called every two seconds as a heartbeat. `isKeptOut`: no private request can be sent, because of a lockout or an exhausted budget. */
  readonly onTurn?: (isKeptOut: boolean) => void;
  /** Called after every step of the engine, with its duration. */
  readonly onStep?: (ms: Millis) => void;
  /** Whether the sentinel sends heartbeats; if absent, none is required. */
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
  readonly watchers?: Watchers;
};

export type LoopOptions = RunParts & {
  readonly engine: Engine;
  /** Rules and balances from before the first quote. */
  readonly start: { readonly rules: Rules; readonly opening: Opening };
};

export type StopReport = {
  /** Origin ids of the bot's orders that could not be verified to be gone. */
  readonly left: readonly string[];
  /** Reason why the open orders could not be read, so that more than those in `left` may be open; absent if they were read. */
  readonly unread?: string;
  /** Whether the ledger equals the exchange's balances to the last digit; `null` if they were not compared. */
  readonly ledgerMatches: boolean | null;
  /** Error that ended the run; `null` if there was none. */
  readonly failure: string | null;
};

/** Whether a stop has verified that no order of the bot is left. */
export const isAllGone = ({ left, unread }: Pick<StopReport, 'left' | 'unread'>): boolean =>
  left.length === 0 && unread === undefined;

/** Everything that a stop could not verify, one text each: ids of orders, and that the open orders are not known. */
export const unverified = ({ left, unread }: Pick<StopReport, 'left' | 'unread'>): readonly string[] =>
  unread === undefined ? left : [...left, unread];
