/** Makers of the seeded flow: layered quotes around a delayed view of the price, refreshed at random times. */
import { exponential, normal, opposite, type Amount, type Price, type Random, type Side } from '../../core/index.ts';
import type { Marketplace } from './market.ts';

export type MakerKind = {
  /** Distance of the best level from the maker's price, in half spreads of the book. */
  readonly width: number;
  readonly levels: number;
  /**
   * Distance between the first two levels, as a share of the first level's distance. Each further distance between
   * levels is larger than the one before by half of this share.
   */
  readonly spacing: number;
  /** Factor by which the amount grows from one level to the next. */
  readonly growth: number;
  /** Amount of the best level, as a multiple of the typical amount. */
  readonly amount: number;
  /** Lag of the maker's view behind the public price, as a time constant in seconds. */
  readonly lagS: number;
  /** Average time between refreshes, in seconds. */
  readonly refreshS: number;
};

/**
 * Four makers that compete at the best price, from fast to slow. A slow fifth maker provides the depth behind these
 * makers.
 */
export const FLOW_MAKERS: readonly MakerKind[] = [
  { width: 1.0, levels: 6, spacing: 0.35, growth: 1.4, amount: 2, lagS: 1, refreshS: 0.9 },
  { width: 1.1, levels: 6, spacing: 0.35, growth: 1.4, amount: 2.5, lagS: 2, refreshS: 1.3 },
  { width: 1.25, levels: 6, spacing: 0.4, growth: 1.45, amount: 3, lagS: 4, refreshS: 2 },
  { width: 1.45, levels: 6, spacing: 0.4, growth: 1.45, amount: 4, lagS: 8, refreshS: 4 },
  { width: 4, levels: 12, spacing: 0.3, growth: 1.3, amount: 8, lagS: 30, refreshS: 15 },
];

/** Market state that all makers use at a refresh. */
export type MakerScene = {
  readonly seconds: number;
  /** Logarithm of (public price / start price). */
  readonly publicLog: number;
  /** Shift of the makers' price by recent trades, as a logarithm. */
  readonly pressure: number;
  /** Multiplier of quote widths; above 1 in volatile times or after a burst of trades. */
  readonly caution: number;
};

export type MakerScale = {
  readonly startTicks: number;
  /** Typical half spread of the book, as a fraction of the price. */
  readonly halfSpread: number;
  readonly typicalLots: number;
};

type Slot = { id: number; price: number; left: number; meant: number };

/**
 * Maximum distance of a quote from its target, as a share of the maker's half spread in calm markets. A quote within
 * this distance stays and keeps its queue position.
 */
const TOLERANCE = 0.25;
/** Minimum distance of quotes from the best opposite price, in half spreads of the book. */
const CLEARANCE = 0.7;
/**
 * Minimum remaining share of a quote's amount. Below this share, the maker replaces the quote with probability
 * `REPLENISH` per refresh.
 */
const EATEN = 0.5;
const REPLENISH = 0.6;
/** Standard deviation of a maker's price error, as a share of the maker's half spread in calm markets. */
const ERROR = 0.22;
/** Time constant of a maker's price error, in seconds. */
const ERROR_S = 25;
/** Standard deviation of the logarithm of a quote's amount. */
const AMOUNT_DEVIATION = 1;

export class FlowMaker {
  readonly #kind: MakerKind;
  readonly #scale: MakerScale;
  readonly #random: Random;
  readonly #place: Marketplace;
  readonly #slots: Record<Side, Slot[]>;
  #view: number;
  #error = 0;
  #seconds: number;

  constructor(kind: MakerKind, scale: MakerScale, random: Random, place: Marketplace, scene: MakerScene) {
    this.#kind = kind;
    this.#scale = scale;
    this.#random = random;
    this.#place = place;
    const empty = () => Array.from({ length: kind.levels }, () => ({ id: 0, price: 0, left: 0, meant: 0 }));
    this.#slots = { buy: empty(), sell: empty() };
    this.#view = scene.publicLog;
    this.#seconds = scene.seconds;
  }

