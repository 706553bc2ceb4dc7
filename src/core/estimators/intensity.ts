/**
 * Rate at which trades reach an order, by distance from the fair value: lambda(d) = A e^(-k d), from virtual orders.
 */
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/**
 * Virtual orders at one distance: number of orders that trades reached, and total exposure in seconds. The distance is
 * a share of the price: 0.001 is 10 bps.
 */
export type Cell = { readonly distance: number; readonly reached: number; readonly exposureS: number };

/**
 * Fitted intensity: `a` is per second, `k` per unit of distance. The errors are the standard errors of log a and of k.
 * `rSquared` is the share of the variance of log lambda that the fit explains.
 */
export type Intensity = {
  readonly a: number;
  readonly k: number;
  readonly logAError: number;
  readonly kError: number;
  readonly rSquared: number;
  /** Number of virtual orders that trades reached, over all distances. */
  readonly reached: number;
};

/**
 * Prior estimate, which counts as much as `exposureS` seconds of observation. A cell without observations has the rate
 * of the prior.
 */
export type Prior = { readonly a: number; readonly k: number; readonly exposureS: number };

/**
 * Fits log lambda = log A - k d to the logarithm of reached / exposure of each cell, weighted by counts (Laruelle and
 * Lehalle's estimator). With a prior, every rate is a Gamma posterior mean.
 *
 * A trade that reaches a far order reaches all nearer orders, so the counts are nested: cov(log lambda_i, log lambda_j)
 * = 1 / max(n_i, n_j). The standard errors of the weighted fit use this covariance. The errors are valid only for
 * arrivals that do not cluster; otherwise, resample time blocks.
 *
 * Returns `null` with fewer than two usable cells, or if k would not be positive.
 */
export function fitIntensity(cells: readonly Cell[], prior?: Prior): Intensity | null {
  const rows = cells.flatMap(({ distance, reached, exposureS }) => {
    const known = prior === undefined ? 0 : prior.a * Math.exp(-prior.k * distance) * prior.exposureS;
    const count = reached + known;
    const time = exposureS + (prior?.exposureS ?? 0);
    return count > 0 && time > 0 ? [{ distance, count, log: Math.log(count / time) }] : [];
  });
  let [w, wx, wy, wxx, wxy, wyy] = [0, 0, 0, 0, 0, 0];
  for (const { distance: x, log: y, count } of rows) {
    w += count;
    wx += count * x;
    wy += count * y;
    wxx += count * x * x;
    wxy += count * x * y;
    wyy += count * y * y;
  }
  const determinant = w * wxx - wx * wx;
  if (!(rows.length >= 2 && determinant > 1e-12 * w * wxx)) return null;
  const k = -(w * wxy - wx * wy) / determinant;
  const logA = (wxx * wy - wx * wxy) / determinant;
  if (!(k > 0 && Number.isFinite(logA))) return null;
  // The estimates of log a and k are weighted sums of the logarithms of the rates. These arrays hold the weights.
  const ofLogA = rows.map(({ distance, count }) => (count * (wxx - wx * distance)) / determinant);
  const ofK = rows.map(({ distance, count }) => (-count * (w * distance - wx)) / determinant);
  const error = (of: readonly number[]): number => {
    let variance = 0;
    rows.forEach((a, i) => rows.forEach((b, j) => (variance += (of[i]! * of[j]!) / Math.max(a.count, b.count))));
    return Math.sqrt(Math.max(0, variance));
  };
  const spread = wyy - (wy * wy) / w;
  const explained = (k * k * determinant) / w;
  return {
    a: Math.exp(logA),
    k,
    logAError: error(ofLogA),
    kError: error(ofK),
    rSquared: spread > 0 ? Math.min(1, explained / spread) : 1,
    reached: cells.reduce((sum, cell) => sum + cell.reached, 0),
  };
}

export type MeterOptions = {
  /** Distances of the virtual orders, as shares of the price, ascending. */
  readonly distances: readonly number[];
  /** Lifetime of virtual orders. After this time, new virtual orders start around the current fair value. */
  readonly windowMs: Millis;
  /** Time constant of exponential forgetting; Infinity means no forgetting. */
  readonly memoryMs: Millis;
};

type VirtualOrder = { readonly price: number; readonly away: number; ahead: number; reachedAt: Millis };
type Tally = { reached: number; exposureS: number; away: number };

