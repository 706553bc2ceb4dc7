/**
 * Virtual orders of a profile: one per side and distance. Each order is re-pegged to the mid price that the bot sees.
 * The simulated exchange fills each order as if there were no other virtual orders.
 */
import type { Millis } from '../../src/core/index.ts';
import {
  optimistic,
  sharedVolume,
  Sweep,
  SWEEP_MS,
  type FillModel,
  type FillRule,
  type QueueModel,
} from '../../src/fills/index.ts';
import type { Gap, Tape } from '../../src/tape/index.ts';
import { MESSAGE } from '../exchange/messageRing.ts';
import { fillModel } from '../exchange/fillModels.ts';
import { OrderPool, type OwnOrder } from '../exchange/ownOrders.ts';
import { SimulatedExchange } from '../exchange/simulatedExchange.ts';
import type { Watcher } from '../exchange/watcher.ts';
import { GapIterator } from '../rows/gapIterator.ts';
import type { Latency } from '../rows/latency.ts';
import { BUY, FLAG, SELL, type MarketRows, type SideIndex } from '../rows/rows.ts';
import { rowsOfTape } from '../rows/tapeRows.ts';
import { TickBook } from '../rows/tickBook.ts';

/**
 * Sums at one distance, with one entry per time block with orders, so that their ratios can be bootstrapped. Values are
 * in the quote currency.
 */
export type DistanceSums = {
  /** Start of each block, in epoch ms. */
  readonly at: readonly Millis[];
  /** Time with pegged orders, in seconds. */
  readonly seconds: readonly number[];
  readonly fills: readonly number[];
  readonly value: readonly number[];
  /** Sum of the fills' values times their edges in bps. */
  readonly edge: readonly number[];
  /** Value of the fills with a known markout, by horizon, then by block. */
  readonly known: readonly (readonly number[])[];
  /** Sum over fills with a known markout: value times markout in bps, by horizon, then by block. */
  readonly markout: readonly (readonly number[])[];
};

export type VirtualOrdersOptions = {
  readonly tape: Tape;
  readonly cadenceMs: Millis;
  readonly latency: Latency;
  readonly feedMs: Millis;
  /** Distances from the mid price that the bot sees, in bps, ascending. */
  readonly distances: readonly number[];
  readonly orderValue: number;
  /** Times from a fill to its valuation, in seconds, ascending. */
  readonly horizons: readonly number[];
  readonly blockMs: Millis;
};

/** Order at one distance on one side, as the bot knows it. */
type Peg = { readonly level: number; readonly side: SideIndex; order: OwnOrder | null };

type Fill = {
  readonly at: Millis;
  readonly block: number;
  readonly level: number;
  readonly sign: 1 | -1;
  readonly value: number;
  readonly twicePrice: number;
  readonly twiceMid: number;
  readonly gapAt: Millis;
};

const PROGRESS_EVERY = 1_000;

export class VirtualOrders {
  readonly #options: VirtualOrdersOptions;
  readonly #rows: MarketRows;
  readonly #exchange: SimulatedExchange;
  readonly #fills: Fills;
  readonly #pegs: readonly Peg[];
  readonly #pool = new OrderPool();
  readonly #gaps: GapIterator;
  /** Book that the bot has received. */
  readonly #seen: TickBook;
  /** Index of the next row that the bot receives. */
  #next = 0;
  #there = 0;
  #requests = 0;

  constructor(options: VirtualOrdersOptions) {
    const { tape, distances, latency, feedMs } = options;
    this.#options = options;
    this.#rows = rowsOfTape({ ...tape, quotesOnly: false }, { feed: () => feedMs });
    this.#fills = new Fills(options, this.#rows);
    const model = independentFills(tape.quotesOnly ? THROUGH : fillModel('expected', this.#rows), distances.length);
    this.#exchange = new SimulatedExchange(this.#rows, model, latency, this.#fills);
    this.#pegs = distances.flatMap((_, level) =>
      [BUY, SELL].map(side => ({ level, side: side as SideIndex, order: null })),
    );
    this.#gaps = new GapIterator(tape.gaps);
    this.#seen = new TickBook(this.#rows);
  }

  /** Mean latency of the requests plus the latency of market data, in ms. */
  get latencyMs(): Millis {
    return this.#options.feedMs + (this.#requests > 0 ? this.#there / this.#requests : 0);
  }

  /** Replays the tape and returns the sums of each distance, by time block with pegged orders. */
  run(onShare: (share: number) => void = () => undefined): readonly DistanceSums[] {
    const { cadenceMs } = this.#options;
    const { at, length } = this.#rows;
    const [from, to] = [at[0] ?? 0, at[length - 1] ?? 0];
    for (let turn = 0, now = from; now <= to; now = from + ++turn * cadenceMs) {
      this.#exchange.runTo(now);
      this.#hear(now);
      this.#see(now);
      this.#peg(now);
      if (turn % PROGRESS_EVERY === 0) onShare((now - from) / (to - from));
    }
    this.#exchange.runTo(to);
    return this.#fills.sums();
  }

  /** Processes arrived answers and releases the orders that ended. */
  #hear(now: Millis): void {
    const { answers } = this.#exchange;
    while (answers.headAt <= now) {
      const { order } = answers;
      answers.shift();
      if (order.messages > 0 || order.resting) continue;
      const peg = this.#pegs[2 * order.level + order.side]!;
      if (peg.order === order) peg.order = null;
      this.#pool.release(order);
    }
  }

