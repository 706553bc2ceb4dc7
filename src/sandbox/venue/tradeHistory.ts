/**
 * Trade history of one book: the last trades, and one-minute candles for ticker and ohlc. Trades and candles are
 * bounded in number.
 */
import { MINUTE_MS, type Amount, type Millis, type Price, type Side } from '../../core/index.ts';

/** Maximum number of stored public trades per book. */
export const TRADES_MAX = 10_000;
/** Maximum number of stored one-minute candles per book: a week of uninterrupted trading. */
export const CANDLES_MAX = 10_080;

export type TradeRow = {
  readonly tid: number;
  /** Number of the trade in its book, from 1, without gaps. */
  readonly ordinal: number;
  /** Number of the run of trades of one taker at one price, from 1, without gaps. */
  readonly run: number;
  readonly at: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly makerSide: Side;
};

export type MinuteCandle = {
  readonly start: Millis;
  readonly firstAt: Millis;
  lastAt: Millis;
  readonly first: Price;
  last: Price;
  low: Price;
  high: Price;
  count: number;
  lots: number;
  /** Sum of amount times price, in lots times ticks; used only for the average price. */
  tickLots: number;
};

export class TradeHistory {
  #trades: TradeRow[] = [];
  #candles: MinuteCandle[] = [];
  last: Price | 0 = 0;

  add(trade: TradeRow): void {
    this.last = trade.price;
    this.#trades.push(trade);
    if (this.#trades.length >= 2 * TRADES_MAX) this.#trades = this.#trades.slice(-TRADES_MAX);
    const start = trade.at - (trade.at % MINUTE_MS);
    let candle = this.#candles[this.#candles.length - 1];
    if (!candle || candle.start < start) {
      candle = candleOf(start, trade);
      this.#candles.push(candle);
      if (this.#candles.length >= 2 * CANDLES_MAX) this.#candles = this.#candles.slice(-CANDLES_MAX);
    }
    candle.lastAt = trade.at;
    candle.last = trade.price;
    if (trade.price < candle.low) candle.low = trade.price;
    if (trade.price > candle.high) candle.high = trade.price;
    candle.count++;
    candle.lots += trade.amount;
    candle.tickLots += trade.amount * trade.price;
  }

  /** Returns up to `limit` trades after the marker, in the sort order. */
  page(limit: number, sort: 'asc' | 'desc', marker?: number): TradeRow[] {
    const trades = this.#trades;
    const oldest = Math.max(0, trades.length - TRADES_MAX);
    if (sort === 'asc') {
      const from = marker === undefined ? oldest : Math.max(oldest, firstAbove(trades, marker));
      return trades.slice(from, from + limit);
    }
    const end = marker === undefined ? trades.length : firstAbove(trades, marker - 1);
    return trades.slice(Math.max(oldest, end - limit), Math.max(oldest, end)).reverse();
  }

  /** Returns the candles that start at or after a time, oldest first. */
  candlesSince(from: Millis): readonly MinuteCandle[] {
    let i = this.#candles.length;
    const oldest = Math.max(0, i - CANDLES_MAX);
    while (i > oldest && this.#candles[i - 1]!.start >= from) i--;
    return this.#candles.slice(i);
  }
}

/** Joins candles into buckets of `bucketMs`, oldest first. */
export function joined(candles: readonly MinuteCandle[], bucketMs: number): MinuteCandle[] {
  const out: MinuteCandle[] = [];
  for (const candle of candles) {
    const start = candle.start - (candle.start % bucketMs);
    const open = out[out.length - 1];
    if (open?.start !== start) {
      out.push({ ...candle, start });
      continue;
    }
    open.lastAt = candle.lastAt;
    open.last = candle.last;
    if (candle.low < open.low) open.low = candle.low;
    if (candle.high > open.high) open.high = candle.high;
    open.count += candle.count;
    open.lots += candle.lots;
    open.tickLots += candle.tickLots;
  }
  return out;
}

const candleOf = (start: Millis, trade: TradeRow): MinuteCandle => ({
  start,
  firstAt: trade.at,
  lastAt: trade.at,
  first: trade.price,
  last: trade.price,
  low: trade.price,
  high: trade.price,
  count: 0,
  lots: 0,
  tickLots: 0,
});

function firstAbove(trades: readonly TradeRow[], tid: number): number {
  let low = 0;
  let high = trades.length;
  while (low < high) {
    const pivot = (low + high) >>> 1;
    if (trades[pivot]!.tid <= tid) low = pivot + 1;
    else high = pivot;
  }
  return low;
}
