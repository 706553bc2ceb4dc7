/** How often trades reach an order at a distance from the fair value: lambda(d) = A e^(-k d), from virtual orders. */
import type { Amount, Millis, Price, Side } from '../model/units.ts';

/** What virtual orders at one distance met. Distances are shares of the price: 0.001 is 10 bps. */
export type Cell = { readonly distance: number; readonly reached: number; readonly exposureS: number };

/** `a` per second, `k` per unit of distance; standard errors of log a and of k; share of the spread of log lambda that the line explains. */
export type Intensity = {
  readonly a: number;
  readonly k: number;
  readonly logAError: number;
  readonly kError: number;
  readonly rSquared: number;
  /** Virtual orders reached, all distances together: what it rests on. */
  readonly reached: number;
};

/** What was known before, as if seen for `exposureS`: cells without events lean to it. */
export type Prior = { readonly a: number; readonly k: number; readonly exposureS: number };

/**
 * The line log lambda = log A - k d through reached / exposure of each cell, weighted by counts (Laruelle and Lehalle's estimator). With a
 * prior every rate is a Gamma posterior mean. A trade that reaches far has passed what is near, so the counts are nested: cov(log lambda_i,
 * log lambda_j) = 1 / max(n_i, n_j), and the errors are those of the weighted line under that covariance. They hold for arrivals
 * that do not cluster; for those that do, leave blocks of time out instead. Null when fewer than two cells count, or k would not be positive.
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
  // Each estimate is a sum of the logs with these coefficients.
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
  /** Shares of the price, ascending. */
  readonly distances: readonly number[];
  /** Virtual orders stand this long, then new ones are put around the fair value of then. */
  readonly windowMs: Millis;
  /** Windows are forgotten exponentially; Infinity: never. */
  readonly memoryMs: Millis;
};

type Virtual = { readonly price: number; readonly away: number; ahead: number; reachedAt: Millis };
type Tally = { reached: number; exposureS: number; away: number };

/**
 * In each window a virtual order of nothing stands at each distance on both sides. It is reached when somebody trades through its price, or
 * when as much has traded at its price as was displayed there when it came; its waiting time ends then, or unknown at the window's end.
 */
export class IntensityMeter {
  readonly #options: MeterOptions;
  readonly #tallies: Readonly<Record<Side, readonly Tally[]>>;
  #orders: Readonly<Record<Side, readonly Virtual[]>> | null = null;
  #since: Millis = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    const empty = () => options.distances.map(() => ({ reached: 0, exposureS: 0, away: 0 }));
    this.#tallies = { buy: empty(), sell: empty() };
  }

  /**
   * Time passes. Ends a window that is over, and begins one where none runs. `displayed` tells the amount in the book at a price. True when
   * a window was counted.
   */
  look(at: Millis, fair: number, displayed: (side: Side, price: Price) => number): boolean {
    if (!(fair > 0 && fair < Infinity)) {
      this.skip();
      return false;
    }
    if (this.#orders !== null && !(at - this.#since >= this.#options.windowMs)) return false;
    const counted = this.#orders !== null;
    if (this.#orders !== null) this.#count(this.#orders);
    const on = (side: Side): readonly Virtual[] =>
      this.#options.distances.map(distance => {
        const price = side === 'buy' ? Math.floor(fair * (1 - distance)) : Math.ceil(fair * (1 + distance));
        const ahead = price > 0 ? displayed(side, price as Price) : Infinity;
        return { price, away: Math.abs(price - fair) / fair, ahead, reachedAt: Infinity };
      });
    this.#orders = { buy: on('buy'), sell: on('sell') };
    this.#since = at;
    return counted;
  }

  /** One public trade; `side` is the taker's. */
  trade(at: Millis, price: Price, amount: Amount, side: Side): void {
    if (this.#orders === null || at - this.#since >= this.#options.windowMs) return;
    for (const order of side === 'buy' ? this.#orders.sell : this.#orders.buy) {
      const through = side === 'buy' ? price - order.price : order.price - price;
      if (through === 0) order.ahead -= amount;
      // An order of nothing at the end of the queue: met once all before it is gone.
      if ((through > 0 || (through === 0 && !(order.ahead > 0))) && at < order.reachedAt) order.reachedAt = at;
    }
  }

  /** Something may have been missed: the running window does not count. */
  skip(): void {
    this.#orders = null;
  }

  /** What was met so far, by distance; distances are the means of where the orders stood on the grid. */
  cells(of: Side | 'both'): readonly Cell[] {
    const sides = of === 'both' ? (['buy', 'sell'] as const) : [of];
    return this.#options.distances.map((_, i) => {
      const tallies = sides.map(side => this.#tallies[side][i]!);
      const sum = (pick: (tally: Tally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0);
      const exposureS = sum(tally => tally.exposureS);
      return { distance: sum(tally => tally.away) / exposureS, reached: sum(tally => tally.reached), exposureS };
    });
  }

  #count(orders: Readonly<Record<Side, readonly Virtual[]>>): void {
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

/** Cells of several stretches of time as one. */
export function addCells(stretches: readonly (readonly Cell[])[]): readonly Cell[] {
  const [first] = stretches;
  return (first ?? []).map((_, i) => {
    let [away, reached, exposureS] = [0, 0, 0];
    for (const cells of stretches) {
      const cell = cells[i]!;
      // A stretch without exposure has no mean distance.
      if (!(cell.exposureS > 0)) continue;
      away += cell.distance * cell.exposureS;
      reached += cell.reached;
      exposureS += cell.exposureS;
    }
    return { distance: away / exposureS, reached, exposureS };
  });
}
