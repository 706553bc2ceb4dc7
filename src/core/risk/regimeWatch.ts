/**
 * Watch over the regime of a run: measures its causes from market and inventory, reports each change, and adjusts
 * quotes to the regime.
 */
import { bestOf, type Depth } from '../model/book.ts';
import { EwmaVolatility } from '../estimators/volatility.ts';
import {
  firstRegime,
  isReduceOnly,
  nextRegime,
  type Hysteresis,
  type Regime,
  type RegimeEvent,
  type RegimeState,
  type WideReason,
} from './regimes.ts';
import type { RiskRefusal } from './preTradeRisk.ts';
import { reduceOnlyQuote, widenQuote } from '../quoting/regimeAdjustments.ts';
import type { Quote } from '../quoting/strategy.ts';
import { textOfMoney, type Millis, type Money } from '../model/units.ts';

/** Triggers of the wide and reduce-only regimes; an absent trigger is off. */
export type RegimeRules = Hysteresis & {
  readonly wide: {
    /** Factor by which the spread widens. */
    readonly factor: number;
    /**
     * Standard deviation of the price over an hour, in bps, at which the spread widens. `memoryMs` is the time constant
     * of the estimate.
     */
    readonly volatility?: { readonly bps: number; readonly memoryMs: Millis };
    /** Spread of the market's best prices, in bps of the mid price, at which the bot's spread widens. */
    readonly marketSpreadBps?: number;
    /** Lots within `withinBps` of the mid price. The spread widens if a side has no more than these lots. */
    readonly thin?: { readonly lots: number; readonly withinBps: number };
  } | null;
  readonly reduceOnly: {
    /** Share of the maximum position at and above which the bot is reduce-only. */
    readonly positionShare?: number;
    /** Fall of the profit from its peak that causes reduce-only until a resume. */
    readonly drawdown?: Money;
  } | null;
};

/**
 * Rules without triggers: the market never widens the spread, and neither inventory near its limit nor losses cause
 * reduce-only.
 */
const NO_RULES: RegimeRules = { leaveShare: 0.8, calmMs: 0, wide: null, reduceOnly: null };
const SAMPLE_MS = 2_000;
const CHANGES_MAX = 50;

export class RegimeWatch {
  readonly #rules: RegimeRules;
  readonly #onChange: (to: RegimeState, from: RegimeState) => void;
  readonly #volatility: EwmaVolatility | null;
  readonly #changes: RegimeState[] = [];
  readonly #counts: Record<Regime, number> = { normal: 0, wide: 0, 'reduce only': 0, paused: 0, halted: 0 };
  #state = firstRegime;
  #wideWhy = '';
  #loss: string | null = null;
  readonly #named: (reason: string) => string;

  /** `named` adds the name of the book to the reason of a loss. */
  constructor(
    rules: RegimeRules | null | undefined,
    onChange: (to: RegimeState, from: RegimeState) => void,
    named: (reason: string) => string = reason => reason,
  ) {
    this.#rules = rules ?? NO_RULES;
    this.#onChange = onChange;
    this.#named = named;
    const { volatility } = this.#rules.wide ?? {};
    this.#volatility = volatility
      ? new EwmaVolatility({ startPerRootSecond: 0, memoryMs: volatility.memoryMs, sampleMs: SAMPLE_MS })
      : null;
  }

  get state(): RegimeState {
    return this.#state;
  }

