/** Keeps the regime of a run: measures its causes from the market and our standing, tells of each change, and shapes quotes by it. */
import { bestOf } from '../model/book.ts';
import type { Depth } from '../model/book.ts';
import { EwmaVolatility } from '../estimators/volatility.ts';
import { firstRegime, isReduceOnly, nextRegime } from './regimes.ts';
import type { Hysteresis, Regime, RegimeEvent, RegimeState, WideWhy } from './regimes.ts';
import type { RiskRefusal } from './preTradeRisk.ts';
import { reduced, widened } from '../quoting/regimeAdjustments.ts';
import type { Quote } from '../quoting/strategy.ts';
import type { Millis, Money } from '../model/units.ts';
import { textOfMoney } from '../model/units.ts';

/** What makes the spread wide, each absent when it does not; and what lets only inventory be closed. */
export type RegimeRules = Hysteresis & {
  readonly wide: {
    /** The spread is multiplied by this. */
    readonly factor: number;
    /** One standard deviation of the price over an hour, in bps, followed with this memory. */
    readonly volatility?: { readonly bps: number; readonly memoryMs: Millis };
    /** Distance between everybody's best prices, in bps of their middle. */
    readonly marketSpreadBps?: number;
    /** Less than so many lots within so many bps of the middle on either side. */
    readonly thin?: { readonly lots: number; readonly withinBps: number };
  } | null;
  readonly reduceOnly: {
    /** Share of the largest position. */
    readonly positionShare?: number;
    /** Fall of the profit from its highest; it stays until a resume. */
    readonly drawdown?: Money;
  } | null;
};

/** Without rules nothing makes a spread wide, and only a person lets inventory only be closed. */
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

  constructor(rules: RegimeRules | null | undefined, onChange: (to: RegimeState, from: RegimeState) => void) {
    this.#rules = rules ?? NO_RULES;
    this.#onChange = onChange;
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

  /** The last ones, oldest first. */
  get changes(): readonly RegimeState[] {
    return this.#changes;
  }

  /** How often each was entered. */
  get counts(): Readonly<Record<Regime, number>> {
    return this.#counts;
  }

  take(event: Exclude<RegimeEvent, { kind: 'look' }>): void {
    this.#go(nextRegime(this.#state, event, this.#rules));
  }

  /**
   * At each decision. `position`: lots beyond the target, `positionMax` their bound; `drawdown`: how far the profit is below its highest, null
   * when nobody watches. A market that may not be quoted on says nothing of calm or storm.
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
    // Nothing but the refusal can change then: no look is made of it.
    if (wide === null && reduceOnly === null && refusal === this.#state.refusal) return;
    const share = reduceOnly?.positionShare;
    const limit = reduceOnly?.drawdown;
    const isLost = limit !== undefined && drawdown !== null && !(drawdown < limit);
    this.#go(
      nextRegime(
        this.#state,
        {
          kind: 'look',
          at,
          refusal,
          wide: wide === null ? 0 : refusal === null ? this.#wideLoad(at, depth) : Number.NaN,
          wideWhy: this.#wideWhy,
          near: share === undefined ? 0 : Math.abs(position) / (share * positionMax),
          loss: isLost
            ? `drawdown: profit fell ${textOfMoney(drawdown)} from its highest, from ${textOfMoney(limit)} on inventory is only closed`
            : null,
        },
        this.#rules,
      ),
    );
  }

  /** `position`: lots beyond the target. */
  shape(quote: Quote, mid: number, position: number): Quote {
    const { wide } = this.#state;
    const factor = this.#rules.wide?.factor;
    const spread = wide !== null && factor !== undefined ? widened(quote, factor, mid) : quote;
    return this.isReduceOnly ? reduced(spread, position) : spread;
  }

  #go(to: RegimeState): void {
    const from = this.#state;
    this.#state = to;
    if (to.since === from.since && to.regime === from.regime && to.why === from.why) return;
    this.#changes.push(to);
    if (this.#changes.length > CHANGES_MAX) this.#changes.shift();
    this.#counts[to.regime]++;
    this.#onChange(to, from);
  }

  /** The largest load of the market's signs; NaN when one is not known and none is too much. */
  #wideLoad(at: Millis, depth: Depth): number {
    const { volatility, marketSpreadBps, thin } = this.#rules.wide ?? {};
    const bid = bestOf(depth, 'buy');
    const ask = bestOf(depth, 'sell');
    const mid = (bid + ask) / 2;
    let largest = 0;
    const sign = (why: WideWhy, load: number): void => {
      if (load <= largest || Number.isNaN(largest)) return;
      largest = load;
      this.#wideWhy = why;
    };
    if (this.#volatility !== null && volatility !== undefined) {
      this.#volatility.see(at, mid);
      sign('the price moves fast', (this.#volatility.perRootSecond * 60 * 10_000) / volatility.bps);
    }
    if (marketSpreadBps !== undefined) sign('the market is wide', ((ask - bid) * 10_000) / (mid * marketSpreadBps));
    if (thin !== undefined) sign('the book is thin', thin.lots / lotsWithin(depth, mid, thin.withinBps));
    return largest;
  }
}

/** Lots of the thinner side at most so many bps from the middle. */
function lotsWithin({ bids, asks, bidPrices, bidAmounts, askPrices, askAmounts }: Depth, mid: number, bps: number) {
  const reach = (mid * bps) / 10_000;
  let [bidLots, askLots] = [0, 0];
  for (let i = 0; i < bids && mid - bidPrices[i]! <= reach; i++) bidLots += bidAmounts[i]!;
  for (let i = 0; i < asks && askPrices[i]! - mid <= reach; i++) askLots += askAmounts[i]!;
  return Math.min(bidLots, askLots);
}