/**
 * Estimates arrival counts with virtual orders of zero size. In each window, one order rests at each distance on both
 * sides.
 *
 * A trade reaches an order if the trade's price is beyond the order's price. At the order's own price, trades reach the
 * order once their volume equals the amount displayed at the start. Otherwise, the order's waiting time is censored at
 * the end of the window.
 */
export class IntensityMeter {
  readonly #options: MeterOptions;
  readonly #tallies: Readonly<Record<Side, readonly Tally[]>>;
  #orders: Readonly<Record<Side, readonly VirtualOrder[]>> | null = null;
  #since: Millis = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    const empty = () => options.distances.map(() => ({ reached: 0, exposureS: 0, away: 0 }));
    this.#tallies = { buy: empty(), sell: empty() };
  }

  /**
   * Advances time: counts a finished window and starts the next one. `displayed` returns the book's amount at a price.
   * Returns true if a window was counted.
   */
  advanceTo(at: Millis, fair: number, displayed: (side: Side, price: Price) => number): boolean {
    if (!(fair > 0 && fair < Infinity)) {
      this.skip();
      return false;
    }
    if (this.#orders !== null && !(at - this.#since >= this.#options.windowMs)) return false;
    const counted = this.#orders !== null;
    if (this.#orders !== null) this.#count(this.#orders);
    const on = (side: Side): readonly VirtualOrder[] =>
      this.#options.distances.map(distance => {
        const price = side === 'buy' ? Math.floor(fair * (1 - distance)) : Math.ceil(fair * (1 + distance));
        const ahead = price > 0 ? displayed(side, price as Price) : Infinity;
        return { price, away: Math.abs(price - fair) / fair, ahead, reachedAt: Infinity };
      });
    this.#orders = { buy: on('buy'), sell: on('sell') };
    this.#since = at;
    return counted;
  }

  /** Adds one public trade; `side` is the taker's side. */
  trade(at: Millis, price: Price, amount: Amount, side: Side): void {
    if (this.#orders === null || at - this.#since >= this.#options.windowMs) return;
    for (const order of side === 'buy' ? this.#orders.sell : this.#orders.buy) {
      const through = side === 'buy' ? price - order.price : order.price - price;
      if (through === 0) order.ahead -= amount;
      // An order of zero size at the end of the queue is reached once all orders ahead of it have been traded.
      if ((through > 0 || (through === 0 && !(order.ahead > 0))) && at < order.reachedAt) order.reachedAt = at;
    }
  }

  /** Discards the running window, because data may be missing. */
  skip(): void {
    this.#orders = null;
  }

  /**
   * Returns one cell for each distance, with the results so far. The distance of a cell is the mean of the actual
   * distances, because order prices are rounded to the tick.
   */
  cells(of: Side | 'both'): readonly Cell[] {
    const sides = of === 'both' ? (['buy', 'sell'] as const) : [of];
    return this.#options.distances.map((_, i) => {
      const tallies = sides.map(side => this.#tallies[side][i]!);
      const sum = (pick: (tally: Tally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0);
      const exposureS = sum(tally => tally.exposureS);
      return { distance: sum(tally => tally.away) / exposureS, reached: sum(tally => tally.reached), exposureS };
    });
  }

  #count(orders: Readonly<Record<Side, readonly VirtualOrder[]>>): void {
    const { windowMs, memoryMs } = this.#options;
    const kept = Math.exp(-windowMs / memoryMs);
    for (const side of ['buy', 'sell'] as const) {
      this.#tallies[side].forEach((tally, i) => {
        const { away, reachedAt } = orders[side][i]!;
        const waitedS = Math.min(reachedAt - this.#since, windowMs) / 1_000;
        tally.reached = kept * tally.reached + (reachedAt < Infinity ? 1 : 0);
        tally.exposureS = kept * tally.exposureS + waitedS;
        tally.away = kept * tally.away + away * waitedS;
      });
    }
  }
}

/** Merges the cells of several time blocks. */
export function addCells(stretches: readonly (readonly Cell[])[]): readonly Cell[] {
  const [first] = stretches;
  return (first ?? []).map((_, i) => {
    let [away, reached, exposureS] = [0, 0, 0];
    for (const cells of stretches) {
      const cell = cells[i]!;
      // A block without exposure has no mean distance.
      if (!(cell.exposureS > 0)) continue;
      away += cell.distance * cell.exposureS;
      reached += cell.reached;
      exposureS += cell.exposureS;
    }
    return { distance: away / exposureS, reached, exposureS };
  });
}
