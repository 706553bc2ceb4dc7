/**
 * Lifelike market: an endless seeded order flow with the short-term structure of recorded books. Imbalance predicts the
 * next move, trades move the price permanently, and takers' times and sides are autocorrelated (docs/market-model.md).
 */
import {
  amountFloor,
  exponential,
  opposite,
  priceFloor,
  randomOf,
  type Amount,
  type Price,
  type Random,
  type Side,
} from '../../../core/index.ts';
import { ActorSchedule } from '../actorSchedule.ts';
import type { FlowProfile } from '../flowProfile.ts';
import { LIFELIKE_KINDS, LifelikeMaker, type LifelikeScene } from './lifelikeOrders.ts';
import { LifelikePrice } from './lifelikePrice.ts';
import { LifelikeTakers } from './lifelikeTakers.ts';
import type { FollowedPlace, Market } from '../market.ts';

export type LifelikeOptions = {
  readonly seed: number;
  readonly profile: FlowProfile;
  /** Trend of the price, in bps per hour, in addition to its other moves. Default: 0. */
  readonly driftBpsPerHour?: number;
  /** Whether the signal that is visible in the book's imbalance moves the price. Default: true. */
  readonly imbalanceSignal?: boolean;
};

/**
 * Creates a lifelike market. With equal seeds and marketplaces, orders and times are equal. The market runs until it is
 * stopped, with at most one order per maker in the book.
 */
export function lifelikeFlow(options: LifelikeOptions): Market {
  return new LifelikeFlow(options);
}

/**
 * Rate of takers that do not know the makers' price, as a share of the profile's rate. Informed takers come in
 * addition.
 */
const TAKERS_SHARE = 0.18;
/** Size of a standard order of a maker, in typical amounts of takers. */
const STANDARD_AMOUNTS = 15;
/** Number of units of distance in a median spread. */
const SPREAD_UNITS = 2;
/** Move of the price per second for a signal of 1, in units of distance. */
const SIGNAL_PER_S = 0.03;
/** Change of the probability that a new split order buys, for a signal of 1. */
const SIDE_SIGNAL = 0.12;
/** Probability that a taker limits its amount to the amount at the best price. */
const AT_TOUCH = 0.75;
/** Maximum distance of a taker's limit from the best price, and from the makers' price, in units of distance. */
const REACH = { best: 1, makers: 12 };
/** Takers that know the makers' price: mean time between their checks in seconds, minimum gain in units of distance. */
const INFORMED = { checkS: 1.5, edge: 0.5 };

class LifelikeFlow implements Market {
  readonly #options: LifelikeOptions;
  readonly #random: Random;
  readonly #price: LifelikePrice;
  readonly #takers: LifelikeTakers;
  readonly #makers: LifelikeMaker[] = [];
  /** Actors in order: makers, takers, informed takers. */
  readonly #schedule = new ActorSchedule((actor, seconds) => this.#act(actor, seconds));
  readonly #unit: number;
  readonly #sideSignal: number;
  #place: FollowedPlace | undefined;
  #startTicks = 0;
  #typicalLots = 0;
  #isTaking = false;
  /** Lots that the market's own makers sold to or bought from the current taker. */
  #ownFilled = 0;

