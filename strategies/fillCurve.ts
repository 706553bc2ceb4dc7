/** How often fills come at each distance and what one brings there, as it was measured: the best distance for what inventory asks, exactly, piece by piece. */

/** One side of a market, at ascending distances, in any units that are the same everywhere. */
export type FillProfile = {
  readonly distances: readonly number[];
  /** Fills per time of an order at each; above zero. */
  readonly rates: readonly number[];
  /** How far the price moves against a fill at each: its edge less its markout. */
  readonly adverse: readonly number[];
};

export type Best = {
  /** Infinity where no fill is wanted. */
  readonly distance: number;
  /** What quoting there is worth per time; 0 where no fill is wanted. */
  readonly worth: number;
  /** Derivative of `worth` by what inventory asks. */
  readonly slope: number;
};

/** From a distance on: at x from `start` the rate is `rate` e^(-decay x), and a fill brings `net` + `rise` x. */
type Piece = {
  readonly start: number;
  /** Of x; 0 but for the first piece. */
  readonly from: number;
  readonly to: number;
  readonly rate: number;
  readonly decay: number;
  readonly net: number;
  readonly rise: number;
};

const NOTHING: Best = { distance: Infinity, worth: 0, slope: 0 };

/**
 * Rates are followed by straight lines of their logarithm, adverse moves by straight lines. A rate above one nearer to the price counts, with that one, as their
 * mean (a nearer order is reached at least as often). Nearer than the first distance rates grow as they do on average over
 * all, and the move stays; further than the last nothing was measured, and nothing is quoted. `fee`: what a fill costs.
 */
export class FillCurve {
  readonly #pieces: readonly Piece[];
  /** Where rate times net is largest; where nothing pays, where a fill loses least. */
  readonly calm: { readonly distance: number; readonly rate: number; readonly net: number; readonly adverse: number };
  /** How rates decay around there: -d ln(rate) / d(distance). */
  readonly decay: number;
  /** True where a fill at some distance brings more than it costs. */
  readonly pays: boolean;

  /** What a fill costs. */
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
    // No further: a fill there brings nothing more.
    this.#pieces = [inner, ...between, { ...at(last), from: 0, to: Infinity, decay: 0, rise: 0 }];
    const { distance } = this.worthTo(0).best(0);
    this.pays = distance < Infinity;
    const calm = this.pays ? distance : distances[net.indexOf(Math.max(...net))]!;
    this.calm = { distance: calm, rate: this.rate(calm), net: this.net(calm), adverse: calm - fee - this.net(calm) };
    const around = Math.max(calm, distances[0]!, distances[1]! - distances[0]!) / 2;
    const [near, far] = [calm - around, Math.min(calm + around, distances[last]!)];
    this.decay = Math.log(this.rate(near) / this.rate(far)) / (far - near) || 1 / distances[last]!;
  }

  /** Fills per time at a distance up to the last. */
  rate(distance: number): number {
    const piece = this.#at(distance);
    return piece.rate * Math.exp(-piece.decay * (distance - piece.start));
  }

  /** What a fill at a distance up to the last brings after its fee and the move against it. */
  net(distance: number): number {
    const piece = this.#at(distance);
    return piece.net + piece.rise * (distance - piece.start);
  }

  #at(distance: number): Piece {
    return this.#pieces.findLast(({ start }) => start <= distance) ?? this.#pieces[0]!;
  }

  /** What quoting is worth to who minds risk by `gamma` (per unit of price and order; 0: not at all). */
  worthTo(gamma: number): Hamiltonian {
    return new Hamiltonian(this.#pieces, gamma);
  }
}

/**
 * The largest rate(d) (1 - e^(-gamma (net(d) - asked))) / gamma over all distances, and 0 without a quote; `asked` is what a fill must bring for the inventory that it leaves,
 * below 0 where it is welcome. Within a piece it is where net - asked = ln(1 + gamma rise / decay) / gamma; between pieces where both fall away from their border.
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

  /** The inverse of `best`: what a fill may be asked for quoting to be worth so much (above 0), and the derivative of that worth by it. */
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

/** Values that never rise, nearest to these: neighbours that rise become their mean (pool adjacent violators). */
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
