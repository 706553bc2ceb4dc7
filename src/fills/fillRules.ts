/** Fill rules: what of an execution or of a crossing level comes to our resting orders. */
import type { Queued, QueueModel } from './queue.ts';

/** Told of each execution of ours; the order's `left` is already less. */
export type OnFill<O extends Queued> = (order: O, lots: number) => void;

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
    traded(orders, sign, place, lots, fill) {
      let rest = lots;
      // Of what stands ahead at this price, so much was met already.
      let met = 0;
      for (const order of orders) {
        if (order.place * sign > place * sign) return;
        if (order.place !== place) {
          order.front = 0;
          rest -= take(order, rest, fill);
          continue;
        }
        const ahead = Math.min(Math.max(0, order.front - met), rest);
        met += ahead;
        rest -= ahead;
        queue.traded(order, Math.min(met, lots));
        // The level's own change will tell of the whole execution, whoever it met.
        if (met < lots) order.traded += lots - met;
        if (order.front <= 0) {
          order.front = 0;
          rest -= take(order, rest, fill);
        }
      }
    },
    crossed: crossing,
  };
}

/** Any execution that reaches our price fills us whole: the bound that no honest model may exceed, under its own name. */
export function optimistic(): FillRule {
  const whole = <O extends Queued>(orders: readonly O[], sign: 1 | -1, place: number, fill: OnFill<O>): void => {
    for (const order of orders) {
      if (order.place * sign > place * sign) return;
      take(order, order.left, fill);
    }
  };
  return {
    name: 'optimistic',
    traded: (orders, sign, place, _lots, fill) => whole(orders, sign, place, fill),
    crossed: (orders, sign, place, _lots, fill) => whole(orders, sign, place, fill),
  };
}

/** An order fills whole or not at all, and each of ours sees every execution in full: the rule of the golden run, and no honest one. */
export function wholeOrders(queue: QueueModel): FillRule {
  return {
    name: 'whole orders',
    traded(orders, sign, place, lots, fill) {
      for (const order of orders) {
        if (order.place * sign > place * sign) return;
        if (order.place === place) {
          queue.traded(order, lots);
          if (!(Math.round(-order.front) > 0)) continue;
          order.front = 0;
        }
        take(order, order.left, fill);
      }
    },
    crossed(orders, sign, place, _lots, fill) {
      for (const order of orders) {
        if (order.place * sign > place * sign) return;
        take(order, order.left, fill);
      }
    },
  };
}

/** What crosses comes to our orders as far as it goes, best price and oldest first. */
export function crossing<O extends Queued>(
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
export function take<O extends Queued>(order: O, available: number, fill: OnFill<O>): number {
  const lots = Math.min(order.left, Math.floor(available));
  if (!(lots > 0)) return 0;
  order.left -= lots;
  fill(order, lots);
  return lots;
}