  #see(now: Millis): void {
    const { local, place, lots, flags } = this.#rows;
    let row = this.#next;
    for (; local[row]! <= now; row++) {
      const flag = flags[row]!;
      if ((flag & (FLAG.trade | FLAG.again)) !== 0) continue;
      if ((flag & FLAG.sell) !== 0) this.#seen.setAsk(place[row]!, lots[row]!);
      else this.#seen.setBid(place[row]!, lots[row]!);
    }
    this.#next = row;
  }

  #peg(now: Millis): void {
    const { bid, ask, last } = this.#seen;
    const isKnown = bid > 0 && ask < last && !this.#gaps.isIn(now);
    if (isKnown) this.#fills.addOrderTime(now);
    for (const peg of this.#pegs) {
      const place = isKnown ? this.#placeOf(peg, bid, ask) : null;
      if (peg.order?.place === place) continue;
      if (peg.order !== null) this.#send(MESSAGE.cancel, peg.order, now);
      peg.order = place === null ? null : this.#pool.take(peg.side, place, this.#lotsAt(place));
      if (peg.order === null) continue;
      peg.order.level = peg.level;
      this.#send(MESSAGE.place, peg.order, now);
    }
  }

  #send(kind: typeof MESSAGE.place | typeof MESSAGE.cancel, order: OwnOrder, now: Millis): void {
    const { latency } = this.#options;
    const way = kind === MESSAGE.cancel ? latency.cancel(now) : latency.there(now);
    this.#there += way;
    this.#requests++;
    this.#exchange.requests.push(now + way, kind, order, order.left, now, 0);
  }

  /**
   * Returns the price index at a peg's distance from the mid price, rounded away from the mid price to the tick. The
   * order never crosses the book. Returns `null` if the price is outside the window of prices.
   */
  #placeOf({ level, side }: Peg, bid: number, ask: number): number | null {
    const { base, places } = this.#rows;
    const mid = base + (bid + ask) / 2;
    const away = (this.#options.distances[level]! * mid) / 1e4;
    const place =
      side === BUY ? Math.min(Math.floor(mid - away) - base, ask - 1) : Math.max(Math.ceil(mid + away) - base, bid + 1);
    return place > 0 && place < places - 1 ? place : null;
  }

  #lotsAt(place: number): number {
    const { orderValue } = this.#options;
    return Math.max(1, Math.floor(orderValue / ((place + this.#rows.base) * this.#fills.unit)));
  }
}

/**
 * Queue model for books without amounts. Every order is last in its queue, so that only executions through its price
 * fill it.
 */
const LAST: QueueModel = {
  name: 'behind everybody',
  joined: order => void (order.front = Infinity),
  joinedUnseen: order => void (order.front = Infinity),
  traded: () => undefined,
  changed: () => undefined,
};
const THROUGH: FillModel = {
  name: 'through',
  queue: LAST,
  rule: {
    name: 'through',
    traded: (...execution) => sharedVolume(LAST).traded(...execution),
    crossed: (...level) => optimistic().crossed(...level),
  },
};

/**
 * Returns a model in which orders are independent: each order receives every execution in full. `level` identifies an
 * order's distance.
 */
function independentFills({ name, queue, rule }: FillModel, distances: number): FillModel {
  const sweeps = Array.from({ length: 2 * distances }, () => new Sweep(SWEEP_MS));
  const single: FillRule = {
    name: rule.name,
    traded(orders, sign, place, lots, fill, row, sweep) {
      for (const order of [...orders]) {
        if (order.place * sign > place * sign) break;
        const mine = sweeps[2 * (order as unknown as OwnOrder).level + (sign > 0 ? 1 : 0)]!;
        mine.begin(sweep.lastAt, sign, place);
        rule.traded([order], sign, place, lots, fill, row, mine);
      }
    },
    crossed(orders, sign, place, lots, fill) {
      for (const order of [...orders]) {
        if (order.place * sign > place * sign) break;
        rule.crossed([order], sign, place, lots, fill);
      }
    },
  };
  return { name, queue, rule: single };
}

type Sums = {
  seconds: Float64Array;
  fills: Float64Array;
  value: Float64Array;
  edge: Float64Array;
  known: Float64Array[];
  markout: Float64Array[];
};

/** Observer that sums the fills and their markouts by distance and time block. */
class Fills implements Watcher {
  /** Value of one lot at a price of one tick, in the quote currency. */
  readonly unit: number;
  readonly #options: VirtualOrdersOptions;
  readonly #rows: MarketRows;
  readonly #from: Millis;
  readonly #to: Millis;
  readonly #seconds: Float64Array;
  readonly #sums: readonly Sums[];
  readonly #fills: Fill[] = [];
  /** Index of the first fill whose markout is not due yet, by horizon. */
  readonly #waiting: number[];
  /** Time of the latest fill, by distance and side. */
  readonly #metAt: Float64Array;
  /** Id of the order in the latest fill, by distance and side. */
  readonly #metId: Float64Array;
  readonly #gaps: readonly Gap[];
  #gap = 0;
  #lastMid = 0;
  #dueAt = Infinity;

  constructor(options: VirtualOrdersOptions, rows: MarketRows) {
    const { tape, horizons, distances, blockMs } = options;
    this.#options = options;
    this.#rows = rows;
    this.unit = Number(tape.instrument.tick) * Number(tape.instrument.lot);
    this.#from = rows.at[0] ?? 0;
    this.#to = rows.at[rows.length - 1] ?? 0;
    this.#gaps = tape.gaps;
    const blocks = Math.floor((this.#to - this.#from) / blockMs) + 1;
    const numbers = () => new Float64Array(blocks);
    this.#seconds = numbers();
    this.#sums = distances.map(() => ({
      ...{ seconds: this.#seconds, fills: numbers(), value: numbers(), edge: numbers() },
      ...{ known: horizons.map(numbers), markout: horizons.map(numbers) },
    }));
    this.#waiting = horizons.map(() => 0);
    this.#metAt = new Float64Array(2 * distances.length).fill(-Infinity);
    this.#metId = new Float64Array(2 * distances.length);
  }

  get dueAt(): number {
    return this.#dueAt;
  }

  /** Adds one cadence interval to the time with pegged orders. */
  addOrderTime(now: Millis): void {
    this.#seconds[this.#blockOf(now)]! += this.#options.cadenceMs / 1_000;
  }

  rested(): void {}

  canceled(): void {}

  filled(order: OwnOrder, lots: number, at: number, mid: number, place: number): void {
    const { base } = this.#rows;
    const twiceMid = mid > 0 ? mid + 2 * base : this.#lastMid;
    const gapAt = this.#nextGap(at);
    if (!(twiceMid > 0) || gapAt <= at) return;
    const block = this.#blockOf(at);
    const sums = this.#sums[order.level]!;
    const sign = order.side === BUY ? 1 : -1;
    const value = lots * (place + base) * this.unit;
    const twicePrice = 2 * (place + base);
    sums.value[block]! += value;
    sums.edge[block]! += (value * 1e4 * sign * (twiceMid - twicePrice)) / twiceMid;
    const slot = 2 * order.level + order.side;
    if (this.#metId[slot] !== order.id || at - this.#metAt[slot]! > SWEEP_MS) sums.fills[block]!++;
    this.#metId[slot] = order.id;
    this.#metAt[slot] = at;
    this.#fills.push({ at, block, level: order.level, sign, value, twicePrice, twiceMid, gapAt });
    this.#plan();
  }

  look(at: number, book: TickBook): void {
    const twiceMid = book.bid > 0 && book.ask < book.last ? book.bid + book.ask + 2 * this.#rows.base : 0;
    const { horizons } = this.#options;
    if (twiceMid > 0) this.#lastMid = twiceMid;
    horizons.forEach((seconds, h) => {
      for (; this.#waiting[h]! < this.#fills.length; this.#waiting[h]!++) {
        const fill = this.#fills[this.#waiting[h]!]!;
        if (fill.at + 1_000 * seconds > at) break;
        if (fill.gapAt <= at || twiceMid === 0) continue;
        const sums = this.#sums[fill.level]!;
        sums.known[h]![fill.block]! += fill.value;
        sums.markout[h]![fill.block]! += (fill.value * 1e4 * fill.sign * (twiceMid - fill.twicePrice)) / fill.twiceMid;
      }
    });
    this.#plan();
  }

  sums(): readonly DistanceSums[] {
    const stood = (of: Float64Array): readonly number[] => Array.from(of).filter((_, b) => this.#seconds[b]! > 0);
    const at = stood(this.#seconds.map((_, b) => this.#from + b * this.#options.blockMs));
    return this.#sums.map(({ seconds, fills, value, edge, known, markout }) => ({
      ...{ at, seconds: stood(seconds), fills: stood(fills), value: stood(value), edge: stood(edge) },
      ...{ known: known.map(stood), markout: markout.map(stood) },
    }));
  }

  #plan(): void {
    let due = Infinity;
    this.#options.horizons.forEach((seconds, h) => {
      const fill = this.#fills[this.#waiting[h]!];
      if (fill !== undefined) due = Math.min(due, fill.at + 1_000 * seconds);
    });
    this.#dueAt = due;
  }

  #blockOf(at: Millis): number {
    return Math.floor((at - this.#from) / this.#options.blockMs);
  }

  /** Returns the start of the gap at `at`, or of the next gap. */
  #nextGap(at: Millis): Millis {
    while (this.#gap < this.#gaps.length && this.#gaps[this.#gap]!.to <= at) this.#gap++;
    return this.#gaps[this.#gap]?.from ?? Infinity;
  }
}
