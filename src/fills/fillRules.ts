/** Fill rules: the share of an execution or crossing level that the bot's resting orders receive. */
import type { Queued, QueueModel } from './queueModels.ts';

/** Called for each simulated fill of the bot, after the order's `left` is reduced. */
export type OnFill<O extends Queued> = (order: O, lots: number) => void;

/**
 * Maximum time between two executions of one taker order, in ms. In the Bitstamp log of 2015, 114 executions follow
 * another execution within 200 ms. In 107 of these 114 cases, no order was created between the two executions.
 */
export const SWEEP_MS = 200;

/**
 * One taker order, possibly reported as several executions: on one side, close in time, at prices that never improve.
 *
 * A simulated fill of the bot replaces reported fills of other orders, so lots of the other orders remain. The taker
 * trades against the remaining lots before it reaches worse prices, so less of its amount trades at worse prices.
 * Orders that came to rest after the first execution do not take part.
 */
export class Sweep {
  readonly #window: number;
  #startedAt = Number.NaN;
  #at = Number.NaN;
  #place = 0;
  #sign: 1 | -1 = 1;
  /** Prices at which lots of other orders remain; `#lots` has the number of lots at the same index. */
  readonly #places: number[] = [];
  readonly #lots: number[] = [];
  /** Arrival number of the order that each entry of `#lots` belongs to; 0 if unknown. */
  readonly #born: number[] = [];
  #sum = 0;
  /** Number of taker orders so far. */
  #takers = 0;

  /**
   * `window` is the maximum time between two executions of one taker, in the time unit of the rows. If 0, only
   * executions of equal time belong to one taker.
   */
  constructor(window = 0) {
    this.#window = window;
  }

  /**
   * Whether the sweep still has lots of other orders. If true, the caller must also report executions that do not reach
   * the bot's orders.
   */
  get isOpen(): boolean {
    return this.#sum > 0;
  }