  get isReduceOnly(): boolean {
    return isReduceOnly(this.#state);
  }

  /**
   * Reason of the first loss since the last resume that requires reduce-only, even if another reason had set
   * reduce-only before; `null` if there is none.
   */
  get loss(): string | null {
    return this.#loss;
  }

  /** Recent regime changes, oldest first. */
  get changes(): readonly RegimeState[] {
    return this.#changes;
  }

  /** Number of times that the bot entered each regime. */
  get counts(): Readonly<Record<Regime, number>> {
    return this.#counts;
  }

  apply(event: Exclude<RegimeEvent, { kind: 'look' }>): void {
    if (event.kind === 'resume') this.#loss = null;
    this.#setState(nextRegime(this.#state, event, this.#rules));
  }

  /**
   * Updates the regime at each decision. `position` is the inventory minus its target, in lots; `positionMax` is its
   * limit. `drawdown` is the amount by which the profit is below its peak; `null` without a kill switch.
   *
   * A market that cannot be quoted is no evidence of calm or of stress.
   */
  look(
    at: Millis,
    depth: Depth,
    refusal: RiskRefusal | null,
    position: number,
    positionMax: number,
    drawdown: Money | null,
  ): void {
    const { wide, reduceOnly } = this.#rules;
    // Without triggers, only the refusal can change the regime, so an unchanged refusal needs no update.
    if (wide === null && reduceOnly === null && refusal === this.#state.refusal) return;
    const share = reduceOnly?.positionShare;
    const limit = reduceOnly?.drawdown;
    const isLost = limit !== undefined && drawdown !== null && !(drawdown < limit);
    const loss = isLost
      ? this.#named(
          `drawdown: profit fell ${textOfMoney(drawdown)} from its peak; from a drawdown of ${textOfMoney(limit)}, orders only reduce inventory`,
        )
      : null;
    this.#loss ??= loss;
    this.#setState(
      nextRegime(
        this.#state,
        {
          kind: 'look',
          at,
          refusal,
          wide: wide === null ? 0 : refusal === null ? this.#wideLoad(at, depth) : Number.NaN,
          wideWhy: this.#wideWhy,
          near: share === undefined ? 0 : Math.abs(position) / (share * positionMax),
          loss,
        },
        this.#rules,
      ),
    );
  }

  /** Adjusts a quote to the regime. `position` is the inventory minus its target, in lots. */
  shape(quote: Quote, mid: number, position: number): Quote {
    const { wide } = this.#state;
    const factor = this.#rules.wide?.factor;
    const spread = wide !== null && factor !== undefined ? widenQuote(quote, factor, mid) : quote;
    return this.isReduceOnly ? reduceOnlyQuote(spread, position) : spread;
  }

  #setState(to: RegimeState): void {
    const from = this.#state;
    this.#state = to;
    if (to.since === from.since && to.regime === from.regime && to.why === from.why) return;
    this.#changes.push(to);
    if (this.#changes.length > CHANGES_MAX) this.#changes.shift();
    this.#counts[to.regime]++;
    this.#onChange(to, from);
  }

  /**
   * Returns the largest ratio of a measured value to its threshold among the market triggers (inverted for the depth);
   * NaN if a ratio is unknown.
   */
  #wideLoad(at: Millis, depth: Depth): number {
    const { volatility, marketSpreadBps, thin } = this.#rules.wide ?? {};
    const bid = bestOf(depth, 'buy');
    const ask = bestOf(depth, 'sell');
    const mid = (bid + ask) / 2;
    let largest = 0;
    const sign = (why: WideReason, load: number): void => {
      if (load <= largest || Number.isNaN(largest)) return;
      largest = load;
      this.#wideWhy = why;
    };
    if (this.#volatility !== null && volatility !== undefined) {
      this.#volatility.observe(at, mid);
      sign('the price moves fast', (this.#volatility.perRootSecond * 60 * 10_000) / volatility.bps);
    }
    if (marketSpreadBps !== undefined) sign('the market is wide', ((ask - bid) * 10_000) / (mid * marketSpreadBps));
    if (thin !== undefined) sign('the book is thin', thin.lots / lotsWithin(depth, mid, thin.withinBps));
    return largest;
  }
}

/** Returns the lots within `bps` of the mid price on the side with fewer such lots. */
function lotsWithin({ bids, asks, bidPrices, bidAmounts, askPrices, askAmounts }: Depth, mid: number, bps: number) {
  const reach = (mid * bps) / 10_000;
  let [bidLots, askLots] = [0, 0];
  for (let i = 0; i < bids && mid - bidPrices[i]! <= reach; i++) bidLots += bidAmounts[i]!;
  for (let i = 0; i < asks && askPrices[i]! - mid <= reach; i++) askLots += askAmounts[i]!;
  return Math.min(bidLots, askLots);
}
