/**
 * Lives for a fitted fill model from a log of single orders: the recorded orders with the fate that the log shows, and
 * virtual orders with the fate of their exact place in the queue. Each order is alone.
 */
import { exact, exactFills } from '../../backtest/exchange/exactQueue.ts';
import { OwnOrder } from '../../backtest/exchange/ownOrders.ts';
import { HypotheticalFills, type OwnLife } from '../../backtest/fitted/ownLives.ts';
import { BUY, FLAG, SELL, type SideIndex } from '../../backtest/rows/rows.ts';
import { TickBook } from '../../backtest/rows/tickBook.ts';
import { BOUNDS, QUEUE_HYPOTHESES, Sweep, SWEEP_MS } from '../../src/fills/index.ts';
import { GRACE_MS, type RecordedOrder } from '../scripts/queueTruth.ts';
import type { OwnReading } from './logs.ts';

const ENTRIES = QUEUE_HYPOTHESES.length + BOUNDS.length;

/** `isReached`: at least one execution reached the price of the order while it rested. */
export type LogLife = OwnLife & { readonly isReached: boolean };

type Rows = OwnReading['rows'];

/** Order whose life is followed. `left`: what the levels of the log include of it after a row. */
type Followed = {
  readonly side: SideIndex;
  readonly place: number;
  readonly lots: number;
  /** First row after its arrival. */
  readonly from: number;
  readonly at: number;
  readonly until: number;
  readonly left: (at: number) => number;
};

/** Changes of levels and executions of a log, by price. */
class LogMarket {
  readonly #rows: Rows;
  readonly #everyMs: number;
  readonly #levels = new Map<number, number[]>();
  readonly #trades: number[] = [];

  /** `everyMs`: time between two snapshots of the levels that the models see; 0 if they see every change. */
  constructor(rows: Rows, everyMs: number) {
    this.#rows = rows;
    this.#everyMs = everyMs;
    const { flags, place, length } = rows;
    for (let row = 0; row < length; row++) {
      if ((flags[row]! & FLAG.trade) !== 0) {
        this.#trades.push(row);
        continue;
      }
      const key = place[row]! * 2 + ((flags[row]! & FLAG.sell) !== 0 ? SELL : BUY);
      const list = this.#levels.get(key);
      if (list) list.push(row);
      else this.#levels.set(key, [row]);
    }
  }

