/** Adverse selection while running: markouts of our own fills against the middles that followed, and how far they ask each side to move out. */
import { ClusteredMean, clusterMsOf } from '../estimators/clusteredMean.ts';
import type { MeanState } from '../estimators/clusteredMean.ts';
import { Markouts } from '../estimators/markouts.ts';
import type { MarkoutCurve, MarkoutsState } from '../estimators/markouts.ts';
import { studentOf } from '../estimators/student.ts';
import type { Millis, Price, Side } from '../model/units.ts';

/** Seconds after a fill at which a running bot looks; the exchange tells the time of a trade in whole seconds. */
export const LIVE_HORIZONS = [0, 1, 5, 15, 60, 300] as const;

export type AdverseSelectionOptions = {
  /** One of `LIVE_HORIZONS` beyond 0, in milliseconds: the one that quotes answer to. */
  readonly horizonMs: Millis;
  /** What was seen counts for half after this. */
  readonly halfLifeMs: Millis;
  /** Fills that must be remembered, those of one minute counted as one, before anything follows. */
  readonly minFills: number;
  /** What is beyond `toleratedBps` by fewer of its standard errors than this is taken for chance. */
  readonly standardErrors: number;
  /** Adverse selection up to this is what the quotes pay for already. */
  readonly toleratedBps: number;
  readonly widenBpsMax: number;
};

/** What a restart must know: plain numbers. */
export type AdverseSelectionState = {
  readonly tick: string;
  readonly horizonMs: Millis;
  readonly markouts: MarkoutsState;
  readonly adverse: Readonly<Record<Side, MeanState>>;
};

export type WidenBps = Readonly<Record<Side, number>>;
export const NOT_WIDENED: WidenBps = { buy: 0, sell: 0 };

/** Fills of five minutes; a bot with more gives up the longest horizon of the oldest. */
const WAITING_MAX = 512;
/** Orders whose level is remembered: more than may live and be filled late. */
const LEVELS_REMEMBERED = 2_000;
/** A market that was not heard of for longer than this is not known in between. */
const GAP_MS = 5_000;
/** One fill counts at most this many times the adverse selection at which nothing more follows. */
const OUTLIER = 2;
/** Quotes move out by whole tenths of a bps: smaller steps are not worth the place in the queue. */
const STEPS_PER_BPS = 10;

/**
 * The price moves against us by xi after a fill: a maker who buys at S - d, sees S fall by xi, and sells at S - xi + d has earned 2 d - xi. So
 * half of xi on each side keeps a round trip what it was, as in GLFT (E3). xi of a side is the mean of a(horizon) = -s (M after - M before)
 * over its fills, weighted by value (E8), each bounded. Of what it is beyond what is tolerated, x, with b the band that chance explains, x - b^2 / x
 * counts: nothing up to b, and nearly all of it where it is many times b (the positive part of James and Stein's estimate, 1961). It does not
 * depend on where we quote, so that moving out does not hide what it answers to; it is forgotten, so that a side that nobody reaches comes back.
 */
export class AdverseSelection {
  readonly #options: AdverseSelectionOptions;
  readonly #tick: string;
  readonly #markouts: Markouts;
  readonly #means: Readonly<Record<Side, ClusteredMean>>;
  readonly #mids = new Mids();
  readonly #levels = new Map<string, number>();
  readonly #widen = { buy: 0, sell: 0 };
  #version = 0;

  constructor(options: AdverseSelectionOptions, tick: string) {
    this.#options = options;
    this.#tick = tick;
    const memoryMs = options.halfLifeMs / Math.LN2;
    const mean = () => new ClusteredMean(memoryMs / clusterMsOf(options.horizonMs / 1000));
    this.#means = { buy: mean(), sell: mean() };
    const limit = OUTLIER * (options.toleratedBps + 2 * options.widenBpsMax);
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

  /** Grows when there is something new to keep. */
  get version(): number {
    return this.#version;
  }

  /** `level` from 0. */
  placed(id: string, level: number): void {
    this.#levels.set(id, level);
    if (this.#levels.size > LEVELS_REMEMBERED) this.#levels.delete(this.#levels.keys().next().value!);
  }

  /** The market as it is from `at` on; 0 while it is not two-sided. Times do not go back. */
  market(at: Millis, mid: number): void {
    this.#mids.see(at, mid);
    if (at < this.#markouts.dueAt) return;
    this.#markouts.look(at, due => this.#mids.at(due));
    this.#version++;
  }

  /** One execution of ours. `tradedAt` is the exchange's time of it, `heardAt` ours; `weight` its value in any unit. */
  fill(id: string, side: Side, price: Price, weight: number, tradedAt: Millis, heardAt: Millis): void {
    const at = Math.min(tradedAt, heardAt);
    if (!(price > 0 && weight > 0 && Number.isFinite(at))) return;
    this.#markouts.fill(at, side, this.#levels.get(id) ?? null, price, weight, this.#mids.at(at));
    this.#version++;
  }

  /** How far each side is to move out, in bps; the same object each time. */
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

  /** Goes on where an earlier run stood. What was counted in other ticks does not wait any more, what was seen at another horizon is left. */
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
    // What fades stands on fewer fills: its error grows as it is forgotten.
    const band = (studentOf(standardErrors, fills - 1) * (mean.error() ?? Infinity)) / Math.sqrt(kept);
    const beyond = (mean.mean() ?? 0) - toleratedBps;
    if (!(beyond > band)) return 0;
    const half = Math.floor(((beyond - (band * band) / beyond) / 2) * STEPS_PER_BPS) / STEPS_PER_BPS;
    return Math.min(half, widenBpsMax);
  }

  #clusterOf(at: Millis): number {
    return Math.floor(at / clusterMsOf(this.#options.horizonMs / 1000));
  }
}

/** The last few thousand changes of the middle, so that a fill that is heard of late meets the market of its own time. */
class Mids {
  readonly #size = 4_096;
  /** Each middle held from `from` on; of the last one it is known until when. */
  readonly #from = new Float64Array(this.#size);
  readonly #until = new Float64Array(this.#size);
  readonly #mid = new Float64Array(this.#size);
  #count = 0;

  see(at: Millis, mid: number): void {
    const last = (this.#count - 1) & (this.#size - 1);
    if (this.#count > 0 && this.#mid[last] === mid && at - this.#until[last]! <= GAP_MS) {
      this.#until[last] = at;
      return;
    }
    if (this.#count > 0) this.#until[last] = Math.min(at, this.#until[last]! + GAP_MS);
    const i = this.#count++ & (this.#size - 1);
    this.#from[i] = at;
    this.#until[i] = at;
    this.#mid[i] = mid;
  }

  /** The middle as it stood at a time up to now; the first one after a gap in which that lies; 0 when it is not known. */
  at(time: Millis): number {
    let low = Math.max(0, this.#count - this.#size);
    let high = this.#count;
    // The first that began after it.
    while (low < high) {
      const half = Math.floor((low + high) / 2);
      if (this.#from[half & (this.#size - 1)]! > time) high = half;
      else low = half + 1;
    }
    const before = (low - 1) & (this.#size - 1);
    if (low > Math.max(0, this.#count - this.#size)) {
      const isLast = low === this.#count;
      if (time <= this.#until[before]! + (isLast ? GAP_MS : 0)) return this.#mid[before]!;
    }
    const after = low & (this.#size - 1);
    return low < this.#count && this.#from[after]! - time <= GAP_MS ? this.#mid[after]! : 0;
  }
}
