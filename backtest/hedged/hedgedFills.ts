/**
 * Fills of virtual orders around the price of another exchange, each hedged at that price. The orders of each distance
 * are independent of the other distances; fills do not change the recorded markets.
 */
import {
  approximately,
  money,
  moneyOfAmount,
  moneyOfValue,
  valueOf,
  type Amount,
  type Millis,
  type Money,
  type Price,
} from '../../src/core/index.ts';
import { KIND, type LogSeconds, type Tape } from '../../src/tape/index.ts';
import type { DistanceSums } from '../profile/virtualOrders.ts';
import { BUY, SELL, type SideIndex } from '../rows/rows.ts';
import { PRICE_AGE_MAX_MS, RecordedPrice } from '../rows/recordedPrice.ts';

export type HedgedFillsOptions = {
  /** Recording of the book that is quoted, and of the book where fills are hedged. */
  readonly quoted: Tape;
  readonly hedge: Tape;
  /** Logarithm of the quoted price divided by the hedge price, at the end of each second. */
  readonly difference: LogSeconds;
  /** Running basis of `difference`, as known at the end of each second; NaN if unknown. */
  readonly basis: LogSeconds;
  /** Distances of the orders from the hedge price times e^basis, in bps, ascending. */
  readonly distances: readonly number[];
  /** Amount of each order, in lots of the quoted book. */
  readonly lots: Amount;
  /** Latency of the quoted exchange and of the hedge exchange, each way. */
  readonly latencyMs: Millis;
  readonly hedgeLatencyMs: Millis;
  /**
   * Resolution of the recorded times, added to the delay of the known hedge price and to the delay of a hedge; 0 for
   * milliseconds.
   */
  readonly resolutionMs: Millis;
  /** Times from a fill to the valuation of the basis, in seconds; 0 for the running basis at the fill. */
  readonly horizonsS: readonly number[];
  /** Start of the part of the recordings that the fit of the basis does not use. */
  readonly split: Millis;
  readonly blockMs: Millis;
};

export type HedgedFills = {
  /** Sums by distance before `split`, and from `split` on. */
  readonly fitted: readonly DistanceSums[];
  readonly heldOut: readonly DistanceSums[];
  /** Largest net position from fills on the quoted exchange from `split` on, by distance, in orders. */
  readonly positionMax: readonly number[];
  /** Number of fills without a hedge price within ten minutes, and of hedges that exceed the recorded levels. */
  readonly unhedged: number;
  readonly beyondDepth: number;
};

/** Fill that waits for its hedge. Sums of money are exact. */
type OpenHedge = {
  readonly due: Millis;
  readonly at: Millis;
  readonly level: number;
  readonly side: SideIndex;
  readonly base: Money;
  readonly paid: Money;
  readonly basis: number;
};

type Sums = {
  readonly fills: Float64Array;
  readonly value: Float64Array;
  readonly edge: Float64Array;
  readonly known: readonly Float64Array[];
  readonly markout: readonly Float64Array[];
};

/**
 * Values the fills. An order rests at its distance from the hedge price times e^basis. Both are known with a delay: the
 * sum of the latencies of the two exchanges. The order is post-only: never at or beyond the other side of the quoted
 * book, nor beyond the last trade of a recording without a book. It fills when a trade passes its price, or when the
 * other side of the book reaches its price. A trade at the price itself does not count, because the place in the queue
 * is unknown.
 *
 * The hedge executes against the recorded hedge price after both latencies. A fill is worth, before fees, s (ln hedge
 * price + basis - ln fill price), in bps; s is 1 for a purchase and -1 for a sale. The basis is the running basis at
 * the fill. At a later horizon, it is the price difference at that time, when an opposite fill could close both
 * positions.
 */
export function hedgedFills(options: HedgedFillsOptions): HedgedFills {
  return new HedgedFillsRun(options).run();
}

class HedgedFillsRun {
  readonly #options: HedgedFillsOptions;
  readonly #quoted: RecordedPrice;
  /**
   * Hedge price from which the prices of the resting orders are derived; delayed by the latencies of both exchanges.
   */
  readonly #seen: RecordedPrice;
  /** Hedge price at the times of the hedges. */
  readonly #hedge: RecordedPrice;
  readonly #sums: readonly Sums[];
  readonly #seconds: Float64Array;
  /** Whether the trades of the quoted recording have amounts; otherwise each trade counts as larger than any order. */
  readonly #hasAmounts: boolean;
  /** Index of the first block from `split` on. */
  readonly #splitBlock: number;
  /** Time from which a new order rests, by distance and side. */
  readonly #restsFrom: Float64Array;
  /** Net lots of the fills from `split` on, by distance; `#positionMax` is their largest size so far. */
  readonly #position: Float64Array;
  readonly #positionMax: Float64Array;
  readonly #open: OpenHedge[] = [];
  #nextHedge = 0;
  #unhedged = 0;
  #beyondDepth = 0;

