/** What the loop is made of, and what it says at its end. */
import type { Clock, Engine, Exchange, Millis, MoneyLists } from '../../core/index.ts';
import type { HedgeSetup } from '../../hedge/index.ts';
import type { AdjustmentBox } from '../state/adjustments.ts';
import type { Journal } from '../state/journal.ts';
import type { Latch } from '../safety/latch.ts';
import type { Log } from '../log.ts';
import type { SettlementBox } from '../state/settlements.ts';
import type { MarketDataOptions } from '../market/marketData.ts';
import type { RfqReferenceSetup } from '../market/rfqReferenceReads.ts';
import type { Opening, Rules } from './opening.ts';

export type LoopOptions = Pick<MarketDataOptions, 'stream' | 'reference'> & {
  readonly exchange: Exchange;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly log: Log;
  readonly book: string;
  readonly instance: string;
  readonly rules: Rules;
  readonly opening: Opening;
  readonly latch: Latch;
  /** Told after each whole and successful private read: what a watcher goes by. */
  readonly onReconciled?: () => void;
  /** Told every two seconds that the loop turns, and whether no private request may be sent, because of a lock-out or a budget that is used up. */
  readonly onTurn?: (isKeptOut: boolean) => void;
  /** What a person types to lift a halt of this very bot. */
  readonly resumeCommand: string;
  /** Whether the sentinel shows life; absent: none is asked for. */
  readonly sentinelAlive?: () => boolean;
  readonly timing: {
    readonly decideEveryMs: Millis;
    readonly bookPollMs: Millis;
    readonly privatePollMs: Millis;
    readonly shutdownMs: Millis;
    /** How late the record of a trade may be. */
    readonly tradeReportDelayMaxMs: Millis;
    /** How late the exchange may list a transfer that is in the balances already, and how early one that is not yet. */
    readonly transferListDelayMaxMs: Millis;
  };
  /** Lets inventory leave by conversions; absent: it leaves by quotes alone. */
  readonly hedge?: HedgeSetup | undefined;
  /** The exchange's lists of deposits and withdrawals; absent: only a person explains what came or went. */
  readonly moneyLists?: MoneyLists | undefined;
  /** Where a person leaves bookings. */
  readonly adjustments?: AdjustmentBox | undefined;
  /** Where a person leaves word of hedges that nobody can look up. */
  readonly settlements?: SettlementBox | undefined;
  /** Asks RFQ for its prices; absent: never. */
  readonly witness?: RfqReferenceSetup | undefined;
  /** Called after every step of the engine with the milliseconds that it took. */
  readonly onStep?: (ms: Millis) => void;
};

export type StopReport = {
  /** Origin ids of ours that could not be verified to be gone. Empty: everything is. */
  readonly left: readonly string[];
  /** True when our ledger equals the exchange's balances to the last digit. */
  readonly ledgerMatches: boolean;
  /** What broke, when something did. */
  readonly failure: string | null;
};
