/** Markouts: value of a fill against the mid price some time later, by side and level, with standard errors. */
import type { Millis, Side } from '../model/units.ts';
import { ClusteredMean, clusterMsOf, type MeanState } from './clusteredMean.ts';

/** Horizons in seconds after the fill. Horizon 0 is the mid price just before the fill; its markout is the edge. */
export const HORIZONS = [0, 0.1, 0.5, 1, 5, 15, 60, 300] as const;
/** Number of levels per side with separate counts; a deeper level counts as the deepest of these levels. */
export const MARKOUT_LEVELS_MAX = 8;

/**
 * One markout curve with an entry per horizon. `level` is `null` for the whole side; `side` is `null` for all fills.
 */
export type MarkoutCurve = {
  readonly side: Side | null;
  /** Level from 1; `null` for the whole side. */
  readonly level: number | null;
  readonly seconds: readonly number[];
  /** Number of fills with a known mid price at the horizon. */
  readonly fills: readonly number[];
  /** Mean gain in bps of the price, weighted by value; positive is a gain for the bot. `null` without fills. */
  readonly bps: readonly (number | null)[];
  /**
   * Standard error, in bps. Fills are clustered by minute or by horizon, whichever is longer; `null` with fewer than
   * two clusters.
   */
  readonly errorBps: readonly (number | null)[];
};

export type MarkoutOptions = {
  /** Horizons in seconds, ascending, 0 first. */
  readonly horizons?: readonly number[];
  /** Time in which the weight of a fill decreases by a factor of e. Default: the weight stays constant. */
  readonly memoryMs?: Millis;
  /**
   * Maximum number of fills that wait for their longest horizon. Above this number, the oldest fill loses its unsettled
   * horizons. If omitted, an overflow throws, because the overflow means a defect in this program.
   */
  readonly waitingMax?: number;
  /**
   * Called per fill and horizon beyond 0 if the mid price is known at the horizon and just before the fill.
   * `adverseBps` is the adverse move between these times (markout at horizon 0 minus markout at this horizon), in bps
   * of the price.
   */
  readonly onAdverse?: (horizon: number, side: Side, adverseBps: number, weight: number, at: Millis) => void;
  /**
   * Called per fill and horizon if the mid price is known at the horizon. `bps` is the markout in bps of the price;
   * `at` is the time of the fill.
   */
  readonly onMarkout?: (horizon: number, bps: number, weight: number, at: Millis) => void;
};

/** Fills that wait for a mid price, and the results so far, as plain numbers. */
export type MarkoutsState = {
  /** Values per fill: time, price, weight, group, mid price before the fill, index of the first unsettled horizon. */
  readonly waiting: readonly (readonly number[])[];
  /** Means with at least one value: index of the mean, and its sums. */
  readonly means: readonly (readonly [place: number, state: MeanState])[];
};

const WAITING_MAX = 1 << 20;
const GROUPS = 2 * MARKOUT_LEVELS_MAX + 3;

/**
 * Collects markouts. A fill of side s (+1 bought, -1 sold) has price P and value w. M is the mid price at exactly the
 * horizon, without the bot's orders. The markout is m = s (M - P) / P.
 *
 * A curve shows the mean of m weighted by w (E8: Huang, Stoll 1996, J. Financial Economics 41). Fills that are close in
 * time have dependent markouts, so the errors are computed for a ratio of sums over time clusters.
 */
export class Markouts {
  /** Time at which the next mid price is needed; Infinity if no fill waits. */
  dueAt = Infinity;
  readonly #horizons: readonly number[];
  readonly #waitingMax: number | null;
  readonly #onAdverse: MarkoutOptions['onAdverse'];
  readonly #onMarkout: MarkoutOptions['onMarkout'];
  #size = 64;
  #at = new Float64Array(this.#size);
  #price = new Float64Array(this.#size);
  #weight = new Float64Array(this.#size);
  #before = new Float64Array(this.#size);
  #group = new Uint8Array(this.#size);
  /** For each horizon, the sequence number of the first fill that waits for its mid price. */
  readonly #heads: Float64Array;
  #tail = 0;
  readonly #means: readonly ClusteredMean[];