  /** Returns the rows of executions that reach an order, and of changes of its level, in the order of the log. */
  eventsOf({ side, place, from, until }: Followed): {
    readonly met: readonly number[];
    readonly changes: readonly number[];
  } {
    const { at, flags, place: places } = this.#rows;
    const sign = side === BUY ? -1 : 1;
    const isLater = (row: number): boolean => row >= from && at[row]! <= until;
    const met = this.#trades.filter(
      row =>
        isLater(row) && ((flags[row]! & FLAG.sell) !== 0) === (side === BUY) && places[row]! * sign >= place * sign,
    );
    return { met, changes: (this.#levels.get(place * 2 + side) ?? []).filter(isLater) };
  }

  /** Returns the times of the first execution under each hypothesis. */
  reached(order: Followed, met: readonly number[], changes: readonly number[]): Float64Array {
    if (met.length === 0) return new Float64Array(ENTRIES).fill(Infinity);
    const { at, lots, flags, place } = this.#rows;
    const [everyMs, begin] = [this.#everyMs, at[0]!];
    const fills = new HypotheticalFills();
    const snapshot = (time: number): number => begin + Math.floor((time - begin) / everyMs) * everyMs;
    const shownAt = everyMs === 0 ? order.at : snapshot(order.at);
    const earlier = this.#levels.get(order.place * 2 + order.side) ?? [];
    const known = earlier.filter(row => (everyMs === 0 ? row < order.from : at[row]! <= shownAt)).at(-1);
    const shown = known === undefined ? 0 : Math.max(0, lots[known]! - (everyMs === 0 ? order.left(order.at) : 0));
    const tracked = fills.join(order.side === BUY ? 'buy' : 'sell', order.place, order.lots, order.at, shown);
    // A snapshot shows only the last change before it, and after the executions until then.
    const seen = changes.flatMap((row, i): readonly (readonly [at: number, row: number])[] => {
      if (everyMs === 0) return [[at[row]!, row]];
      const next = snapshot(at[row]!) + everyMs;
      return i === changes.length - 1 || at[changes[i + 1]!]! >= next ? [[next, row]] : [];
    });
    const events = [...met.map(row => [at[row]!, row] as const), ...seen].filter(([time]) => time <= order.until);
    for (const [time, row] of events.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      if ((flags[row]! & FLAG.trade) === 0) fills.level(tracked, Math.max(0, lots[row]! - order.left(time)));
      else fills.trade(order.side === BUY ? 'sell' : 'buy', place[row]!, lots[row]!, at[row]!);
    }
    return tracked.reached;
  }
}

/** Returns the lives of the recorded orders that came after the first whole book, by arrival. */
export function recordedLives({ rows, orders }: OwnReading, everyMs: number): readonly LogLife[] {
  const { at, length } = rows;
  const market = new LogMarket(rows, everyMs);
  return orders
    .filter(({ steps }) => steps[0]!.at > at[0]!)
    .sort((a, b) => a.from - b.from)
    .map(recorded => {
      const { side, place, lots, from, steps, filled } = recorded;
      const last = steps.at(-1)!;
      const leaves = last.left > 0 ? at[length - 1]! : last.at;
      const left = (time: number): number => steps.findLast(step => step.at <= time)?.left ?? 0;
      const until = filled > 0 ? leaves + GRACE_MS : leaves;
      const order = { side, place, lots, from, at: steps[0]!.at, until, left };
      const { met, changes } = market.eventsOf(order);
      const filledAfter = (firstExecution(recorded, rows) ?? Infinity) - order.at;
      return {
        ...{ arrivedAt: order.at, filledAfter, endedAfter: Math.min(filledAfter, leaves - order.at) },
        ...{ reached: market.reached(order, met, changes), isReached: met.length > 0 },
      };
    });
}

/**
 * Returns the lives of virtual orders of one lot, by arrival: on both sides every `spacingMs`, at the best price, behind
 * all that is there, for at most `lifeMs`.
 */
export function virtualLives(
  { rows }: OwnReading,
  everyMs: number,
  { spacingMs, lifeMs }: { readonly spacingMs: number; readonly lifeMs: number },
): readonly LogLife[] {
  const { at, flags, place, lots, length } = rows;
  const market = new LogMarket(rows, everyMs);
  const book = new TickBook(rows);
  const found: LogLife[] = [];
  const end = at[length - 1]! - lifeMs - GRACE_MS;
  let row = 0;
  for (let time = at[0]! + 60_000; time < end; time += spacingMs) {
    for (; at[row]! <= time; row++) {
      if ((flags[row]! & FLAG.trade) !== 0) continue;
      if ((flags[row]! & FLAG.sell) !== 0) book.setAsk(place[row]!, lots[row]!);
      else book.setBid(place[row]!, lots[row]!);
    }
    for (const side of [BUY, SELL] as const) {
      const best = side === BUY ? book.bid : book.ask;
      if (best === 0 || best === book.last) continue;
      const order = { side, place: best, lots: 1, from: row, at: time, until: time + lifeMs + GRACE_MS, left: () => 0 };
      const { met, changes } = market.eventsOf(order);
      const displayed = (side === BUY ? book.bids : book.asks)[best]!;
      const after = exactExecution(rows, order, displayed, met, changes) - time;
      const filledAfter = after <= lifeMs ? after : Infinity;
      // A canceled order has left, so no model can fill it later.
      const reached = market.reached(order, met, changes);
      if (filledAfter === Infinity) for (const [j, one] of reached.entries()) if (one > lifeMs) reached[j] = Infinity;
      found.push({
        ...{ arrivedAt: time, filledAfter, endedAfter: Math.min(filledAfter, lifeMs) },
        ...{ reached, isReached: met.some(one => at[one]! <= time + lifeMs) },
      });
    }
  }
  return found;
}

/** Returns the time of the first execution of an order at its exact place in the queue; Infinity if there is none. */
function exactExecution(
  rows: Rows,
  { side, place, lots, from, at: arrived }: Followed,
  displayed: number,
  met: readonly number[],
  changes: readonly number[],
): number {
  const { at, flags, place: places, lots: amounts, orders } = rows;
  const [queue, rule, sweep] = [exact(rows), exactFills(rows), new Sweep(SWEEP_MS)];
  const sign = side === BUY ? -1 : 1;
  const order = Object.assign(new OwnOrder(), { side, place, lots, left: lots, joined: from, restedAt: arrived });
  queue.joined(order, displayed);
  let filledAt = Infinity;
  for (const row of [...met, ...changes].sort((a, b) => a - b)) {
    if ((flags[row]! & FLAG.trade) === 0) {
      queue.changed(order, amounts[row]! + orders!.gone[row]!, amounts[row]!, row);
      continue;
    }
    sweep.begin(at[row]!, sign, places[row]!);
    rule.traded(
      [order],
      sign,
      places[row]!,
      amounts[row]!,
      () => (filledAt = Math.min(filledAt, at[row]!)),
      row,
      sweep,
    );
    if (filledAt < Infinity) return filledAt;
  }
  return filledAt;
}

/** Returns the time of the first execution of a recorded order; `null` if there is none. */
function firstExecution({ from, filled }: RecordedOrder, { orders, at, length }: Rows): number | null {
  if (orders === null || !(filled > 0)) return null;
  for (let row = from; row < length; row++)
    if (orders.born[row] === from - 1 && orders.executed[row] === 1) return at[row]!;
  return null;
}
