/** The built-in market: an endless seeded order flow of makers, uninformed and informed takers around an efficient price (docs/market-model.md). */
import { amountFloor, exponential, priceFloor, randomOf } from '../core/index.ts';
import type { Amount, Millis, Price, Random, Side, Timer } from '../core/index.ts';
import { Arrivals } from './flowArrivals.ts';
import { FlowMaker } from './flowMaker.ts';
import type { MakerKind, MakerScale, MakerScene } from './flowMaker.ts';
import type { FlowProfile } from './flowProfile.ts';
import { EfficientPrice } from './flowValue.ts';
import type { Market, Marketplace } from './market.ts';

/** The truth about a taking order that no participant of a real market is told; for tests and calibration. */
export type FlowTake = { readonly informed: boolean; readonly side: Side; readonly traded: Amount };

export type FlowOptions = {
  readonly seed: number;
  readonly profile: FlowProfile;
  /** Called before each taking order with its kind, and with what it got after. */
  readonly onTake?: (take: FlowTake) => void;
};

/** The same seed on the same marketplace gives the same orders at the same times. Runs until stopped; keeps at most some hundred orders. */
export function seededFlow(options: FlowOptions): Market {
  return new Flow(options);
}

/** Four that compete at the touch, from quick to slow, and a patient one with the depth behind them. */
const MAKERS: readonly MakerKind[] = [
  { width: 1.0, levels: 6, spacing: 0.35, growth: 1.5, amount: 1.2, lagS: 1, refreshS: 0.9 },
  { width: 1.1, levels: 6, spacing: 0.35, growth: 1.5, amount: 1.5, lagS: 2, refreshS: 1.3 },
  { width: 1.25, levels: 6, spacing: 0.4, growth: 1.6, amount: 2, lagS: 4, refreshS: 2 },
  { width: 1.45, levels: 6, spacing: 0.4, growth: 1.6, amount: 3, lagS: 8, refreshS: 4 },
  { width: 4, levels: 12, spacing: 0.3, growth: 1.3, amount: 10, lagS: 30, refreshS: 15 },
];

/** Informed takers look this often on average, act on an edge with this probability, and want this much over the price they pay, in half spreads. */
const INFORMED = { lookS: 1.2, acts: 0.7, edge: 0.15, size: 1.5 };
/** Takers pay at most this far from the best price, in half spreads. */
const REACH = 5;
/** A trade pushes the makers' prices by up to this many half spreads, and the push fades. */
const PUSH = { halfSpreads: 0.5, amounts: 10, maxHalfSpreads: 3, fadeS: 20 };
/** A trade makes makers careful: by this much each, up to the maximum, fading. */
const HEAT = { each: 0.12, max: 1.2, fadeS: 8 };
/** Events in one go, and the time that is skipped when the clock jumped (a machine that slept). */
const EVENTS_AT_ONCE = 5_000;
const SKIP_MS = 600_000;

