/** Fill rules: what of an execution or of a crossing level comes to our resting orders. */
import type { Queued, QueueModel } from './queue.ts';

/** Told of each execution of ours; the order's `left` is already less. */
export type OnFill<O extends Queued> = (order: O, lots: number) => void;

/**
 * In ms; two executions of one taker are told at most so far apart. Of the 114 in the Bitstamp log of 2015 that follow another within this time, 107 have no
 * order created between.
 */
export const SWEEP_MS = 200;

/**
 * One taker, though told as several executions: of one side, close in time, at prices that never get better again. It knows what our fills left standing of
 * others' orders, though the tape says that they were met: before it comes to worse prices, the taker meets them, and has as much less for
 * those. Who came to rest after its first execution was not there when the taker came.
 */
export class Sweep {
  readonly #window: number;
  #began = Number.NaN;
  #at = Number.NaN;
  #place = 0;
  #sign: 1 | -1 = 1;
  /** Prices that executions came to, and what stands there. */
  readonly #places: number[] = [];
  readonly #lots: number[] = [];
  /** When those who stand there had come, where that is told. */
  readonly #born: number[] = [];
  #sum = 0;
  /** How many takers there were. */
  #takers = 0;

  /** `window`: longest time between two executions of one taker, in the unit of the rows; 0: one moment is one taker. */
  constructor(window = 0) {
    this.#window = window;
  }

  /** True when executions that do not reach ours must be told all the same. */
  get isOpen(): boolean {
    return this.#sum > 0;
  }

  /** To be called before each execution, whether it reaches ours or not. `sign`: +1 when it met asks. */
  begin(at: number, sign: 1 | -1, place: number): void {
    const since = at - this.#at;
    const isOn = since === 0 || (since > 0 && since <= this.#window && place * sign >= this.#place * sign);
    this.#at = at;
    this.#place = place;
    if (isOn && sign === this.#sign) return;
    this.#takers++;
    this.#began = at;
    this.#sign = sign;
    this.#forget();
  }

  /** Instead of `begin`: as another one that has just begun, and that hears of every execution. What our fills left standing stays this one's own. */
  follow(other: Sweep): void {
    this.#at = other.#at;
    this.#place = other.#place;
    if (this.#takers === other.#takers) return;
    this.#takers = other.#takers;
    this.#began = other.#began;
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

  /** When its first execution was. */
  get began(): number {
    return this.#began;
  }

  /** When its last execution was, so far. */
  get lastAt(): number {
    return this.#at;
  }

  /** Whether an order was there when the taker came. */
  meets(order: Queued): boolean {
    return !(order.restedAt >= this.#began);
  }

  get places(): readonly number[] {
    return this.#places;
  }

  standingAt(place: number): number {
    return this.#lots.reduce((sum, lots, i) => (this.#places[i] === place ? sum + lots : sum), 0);
  }

  /** Meets at most so many of those at prices better than `place`; returns how many. */
  before(place: number, most: number): number {
    let left = most;
    for (let i = 0; i < this.#places.length && left > 0; i++) {
      if (this.#places[i]! * this.#sign < place * this.#sign) left -= this.#meet(i, left);
    }
    return most - left;
  }

  /** Meets at most so many of those at a price who came before `born`; returns how many. */
  at(place: number, most: number, born = Infinity): number {
    if (!(this.#sum > 0)) return 0;
    let left = most;
    for (let i = 0; i < this.#places.length && left > 0; i++) {
      if (this.#places[i] === place && this.#born[i]! < born) left -= this.#meet(i, left);
    }
    return most - left;
  }

  /** So many lots of an execution at a price met others before it, or ours; who was to be met had come at `born`. */
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

  #meet(i: number, most: number): number {
    const part = Math.min(this.#lots[i]!, most);
    this.#lots[i]! -= part;
    this.#sum -= part;
    return part;
  }
}

/**
 * `orders` are those of the side that is hit, best first; they may leave the list only after the call. `sign` is +1 when they are asks.
 * `traded`: a taker met the market at `place` with `lots`, told by row `row`. `crossed`: so many lots appeared at `place` on the other side, at or beyond
 * the price of at least one of them.
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
 * The default. Our orders share one execution's lots, best price and oldest first, after what is ahead of each; executions beyond our
 * price bring at most what they traded; a level that crosses us brings at most what it shows.
 */
export function sharedVolume(queue: QueueModel): FillRule {
  return {
    name: 'shared volume',
    traded(orders, sign, place, lots, fill, _row, sweep) {
      let rest = lots;
      /** Of what stands ahead of ours at the price of the order before, so much was met already. */
      let met = 0;
      let price = Number.NaN;
      let elsewhere = 0;
      for (const order of orders) {
        if (order.place * sign > place * sign) break;
        if (!sweep.meets(order)) {
          if (order.place === place) passBy(queue, order, Math.min(order.front, lots), lots);
          continue;
        }
        if (order.place !== price) {
          price = order.place;
          met = 0;
          const passed = sweep.before(price, rest);
          elsewhere += passed;
          rest -= passed;
        }
        if (price === place) {
          const ahead = Math.min(Math.max(0, order.front - met), rest);
          met += ahead;
          rest -= ahead;
          passBy(queue, order, Math.min(met, lots), lots);
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
      sweep.end(place, elsewhere + sweep.before(place, rest));
    },
    crossed: crossing,
  };
}

/**
 * Where single orders are told: a taker who met an order behind ours, or at a worse price, would have met ours before it. `bornOf` says of
 * an event when the order that was met had come, on the scale of `joined`.
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
        if (!sweep.meets(order)) {
          if (order.place === place && born < order.joined) order.front = Math.max(0, order.front - lots);
          continue;
        }
        let passed = sweep.before(order.place, rest);
        passed += sweep.at(order.place, rest - passed, order.joined);
        elsewhere += passed;
        rest -= passed;
        if (order.place === place && born < order.joined) {
          order.front = Math.max(0, order.front - passed - rest);
          // Those behind it in our list came later still: the same order is before them.
          continue;
        }
        const part = take(order, rest, fill);
        elsewhere += part;
        rest -= part;
      }
      sweep.end(place, elsewhere + sweep.before(place, rest), born);
    },
    crossed: crossing,
  };
}

/** Any execution that reaches our price fills us whole: the bound that no honest model may exceed, under its own name. */
export function optimistic(): FillRule {
  return {
    name: 'optimistic',
    traded(orders, sign, place, _lots, fill, _row, sweep) {
      for (const order of orders) {
        if (order.place * sign > place * sign) return;
        if (sweep.meets(order)) take(order, order.left, fill);
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

/** So many lots of an execution at its price met those ahead of an order; the level's own change will tell of all of them, whoever they met. */
function passBy(queue: QueueModel, order: Queued, met: number, lots: number): void {
  queue.traded(order, met);
  if (met < lots) order.traded += lots - met;
}

/** What crosses comes to our orders as far as it goes, best price and oldest first. */
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

/** Whole lots only, and no more than are left; returns what was taken. */
function take<O extends Queued>(order: O, available: number, fill: OnFill<O>): number {
  const lots = Math.min(order.left, Math.floor(available));
  if (!(lots > 0)) return 0;
  order.left -= lots;
  fill(order, lots);
  return lots;
}