  constructor(options: HedgedFillsOptions) {
    const { quoted, hedge, difference, basis, distances, horizonsS, split, blockMs } = options;
    this.#options = options;
    this.#quoted = new RecordedPrice(quoted);
    this.#seen = new RecordedPrice(hedge);
    this.#hedge = new RecordedPrice(hedge);
    this.#hasAmounts = haveAmounts(quoted);
    const { from, values } = difference;
    this.#splitBlock = Math.max(0, Math.ceil((split - 1_000 * from) / blockMs));
    const blocks = this.#blockOf(1_000 * (from + values.length)) + 1;
    const numbers = (): Float64Array => new Float64Array(blocks);
    this.#seconds = numbers();
    values.forEach((value, i) => {
      if (Number.isFinite(value + basis.values[i]!)) this.#seconds[this.#blockOf(1_000 * (from + i))]!++;
    });
    this.#sums = distances.map(() => ({
      ...{ fills: numbers(), value: numbers(), edge: numbers() },
      ...{ known: horizonsS.map(numbers), markout: horizonsS.map(numbers) },
    }));
    this.#position = new Float64Array(distances.length);
    this.#positionMax = new Float64Array(distances.length);
    this.#restsFrom = new Float64Array(2 * distances.length).fill(-Infinity);
  }

  run(): HedgedFills {
    const { columns } = this.#options.quoted;
    for (let row = 0, end = 0; row < columns.length; row = end) {
      const at = columns.at[row]!;
      while (end < columns.length && columns.at[end] === at) end++;
      this.#step(at, row, end);
    }
    this.#settle(Infinity);
    return {
      fitted: this.#part(b => b < this.#splitBlock),
      heldOut: this.#part(b => b >= this.#splitBlock),
      positionMax: Array.from(this.#positionMax, lots => lots / this.#options.lots),
      unhedged: this.#unhedged,
      beyondDepth: this.#beyondDepth,
    };
  }

  /** Processes the rows from `row` up to `end`, which have the time `at`. */
  #step(at: Millis, row: number, end: number): void {
    this.#settle(at);
    const { latencyMs, hedgeLatencyMs, resolutionMs } = this.#options;
    const seenAt = at - latencyMs - hedgeLatencyMs - resolutionMs;
    this.#seen.moveTo(seenAt);
    const basis = lastBefore(this.#options.basis, seenAt);
    const anchor = this.#seen.mid * Math.exp(basis);
    const before = this.#quoted.isKnown ? { bid: this.#quoted.bid, ask: this.#quoted.ask } : null;
    this.#quoted.moveTo(at);
    if (before === null || !(anchor > 0) || !this.#quoted.isKnown) return;
    const trades = this.#tradesIn(row, end);
    this.#options.distances.forEach((_, level) => {
      for (const side of [BUY, SELL] as const) {
        if (!(this.#restsFrom[2 * level + side]! <= at)) continue;
        const price = this.#priceOf(level, side, anchor, before);
        const lots = this.#filledLots(side, price, trades);
        if (lots > 0) this.#fill(at, level, side, price, lots, basis);
      }
    });
  }

  /** Returns the rows from `row` up to `end`, with the lowest and highest price of their trades. */
  #tradesIn(row: number, end: number): Trades {
    const { columns } = this.#options.quoted;
    let [low, high] = [Infinity, -Infinity];
    for (let i = row; i < end; i++) {
      if (columns.kind[i] !== KIND.trade) continue;
      low = Math.min(low, columns.price[i]!);
      high = Math.max(high, columns.price[i]!);
    }
    return { row, end, low, high };
  }

  /** Returns the price of an order in ticks, rounded away from the hedge price; the order never crosses the book. */
  #priceOf(level: number, side: SideIndex, anchor: number, { bid, ask }: { bid: number; ask: number }): number {
    const ticks = anchor / Number(this.#options.quoted.instrument.tick);
    const away = this.#options.distances[level]! / 1e4;
    const room = this.#quoted.kind === 'last trades' ? 0 : 1;
    return side === BUY
      ? Math.min(Math.floor(ticks * (1 - away)), ask - room)
      : Math.max(Math.ceil(ticks * (1 + away)), bid + room);
  }

  /** Returns the lots that an order gets from the trades and from the book after them; 0 for none. */
  #filledLots(side: SideIndex, price: number, { row, end, low, high }: Trades): number {
    const { columns } = this.#options.quoted;
    const wanted = this.#options.lots;
    let lots = 0;
    if (side === BUY ? low < price : high > price) {
      if (!this.#hasAmounts) return wanted;
      for (let i = row; i < end; i++)
        if (columns.kind[i] === KIND.trade && (side === BUY ? columns.price[i]! < price : columns.price[i]! > price))
          lots += columns.amount[i]!;
    }
    if (this.#quoted.kind !== 'last trades') {
      const { bid, ask } = this.#quoted;
      if (side === BUY ? ask <= price : bid >= price)
        lots = Math.max(lots, this.#quoted.bestLots(side === BUY ? 'buy' : 'sell'));
    }
    return Math.min(wanted, lots);
  }

  #fill(at: Millis, level: number, side: SideIndex, price: number, lots: number, basis: number): void {
    const { quoted, latencyMs, hedgeLatencyMs, resolutionMs, distances, split } = this.#options;
    const { instrument } = quoted;
    const base = money(moneyOfAmount(instrument, lots as Amount));
    const paid = moneyOfValue(instrument, valueOf(price as Price, lots as Amount));
    const due = at + latencyMs + hedgeLatencyMs + resolutionMs;
    // The bot learns of the fill after one latency, and its next order arrives after another.
    this.#restsFrom[2 * level + side] = at + 2 * latencyMs;
    if (at >= split) {
      this.#position[level]! += side === BUY ? lots : -lots;
      this.#positionMax[level] = Math.max(this.#positionMax[level]!, Math.abs(this.#position[level]!));
    }
    const sums = this.#sums[level]!;
    const block = this.#blockOf(at);
    sums.fills[block]!++;
    sums.value[block]! += approximately(paid);
    sums.edge[block]! += approximately(paid) * distances[level]!;
    this.#open.push({ due, at, level, side, base, paid, basis });
  }

  /** Executes the hedges that are due at `now`. A hedge waits up to ten minutes for a known price. */
  #settle(now: Millis): void {
    for (; this.#nextHedge < this.#open.length && this.#open[this.#nextHedge]!.due <= now; this.#nextHedge++) {
      const fill = this.#open[this.#nextHedge]!;
      this.#hedge.moveTo(fill.due);
      while (!this.#hedge.isKnown && this.#hedge.nextAt <= fill.due + PRICE_AGE_MAX_MS)
        this.#hedge.moveTo(this.#hedge.nextAt);
      if (this.#hedge.isKnown) this.#hedged(fill);
      else this.#unhedged++;
    }
    if (this.#nextHedge > 1_000) {
      this.#open.splice(0, this.#nextHedge);
      this.#nextHedge = 0;
    }
  }

  #hedged({ at, level, side, base, paid, basis }: OpenHedge): void {
    const { difference, horizonsS } = this.#options;
    const { value, isWithinDepth } = this.#hedge.executed(side === BUY ? 'sell' : 'buy', base);
    if (!isWithinDepth) this.#beyondDepth++;
    const sign = side === BUY ? 1 : -1;
    const ratio = Math.log(approximately(value) / approximately(paid));
    const sums = this.#sums[level]!;
    const block = this.#blockOf(at);
    horizonsS.forEach((seconds, h) => {
      const later = seconds === 0 ? basis : lastBefore(difference, at + 1_000 * seconds);
      const worth = 1e4 * sign * (ratio + later);
      if (!Number.isFinite(worth)) return;
      sums.known[h]![block]! += approximately(paid);
      sums.markout[h]![block]! += approximately(paid) * worth;
    });
  }

  /** Returns the sums of the blocks that `has` selects, without blocks in which no price is known. */
  #part(has: (block: number) => boolean): readonly DistanceSums[] {
    const selected = (of: Float64Array): readonly number[] =>
      Array.from(of).filter((_, b) => has(b) && this.#seconds[b]! > 0);
    const { split, blockMs } = this.#options;
    const at = selected(this.#seconds.map((_, b) => split + (b - this.#splitBlock) * blockMs));
    return this.#sums.map(({ fills, value, edge, known, markout }) => ({
      at,
      ...{ seconds: selected(this.#seconds), fills: selected(fills), value: selected(value), edge: selected(edge) },
      ...{ known: known.map(selected), markout: markout.map(selected) },
    }));
  }

  /** Returns the index of the block that contains `at`. A block starts exactly at `split`. */
  #blockOf(at: Millis): number {
    const { split, blockMs } = this.#options;
    return Math.max(0, this.#splitBlock + Math.floor((at - split) / blockMs));
  }
}

/** Whether a recording has trades with amounts. A trade without an amount has a placeholder of one lot. */
export const haveAmounts = ({ columns }: Tape): boolean =>
  columns.kind.some((kind, row) => kind === KIND.trade && columns.amount[row]! > 1);

type Trades = { readonly row: number; readonly end: number; readonly low: number; readonly high: number };

/** Returns the value of the last full second before `at`; NaN outside the recorded time. */
export const lastBefore = ({ from, values }: LogSeconds, at: Millis): number =>
  values[Math.floor(at / 1_000) - 1 - from] ?? Number.NaN;
