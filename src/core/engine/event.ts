/** What happens to the engine. Time arrives in `at`; reads of the exchange also say when they started. */
import type { AdverseSelectionState } from '../quoting/adverseSelection.ts';
import type { HedgeRow } from '../hedging/hedgeRow.ts';
import type { BookLevels } from '../model/book.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Outcome } from '../ports/outcome.ts';
import type { OrderReport, OwnTrade } from '../ports/port.ts';
import type { KillSwitchState } from '../risk/killSwitch.ts';
import type { ProfitSinceOpening } from '../accounting/sinceOpening.ts';
import type { AccountTier } from '../accounting/feeTier.ts';
import type { AccountLedger, BalancesEvent, ConversionEvent, TransferEvent } from '../accounting/accountEvents.ts';
import type { TakerRequest } from '../hedging/takerOrder.ts';
import type { RestoredOrder } from '../orders/restoredOrder.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** The same with what its one book kept beside it. */
export type RestoredLedger = AccountLedger & {
  /** What was to be held, in lots. */
  readonly target: Amount;
  readonly guard: KillSwitchState | null;
  /** Markouts of earlier fills; absent when none were followed. */
  readonly adverse?: AdverseSelectionState;
  /** Profit since the opening; absent if an older Puntas kept none. */
  readonly profit?: ProfitSinceOpening;
};

export type EngineEvent =
  /** What an earlier run left; before everything else. */
  | {
      readonly kind: 'restore';
      readonly at: Millis;
      readonly orders: readonly RestoredOrder[];
      readonly ledger: RestoredLedger | null;
    }
  /** Time passed. */
  | { readonly kind: 'timer'; readonly at: Millis }
  /**
   * The market's order book as it is now. `startedAt`: when the read began whose answer it is, with our own orders still in it; null when
   * the driver keeps a book without them. `book` is the driver's own, who may go on changing it once the step is over: the engine copies
   * the levels that it decides on, and reads it no more.
   */
  | { readonly kind: 'book'; readonly at: Millis; readonly startedAt: Millis | null; readonly book: BookLevels }
  /** With amount and taker's side when the driver tells of every trade; without them it is the last one of some. */
  | {
      readonly kind: 'public trade';
      readonly at: Millis;
      readonly price: Price;
      readonly amount?: Amount;
      readonly side?: Side;
    }
  /** What other markets say our price is, in our ticks, not on the grid. `startedAt`: when the reading began, which is how old it is. */
  | { readonly kind: 'reference'; readonly at: Millis; readonly startedAt: Millis; readonly price: number }
  /** What RFQ would pay and ask for one major, in our ticks; nobody has accepted it. `startedAt`: when the reading began. */
  | {
      readonly kind: 'witness';
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly bid: number;
      readonly ask: number;
    }
  /** The exchange lists the book no more, until rules are read again. */
  | { readonly kind: 'book removed'; readonly at: Millis }
  /** The balances could not be read for a while, although the exchange answers. Ends with the next `balances`. */
  | { readonly kind: 'balances unread'; readonly at: Millis; readonly reason: string }
  /** The book's rules and our rates (parts of 10^-8), first or changed. */
  | {
      readonly kind: 'rules';
      readonly at: Millis;
      readonly instrument: Instrument;
      readonly makerRate: number;
      readonly takerRate: number;
      /** The account's place in the schedule, where the exchange says it. */
      readonly tier?: AccountTier | null;
    }
  | BalancesEvent
  /** All trades of the account since the last such event, oldest first; `complete` when nothing newer was left unread. */
  | {
      readonly kind: 'trades';
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly complete: boolean;
      readonly trades: readonly OwnTrade[];
    }
  /**
   * Open orders of the book; `complete` when the page was not full and every row was read that may be the bot's. `current`: the page was not full, and a
   * row may be an order of the bot: what is listed is as of now, and nothing is proven absent.
   */
  | {
      readonly kind: 'open orders';
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly complete: boolean;
      readonly current?: boolean;
      readonly orders: readonly OrderReport[];
    }
  | {
      readonly kind: 'looked up';
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly ids: readonly string[];
      readonly outcome: Outcome<readonly OrderReport[]>;
    }
  | {
      readonly kind: 'placed';
      readonly at: Millis;
      readonly id: string;
      readonly outcome: Outcome<{ readonly oid: string }>;
    }
  | {
      readonly kind: 'canceled';
      readonly at: Millis;
      readonly startedAt: Millis;
      readonly ids: readonly string[];
      readonly outcome: Outcome<readonly string[]>;
    }
  | ConversionEvent
  /** An order that takes liquidity, towards the target: it is approved once nothing of ours would trade with it. */
  | ({ readonly kind: 'take'; readonly at: Millis } & TakerRequest)
  /** A hedge changed: for those who read the recording; the engine makes nothing of it. */
  | { readonly kind: 'hedge'; readonly at: Millis; readonly row: HedgeRow }
  | TransferEvent
  /** From here on only cancels pass. There is no way back. */
  | { readonly kind: 'stop'; readonly at: Millis }
  | { readonly kind: 'halt'; readonly at: Millis; readonly reason: string }
  /** From here on nothing is quoted, until that is over; another one replaces the reason. */
  | { readonly kind: 'pause'; readonly at: Millis; readonly reason: string }
  /** The pause is over, and nothing else is. */
  | { readonly kind: 'pause over'; readonly at: Millis }
  /** From here on only inventory is closed, until a resume. */
  | { readonly kind: 'reduce'; readonly at: Millis; readonly reason: string }
  /** That is over, and nothing else is. */
  | { readonly kind: 'reduced'; readonly at: Millis }
  /** This process or its machine stood still: what was read before, or began to be, says nothing about now. */
  | { readonly kind: 'slept'; readonly at: Millis }
  /** Whether the sentinel shows life, and whether it holds quotes back; without such events none is waited for. */
  | { readonly kind: 'sentinel'; readonly at: Millis; readonly alive: boolean; readonly holds?: boolean }
  /** A person has looked: a halt is lifted, and what the exchange reports is taken for the ledger. */
  | { readonly kind: 'resume'; readonly at: Millis };

/** What the exchange says of our account, asked or in answer to a command. */
export type AccountEvent = Extract<
  EngineEvent,
  { kind: 'balances' | 'balances unread' | 'trades' | 'open orders' | 'looked up' | 'placed' | 'canceled' }
>;
