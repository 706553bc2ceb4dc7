/** Live adverse selection: markouts of the bot's fills, and the resulting widening per side. */
import { ClusteredMean, clusterMsOf, type MeanState } from '../estimators/clusteredMean.ts';
import { Markouts, type MarkoutCurve, type MarkoutsState } from '../estimators/markouts.ts';
import { studentQuantile } from '../estimators/student.ts';
import type { Millis, Price, Side } from '../model/units.ts';
import { MidHistory } from './midHistory.ts';

/** Horizons at which a running bot measures markouts, in seconds. The exchange reports trade times in whole seconds. */
export const LIVE_HORIZONS = [0, 1, 5, 15, 60, 300] as const;

export type AdverseSelectionOptions = {
  /** Horizon that determines the widening, in ms: one of `LIVE_HORIZONS` above 0. */
  readonly horizonMs: Millis;
  /** Half-life of the weight of a fill, in ms. */
  readonly halfLifeMs: Millis;
  /**
   * Minimum effective number of fills before any widening. All fills within one minute, or within one horizon if
   * longer, count as one fill.
   */
  readonly minFills: number;
  /**
   * Number of standard errors by which adverse selection must exceed `toleratedBps`; a smaller excess counts as chance.
   */
  readonly standardErrors: number;
  /** Adverse selection, in bps of the price, that the spread already covers. */
  readonly toleratedBps: number;
  readonly widenBpsMax: number;
};

/** State that the bot stores for the next run, as plain numbers. */
export type AdverseSelectionState = {
  readonly tick: string;
  readonly horizonMs: Millis;
  readonly markouts: MarkoutsState;
  readonly adverse: Readonly<Record<Side, MeanState>>;
};

export type WidenBps = Readonly<Record<Side, number>>;
export const NOT_WIDENED: WidenBps = { buy: 0, sell: 0 };

/**
 * Maximum number of fills that wait for a horizon, enough for the fills of five minutes. Above this number, the oldest
 * fill is no longer measured at its remaining horizons.
 */
const WAITING_MAX = 512;
/**
 * Number of orders whose level is remembered. The number exceeds the count of orders that can be live or still be
 * filled.
 */
const LEVELS_REMEMBERED = 2_000;
/**
 * Limit on the adverse selection of one fill. The limit is this factor times the adverse selection at which the
 * widening reaches its maximum.
 */
const OUTLIER_FACTOR = 2;
/**
 * Number of widening steps per bps: the widening is a multiple of 0.1 bps. A smaller step is not worth the loss of
 * queue position.
 */
const STEPS_PER_BPS = 10;

/**
 * Adverse selection per side, and the widening that compensates for it.
 *
 * After a fill the price moves against the bot by xi. A maker who buys at S - d, sees S fall by xi, and sells at S - xi
 * + d earns 2 d - xi. So widening each side by xi / 2 keeps the profit of the round trip, as in GLFT (E3).
 *
 * xi of a side is the value-weighted mean of a(horizon) = -s (M after - M before) over its fills (E8), each bounded. M
 * is the mid price; s is 1 for a buy and -1 for a sell. Let x be the excess of xi over `toleratedBps`, and b the
 * largest excess that counts as chance. Then x - b^2 / x counts: 0 up to b, nearly x far above b (positive-part
 * James-Stein estimate, 1961).
 *
 * xi does not depend on quote prices, so widening does not reduce the estimate. Old fills lose weight over time, so
 * that a side without new fills narrows again.
 */
export class AdverseSelection {
  readonly #options: AdverseSelectionOptions;
  readonly #tick: string;
  readonly #markouts: Markouts;
  readonly #means: Readonly<Record<Side, ClusteredMean>>;
  readonly #midHistory = new MidHistory();
  readonly #levels = new Map<string, number>();
  readonly #widen = { buy: 0, sell: 0 };
  #version = 0;

