/**
 * Built-in market: an endless seeded order flow of makers, uninformed takers and informed takers around an efficient
 * price (docs/market-model.md).
 */
import {
  amountFloor,
  exponential,
  priceFloor,
  randomOf,
  type Amount,
  type Price,
  type Random,
  type Side,
} from '../../core/index.ts';
import { ActorSchedule } from './actorSchedule.ts';
import { Arrivals } from './flowArrivals.ts';
import { FLOW_MAKERS, FlowMaker, type MakerScale, type MakerScene } from './flowMaker.ts';
import type { FlowProfile } from './flowProfile.ts';
import { EfficientPrice, type FlowValue } from './flowValue.ts';
import type { Market, Marketplace } from './market.ts';

/**
 * Taker order of the flow, for tests and calibration. `informed`: whether the taker knew the efficient price, which is
 * not public.
 */
export type FlowTake = { readonly informed: boolean; readonly side: Side; readonly traded: Amount };

export type FlowOptions = {
  readonly seed: number;
  readonly profile: FlowProfile;
  /** Trend of the efficient price, in bps per hour, added to its other moves. Default: 0. */
  readonly driftBpsPerHour?: number;
  /** Price that drives the flow. Default: an efficient price of its own, with the profile's volatility. */
  readonly value?: FlowValue;
  /** Divisor of the makers' lags and refresh times. Default: 1. */
  readonly makerSpeed?: number;
  /** Called after each taker order. */
  readonly onTake?: (take: FlowTake) => void;
};

/**
 * Creates a seeded flow. With equal seeds and marketplaces, orders and times are equal. The flow runs until stopped,
 * with at most a few hundred orders in the book.
 */
export function seededFlow(options: FlowOptions): Market {
  return new Flow(options);
}

/**
 * Parameters of informed takers. `looks`: number of price checks for each expected taker order. `acts`: probability to
 * trade if the edge suffices. `edge`: minimum distance of the efficient price from the price paid, in half spreads.
 * `size`: multiple of other takers' sizes. `followed`: share of the usual follow-up orders.
 */
const INFORMED = { looks: 2, acts: 0.7, edge: 0.05, size: 1.5, followed: 0.4 };
/** Maximum distance of an uninformed taker's limit from the best price, in half spreads. */
const REACH = 5;
/**
 * Shift of the makers' price by trades, in multiples of the price's one-minute volatility. Each trade shifts the price
 * by less than `most`; a trade of `amounts` times the typical amount shifts it by half of `most`. The total shift is at
 * most `max` and decays over `fadeS` seconds.
 */
const PUSH = { most: 0.35, amounts: 3, max: 0.8, fadeS: 60 };
/**
 * Widening of the makers' quotes after trades, as a share of their width. Each trade adds `each`, up to `max`; the
 * widening decays over `fadeS` seconds.
 */
const HEAT = { each: 0.06, max: 0.8, fadeS: 8 };
/**
 * Refresh after a trade. Makers with an average refresh time of at most `refreshMaxS` seconds refresh `lookS` seconds
 * after the trade on average.
 */
const ALERT = { lookS: 0.4, refreshMaxS: 1.5 };
class Flow implements Market {
  readonly #options: FlowOptions;
  readonly #random: Random;
  readonly #value: FlowValue;
  readonly #arrivals: Arrivals;
  readonly #lookS: number;
  readonly #makers: FlowMaker[] = [];
  #place: Marketplace | undefined;
  #scale: MakerScale = { startTicks: 0, halfSpread: 0, typicalLots: 0 };
  /** Actors in order: makers, uninformed takers, informed takers. */
  readonly #schedule = new ActorSchedule((actor, seconds) => this.#act(actor, seconds));
  #pressure = 0;
  #heat = 0;
  #fadedAt = 0;
  #isTaking = false;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#random = randomOf(options.seed);
    this.#value =
      options.value ?? new EfficientPrice(this.#random, options.profile.volatilityBps, options.driftBpsPerHour);
    const pace = paceOf(options.profile);
    this.#arrivals = new Arrivals(this.#random, pace * UNINFORMED_SHARE);
    this.#lookS = 1 / (INFORMED.looks * pace);
  }

