/** Snapshot of an engine, built from its parts. */
import type { AdverseSelection } from '../quoting/adverseSelection.ts';
import { bestOf } from '../model/book.ts';
import type { Decisions } from './decisions.ts';
import type { BookedFigures, KnownFigures, Snapshot } from './engineTypes.ts';
import type { MissingEvidence } from './figuresKnown.ts';
import type { TradingAccount } from '../accounting/tradingAccount.ts';
import type { Inventory } from '../accounting/inventory.ts';
import type { LivePriceStatus } from '../marketdata/livePrice.ts';
import type { MarketView } from './marketView.ts';
import type { OrderCounts } from '../orders/orderCounts.ts';
import type { QuoteUptime } from './quoteUptime.ts';
import type { RegimeWatch } from '../risk/regimeWatch.ts';
import type { RiskContext } from '../risk/preTradeRisk.ts';
import type { Millis } from '../model/units.ts';
import { explainEmptySides, refusalDetail } from './emptySides.ts';

export type Shown = {
  readonly riskContext: RiskContext;
  readonly regimes: RegimeWatch;
  readonly decisions: Decisions;
  readonly account: TradingAccount;
  readonly inventory: Inventory;
  readonly lastEventAt: Millis;
  readonly market: MarketView;
  readonly adverseSelection: AdverseSelection | null;
  readonly counts: OrderCounts;
  readonly quoteUptime: QuoteUptime;
  readonly figures: Snapshot['figures'];
  readonly livePrice: LivePriceStatus | null;
  readonly elsewhere: Snapshot['elsewhere'];
  readonly smallestSizes: Snapshot['smallestSizes'];
  readonly fills: number;
  readonly missing: MissingEvidence;
};

/**
 * Builds a snapshot. Prices are in ticks, 0 for an empty side; sums in 10^-18. Orders, holdings and counts are not
 * copied: read them before the next step of the engine.
 */
export function snapshotOf(of: Shown, at: Millis): Snapshot {
  const { riskContext, regimes, decisions, account, inventory, market, adverseSelection } = of;
  const { state } = regimes;
  const isBeginning = state.refusal === 'not ready';
  const booked: BookedFigures = {
    fills: of.fills,
    profit: inventory.profit(),
    runProfit: inventory.profit(),
    sinceOpening: inventory.profitSinceOpening(of.lastEventAt),
    inventory: inventory.position(),
    holdings: account.totals,
  };
  return {
    at,
    symbol: riskContext.instrument.symbol,
    quoting: state.refusal,
    waitsFor: refusalDetail(state.refusal, () => riskContext) ?? (isBeginning ? 'waiting for the next decision' : null),
    unshown: decisions.unshown,
    emptySidesText: explainEmptySides(decisions.unshown, riskContext),
    regime: state,
    regimes: regimes.counts,
    silent: decisions.silent,
    figures: of.figures,
    livePrice: of.livePrice,
    elsewhere: of.elsewhere,
    smallestSizes: of.smallestSizes,
    orders: riskContext.orders,
    counts: of.counts.all,
    decisions: decisions.counts,
    booked,
    known: knownFigures(booked, of.missing),
    markouts: adverseSelection && { curves: adverseSelection.curves(), widenBps: { ...adverseSelection.widenBps(at) } },
    bid: bestOf(market.depth, 'buy'),
    ask: bestOf(market.depth, 'sell'),
    bookAge: riskContext.bookAge,
    uptime: of.quoteUptime.shares(),
  };
}

/** Returns the figures that are proven, and `null` instead of every other figure. */
export function knownFigures({ holdings, ...trades }: BookedFigures, missing: MissingEvidence): KnownFigures {
  return {
    trades: missing.trades === null ? trades : null,
    holdings: missing.holdings === null ? holdings : null,
    unknown: missing.trades ?? missing.holdings,
  };
}
