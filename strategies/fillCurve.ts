/**
 * Piecewise curve of measured fill rates and profits by distance, and the distance that is optimal for a given cost of
 * inventory.
 */

/** Measured fills on one side of a market, at ascending distances from the fair value, in any consistent units. */
export type FillProfile = {
  readonly distances: readonly number[];
  /** Number of fills of one order per unit of time, at each distance; all positive. */
  readonly rates: readonly number[];
  /** Adverse price move after a fill at each distance: the fill's edge minus its markout. */
  readonly adverse: readonly number[];
};

export type Best = {
  /** Best distance from the fair value; Infinity if no quote pays. */
  readonly distance: number;
  /** Value of quoting at `distance`, per unit of time; 0 if no quote pays. */
  readonly worth: number;
  /** Derivative of `worth` with respect to `asked`, the minimum profit of a fill. */
  readonly slope: number;
};

/**
 * Piece of the curve. At a distance of `start` + x, the rate is `rate` e^(-decay x), and a fill earns `net` + `rise` x.
 */
type Piece = {
  readonly start: number;
  /** Lower bound of x; 0 except in the first piece. */
  readonly from: number;
  readonly to: number;
  readonly rate: number;
  readonly decay: number;
  readonly net: number;
  readonly rise: number;
};

const NOTHING: Best = { distance: Infinity, worth: 0, slope: 0 };

/**
 * Curve that interpolates log rates and adverse moves linearly between the distances. An order nearer to the fair value
 * is filled at least as often as an order farther away. Therefore, if a rate exceeds the rate at a smaller distance,
 * both rates are replaced by their geometric mean. Below the first distance, rates grow at the average decay, and the
 * adverse move is constant. The curve ends at the last distance; no quote is beyond it.
 */
export class FillCurve {
  readonly #pieces: readonly Piece[];
  /**
   * Best distance for a risk-neutral maker, at which rate times net profit is largest, with its rate, net profit and
   * adverse move. If no distance pays, it is the distance with the smallest loss per fill.
   */
  readonly calm: { readonly distance: number; readonly rate: number; readonly net: number; readonly adverse: number };
  /** Decay of rates around the distance of `calm`: -d ln(rate) / d(distance). */
  readonly decay: number;
  /** Whether a fill at some distance earns more than it costs. */
  readonly pays: boolean;

  /** Cost of a fill, in the unit of the distances. */
  readonly fee: number;

  constructor({ distances, rates, adverse }: FillProfile, fee: number) {
    this.fee = fee;
    const logs = falling(rates.map(rate => Math.log(rate)));
    const last = distances.length - 1;
    const net = distances.map((d, i) => d - adverse[i]! - fee);
    const decayOf = (i: number, j: number): number => (logs[i]! - logs[j]!) / (distances[j]! - distances[i]!);
    const inwards = decayOf(0, last) || 1 / distances[last]!;
    const at = (i: number) => ({ start: distances[i]!, rate: Math.exp(logs[i]!), net: net[i]! });
    const inner: Piece = { ...at(0), from: -Infinity, to: 0, decay: inwards, rise: 1 };
    const between = distances.slice(0, -1).map((d, i): Piece => {
      const to = distances[i + 1]! - d;
      return { ...at(i), from: 0, to, decay: decayOf(i, i + 1), rise: (net[i + 1]! - net[i]!) / to };
    });
    // On the last piece, a larger distance does not increase the profit, so it is never chosen.
    this.#pieces = [inner, ...between, { ...at(last), from: 0, to: Infinity, decay: 0, rise: 0 }];
    const { distance } = this.worthTo(0).best(0);
    this.pays = distance < Infinity;
    const calm = this.pays ? distance : distances[net.indexOf(Math.max(...net))]!;
    this.calm = { distance: calm, rate: this.rate(calm), net: this.net(calm), adverse: calm - fee - this.net(calm) };
    const around = Math.max(calm, distances[0]!, distances[1]! - distances[0]!) / 2;
    const [near, far] = [calm - around, Math.min(calm + around, distances[last]!)];
    this.decay = Math.log(this.rate(near) / this.rate(far)) / (far - near) || 1 / distances[last]!;
  }

