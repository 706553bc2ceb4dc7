/** Options of the engine, news for the operator, and snapshots. */
import type { AdverseSelectionOptions, WidenBps } from '../quoting/adverseSelection.ts';
import type { DecisionCount } from './decisions.ts';
import type { LivePriceRules, LivePriceStatus } from '../marketdata/livePrice.ts';
import type { MarkoutCurve } from '../estimators/markouts.ts';
import type { TakerRefusal } from '../hedging/takerOrder.ts';
import type { ElsewhereFigures, HedgeBounds } from '../risk/hedgeDebt.ts';
import type { CrossRateRules } from '../risk/crossRateWatch.ts';
import type { PriceDoubt } from '../quoting/priceDoubt.ts';
import type { CurrencyLimits } from '../risk/currencyLimits.ts';
import type { ValueLimit } from '../risk/valueLimit.ts';
import type { JointInventoryRules } from '../risk/jointInventory.ts';
import type { HaltLimits } from '../risk/killSwitch.ts';
import type { Instrument } from '../model/instrument.ts';
import type { NormalizedLevel, LevelRefusal } from '../quoting/normalizeQuote.ts';
import type { Order, OrderNews, OrderDelays } from '../orders/orders.ts';
import type { PullRules } from '../quoting/quotePuller.ts';
import type { CancelReason, RequoteTolerance } from '../quoting/quoteReconciler.ts';
import type { ElsewhereBook } from '../accounting/elsewhereAccount.ts';
import type { TransitLimits } from '../accounting/transit.ts';
import type { ProfitSinceOpening } from '../accounting/profitSinceOpening.ts';
import type { Fill, Profit } from '../accounting/position.ts';
import type { Regime, RegimeState } from '../risk/regimes.ts';
import type { RegimeRules } from '../risk/regimeWatch.ts';
import type { PlaceCommand } from '../orders/commands.ts';
import type { OrderCount } from '../orders/orderCounts.ts';
import type { RiskLimits, RiskRefusal } from '../risk/preTradeRisk.ts';
import type { RiskRules } from '../risk/riskSupervisor.ts';
import type { Figure, Quote, Strategy } from '../quoting/strategy.ts';
import type { Amount, Millis, Money, Price, Side } from '../model/units.ts';
import type { EmptySides } from './emptySides.ts';

/** Options of one book. */
export type BookOptions = {
  readonly instrument: Instrument;
  readonly strategy: Strategy;
  /** Risk limits. If `null`, the bot places no orders. */
  readonly limits: RiskLimits | null;
  readonly tolerance: RequoteTolerance;
  /** Amount of the base currency to hold, in lots. If `null`, the target is the amount held at the start. */
  readonly target: Amount | null;
  /** Number of unknown orders above which the bot places no new orders. */
  readonly unknownMax?: number;
  /** Limits that halt the bot. If absent, neither losses nor event counts nor inventory halt the bot. */
  readonly halts?: HaltLimits;
  /**
   * Triggers of the wide and reduce-only regimes. If absent, the market never widens the spread, and losses never cause
   * reduce-only.
   */
  readonly regimes?: RegimeRules | null;
  /** Options for measuring markouts; if absent, the bot measures none. */
  readonly adverseSelection?: AdverseSelectionOptions;
  /** Rules for pulled sides; if absent, no side is pulled. */
  readonly pull?: PullRules;
  /** Sources of the reference price; if absent, the reference price comes complete in events. */
  readonly livePrice?: LivePriceRules;
  /**
   * Book on another exchange where the bot hedges, bounds of the hedges, and limits of transfers between both
   * exchanges; if absent, the bot has no account there.
   */
  readonly elsewhere?: ElsewhereBook & { readonly bounds: HedgeBounds; readonly transfers?: TransitLimits };
};

/** Options that all books of an account share. */
export type SharedOptions = {
  /** Instance name. `<instance>-<run>-` starts every origin id of this run, `<instance>-` every id of this bot. */
  readonly instance: string;
  readonly run: number;
  readonly timing: OrderDelays & {
    readonly decideEveryMs: Millis;
    readonly lookEveryMs: Millis;
    /** Maximum age of the last complete account read; the bot does not quote if that read is older. */
    readonly privateStaleAfterMs: Millis;
    /**
     * Maximum delay until the exchange's transfer lists show a balance change. If absent, a lasting difference halts
     * the bot immediately.
     */
    readonly listWaitMs?: Millis;
  };
  /** Rules of the joint inventory of several books; if absent, each book skews its quotes by its own inventory. */
  readonly jointInventory?: JointInventoryRules;
  /** Rules of the comparison of prices around cycles of books; if absent, each book has its own price. */
  readonly crossRates?: CrossRateRules;
  /** Maximum exposure over all books, by currency; if absent, only the books have limits. */
  readonly currencyLimits?: CurrencyLimits;
  /** Maximum value of the exposure of all base currencies together; if absent, it has no limit. */
  readonly valueLimit?: ValueLimit;
  /** Receives the news of all books, each with the symbol of its book. */
  readonly onNews?: (news: EngineNews, symbol: string) => void;
  /** Whether `BookEngine.decision` keeps the last decision in full. */
  readonly isTraced?: boolean;
};

/** Options of an engine with one book. */
export type EngineOptions = SharedOptions & BookOptions;

/** Options of a book, as its engine gets them. */
export type BookEngineOptions = BookOptions &
  Pick<SharedOptions, 'timing' | 'isTraced'> &
  Pick<RiskRules, 'nameInReasons'> & { readonly onNews?: (news: EngineNews) => void };

