/** Markouts: what a fill was worth against the middle of the market some time after it, by side and level, with standard errors. */
import type { Millis, Side } from '../model/units.ts';
import { ClusteredMean, clusterMsOf } from './clusteredMean.ts';
import type { MeanState } from './clusteredMean.ts';

/** Seconds after the fill; 0 is the middle just before it, the edge. */
export const HORIZONS = [0, 0.1, 0.5, 1, 5, 15, 60, 300] as const;
/** Levels told apart on each side; those further out are counted as the last of them. */
export const MARKOUT_LEVELS_MAX = 8;

/** One curve: an entry for each horizon. `level` null: all of the side; `side` null: everything. */
export type MarkoutCurve = {
  readonly side: Side | null;
  /** From 1. */
  readonly level: number | null;
  readonly seconds: readonly number[];
  /** Fills with a known market at that time. */
  readonly fills: readonly number[];
  /** Mean gain in bps of the price, weighted by value: positive is good for us. Null without fills. */
  readonly bps: readonly (number | null)[];
  /** Standard error, from clusters of a minute or the horizon, whichever is longer; null with fewer than two. */
  readonly errorBps: readonly (number | null)[];
};

export type MarkoutOptions = {
  /** Seconds, ascending, 0 first. */
  readonly horizons?: readonly number[];
  /** Everything fades by e each time that this has passed; without it nothing does. */
  readonly memoryMs?: Millis;
  /** Most fills that wait for their longest horizon: when there are more, the oldest is given up. Without it they are a broken belief about our own code. */
  readonly waitingMax?: number;
  /**
   * Told of each fill at each horizon beyond 0 where the market is known there and was known just before the fill: `adverseBps` is how far
   * it moved against us in between, a = e - m in bps of the price.
   */
  readonly onAdverse?: (horizon: number, side: Side, adverseBps: number, weight: number, at: Millis) => void;
  /** Told of each fill at each horizon where the market is known there: what it was worth in bps of the price; `at` is the fill's own time. */
  readonly onMarkout?: (horizon: number, bps: number, weight: number, at: Millis) => void;
};

/** What waits and what was found, as plain numbers. */
export type MarkoutsState = {
  /** at, price, weight, group, middle before, first horizon (as an index) that is not settled. */
  readonly waiting: readonly (readonly number[])[];
  /** Place, and the sums of its mean. */
  readonly means: readonly (readonly [place: number, state: MeanState])[];
};

const WAITING_MAX = 1 << 20;
const GROUPS = 2 * MARKOUT_LEVELS_MAX + 3;

/**
 * For a fill of side s (+1 bought, -1 sold) at P with value w, and the middle M after it: m = s (M - P) / P. A curve shows the mean of m
 * weighted by w (E8: Huang, Stoll 1996, J. Financial Economics 41). Fills near each other share their market, so that errors are those
 * of a ratio of sums over clusters of time. M is the market as it stood at that very time, without our orders.
 */
export class Markouts {
  /** When the next market is wanted; Infinity for never. */
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
  /** For each horizon the first fill that still waits; counted from the beginning, like the tail. */
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

  /** `middle` and `ticks` in ticks; `middle` 0 when a side of the book was empty; `level` from 0, null when it is not known. */
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

  /** The market at `at`, or at any moment up to it; 0 where it is not known. Settles everything that was due by then. */
  look(at: Millis, mid: number | ((due: Millis) => number)): void {
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

  /** All, then each side, then each level that had a fill. */
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

  /** Goes on from there; to be called before any fill. */
  restore({ waiting, means }: MarkoutsState): void {
    for (const [at = 0, price = 0, weight = 0, group = ALL, before = 0, next = 1] of waiting) {
      this.#wait(at, price, weight, group, before);
      // In order: what is settled of a fill is settled of those before it.
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
    if (this.#waitingMax !== null && this.#tail - this.#oldest() >= this.#waitingMax) this.#giveUpOldest();
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

  #giveUpOldest(): void {
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
    if (this.#size >= WAITING_MAX) throw new RangeError(`more than ${WAITING_MAX} fills in five minutes`);
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