  /** Returns the number of fills per unit of time at a distance, which must not exceed the last measured distance. */
  rate(distance: number): number {
    const piece = this.#at(distance);
    return piece.rate * Math.exp(-piece.decay * (distance - piece.start));
  }

  /**
   * Returns the profit of a fill at a distance, after its fee and the adverse move. The distance must not exceed the
   * last measured distance.
   */
  net(distance: number): number {
    const piece = this.#at(distance);
    return piece.net + piece.rise * (distance - piece.start);
  }

  #at(distance: number): Piece {
    return this.#pieces.findLast(({ start }) => start <= distance) ?? this.#pieces[0]!;
  }

  /** Returns the Hamiltonian for the risk aversion `gamma`, in 1 / (price unit × order); 0 is risk-neutral. */
  worthTo(gamma: number): Hamiltonian {
    return new Hamiltonian(this.#pieces, gamma);
  }
}

/**
 * Maximum of rate(d) (1 - e^(-gamma (net(d) - asked))) / gamma over all distances d, or 0 without a quote. `asked` is
 * the minimum profit of a fill: it pays for the inventory that the fill causes, and is negative if the fill reduces
 * risk. Inside a piece, the optimum is at net - asked = ln(1 + gamma rise / decay) / gamma. Otherwise, the optimum is
 * at a border of two pieces from which the value falls on both sides.
 */
export class Hamiltonian {
  readonly #gamma: number;
  readonly #pieces: readonly (Piece & { readonly wanted: number; readonly share: number; readonly log: number })[];

  constructor(pieces: readonly Piece[], gamma: number) {
    this.#gamma = gamma;
    this.#pieces = pieces.map(piece => {
      const { rise, decay, rate } = piece;
      const ratio = rise > 0 ? decay / rise : Infinity;
      const wanted = gamma === 0 ? 1 / ratio : Math.log1p(gamma / ratio) / gamma;
      return { ...piece, wanted, share: 1 / (gamma + ratio), log: Math.log(rate / (gamma + ratio)) };
    });
  }

  best(asked: number): Best {
    const gamma = this.#gamma;
    let best = NOTHING;
    const tried = (distance: number, rate: number, left: number): void => {
      const worth = rate * (gamma === 0 ? left : -Math.expm1(-gamma * left) / gamma);
      if (worth > best.worth) best = { distance, worth, slope: gamma * worth - rate };
    };
    let isRising = true;
    for (const { start, from, to, rate, decay, net, rise, wanted } of this.#pieces) {
      const x = !(rise > 0) ? -Infinity : decay > 0 ? (wanted + asked - net) / rise : Infinity;
      if (isRising && x <= from) tried(start, rate, net - asked);
      if (x > from && x < to) tried(start + x, rate * Math.exp(-decay * x), wanted);
      isRising = x >= to;
    }
    return best;
  }

  /**
   * Inverse of `best`. Returns the `asked` at which quoting has the positive value `worth`, and the derivative of
   * `worth` with respect to `asked`.
   */
  askedFor(worth: number): { readonly asked: number; readonly slope: number } {
    const gamma = this.#gamma;
    let asked = -Infinity;
    let slope = 0;
    const tried = (rate: number, net: number, share: number): void => {
      const found = net + (gamma === 0 ? -share : Math.log1p(-gamma * share) / gamma);
      if (found > asked) [asked, slope] = [found, gamma * worth - rate];
    };
    const log = Math.log(worth);
    let isRising = true;
    for (const piece of this.#pieces) {
      const { from, to, rate, decay, net, rise, share } = piece;
      const x = !(rise > 0) ? -Infinity : decay > 0 ? (piece.log - log) / decay : Infinity;
      if (isRising && x <= from) tried(rate, net, worth / rate);
      if (x > from && x < to) tried(worth / share, net + rise * x, share);
      isRising = x >= to;
    }
    return { asked, slope };
  }
}

/**
 * Returns the nearest non-increasing values. Increasing neighbors are replaced by their mean (pool adjacent violators).
 */
function falling(values: readonly number[]): readonly number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const value of values) {
    let pool = { sum: value, count: 1 };
    for (let before = pools.at(-1); before !== undefined; before = pools.at(-1)) {
      if (before.sum / before.count > pool.sum / pool.count) break;
      pool = { sum: before.sum + pool.sum, count: before.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
}
