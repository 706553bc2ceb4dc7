/**
 * Makers' orders of the lifelike market: each maker has one order, which lives for a random time and is then replaced
 * at another price.
 */
import { exponential, normal, opposite, type Amount, type Price, type Random, type Side } from '../../../core/index.ts';
import type { Marketplace } from '../market.ts';

/** One kind of maker. Distances are in the market's unit of distance, sizes in standard orders. */
type LifelikeKind = {
  /** Number of makers on each side. */
  readonly count: number;
  /** Distance of orders from the makers' price: `from` + (`to` - `from`) u^`power`, with u uniform from 0 to 1. */
  readonly depth: { readonly from: number; readonly to: number; readonly power: number };
  /** Change of the logarithm of the distance for a restlessness of 1. */
  readonly retreat: number;
  /** Median life of an order in seconds beyond `LIFE_MIN_S`, and standard deviation of its logarithm. */
  readonly life: { readonly seconds: number; readonly deviation: number };
  /** Median size, and standard deviation of its logarithm. */
  readonly size: { readonly median: number; readonly deviation: number };
};

/** Kinds in order of distance, manually fitted to Bitstamp's book of 2015 (docs/development/evidence/lifelike.md). */
export const LIFELIKE_KINDS: readonly LifelikeKind[] = [
  {
    count: 2,
    depth: { from: 0.02, to: 2.9, power: 2.4 },
    retreat: 0.75,
    life: { seconds: 28, deviation: 1.2 },
    size: { median: 0.1, deviation: 1.3 },
  },
  {
    count: 4,
    depth: { from: 0.75, to: 9, power: 1 },
    retreat: 0,
    life: { seconds: 10, deviation: 1.2 },
    size: { median: 1, deviation: 0.35 },
  },
  {
    count: 4,
    depth: { from: 0.7, to: 10, power: 1 },
    retreat: 0,
    life: { seconds: 125, deviation: 1 },
    size: { median: 1.4, deviation: 0.95 },
  },
  {
    count: 12,
    depth: { from: 8.5, to: 80, power: 2 },
    retreat: 0,
    life: { seconds: 150, deviation: 1 },
    size: { median: 1.5, deviation: 0.9 },
  },
];

/** Minimum life of an order, in seconds. */
const LIFE_MIN_S = 3;
/** Pause of a maker between two orders: median in seconds, and standard deviation of its logarithm. */
const PAUSE = { seconds: 0.33, deviation: 0.5 };
/** Maximum life of an order, in medians. */
const LIFE_MAX = 40;
/** Change of the logarithm of sizes for a signal of 1. */
const SIZE_SIGNAL = 0.6;
/** Factor of the life of orders against a signal of 1. */
const LIFE_SIGNAL = 0.8;
/** Mean delay after which a maker cancels an order that the price has passed, in seconds. */
const REACTION_S = 1;

/** State of the market that all makers know. */
export type LifelikeScene = {
  /** Makers' price in ticks. */
  readonly ticks: number;
  /** Unit of distance in ticks. */
  readonly unitTicks: number;
  /** Lots of a standard order. */
  readonly lots: number;
  /** Signal of the price's next move, with standard deviation 1. */
  readonly signal: number;
  /**
   * Logarithm of the factor by which orders live shorter. If it is high, the nearest makers also keep more distance.
   */
  readonly restlessness: number;
};

/** One maker: its order, or the pause before its next order. */
export class LifelikeMaker {
  readonly side: Side;
  readonly #kind: LifelikeKind;
  readonly #random: Random;
  readonly #place: Marketplace;
  readonly #onBlocked: () => void;
  #id = 0;
  #left = 0;
  #price = 0;

  /** `onBlocked` is called before the maker places an order whose wanted price the best opposite order blocks. */
  constructor(side: Side, kind: LifelikeKind, random: Random, place: Marketplace, onBlocked: () => void) {
    this.side = side;
    this.#kind = kind;
    this.#random = random;
    this.#place = place;
    this.#onBlocked = onBlocked;
  }

  /** Cancels or places the maker's order. Returns the time until the maker's next event, in seconds. */
  act(scene: LifelikeScene): number {
    if (this.#left > 0) {
      this.#place.cancel(this.#id);
      this.#left = 0;
      return PAUSE.seconds * Math.exp(PAUSE.deviation * normal(this.#random));
    }
    this.#quote(scene);
    const { seconds, deviation } = this.#kind.life;
    const sign = this.side === 'buy' ? 1 : -1;
    const factor =
      Math.exp(deviation * normal(this.#random)) *
      LIFE_SIGNAL ** Math.max(0, -sign * scene.signal) *
      Math.exp(-scene.restlessness);
    return LIFE_MIN_S + seconds * Math.min(LIFE_MAX, factor);
  }

  /** Records a fill. Returns false if the order belongs to another maker. */
  filled(id: number, amount: number): boolean {
    if (id !== this.#id || this.#left === 0) return false;
    this.#left -= amount;
    return true;
  }

  /** Whether the price has reached or passed the maker's order, so that a fill would be a loss. */
  isStale(ticks: number): boolean {
    return this.#left > 0 && (this.side === 'buy' ? this.#price >= ticks : this.#price <= ticks);
  }

  /** Returns the delay of the maker's reaction to a price that has passed the order, in seconds. */
  reaction(): number {
    return exponential(this.#random, REACTION_S);
  }

  #quote({ ticks, unitTicks, lots, signal, restlessness }: LifelikeScene): void {
    const { depth, retreat, size } = this.#kind;
    const { instrument } = this.#place;
    const distance =
      (depth.from + (depth.to - depth.from) * this.#random.next() ** depth.power) *
      unitTicks *
      Math.exp(retreat * restlessness);
    const sign = this.side === 'buy' ? 1 : -1;
    const target = this.side === 'buy' ? Math.floor(ticks - distance) : Math.ceil(ticks + distance);
    if (this.#clearOf(target) !== target) this.#onBlocked();
    const price = this.#clearOf(target);
    const amount = Math.floor(
      lots * size.median * Math.exp(size.deviation * normal(this.#random) + SIZE_SIGNAL * sign * signal),
    );
    const valid = Math.max(1, Math.min(amount, instrument.amountMax));
    if (!(price >= instrument.priceMin && price <= instrument.priceMax)) return;
    const { id, rested } = this.#place.place(this.side, price as Price, valid as Amount, 'GTC');
    this.#id = id;
    this.#left = rested;
    this.#price = price;
  }

  /** Returns the price nearest to the target that matches no opposite order, so that makers never take. */
  #clearOf(target: number): number {
    const best = opposite(this.side) === 'sell' ? this.#place.bestAsk() : this.#place.bestBid();
    if (best === 0) return target;
    return this.side === 'buy' ? Math.min(target, best - 1) : Math.max(target, best + 1);
  }
}
