/** Market of a recording from a maker's view: spread, trades, volatility, and the profit of each execution's maker. */
import { Markouts, opposite, subgridsFor, twoScaleVariance, type Millis } from '../../src/core/index.ts';
import { gapMs, gapsWithin, walk, type Tape } from '../../src/tape/index.ts';

/**
 * Seconds after an execution at which its maker's profit is measured. The first horizon uses the mid price just before
 * the execution.
 */
export const MAKER_HORIZONS_S: readonly number[] = [0, 0.5, 1, 5, 15, 60, 300];

/**
 * Measurements of a market, in bps of the mid price and in the quote currency; `null` if unknown. All values are
 * approximate and only for display.
 */
export type MarketSeen = {
  /** Length of the recording without its gaps, in seconds. */
  readonly seconds: number;
  readonly gaps: { readonly count: number; readonly seconds: number };
  /** Median of half the spread, sampled once per second, in bps. */
  readonly halfSpreadBps: number | null;
  /** Number of trades outside gaps. */
  readonly trades: number;
  readonly tradesPerHour: number;
  readonly valuePerHour: number;
  /** Median value of a taker order, in the quote currency. Executions of the same time and side count as one order. */
  readonly takerValue: number | null;
  /** Standard deviation of the mid price's change over an hour, in bps, by the two-scale method (formulas E6). */
  readonly volatilityBps: number | null;
  /** Mid price at the end, in the quote currency. */
  readonly mid: number | null;
  /** Value-weighted profit of the makers of all executions, in bps before fees, after each of `MAKER_HORIZONS_S`. */
  readonly maker: readonly {
    readonly seconds: number;
    readonly bps: number | null;
    readonly errorBps: number | null;
  }[];
};

/** Measures a market. `onShare` receives the share of the tape that is processed, from 0 to 1. */
export function marketSeen(tape: Tape, onShare?: (share: number) => void): MarketSeen {
  const { columns, gaps } = tape;
  const seen = new Sight(tape);
  walk(tape, seen, onShare);
  const start = columns.at[0] ?? 0;
  const end = columns.at[columns.length - 1] ?? 0;
  const missing = gapsWithin(gaps, start, end);
  const missingMs = gapMs(missing);
  return seen.end((end - start - missingMs) / 1_000, { count: missing.length, seconds: missingMs / 1_000 });
}

/** Accumulator of the measurements during one walk through a tape. */
class Sight {
  readonly #tape: Tape;
  readonly #tick: number;
  readonly #lot: number;
  readonly #markouts = new Markouts({ horizons: MAKER_HORIZONS_S });
  readonly #halfSpreads: number[] = [];
  /** Logarithm of the mid price at the end of each second; one list per time range without a gap. */
  readonly #logMids: number[][] = [[]];
  readonly #takers: number[] = [];
  #takerAt: Millis = Number.NaN;
  #takerSide = '';
  #trades = 0;
  #value = 0;
  #bid = 0;
  #ask = 0;
  /** Index of the first gap that may reach beyond the previous row. */
  #gap = 0;
  #before: Millis = -Infinity;
  #second: number;

  constructor(tape: Tape) {
    this.#tape = tape;
    this.#tick = Number(tape.instrument.tick);
    this.#lot = Number(tape.instrument.lot);
    this.#second = Math.floor((tape.columns.at[0] ?? 0) / 1_000) + 1;
  }

  time(at: Millis): void {
    this.#markouts.advanceTo(at, due => this.#midAt(due));
    const { gaps } = this.#tape;
    while (this.#gap < gaps.length && gaps[this.#gap]!.to < this.#before) this.#gap++;
    this.#before = at;
    for (; this.#second * 1_000 <= at; this.#second++) this.#sample(this.#second * 1_000);
  }

  touch(_at: Millis, { bid, ask }: { readonly bid: number; readonly ask: number }): void {
    this.#bid = bid;
    this.#ask = ask;
  }

  trade(at: Millis, price: number, amount: number, side: 'buy' | 'sell'): void {
    const mid = this.#midAt(at);
    // Trades inside gaps are not counted, because the length of the recording excludes gaps.
    if (!(mid > 0)) return;
    const value = price * amount * this.#tick * this.#lot;
    this.#trades++;
    this.#value += value;
    if (at === this.#takerAt && side === this.#takerSide) this.#takers[this.#takers.length - 1]! += value;
    else this.#takers.push(value);
    this.#takerAt = at;
    this.#takerSide = side;
    this.#markouts.fill(at, opposite(side), null, price, value, mid);
  }

  end(seconds: number, gaps: MarketSeen['gaps']): MarketSeen {
    const hours = seconds / 3_600;
    const all = this.#markouts.curves()[0];
    return {
      seconds,
      gaps,
      halfSpreadBps: median(this.#halfSpreads),
      trades: this.#trades,
      tradesPerHour: hours > 0 ? this.#trades / hours : 0,
      valuePerHour: hours > 0 ? this.#value / hours : 0,
      takerValue: median(this.#takers),
      volatilityBps: volatilityOf(this.#logMids),
      mid: this.#bid > 0 ? ((this.#bid + this.#ask) / 2) * this.#tick : null,
      maker: MAKER_HORIZONS_S.map((after, i) => ({
        seconds: after,
        bps: all?.bps[i] ?? null,
        errorBps: all?.errorBps[i] ?? null,
      })),
    };
  }

  #sample(at: Millis): void {
    const mid = this.#midAt(at);
    if (mid > 0) {
      this.#halfSpreads.push((5_000 * (this.#ask - this.#bid)) / mid);
      this.#logMids.at(-1)!.push(Math.log(mid));
    } else if (this.#logMids.at(-1)!.length > 0) this.#logMids.push([]);
  }

  /** Returns the mid price in ticks at a time not before the previous row; 0 before the first book and inside gaps. */
  #midAt(at: Millis): number {
    const { gaps } = this.#tape;
    for (let i = this.#gap; i < gaps.length && gaps[i]!.from < at; i++) if (at < gaps[i]!.to) return 0;
    return (this.#bid + this.#ask) / 2;
  }
}

/**
 * Returns the volatility over an hour, in bps; `null` for less than a minute of data outside gaps, or if all price
 * changes are noise.
 */
function volatilityOf(stretches: readonly (readonly number[])[]): number | null {
  let [variance, seconds] = [0, 0];
  for (const logs of stretches) {
    const found = twoScaleVariance(logs, subgridsFor(logs.length));
    if (Number.isNaN(found)) continue;
    variance += found;
    seconds += logs.length - 1;
  }
  return seconds >= 60 && variance > 0 ? 10_000 * Math.sqrt((variance / seconds) * 3_600) : null;
}

const median = (values: number[]): number | null => values.sort((a, b) => a - b)[values.length >> 1] ?? null;