/** News for the operator and the journal. */
export type EngineNews =
  | { readonly kind: 'order'; readonly news: OrderNews }
  | { readonly kind: 'placing'; readonly command: PlaceCommand; readonly level: NormalizedLevel }
  /** The engine has just sent a taker order for the hedger. */
  | { readonly kind: 'taking'; readonly command: PlaceCommand }
  | { readonly kind: 'not taken'; readonly id: string; readonly why: TakerRefusal }
  | { readonly kind: 'canceling'; readonly order: Order; readonly reason: CancelReason | RiskRefusal }
  | { readonly kind: 'refused'; readonly order: Order; readonly code: string; readonly message: string }
  /**
   * `level` is the level of the order, from 1; `null` if unknown. `gain` is the gain against the mid price minus the
   * fee; `null` before the first mid price.
   */
  | { readonly kind: 'fill'; readonly fill: Fill; readonly level: number | null; readonly gain: Money | null }
  | { readonly kind: 'count'; readonly side: Side; readonly event: OrderCount }
  /**
   * `why` has details of `reason`, such as the missing data, or the reason why no wanted level can be placed. `null` if
   * neither exists. `severity` is present if the strategy file failed, or if it only waits for data.
   */
  | {
      readonly kind: 'quoting';
      readonly reason: RiskRefusal | null;
      readonly why: string | null;
      readonly severity?: 'error' | 'info';
    }
  /** The doubt about the price of the book began or changed its effect; `null`: it ended. */
  | { readonly kind: 'price doubt'; readonly doubt: PriceDoubt | null }
  | { readonly kind: 'regime'; readonly to: RegimeState; readonly from: RegimeState }
  /** Trading stops until the operator resumes it. */
  | { readonly kind: 'halted'; readonly reason: string };

/** Figures that are computed from the trades of the account. */
export type TradeFigures = {
  readonly fills: number;
  readonly profit: Profit;
  /** Profit of this run, valued at the mid price. Unlike `profit`, never summed over the runs of a process. */
  readonly runProfit: Profit;
  /** Profit since the opening of the ledger, including this run. */
  readonly sinceOpening: ProfitSinceOpening;
  /** Held amount of the base currency minus the target. */
  readonly inventory: Money;
};

/**
 * Figures of the ledger from all trades read so far, for decisions. Trades that could not be read are missing from the
 * figures.
 */
export type BookedFigures = TradeFigures & { readonly holdings: ReadonlyMap<string, Money> };

/** Figures for display: `null` if the trades or balances behind them could not be read. */
export type KnownFigures = {
  readonly trades: TradeFigures | null;
  readonly holdings: ReadonlyMap<string, Money> | null;
  /** Reason why a figure is `null`; `null` if no figure is. */
  readonly unknown: string | null;
};

/** Plain data for metrics, summaries and pages, computed on request. */
export type Snapshot = {
  readonly at: Millis;
  readonly symbol: string;
  readonly quoting: RiskRefusal | null;
  /** Details of the reason in `quoting`, such as the missing data, as text; `null` if it has no details. */
  readonly waitsFor: string | null;
  /**
   * Empty sides with the reason from the last decision. `emptySidesText` has these reasons as text; `null` if both
   * sides show a quote.
   */
  readonly unshown: EmptySides;
  readonly emptySidesText: string | null;
  readonly regime: RegimeState;
  /** Number of times that each regime was entered. */
  readonly regimes: Readonly<Record<Regime, number>>;
  /**
   * Levels and sides for which the last decision placed no order, or an order smaller than wanted, with reasons as
   * text.
   */
  readonly silent: readonly string[];
  /** Named values from which the strategy computed its last quote. */
  readonly figures: readonly Figure[];
  /** Sources of the reference price and their combined price; `null` if none are configured. */
  readonly livePrice: LivePriceStatus | null;
  /** Figures of the hedges on another exchange; `null` if there are none. */
  readonly elsewhere: ElsewhereFigures | null;
  /** One sentence for each exchange where orders have the smallest size, with the number of reconciled fills. */
  readonly smallestSizes: readonly string[];
  readonly orders: readonly Order[];
  readonly counts: Readonly<Record<Side, Readonly<Record<OrderCount, number>>>>;
  /** Counts of level outcomes since the start of the run, by side, action and reason. */
  readonly decisions: readonly DecisionCount[];
  /** Figures of the ledger for decisions. Unread trades are missing from these figures. */
  readonly booked: BookedFigures;
  /** Figures for display; a figure without evidence is `null`. */
  readonly known: KnownFigures;
  /** Markouts of the bot's fills, and the widening per side that follows from them; `null` if not measured. */
  readonly markouts: { readonly curves: readonly MarkoutCurve[]; readonly widenBps: WidenBps } | null;
  readonly bid: Price;
  readonly ask: Price;
  readonly bookAge: Millis;
  /** Share of time with at least one live quote per side, since the bot could first quote. */
  readonly uptime: Readonly<Record<'bid' | 'ask', number>>;
};

/** Decision that the engine would make now, with reasons, for display. */
export type Preview = {
  /** Reason for a halt that is in effect now or starts at the next decision; `null` otherwise. */
  readonly halt: string | null;
  readonly refusal: RiskRefusal | null;
  readonly mid: number;
  readonly quote: Quote;
  readonly levels: readonly { readonly level: NormalizedLevel; readonly verdict: RiskRefusal | 'would be placed' }[];
  readonly refusals: readonly { readonly side: Side; readonly index: number; readonly reason: LevelRefusal }[];
  /**
   * For each side, the reason why no order can be placed; `null` if an order can be placed. Both are `null` while the
   * bot may not quote. `emptySidesText` has these reasons as text.
   */
  readonly unshown: EmptySides;
  readonly emptySidesText: string | null;
};