  start(place: Marketplace): void {
    if (this.#place) throw new Error('the synthetic order flow was already started');
    const { profile } = this.#options;
    this.#place = place;
    this.#scale = {
      startTicks: priceFloor(place.instrument, profile.startPrice),
      halfSpread: quotedHalfSpread(profile),
      typicalLots: amountFloor(place.instrument, profile.typicalAmount),
    };
    if (!(this.#scale.startTicks > 0 && this.#scale.typicalLots > 0)) {
      throw new RangeError(
        `${place.instrument.symbol}: the start price must be at least one tick, and the typical amount at least one lot`,
      );
    }
    this.#schedule.begin(place.clock);
    place.onSyntheticFill((id, side, _price, amount, maker) => this.#onFill(id, side, amount, maker));
    const speed = this.#options.makerSpeed ?? 1;
    for (const standard of FLOW_MAKERS) {
      const kind = { ...standard, lagS: standard.lagS / speed, refreshS: standard.refreshS / speed };
      const maker = new FlowMaker(kind, this.#scale, this.#random, place, this.#scene(0));
      this.#makers.push(maker);
      maker.refresh(this.#scene(0));
      this.#schedule.due.push(maker.pause());
    }
    this.#schedule.due.push(this.#arrivals.next(0), exponential(this.#random, this.#lookS));
    this.#schedule.sleep();
  }

  stop(): void {
    this.#schedule.stop();
  }

  #act(actor: number, seconds: number): void {
    this.#value.advance(seconds, this.#arrivals.imbalance);
    this.#fade(seconds);
    const maker = this.#makers[actor];
    if (maker) {
      maker.refresh(this.#scene(seconds));
      this.#schedule.due[actor] = seconds + maker.pause();
    } else if (actor === this.#makers.length) {
      const side = this.#arrivals.side();
      this.#take(seconds, side, this.#arrivals.size(), this.#reach(side), false);
      this.#schedule.due[actor] = this.#arrivals.next(seconds);
    } else {
      this.#informed(seconds);
      this.#schedule.due[actor] = seconds + exponential(this.#random, this.#lookS);
    }
  }

  /**
   * Places an informed taker order, if a best price is far enough from the efficient price. The limit price preserves
   * the minimum edge.
   */
  #informed(seconds: number): void {
    const fair = this.#scale.startTicks * Math.exp(this.#value.expectedLog(this.#arrivals.imbalance));
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
    this.#isTaking = true;
    const { traded } = this.#place!.place(side, limit as Price, lots as Amount, 'IOC');
    this.#isTaking = false;
    this.#arrivals.excite(seconds, side, informed ? INFORMED.followed : 1);
    this.#alert(seconds);
    this.#options.onTake?.({ informed, side, traded });
  }

  #alert(seconds: number): void {
    FLOW_MAKERS.forEach((kind, actor) => {
      if (kind.refreshS > ALERT.refreshMaxS) return;
      this.#schedule.due[actor] = Math.min(
        this.#schedule.due[actor]!,
        seconds + exponential(this.#random, ALERT.lookS),
      );
    });
  }

  /**
   * Applies each execution to the flow exactly once, although maker and taker are both reported. If the flow takes,
   * only the taker's report counts; if an account takes, only the maker's.
   */
  #onFill(id: number, side: Side, amount: number, maker: boolean): void {
    if (maker) this.#makers.some(one => one.filled(id, side, amount));
    if (maker === this.#isTaking) return;
    const { typicalLots } = this.#scale;
    const minuteMove = this.#options.profile.volatilityBps / 1e4;
    const takerBuys = maker ? side === 'sell' : side === 'buy';
    const push = (PUSH.most * minuteMove * amount) / (amount + PUSH.amounts * typicalLots);
    const max = PUSH.max * minuteMove;
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

/**
 * Arrival rate of uninformed orders, as a share of the rate from `paceOf`. Informed orders arrive in addition, when
 * they have an edge.
 */
const UNINFORMED_SHARE = 0.75;

/**
 * Returns the base arrival rate, in orders per second. The formula is fitted so that all orders together arrive at the
 * profile's rate. High volatility relative to the spread attracts more informed orders, so the base rate is lower.
 */
const paceOf = (profile: FlowProfile): number =>
  (profile.takersPerSecond * 1.75) / (1 + (0.8 * profile.volatilityBps) / profile.spreadBps);

/**
 * Returns the half spread that makers quote, as a fraction of the price. The quoted spread exceeds the profile's
 * spread, because makers with different price views narrow the spread, more so in fast markets.
 */
const quotedHalfSpread = (profile: FlowProfile): number =>
  (profile.spreadBps / 2 / 1e4) * (1 + 0.11 * Math.max(0, profile.volatilityBps / profile.spreadBps - 1));
