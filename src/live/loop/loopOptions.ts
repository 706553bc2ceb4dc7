/** What a run is made of, in parts by what they are about, and what it says at its end. */
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

/** Which bot it is. */
export type BotName = {
  /** Symbol of the book that it quotes on. */
  readonly book: string;
  /** Begins every origin id of its orders. */
  readonly instance: string;
  /** What a person types to lift a halt of this very bot. */
  readonly resumeCommand: string;
};

/** The exchange: what is asked of it, and what it tells by itself. */
export type ExchangeSide = {
  readonly exchange: Exchange;
  /** Without it books are polled only. */
  readonly stream?: MarketStream | undefined;
  /** Its lists of deposits and withdrawals; absent: only a person explains what came or went. */
  readonly moneyLists?: TransferLists | undefined;
};

/** What it may do beside quoting on its book. */
export type BesideQuoting = {
  /** What our price is elsewhere, and how often it is read; absent: never. */
  readonly reference?: ReferenceOptions | undefined;
  /** Asks RFQ for its prices; absent: never. */
  readonly rfqReference?: RfqReferenceSetup | undefined;
  /** Lets inventory leave by conversions; absent: it leaves by quotes alone. */
  readonly hedge?: HedgeSetup | undefined;
};

/** What outlives the run. */
export type StateSide = {
  readonly journal: Journal;
  readonly latch: Latch;
  /** Where a person leaves bookings. */
  readonly adjustments?: NumberedMailbox<'adjust'> | undefined;
  /** Where a person leaves word of hedges that nobody can look up. */
  readonly settlements?: NumberedMailbox<'settle'> | undefined;
  /** Where a person leaves that the hedger is to close everything. */
  readonly flatten?: FlattenFile | undefined;
};

export type LoopTiming = {
  readonly decideEveryMs: Millis;
  readonly bookPollMs: Millis;
  readonly privatePollMs: Millis;
  readonly shutdownMs: Millis;
  /** How late the record of a trade may be. */
  readonly tradeReportDelayMaxMs: Millis;
  /** How late the exchange may list a transfer that is in the balances already, and how early one that is not yet. */
  readonly transferListDelayMaxMs: Millis;
};

/** Who watches over the run from outside. */
export type Watchers = {
  /** Told after each whole and successful private read: what a watcher goes by. */
  readonly onReconciled?: () => void;
  /** Told every two seconds that the loop turns, and whether no private request may be sent, because of a lock-out or a budget that is used up. */
  readonly onTurn?: (isKeptOut: boolean) => void;
  /** Told after every step of the engine how many milliseconds it took. */
  readonly onStep?: (ms: Millis) => void;
  /** Whether the sentinel shows life; absent: none is asked for. */
  readonly sentinelAlive?: () => boolean;
};

/** All of a run but its engine, which is made once the rules are known. */
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
  /** What was read before the first quote. */
  readonly start: { readonly rules: Rules; readonly opening: Opening };
};

export type StopReport = {
  /** Origin ids of the bot's orders that could not be verified to be gone. */
  readonly left: readonly string[];
  /** Why the open orders are not known; absent if they were read. Then more orders than those in `left` may be open. */
  readonly unread?: string;
  /** Whether the ledger equals the exchange's balances to the last digit; `null` if the balances could not be read. */
  readonly ledgerMatches: boolean | null;
  /** What broke, when something did. */
  readonly failure: string | null;
};

/** Whether a stop has verified that no order of the bot is left. */
export const isAllGone = ({ left, unread }: Pick<StopReport, 'left' | 'unread'>): boolean =>
  left.length === 0 && unread === undefined;

/** Everything that a stop could not verify, one text each: ids of orders, and that the open orders are not known. */
export const unverified = ({ left, unread }: Pick<StopReport, 'left' | 'unread'>): readonly string[] =>
  unread === undefined ? left : [...left, unread];