  /** Returns the random time until the next refresh, in seconds. */
  pause(): number {
    return exponential(this.#random, this.#kind.refreshS);
  }

  /** Moves the quotes to the current market. All cancels precede all placements. */
  refresh(scene: MakerScene): void {
    this.#learn(scene);
    const { halfSpread } = this.#scale;
    const mid = this.#view + scene.pressure + this.#error;
    const width = halfSpread * this.#kind.width * scene.caution;
    const targets = { buy: [] as number[], sell: [] as number[] };
    for (const side of ['buy', 'sell'] as const) {
      let distance = width;
      let step = width * this.#kind.spacing;
      for (const slot of this.#slots[side]) {
        const target = this.#ticks(side, mid + (side === 'buy' ? -distance : distance));
        targets[side].push(target);
        if (!this.#keeps(slot, target)) this.#withdraw(slot);
        distance += step;
        step *= 1 + this.#kind.spacing / 2;
      }
    }
    for (const side of ['buy', 'sell'] as const) {
      this.#slots[side].forEach((slot, level) => {
        if (slot.left === 0) this.#quote(side, slot, level, targets[side][level]!);
      });
    }
  }

  /** Records a fill. Returns false if the order belongs to another maker. */
  filled(id: number, side: Side, amount: number): boolean {
    const slot = this.#slots[side].find(one => one.id === id && one.left > 0);
    if (!slot) return false;
    slot.left -= amount;
    return true;
  }

  #learn(scene: MakerScene): void {
    const dt = Math.max(0, scene.seconds - this.#seconds);
    this.#seconds = scene.seconds;
    this.#view += (scene.publicLog - this.#view) * (1 - Math.exp(-dt / this.#kind.lagS));
    const kept = Math.exp(-dt / ERROR_S);
    const deviation = ERROR * this.#scale.halfSpread * this.#kind.width;
    this.#error = this.#error * kept + deviation * Math.sqrt(1 - kept * kept) * normal(this.#random);
  }

  #ticks(side: Side, log: number): number {
    const ticks = this.#scale.startTicks * Math.exp(log);
    return side === 'buy' ? Math.floor(ticks) : Math.ceil(ticks);
  }

  #keeps(slot: Slot, target: number): boolean {
    if (slot.left === 0) return false;
    const tolerance = TOLERANCE * this.#scale.halfSpread * this.#kind.width * target;
    if (Math.abs(slot.price - target) > tolerance) return false;
    return slot.left >= slot.meant * EATEN || this.#random.next() >= REPLENISH;
  }

  #withdraw(slot: Slot): void {
    if (slot.left > 0) this.#place.cancel(slot.id);
    slot.left = 0;
  }

  #quote(side: Side, slot: Slot, level: number, target: number): void {
    const { instrument } = this.#place;
    const price = this.#clearOf(opposite(side), target);
    const size = this.#kind.amount * this.#kind.growth ** level * Math.exp(AMOUNT_DEVIATION * normal(this.#random));
    const lots = Math.max(1, Math.floor(size * this.#scale.typicalLots));
    if (!(price >= instrument.priceMin && price <= instrument.priceMax && lots <= instrument.amountMax)) return;
    const { id, rested } = this.#place.place(side, price as Price, lots as Amount, 'GTC');
    slot.id = id;
    slot.price = price;
    slot.left = rested;
    slot.meant = rested;
  }

  /**
   * Returns the price nearest to the target that keeps `CLEARANCE` from the best opposite price. Makers therefore never
   * trade against each other's quotes; only takers do.
   */
  #clearOf(other: Side, target: number): number {
    const best = other === 'sell' ? this.#place.bestAsk() : this.#place.bestBid();
    if (best === 0) return target;
    const distance = Math.max(1, Math.floor(best * this.#scale.halfSpread * CLEARANCE));
    return other === 'sell' ? Math.min(target, best - distance) : Math.max(target, best + distance);
  }
}