  constructor(options: LifelikeOptions) {
    const { seed, profile, driftBpsPerHour = 0, imbalanceSignal = true } = options;
    this.#options = options;
    this.#random = randomOf(seed);
    this.#sideSignal = imbalanceSignal ? SIDE_SIGNAL : 0;
    this.#unit = profile.spreadBps / 1e4 / SPREAD_UNITS;
    this.#price = new LifelikePrice(this.#random, {
      unit: this.#unit,
      minuteMove: profile.volatilityBps / 1e4,
      driftPerS: driftBpsPerHour / 1e4 / 3_600,
      signalPerS: imbalanceSignal ? SIGNAL_PER_S : 0,
    });
    this.#takers = new LifelikeTakers(this.#random, profile.takersPerSecond * TAKERS_SHARE);
  }

  start(place: FollowedPlace): void {
    if (this.#place) throw new Error('the lifelike market was already started');
    const { profile } = this.#options;
    this.#place = place;
    this.#startTicks = priceFloor(place.instrument, profile.startPrice);
    this.#typicalLots = amountFloor(place.instrument, profile.typicalAmount);
    if (!(this.#startTicks > 0 && this.#typicalLots > 0)) {
      throw new RangeError(
        `${place.instrument.symbol}: the start price must be at least one tick, and the typical amount at least one lot`,
      );
    }
    this.#schedule.begin(place.clock);
    place.onSyntheticFill((id, side, _price, amount, maker) => this.#onFill(id, side, amount, maker));
    for (const kind of LIFELIKE_KINDS) {
      for (let n = 0; n < kind.count; n++) {
        for (const side of ['buy', 'sell'] as const) {
          const maker = new LifelikeMaker(side, kind, this.#random, place, () => this.#pickAccounts(opposite(side)));
          this.#makers.push(maker);
          // The first lives are cut at random, as if the market had been running.
          this.#schedule.due.push(maker.act(this.#scene()) * this.#random.next());
        }
      }
    }
    this.#schedule.due.push(this.#takers.next(0), exponential(this.#random, INFORMED.checkS));
    this.#schedule.sleep();
  }

  stop(): void {
    this.#schedule.stop();
  }

  #act(actor: number, seconds: number): void {
    this.#price.advance(seconds);
    const { due } = this.#schedule;
    const maker = this.#makers[actor];
    if (maker) {
      due[actor] = seconds + maker.act(this.#scene());
    } else if (actor === this.#makers.length) {
      this.#take(seconds);
      due[actor] = this.#takers.next(seconds);
    } else {
      this.#pickStale(seconds);
      due[actor] = seconds + exponential(this.#random, INFORMED.checkS);
    }
  }

  #take(seconds: number): void {
    const place = this.#place!;
    const side = this.#takers.side(Math.max(0, Math.min(1, 0.5 + this.#sideSignal * this.#price.signal)));
    const best = side === 'buy' ? place.bestAsk() : place.bestBid();
    if (best === 0) return;
    const wanted = Math.max(1, Math.floor(this.#takers.size() * this.#typicalLots));
    const touch = place.amountAt(side === 'buy' ? 'sell' : 'buy', best);
    const lots = this.#random.next() < AT_TOUCH ? Math.min(wanted, touch) : wanted;
    const { ticks, unitTicks } = this.#scene();
    const limit =
      side === 'buy'
        ? Math.ceil(Math.min(best + unitTicks * REACH.best, ticks + unitTicks * REACH.makers))
        : Math.floor(Math.max(best - unitTicks * REACH.best, ticks - unitTicks * REACH.makers));
    this.#order(side, limit, lots);
    this.#takers.excite(seconds);
    this.#price.inform(side);
    this.#alert(seconds);
  }

  /** Takes quotes that trade at a loss for their owners, measured by the makers' price. */
  #pickStale(seconds: number): void {
    const place = this.#place!;
    const { ticks, unitTicks } = this.#scene();
    const edge = unitTicks * INFORMED.edge;
    const ask = place.bestAsk();
    const bid = place.bestBid();
    const side = ask > 0 && ask <= ticks - edge ? 'buy' : bid >= ticks + edge ? 'sell' : undefined;
    if (side === undefined) return;
    const lots = Math.max(1, Math.floor(this.#takers.size() * this.#typicalLots));
    const isOwn = this.#order(side, side === 'buy' ? Math.floor(ticks - edge) : Math.ceil(ticks + edge), lots);
    // The makers already know what the order reveals, so their price stays. Fills of an account trigger no further
    // orders.
    if (isOwn) this.#takers.excite(seconds);
    this.#alert(seconds);
  }

  /**
   * Takes the account orders of a side that trade at a loss for their owners, measured by the makers' price. Called if
   * the best order of that side blocks a maker: makers do not take, so an account could otherwise block them with tiny
   * orders.
   */
  #pickAccounts(side: Side): void {
    const place = this.#place!;
    const { ticks, unitTicks } = this.#scene();
    const edge = unitTicks * INFORMED.edge;
    const sign = side === 'buy' ? 1 : -1;
    const limit = side === 'buy' ? Math.ceil(ticks + edge) : Math.floor(ticks - edge);
    const cheap = place.accountOrders(side).filter(({ price }) => (price - limit) * sign >= 0);
    const lots = cheap.reduce((sum, { left }) => sum + left, 0);
    if (lots > 0) this.#order(opposite(side), limit, lots);
  }

  /** Places a taker's order. Returns whether the order traded, and only with the market's own makers. */
  #order(side: Side, limit: number, lots: number): boolean {
    const place = this.#place!;
    const { priceMin, priceMax, amountMax } = place.instrument;
    if (!(limit >= priceMin && limit <= priceMax)) return false;
    this.#isTaking = true;
    this.#ownFilled = 0;
    const { traded } = place.place(side, limit as Price, Math.min(lots, amountMax) as Amount, 'IOC');
    this.#isTaking = false;
    return traded > 0 && traded === this.#ownFilled;
  }

  /** Schedules reactions of the makers whose orders the price has passed. */
  #alert(seconds: number): void {
    const { ticks } = this.#scene();
    const { due } = this.#schedule;
    this.#makers.forEach((maker, actor) => {
      if (maker.isStale(ticks)) due[actor] = Math.min(due[actor]!, seconds + maker.reaction());
    });
  }

  /**
   * Applies each execution to the price exactly once, although maker and taker are both reported. If the market takes,
   * only the taker's report counts; if an account takes, only the maker's report counts.
   */
  #onFill(id: number, side: Side, amount: number, maker: boolean): void {
    if (maker && this.#makers.some(one => one.side === side && one.filled(id, amount))) this.#ownFilled += amount;
    if (maker === this.#isTaking) return;
    this.#price.push(maker ? side === 'sell' : side === 'buy', amount / this.#typicalLots);
  }

  #scene(): LifelikeScene {
    const ticks = this.#startTicks * Math.exp(this.#price.log);
    return {
      ticks,
      unitTicks: ticks * this.#unit,
      lots: this.#typicalLots * STANDARD_AMOUNTS,
      signal: this.#price.signal,
      restlessness: this.#price.restlessness,
    };
  }
}
