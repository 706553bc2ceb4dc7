/** Markouts: what a fill was worth against the middle of the market some time after it, by side and level, with standard errors. */
import { BUY, SELL } from './rows.ts';
import type { SideIndex } from './rows.ts';

/** Seconds after the fill; 0 is the middle just before it, the edge. */
export const HORIZONS = [0, 0.1, 0.5, 1, 5, 15, 60, 300] as const;
/** Levels told apart on each side; those further out are counted as the last of them. */
export const LEVELS_MAX = 8;

/** One curve: an entry for each horizon. `level` null: all of the side; `side` null: everything. */
export type MarkoutCurve = {
  readonly side: 'buy' | 'sell' | null;
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

/** Fills that wait for their longest horizon; more in five minutes is a broken belief about our own code. */
const WAITING_MAX = 1 << 20;
const CLUSTER_MS = 60_000;
const GROUPS = 2 * LEVELS_MAX + 3;

/**
 * For a fill of side s (+1 bought, -1 sold) at P with value w, and the middle M after it: m = s (M - P) / P. A curve shows the mean of m
 * weighted by w (E8: Huang, Stoll 1996, J. Financial Economics 41). Fills near each other share their market, so that errors are those
 * of a ratio of sums over clusters of time. M is the market as it stood at that very time, without our orders.
 */
export class Markouts {
  /** When the next market is wanted; Infinity for never. */
  dueAt = Infinity;
  #size = 64;
  #at = new Float64Array(this.#size);
  #price = new Float64Array(this.#size);
  #weight = new Float64Array(this.#size);
  #group = new Uint8Array(this.#size);
  /** For each horizon the first fill that still waits; counted from the beginning, like the tail. */
  readonly #heads = new Float64Array(HORIZONS.length);
  #tail = 0;
  readonly #curves = Array.from({ length: GROUPS * HORIZONS.length }, () => new ClusteredMean());

  /** `middle` and `ticks` in ticks; `middle` 0 when a side of the book was empty. Times never go back. */
  fill(at: number, side: SideIndex, level: number, ticks: number, weight: number, middle: number): void {
    if (this.#tail - this.#oldest() === this.#size) this.#grow();
    const i = this.#tail++ & (this.#size - 1);
    this.#at[i] = at;
    this.#price[i] = ticks;
    this.#weight[i] = weight;
    this.#group[i] = side * LEVELS_MAX + Math.min(level, LEVELS_MAX - 1);
    this.#heads[0] = this.#tail;
    if (middle > 0) this.#add(0, i, middle);
    this.#schedule();
  }

  /** The market at `at`; 0 when it is not known. Settles everything that was due by then. */
  look(at: number, middle: number): void {
    if (at < this.dueAt) return;
    for (let h = 1; h < HORIZONS.length; h++) {
      while (this.#heads[h]! < this.#tail) {
        const i = this.#heads[h]! & (this.#size - 1);
        if (!(this.#at[i]! + HORIZONS[h]! * 1000 <= at)) break;
        if (middle > 0) this.#add(h, i, middle);
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
        Array.from({ length: LEVELS_MAX }, (_, level) => this.#curve(s * LEVELS_MAX + level, side, level + 1)),
      ),
    ].filter(({ level, fills }) => level === null || fills.some(count => count > 0));
  }

  #curve(group: number, side: MarkoutCurve['side'], level: number | null): MarkoutCurve {
    const means = HORIZONS.map((_, h) => this.#curves[group * HORIZONS.length + h]!);
    return {
      side,
      level,
      seconds: [...HORIZONS],
      fills: means.map(({ count }) => count),
      bps: means.map(mean => mean.mean()),
      errorBps: means.map(mean => mean.error()),
    };
  }

  #add(h: number, i: number, middle: number): void {
    const group = this.#group[i]!;
    const side = group < LEVELS_MAX ? SIDES + BUY : SIDES + SELL;
    const sign = side === SIDES + BUY ? 1 : -1;
    const bps = (sign * (middle - this.#price[i]!) * 10_000) / this.#price[i]!;
    const cluster = Math.floor(this.#at[i]! / Math.max(CLUSTER_MS, HORIZONS[h]! * 1000));
    for (const which of [group, side, ALL]) {
      this.#curves[which * HORIZONS.length + h]!.add(bps, this.#weight[i]!, cluster);
    }
  }

  #oldest(): number {
    let oldest = this.#tail;
    for (const head of this.#heads) if (head < oldest) oldest = head;
    return oldest;
  }

  #schedule(): void {
    let due = Infinity;
    for (let h = 1; h < HORIZONS.length; h++) {
      if (this.#heads[h]! === this.#tail) continue;
      due = Math.min(due, this.#at[this.#heads[h]! & (this.#size - 1)]! + HORIZONS[h]! * 1000);
    }
    this.dueAt = due;
  }

  #grow(): void {
    if (this.#size >= WAITING_MAX) throw new RangeError(`more than ${WAITING_MAX} fills in five minutes`);
    const size = this.#size * 2;
    const [at, price, weight, group] = [
      new Float64Array(size),
      new Float64Array(size),
      new Float64Array(size),
      new Uint8Array(size),
    ];
    for (let n = this.#oldest(); n < this.#tail; n++) {
      const [i, j] = [n & (this.#size - 1), n & (size - 1)];
      at[j] = this.#at[i]!;
      price[j] = this.#price[i]!;
      weight[j] = this.#weight[i]!;
      group[j] = this.#group[i]!;
    }
    this.#size = size;
    this.#at = at;
    this.#price = price;
    this.#weight = weight;
    this.#group = group;
  }
}

const SIDES = 2 * LEVELS_MAX;
const ALL = SIDES + 2;

/** A weighted mean and the standard error that clusters give it; values of a cluster come one after the other. */
export class ClusteredMean {
  count = 0;
  #clusters = 0;
  #cluster = Number.NaN;
  // Sums of weight times value and of weight: of the open cluster, of all closed ones, and of the products of those.
  #value = 0;
  #weight = 0;
  #values = 0;
  #weights = 0;
  #valueValue = 0;
  #valueWeight = 0;
  #weightWeight = 0;

  add(value: number, weight: number, cluster: number): void {
    if (cluster !== this.#cluster) {
      this.#close();
      this.#cluster = cluster;
      this.#clusters++;
    }
    this.count++;
    this.#value += weight * value;
    this.#weight += weight;
  }

  mean(): number | null {
    const weight = this.#weights + this.#weight;
    return weight > 0 ? (this.#values + this.#value) / weight : null;
  }

  error(): number | null {
    this.#close();
    const mean = this.mean();
    if (mean === null || this.#clusters < 2) return null;
    const squares = this.#valueValue - 2 * mean * this.#valueWeight + mean * mean * this.#weightWeight;
    const correction = this.#clusters / (this.#clusters - 1);
    return Math.sqrt(correction * Math.max(0, squares)) / this.#weights;
  }

  #close(): void {
    const [value, weight] = [this.#value, this.#weight];
    this.#values += value;
    this.#weights += weight;
    this.#valueValue += value * value;
    this.#valueWeight += value * weight;
    this.#weightWeight += weight * weight;
    this.#value = 0;
    this.#weight = 0;
  }
}