  constructor(options: AdverseSelectionOptions, tick: string) {
    this.#options = options;
    this.#tick = tick;
    const memoryMs = options.halfLifeMs / Math.LN2;
    const mean = () => new ClusteredMean(memoryMs / clusterMsOf(options.horizonMs / 1000));
    this.#means = { buy: mean(), sell: mean() };
    const limit = OUTLIER_FACTOR * (options.toleratedBps + 2 * options.widenBpsMax);
    this.#markouts = new Markouts({
      horizons: LIVE_HORIZONS,
      memoryMs,
      waitingMax: WAITING_MAX,
      onAdverse: (horizon, side, bps, weight, at) => {
        if (horizon * 1000 !== options.horizonMs) return;
        const bounded = Math.max(-limit, Math.min(limit, bps));
        this.#means[side].add(bounded, weight, this.#clusterOf(at));
      },
    });
  }

  /** Number that increases whenever the state changes. */
  get version(): number {
    return this.#version;
  }

  /** Records the level of a placed order; `level` starts at 0. */
  placed(id: string, level: number): void {
    this.#levels.set(id, level);
    if (this.#levels.size > LEVELS_REMEMBERED) this.#levels.delete(this.#levels.keys().next().value!);
  }

  /** Sets the mid price from `at` on; 0 while the book is not two-sided. Times must not decrease. */
  market(at: Millis, mid: number): void {
    this.#midHistory.see(at, mid);
    if (at < this.#markouts.dueAt) return;
    this.#markouts.advanceTo(at, due => this.#midHistory.at(due));
    this.#version++;
  }

  /**
   * Adds one execution of the bot. `tradedAt` is exchange time, `heardAt` the local time at which the bot received the
   * report; `weight` is the value of the execution in any unit.
   */
  fill(id: string, side: Side, price: Price, weight: number, tradedAt: Millis, heardAt: Millis): void {
    const at = Math.min(tradedAt, heardAt);
    if (!(price > 0 && weight > 0 && Number.isFinite(at))) return;
    this.#markouts.fill(at, side, this.#levels.get(id) ?? null, price, weight, this.#midHistory.at(at));
    this.#version++;
  }

  /** Returns the widening of each side, in bps; always the same object. */
  widenBps(at: Millis): WidenBps {
    this.#widen.buy = this.#widenOf(this.#means.buy, at);
    this.#widen.sell = this.#widenOf(this.#means.sell, at);
    return this.#widen;
  }

  curves(): readonly MarkoutCurve[] {
    return this.#markouts.curves();
  }

  state(): AdverseSelectionState {
    const { buy, sell } = this.#means;
    return {
      tick: this.#tick,
      horizonMs: this.#options.horizonMs,
      markouts: this.#markouts.state(),
      adverse: { buy: buy.state(), sell: sell.state() },
    };
  }

  /**
   * Restores the state of an earlier run. If the tick changed, discards the fills that wait for a horizon. If the
   * horizon of the widening changed, discards the means of adverse selection.
   */
  restore({ tick, horizonMs, markouts, adverse }: AdverseSelectionState): void {
    this.#markouts.restore(tick === this.#tick ? markouts : { ...markouts, waiting: [] });
    if (horizonMs !== this.#options.horizonMs) return;
    this.#means.buy.restore(adverse.buy);
    this.#means.sell.restore(adverse.sell);
  }

  #widenOf(mean: ClusteredMean, at: Millis): number {
    const { minFills, standardErrors, toleratedBps, widenBpsMax, horizonMs } = this.#options;
    const kept = mean.kept(at / clusterMsOf(horizonMs / 1000));
    const fills = mean.effective() * kept;
    if (!(fills >= minFills && fills > 1)) return 0;
    // As old fills lose weight, the effective number of fills decreases, and the standard error grows.
    const band = (studentQuantile(standardErrors, fills - 1) * (mean.error() ?? Infinity)) / Math.sqrt(kept);
    const beyond = (mean.mean() ?? 0) - toleratedBps;
    if (!(beyond > band)) return 0;
    const half = Math.floor(((beyond - (band * band) / beyond) / 2) * STEPS_PER_BPS) / STEPS_PER_BPS;
    return Math.min(half, widenBpsMax);
  }

  #clusterOf(at: Millis): number {
    return Math.floor(at / clusterMsOf(this.#options.horizonMs / 1000));
  }
}