  constructor({ horizons = HORIZONS, memoryMs = Infinity, waitingMax, onAdverse, onMarkout }: MarkoutOptions = {}) {
    this.#horizons = horizons;
    this.#waitingMax = waitingMax ?? null;
    this.#onAdverse = onAdverse;
    this.#onMarkout = onMarkout;
    this.#heads = new Float64Array(horizons.length);
    this.#means = Array.from(
      { length: GROUPS * horizons.length },
      (_, place) => new ClusteredMean(memoryMs / clusterMsOf(horizons[place % horizons.length]!)),
    );
  }

  /**
   * Adds a fill. `ticks` (the price) and `mid` are in ticks; `mid` is 0 if a side of the book was empty. `level` starts
   * at 0; `null` if unknown.
   */
  fill(at: Millis, side: Side, level: number | null, ticks: number, weight: number, mid: number): void {
    const group =
      level === null
        ? SIDES + sideIndex(side)
        : sideIndex(side) * MARKOUT_LEVELS_MAX + Math.min(level, MARKOUT_LEVELS_MAX - 1);
    this.#wait(at, ticks, weight, group, mid);
    if (mid > 0) this.#add(0, (this.#tail - 1) & (this.#size - 1), mid);
    this.#heads[0] = this.#tail;
    this.#schedule();
  }

  /** Settles every horizon due by `at`. `mid` is the mid price at `at`, or a function of the due time; 0 if unknown. */
  advanceTo(at: Millis, mid: number | ((due: Millis) => number)): void {
    if (at < this.dueAt) return;
    for (let h = 1; h < this.#horizons.length; h++) {
      while (this.#heads[h]! < this.#tail) {
        const i = this.#heads[h]! & (this.#size - 1);
        const due = this.#at[i]! + this.#horizons[h]! * 1000;
        if (!(due <= at)) break;
        const then = typeof mid === 'number' ? mid : mid(due);
        if (then > 0) this.#add(h, i, then);
        this.#heads[h]! += 1;
      }
    }
    this.#schedule();
  }

  /** Returns the curves in this order: all fills, each side, each level with fills. */
  curves(): MarkoutCurve[] {
    const sides = ['buy', 'sell'] as const;
    return [
      this.#curve(ALL, null, null),
      ...sides.map((side, s) => this.#curve(SIDES + s, side, null)),
      ...sides.flatMap((side, s) =>
        Array.from({ length: MARKOUT_LEVELS_MAX }, (_, level) =>
          this.#curve(s * MARKOUT_LEVELS_MAX + level, side, level + 1),
        ),
      ),
    ].filter(({ level, fills }) => level === null || fills.some(count => count > 0));
  }

  state(): MarkoutsState {
    const waiting: number[][] = [];
    for (let n = this.#oldest(); n < this.#tail; n++) {
      const i = n & (this.#size - 1);
      let next = 1;
      while (next < this.#heads.length && n < this.#heads[next]!) next++;
      waiting.push([this.#at[i]!, this.#price[i]!, this.#weight[i]!, this.#group[i]!, this.#before[i]!, next]);
    }
    const means = this.#means.flatMap((mean, place) => (mean.count > 0 ? [[place, mean.state()] as const] : []));
    return { waiting, means };
  }

  /** Restores a saved state; call it before any fill. */
  restore({ waiting, means }: MarkoutsState): void {
    for (const [at = 0, price = 0, weight = 0, group = ALL, before = 0, next = 1] of waiting) {
      this.#wait(at, price, weight, group, before);
      // Horizons settle in the order of fills: a horizon that is settled for this fill is settled for all earlier
      // fills.
      for (let h = 0; h < next; h++) this.#heads[h] = this.#tail;
    }
    for (const [place, state] of means) this.#means[place]?.restore(state);
    this.#schedule();
  }

  #curve(group: number, side: MarkoutCurve['side'], level: number | null): MarkoutCurve {
    const means = this.#horizons.map((_, h) => this.#means[group * this.#horizons.length + h]!);
    return {
      side,
      level,
      seconds: [...this.#horizons],
      fills: means.map(({ count }) => count),
      bps: means.map(mean => mean.mean()),
      errorBps: means.map(mean => mean.error()),
    };
  }

  #wait(at: Millis, ticks: number, weight: number, group: number, mid: number): void {
    if (this.#waitingMax !== null && this.#tail - this.#oldest() >= this.#waitingMax) this.#dropOldest();
    if (this.#tail - this.#oldest() === this.#size) this.#grow();
    const i = this.#tail++ & (this.#size - 1);
    this.#at[i] = at;
    this.#price[i] = ticks;
    this.#weight[i] = weight;
    this.#group[i] = group;
    this.#before[i] = mid;
  }

  #add(h: number, i: number, mid: number): void {
    const group = this.#group[i]!;
    const ofSide = group >= SIDES ? group : group < MARKOUT_LEVELS_MAX ? SIDES : SIDES + 1;
    const isBuy = ofSide === SIDES;
    const [price, before, weight, at] = [this.#price[i]!, this.#before[i]!, this.#weight[i]!, this.#at[i]!];
    const bps = ((isBuy ? mid - price : price - mid) * 10_000) / price;
    const cluster = Math.floor(at / clusterMsOf(this.#horizons[h]!));
    const count = this.#horizons.length;
    if (group !== ofSide) this.#means[group * count + h]!.add(bps, weight, cluster);
    this.#means[ofSide * count + h]!.add(bps, weight, cluster);
    this.#means[ALL * count + h]!.add(bps, weight, cluster);
    this.#onMarkout?.(this.#horizons[h]!, bps, weight, at);
    if (h === 0 || this.#onAdverse === undefined || !(before > 0)) return;
    const adverse = ((isBuy ? before - mid : mid - before) * 10_000) / price;
    this.#onAdverse(this.#horizons[h]!, isBuy ? 'buy' : 'sell', adverse, weight, at);
  }

  #oldest(): number {
    let oldest = this.#tail;
    for (const head of this.#heads) if (head < oldest) oldest = head;
    return oldest;
  }

  #dropOldest(): void {
    const oldest = this.#oldest();
    for (let h = 0; h < this.#heads.length; h++) if (this.#heads[h] === oldest) this.#heads[h] = oldest + 1;
  }

  #schedule(): void {
    let due = Infinity;
    for (let h = 1; h < this.#horizons.length; h++) {
      if (this.#heads[h] === this.#tail) continue;
      due = Math.min(due, this.#at[this.#heads[h]! & (this.#size - 1)]! + this.#horizons[h]! * 1000);
    }
    this.dueAt = due;
  }

  #grow(): void {
    if (this.#size >= WAITING_MAX) throw new RangeError(`markouts: more than ${WAITING_MAX} fills in five minutes`);
    const size = this.#size * 2;
    const wider = <T extends Float64Array | Uint8Array>(from: T, to: T): T => {
      for (let n = this.#oldest(); n < this.#tail; n++) to[n & (size - 1)] = from[n & (this.#size - 1)]!;
      return to;
    };
    this.#at = wider(this.#at, new Float64Array(size));
    this.#price = wider(this.#price, new Float64Array(size));
    this.#weight = wider(this.#weight, new Float64Array(size));
    this.#before = wider(this.#before, new Float64Array(size));
    this.#group = wider(this.#group, new Uint8Array(size));
    this.#size = size;
  }
}

const SIDES = 2 * MARKOUT_LEVELS_MAX;
const ALL = SIDES + 2;
const sideIndex = (side: Side): 0 | 1 => (side === 'buy' ? 0 : 1);
