/** What the engine is made of, what it tells as it happens, and what it shows when asked. */
import type { AdverseSelectionOptions, WidenBps } from '../quoting/adverseSelection.ts';
import type { DecisionCount } from './decisions.ts';
import type { MarkoutCurve } from '../estimators/markouts.ts';
import type { NotTaken } from '../hedging/takerOrder.ts';
import type { HaltLimits } from '../risk/killSwitch.ts';
import type { Instrument } from '../model/instrument.ts';
import type { NormalizedLevel, LevelRefusal } from '../quoting/normalizeQuote.ts';
import type { Order, OrderNews, Patience } from '../orders/orders.ts';
import type { PullRules } from '../quoting/quotePuller.ts';
import type { CancelReason, RequoteTolerance } from '../quoting/quoteReconciler.ts';
import type { ProfitSinceOpening } from '../accounting/sinceOpening.ts';
import type { Fill, Profit } from '../accounting/position.ts';
import type { Regime, RegimeState } from '../risk/regimes.ts';
import type { RegimeRules } from '../risk/regimeWatch.ts';
import type { PlaceCommand } from '../orders/commands.ts';
import type { OrderCount } from '../orders/orderCounts.ts';
import type { RiskLimits, RiskRefusal } from '../risk/preTradeRisk.ts';
import type { Figure, Quote, Strategy } from '../quoting/strategy.ts';
import type { Amount, Millis, Money, Price, Side } from '../model/units.ts';
import type { UnshownSides } from './whyNot.ts';

export type EngineOptions = {
  readonly instrument: Instrument;
  readonly strategy: Strategy;
  /** Null: no limits were set, and nothing is placed. */
  readonly limits: RiskLimits | null;
  readonly tolerance: RequoteTolerance;
  /** `<instance>-<run>-` starts every origin id of this run; `<instance>-` every one of this bot. */
  readonly instance: string;
  readonly run: number;
  /** Major to hold; null: what is held at the start. */
  readonly target: Amount | null;
  readonly patience: Patience & {
    readonly decideEveryMs: Millis;
    readonly lookEveryMs: Millis;
    /** No quoting when the last whole private read is older than this. */
    readonly privateStaleAfterMs: Millis;
    /** How long the exchange's lists may take to show what moved a balance; absent: a difference that stays halts at once. */
    readonly listWaitMs?: Millis;
  };
  /** More unknown orders than this: nothing new is placed. */
  readonly unknownMax?: number;
  /** Absent: only impossible data and differences of the ledger halt. */
  readonly halts?: HaltLimits;
  /** Absent: no market makes the spread wide, and no loss lets inventory only be closed. */
  readonly regimes?: RegimeRules | null;
  /** Absent: markouts are not followed. */
  readonly adverseSelection?: AdverseSelectionOptions;
  /** Absent: no side is pulled. */
  readonly pull?: PullRules;
  readonly onNews?: (news: EngineNews) => void;
  /** Keeps the last decision in full, for `Engine.decision`. */
  readonly isTraced?: boolean;
};

/** What a person or a journal wants to know as it happens. */
export type EngineNews =
  | { readonly kind: 'order'; readonly news: OrderNews }
  | { readonly kind: 'placing'; readonly command: PlaceCommand; readonly level: NormalizedLevel }
  /** An order that takes liquidity, for the hedger; and one that is not sent, now or ever. */
  | { readonly kind: 'taking'; readonly command: PlaceCommand }
  | { readonly kind: 'not taken'; readonly id: string; readonly why: NotTaken }
  | { readonly kind: 'canceling'; readonly order: Order; readonly reason: CancelReason | RiskRefusal }
  | { readonly kind: 'refused'; readonly order: Order; readonly code: string; readonly message: string }
  /** `level`: of its order, from 1; null where that is not known. `gain`: what it brought against the mid, less its fee; null before the first mid. */
  | { readonly kind: 'fill'; readonly fill: Fill; readonly level: number | null; readonly gain: Money | null }
  | { readonly kind: 'count'; readonly side: Side; readonly event: OrderCount }
  /** `why`: what is missing to be ready, or why nothing of what is wanted can be shown; null when quotes are. */
  | { readonly kind: 'quoting'; readonly reason: RiskRefusal | null; readonly why: string | null }
  | { readonly kind: 'regime'; readonly to: RegimeState; readonly from: RegimeState }
  /** Trading stops until a person resumes it. */
  | { readonly kind: 'halted'; readonly reason: string };

/** Everything that metrics, summaries and pages show; plain data, made on request. */
export type Snapshot = {
  readonly at: Millis;
  readonly symbol: string;
  readonly quoting: RiskRefusal | null;
  /** What is missing while it is not ready; null when nothing is. */
  readonly waitsFor: string | null;
  /** Sides that show nothing, each with its reason, from the last decision; and the same in words, null when both show something. */
  readonly unshown: UnshownSides;
  readonly whyNot: string | null;
  readonly regime: RegimeState;
  /** How often each regime was entered. */
  readonly regimes: Readonly<Record<Regime, number>>;
  /** Why single levels or sides are not shown, from the last decision. */
  readonly silent: readonly string[];
  /** What the strategy computed with at its last quote. */
  readonly figures: readonly Figure[];
  readonly orders: readonly Order[];
  readonly counts: Readonly<Record<Side, Readonly<Record<OrderCount, number>>>>;
  /** What became of levels since the start, by reason. */
  readonly decisions: readonly DecisionCount[];
  readonly fills: number;
  readonly profit: Profit;
  /** Profit of this run, marked at the mid; it stays so where `profit` is summed over the runs of a process. */
  readonly runProfit: Profit;
  /** Profit since the opening of the ledger, this run included. */
  readonly sinceOpening: ProfitSinceOpening;
  readonly inventory: Money;
  /** Markouts of our fills, and how far each side is moved out for them; null when they are not followed. */
  readonly markouts: { readonly curves: readonly MarkoutCurve[]; readonly widenBps: WidenBps } | null;
  readonly holdings: ReadonlyMap<string, Money>;
  readonly bid: Price;
  readonly ask: Price;
  readonly bookAge: Millis;
  /** Share of the time since the first moment when quoting was possible, with at least one quote live. */
  readonly uptime: Readonly<Record<'bid' | 'ask', number>>;
};

/** What would be done now, and why: for people, without doing it. */
export type Preview = {
  /** Why trading is halted, or would be at the next decision; null otherwise. */
  readonly halt: string | null;
  readonly refusal: RiskRefusal | null;
  readonly mid: number;
  readonly quote: Quote;
  readonly levels: readonly { readonly level: NormalizedLevel; readonly verdict: RiskRefusal | 'would be placed' }[];
  readonly refusals: readonly { readonly side: Side; readonly index: number; readonly reason: LevelRefusal }[];
  /** Sides of which nothing would be placed, and that in words; none while nothing may be quoted at all. */
  readonly unshown: UnshownSides;
  readonly whyNot: string | null;
};