  /**
   * Starts an execution; call this before each execution, even if it does not reach the bot's orders. `sign` is +1 if
   * the taker trades against asks.
   */
  begin(at: number, sign: 1 | -1, place: number): void {
    const since = at - this.#at;
    const isOn = since === 0 || (since > 0 && since <= this.#window && place * sign >= this.#place * sign);
    this.#at = at;
    this.#place = place;
    if (isOn && sign === this.#sign) return;
    this.#takers++;
    this.#startedAt = at;
    this.#sign = sign;
    this.#forget();
  }

  /**
   * Called instead of `begin`: copies the current execution and taker from another sweep, for which `begin` is called
   * at every execution. Remaining lots are not copied.
   */
  follow(other: Sweep): void {
    this.#at = other.#at;
    this.#place = other.#place;
    if (this.#takers === other.#takers) return;
    this.#takers = other.#takers;
    this.#startedAt = other.#startedAt;
    this.#sign = other.#sign;
    this.#forget();
  }

  #forget(): void {
    if (this.#places.length > 0) {
      this.#places.length = 0;
      this.#lots.length = 0;
      this.#born.length = 0;
    }
    this.#sum = 0;
  }

  /** Time of the first execution of the sweep. */
  get began(): number {
    return this.#startedAt;
  }

  /** Time of the latest execution of the sweep. */
  get lastAt(): number {
    return this.#at;
  }

  /** Whether an order was already resting before the first execution of the sweep. */
  wasRestingFor(order: Queued): boolean {
    return !(order.restedAt >= this.#startedAt);
  }

  get places(): readonly number[] {
    return this.#places;
  }

  remainingAt(place: number): number {
    return this.#lots.reduce((sum, lots, i) => (this.#places[i] === place ? sum + lots : sum), 0);
  }

  /**
   * Trades at most `most` lots at prices better than `place`, from the lots that remain in the sweep. Returns the
   * traded lots.
   */
  tradeBetterThan(place: number, most: number): number {
    let left = most;
    for (let i = 0; i < this.#places.length && left > 0; i++) {
      if (this.#places[i]! * this.#sign < place * this.#sign) left -= this.#tradeRemaining(i, left);
    }
    return most - left;
  }

  /**
   * Trades at most `most` lots at the price `place`, from the remaining lots of orders that arrived before `born`.
   * Returns the traded lots.
   */
  at(place: number, most: number, born = Infinity): number {
    if (!(this.#sum > 0)) return 0;
    let left = most;
    for (let i = 0; i < this.#places.length && left > 0; i++) {
      if (this.#places[i] === place && this.#born[i]! < born) left -= this.#tradeRemaining(i, left);
    }
    return most - left;
  }

  /**
   * Records that `lots` of the reported order remain, because the taker traded with earlier remaining lots or with the
   * bot instead. `born` is the arrival number of the reported order.
   */
  end(place: number, lots: number, born = 0): void {
    if (!(lots > 0)) return;
    this.#sum += lots;
    const i = this.#places.findIndex((at, n) => at === place && this.#born[n] === born);
    if (i >= 0) this.#lots[i]! += lots;
    else {
      this.#places.push(place);
      this.#lots.push(lots);
      this.#born.push(born);
    }
  }

  #tradeRemaining(i: number, most: number): number {
    const part = Math.min(this.#lots[i]!, most);
    this.#lots[i]! -= part;
    this.#sum -= part;
    return part;
  }
}

/**
 * Rule for simulated fills. `orders` are the bot's orders on the side that the taker hits, best price first. Callers
 * remove orders from the list only after the call. `sign` is +1 for asks.
 *
 * `traded`: a taker traded `lots` at `place`, reported by row `row`. `crossed`: `lots` appeared on the other side at
 * `place`, at or beyond the price of at least one order.
 */
export interface FillRule {
  readonly name: string;
  traded<O extends Queued>(
    orders: readonly O[],
    sign: 1 | -1,
    place: number,
    lots: number,
    fill: OnFill<O>,
    row: number,
    sweep: Sweep,
  ): void;
  crossed<O extends Queued>(orders: readonly O[], sign: 1 | -1, place: number, lots: number, fill: OnFill<O>): void;
}

/**
 * Default rule. The bot's orders share the lots of an execution, best price and oldest first, after the lots ahead of
 * each order. An execution beyond an order's price fills at most the traded amount. A level that crosses an order fills
 * at most the displayed amount of the level.
 */
export function sharedVolume(queue: QueueModel): FillRule {
  return {
    name: 'shared volume',
    traded(orders, sign, place, lots, fill, _row, sweep) {
      let rest = lots;
      /** Lots at the current price, ahead of the bot's previous order, that this execution has already traded. */
      let met = 0;
      let price = Number.NaN;
      let elsewhere = 0;
      for (const order of orders) {
        if (order.place * sign > place * sign) break;
        if (!sweep.wasRestingFor(order)) {
          if (order.place === place) recordTradedAhead(queue, order, Math.min(order.front, lots), lots);
          continue;
        }
        if (order.place !== price) {
          price = order.place;
          met = 0;
          const passed = sweep.tradeBetterThan(price, rest);
          elsewhere += passed;
          rest -= passed;
        }
        if (price === place) {
          const ahead = Math.min(Math.max(0, order.front - met), rest);
          met += ahead;
          rest -= ahead;
          recordTradedAhead(queue, order, Math.min(met, lots), lots);
          if (order.front > 0) continue;
        } else {
          const ahead = sweep.at(price, Math.min(Math.max(0, order.front - met), rest));
          met += ahead;
          elsewhere += ahead;
          rest -= ahead;
        }
        order.front = 0;
        const part = take(order, rest, fill);
        elsewhere += part;
        rest -= part;
      }
      sweep.end(place, elsewhere + sweep.tradeBetterThan(place, rest));
    },
    crossed: crossing,
  };
}

/**
 * Rule for order-by-order data. A taker who traded with an order behind the bot's, or at a worse price, would have
 * traded with the bot's order first. `bornOf` returns the arrival number of an event's filled order, comparable with
 * `joined`.
 */
export function exactOrders(bornOf: (event: number) => number): FillRule {
  return {
    name: 'exact orders',
    traded(own, sign, place, lots, fill, event, sweep) {
      const born = bornOf(event);
      let rest = lots;
      let elsewhere = 0;
      for (const order of own) {
        if (order.place * sign > place * sign) break;
        if (!sweep.wasRestingFor(order)) {
          if (order.place === place && born < order.joined) order.front = Math.max(0, order.front - lots);
          continue;
        }
        let passed = sweep.tradeBetterThan(order.place, rest);
        passed += sweep.at(order.place, rest - passed, order.joined);
        elsewhere += passed;
        rest -= passed;
        if (order.place === place && born < order.joined) {
          order.front = Math.max(0, order.front - passed - rest);
          // The next orders of the bot at this price arrived later, so the reported order is ahead of them too.
          continue;
        }
        const part = take(order, rest, fill);
        elsewhere += part;
        rest -= part;
      }
      sweep.end(place, elsewhere + sweep.tradeBetterThan(place, rest), born);
    },
    crossed: crossing,
  };
}

/**
 * Fills an order completely if any execution or crossing level reaches its price: an upper bound for all other models.
 */
export function optimistic(): FillRule {
  return {
    name: 'optimistic',
    traded(orders, sign, place, _lots, fill, _row, sweep) {
      for (const order of orders) {
        if (order.place * sign > place * sign) return;
        if (sweep.wasRestingFor(order)) take(order, order.left, fill);
      }
    },
    crossed: fillPassed,
  };
}

function fillPassed<O extends Queued>(
  orders: readonly O[],
  sign: 1 | -1,
  place: number,
  _lots: number,
  fill: OnFill<O>,
): void {
  for (const order of orders) {
    if (order.place * sign > place * sign) return;
    take(order, order.left, fill);
  }
}

/**
 * Records that `met` of the `lots` of an execution traded ahead of an order at its price. Also adds all other lots of
 * the execution to `order.traded`, because the next change of the level includes them too.
 */
function recordTradedAhead(queue: QueueModel, order: Queued, met: number, lots: number): void {
  queue.traded(order, met);
  if (met < lots) order.traded += lots - met;
}

/** Distributes crossing lots over the bot's orders, best price and oldest first. */
function crossing<O extends Queued>(
  orders: readonly O[],
  sign: 1 | -1,
  place: number,
  lots: number,
  fill: OnFill<O>,
): void {
  let rest = lots;
  for (const order of orders) {
    if (order.place * sign > place * sign) return;
    rest -= take(order, rest, fill);
  }
}

/** Fills an order with complete lots, up to `available` and its remaining amount; returns the filled lots. */
function take<O extends Queued>(order: O, available: number, fill: OnFill<O>): number {
  const lots = Math.min(order.left, Math.floor(available));
  if (!(lots > 0)) return 0;
  order.left -= lots;
  fill(order, lots);
  return lots;
}