class Flow implements Market {
  readonly #options: FlowOptions;
  readonly #random: Random;
  readonly #value: EfficientPrice;
  readonly #arrivals: Arrivals;
  readonly #makers: FlowMaker[] = [];
  #place: Marketplace | undefined;
  #scale: MakerScale = { startTicks: 0, halfSpread: 0, typicalLots: 0 };
  #timer: Timer | undefined;
  #stopped = false;
  /** Elapsed time of the marketplace's clock at second 0 of the flow. */
  #origin: Millis = 0;
  /** When the next event of each actor is due, in seconds: the makers, then the uninformed, then the informed. */
  #due: number[] = [];
  #pressure = 0;
  #heat = 0;
  #fadedAt = 0;
  #taking = false;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#random = randomOf(options.seed);
    this.#value = new EfficientPrice(this.#random, options.profile.volatilityBps);
    this.#arrivals = new Arrivals(this.#random, options.profile.takersPerSecond * UNINFORMED_SHARE);
  }

  start(place: Marketplace): void {
    if (this.#place) throw new Error('a flow starts once');
    const { profile } = this.#options;
    this.#place = place;
    this.#scale = {
      startTicks: priceFloor(place.instrument, profile.startPrice),
      halfSpread: profile.spreadBps / 2 / 1e4,
      typicalLots: amountFloor(place.instrument, profile.typicalAmount),
    };
    if (!(this.#scale.startTicks > 0 && this.#scale.typicalLots > 0)) {
      throw new RangeError(`${place.instrument.symbol}: start price and typical amount must be at least a tick and a lot`);
    }
    this.#origin = place.clock.elapsed();
    place.onHouseFill((id, side, _price, amount, maker) => this.#onFill(id, side, amount, maker));
    for (const kind of MAKERS) {
      const maker = new FlowMaker(kind, this.#scale, this.#random, place, this.#scene(0));
      this.#makers.push(maker);
      maker.refresh(this.#scene(0));
      this.#due.push(maker.pause());
    }
    this.#due.push(this.#arrivals.next(0), exponential(this.#random, INFORMED.lookS));
    this.#sleep();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  #sleep(): void {
    const clock = this.#place!.clock;
    const due = this.#origin + Math.min(...this.#due) * 1000;
    this.#timer = clock.after(Math.max(0, due - clock.elapsed()), () => this.#run());
  }

  /** Everything that is due by now, in the order of its times. */
  #run(): void {
    const clock = this.#place!.clock;
    const late = clock.elapsed() - this.#origin - Math.min(...this.#due) * 1000;
    if (late > SKIP_MS) this.#origin += late;
    for (let done = 0; done < EVENTS_AT_ONCE && !this.#stopped; done++) {
      const seconds = Math.min(...this.#due);
      if (this.#origin + seconds * 1000 > clock.elapsed()) break;
      this.#act(this.#due.indexOf(seconds), seconds);
    }
    if (!this.#stopped) this.#sleep();
  }

  #act(actor: number, seconds: number): void {
    this.#value.advance(seconds);
    this.#fade(seconds);
    const maker = this.#makers[actor];
    if (maker) {
      maker.refresh(this.#scene(seconds));
      this.#due[actor] = seconds + maker.pause();
    } else if (actor === this.#makers.length) {
      const side = this.#arrivals.side();
      this.#take(seconds, side, this.#arrivals.size(), this.#reach(side), false);
      this.#due[actor] = this.#arrivals.next(seconds);
    } else {
      this.#informed(seconds);
      this.#due[actor] = seconds + exponential(this.#random, INFORMED.lookS);
    }
  }

  /** Buys what is offered below the efficient price, or sells to who bids above it, as far as it pays. */
  #informed(seconds: number): void {
    const fair = this.#scale.startTicks * Math.exp(this.#value.log);
    const edge = fair * this.#scale.halfSpread * INFORMED.edge;
    const ask = this.#place!.bestAsk();
    const bid = this.#place!.bestBid();
    const side = ask > 0 && ask <= fair - edge ? 'buy' : bid >= fair + edge ? 'sell' : undefined;
    if (side === undefined || this.#random.next() >= INFORMED.acts) return;
    const limit = side === 'buy' ? Math.floor(fair - edge) : Math.ceil(fair + edge);
    this.#take(seconds, side, this.#arrivals.size() * INFORMED.size, limit, true);
  }

  #reach(side: Side): number {
    const best = side === 'buy' ? this.#place!.bestAsk() : this.#place!.bestBid();
    const reach = best * this.#scale.halfSpread * REACH;
    return side === 'buy' ? Math.ceil(best + reach) : Math.floor(best - reach);
  }

  #take(seconds: number, side: Side, size: number, limit: number, informed: boolean): void {
    const { instrument } = this.#place!;
    const lots = Math.min(instrument.amountMax, Math.max(1, Math.floor(size * this.#scale.typicalLots)));
    if (!(limit >= instrument.priceMin && limit <= instrument.priceMax)) return;
    this.#taking = true;
    const { traded } = this.#place!.place(side, limit as Price, lots as Amount, 'take');
    this.#taking = false;
    this.#arrivals.excite(seconds, side);
    this.#options.onTake?.({ informed, side, traded });
  }

  /** Whoever took, makers feel it: own takers by their own executions, others by those of the quotes they hit. */
  #onFill(id: number, side: Side, amount: number, maker: boolean): void {
    if (maker) this.#makers.some(one => one.filled(id, side, amount));
    if (maker === this.#taking) return;
    const { halfSpread, typicalLots } = this.#scale;
    const takerBuys = maker ? side === 'sell' : side === 'buy';
    const push = (PUSH.halfSpreads * halfSpread * amount) / (amount + PUSH.amounts * typicalLots);
    const max = PUSH.maxHalfSpreads * halfSpread;
    this.#pressure = Math.max(-max, Math.min(max, this.#pressure + (takerBuys ? push : -push)));
    this.#heat = Math.min(HEAT.max, this.#heat + HEAT.each);
  }

  #fade(seconds: number): void {
    const dt = Math.max(0, seconds - this.#fadedAt);
    this.#fadedAt = seconds;
    this.#pressure *= Math.exp(-dt / PUSH.fadeS);
    this.#heat *= Math.exp(-dt / HEAT.fadeS);
  }

  #scene(seconds: number): MakerScene {
    return {
      seconds,
      publicLog: this.#value.publicLog,
      pressure: this.#pressure,
      caution: Math.sqrt(this.#value.mood) * (1 + this.#heat),
    };
  }
}

/** The rest of the taking orders is informed; how many those are follows from the model and was measured. */
const UNINFORMED_SHARE = 0.85;
