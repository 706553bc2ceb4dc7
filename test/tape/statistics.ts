/**
 * Statistics of a tape: spread, depth, trades, bursts, volatility and moves after trades. For display only, never for
 * money.
 */
import { RecordedBook, type RecordedSide } from '../../src/tape/model/recordedBook.ts';
import { KIND, SIDE, type Tape } from '../../src/tape/model/tape.ts';

/** Prices are in bps of the mid, amounts in the base currency. Unknown values are NaN. */
export type TapeStatistics = {
  readonly seconds: number;
  readonly spreadBps: { readonly mean: number; readonly median: number; readonly p95: number };
  /** Median over seconds, mean of both sides. `within` counts only the recorded depth. */
  readonly depth: { readonly touch: number; readonly within10: number; readonly within25: number };
  /** Executions, and the taker orders behind them: same time, same side. */
  readonly tradesPerSecond: number;
  readonly takersPerSecond: number;
  /** Sizes of the taker orders. */
  readonly size: { readonly mean: number; readonly median: number; readonly p90: number; readonly p99: number };
  /** Coefficient of variation of the times between taker orders: 1 for independent arrivals, more for bursts. */
  readonly arrivalCv: number;
  readonly within100Ms: number;
  readonly within1S: number;
  /** Root mean square of the mid's moves. */
  readonly volatilityBps: { readonly over1S: number; readonly over60S: number };
  /** Correlation of the taker side with that of 1 to 5 taker orders before. */
  readonly sideCorrelation: readonly number[];
  /** Mean move of the mid in the taker's direction, 1, 10 and 60 s after, from the mid just before. */
  readonly markoutBps: { readonly after1S: number; readonly after10S: number; readonly after60S: number };
  /** Mean lifetime of a best price. */
  readonly touchSeconds: number;
};

type Taker = { readonly at: number; readonly sign: number; readonly mid: number; lots: number };

/**
 * Computes the statistics. Seconds inside gaps are not sampled. A trade of unknown side is a buy at or above the mid,
 * else a sell.
 */
export function statisticsOf(tape: Tape): TapeStatistics {
  const walk = walkTape(tape);
  const { takers, mids, seconds, samples } = walk;
  const lot = Number(tape.instrument.lot);
  const sizes = sorted(takers.map(taker => taker.lots * lot));
  const waits = takers.slice(1).map((taker, i) => taker.at - takers[i]!.at);
  const depthOf = (pick: (sample: Sample) => number, known: boolean) =>
    known && !tape.quotesOnly ? quantile(sorted(samples.map(pick)), 0.5) * lot : Number.NaN;
  const spreads = sorted(samples.map(sample => sample.spreadBps));
  const markout = (ms: number) => meanMarkout(takers, mids, walk.end, ms);
  return {
    seconds,
    spreadBps: { mean: mean(spreads), median: quantile(spreads, 0.5), p95: quantile(spreads, 0.95) },
    depth: {
      touch: depthOf(sample => sample.touch, true),
      within10: depthOf(sample => sample.within10, tape.depth > 1),
      within25: depthOf(sample => sample.within25, tape.depth > 1),
    },
    tradesPerSecond: tape.quotesOnly ? Number.NaN : walk.trades / seconds,
    takersPerSecond: tape.quotesOnly ? Number.NaN : takers.length / seconds,
    size: { mean: mean(sizes), median: quantile(sizes, 0.5), p90: quantile(sizes, 0.9), p99: quantile(sizes, 0.99) },
    arrivalCv: deviation(waits) / mean(waits),
    within100Ms: mean(waits.map(wait => (wait <= 100 ? 1 : 0))),
    within1S: mean(waits.map(wait => (wait <= 1000 ? 1 : 0))),
    volatilityBps: { over1S: rootMeanSquareMove(samples, 1), over60S: rootMeanSquareMove(samples, 60) },
    sideCorrelation: [1, 2, 3, 4, 5].map(lag => sideCorrelation(takers, lag)),
    markoutBps: { after1S: markout(1000), after10S: markout(10_000), after60S: markout(60_000) },
    touchSeconds: (2 * seconds) / walk.touchChanges,
  };
}

/** State at the end of one second. */
type Sample = {
  readonly second: number;
  readonly mid: number;
  readonly spreadBps: number;
  readonly touch: number;
  readonly within10: number;
  readonly within25: number;
};
type Mids = { readonly at: number[]; readonly mid: number[] };
type Walk = {
  readonly seconds: number;
  readonly end: number;
  readonly samples: Sample[];
  readonly takers: Taker[];
  readonly trades: number;
  readonly mids: Mids;
  readonly touchChanges: number;
};

function walkTape(tape: Tape): Walk {
  const { columns } = tape;
  const book = new RecordedBook(columns);
  const samples: Sample[] = [];
  const takers: Taker[] = [];
  const mids: Mids = { at: [], mid: [] };
  let trades = 0;
  let touchChanges = 0;
  let bid = 0;
  let ask = 0;
  let mid = Number.NaN;
  const start = columns.at[0]!;
  const end = columns.at[columns.length - 1]!;
  let second = Math.floor(start / 1000) + 1;
  const inGap = (at: number) => tape.gaps.some(gap => at > gap.from && at < gap.to);
  const takeSample = () => {
    if (mid > 0 && bid < ask && bid > 0 && !inGap(second * 1000)) samples.push(sampleOf(book, second, mid, bid, ask));
  };
  for (let row = 0; row < columns.length; row++) {
    const at = columns.at[row]!;
    for (; at >= second * 1000; second++) takeSample();
    if (columns.kind[row] === KIND.trade) {
      trades++;
      const price = columns.price[row]!;
      const side = columns.side[row];
      const sign = side === SIDE.buy ? 1 : side === SIDE.sell ? -1 : price >= mid ? 1 : -1;
      const last = takers.at(-1);
      if (last?.at === at && last.sign === sign) last.lots += columns.amount[row]!;
      else if (mid > 0) takers.push({ at, sign, mid, lots: columns.amount[row]! });
      continue;
    }
    book.apply(row);
    if (row + 1 < columns.length && columns.at[row + 1] === at && columns.kind[row + 1] !== KIND.trade) continue;
    const newBid = book.bids.priceAt(0);
    const newAsk = book.asks.priceAt(0);
    if (!(newBid > 0 && newAsk > newBid)) continue;
    if (newBid !== bid) touchChanges++;
    if (newAsk !== ask) touchChanges++;
    bid = newBid;
    ask = newAsk;
    if ((bid + ask) / 2 === mid) continue;
    mid = (bid + ask) / 2;
    mids.at.push(at);
    mids.mid.push(mid);
  }
  return { seconds: (end - start) / 1000, end, samples, takers, trades, mids, touchChanges };
}

function sampleOf(book: RecordedBook, second: number, mid: number, bid: number, ask: number): Sample {
  const both = (bps: number) =>
    (amountTo(book.bids, mid * (1 - bps / 1e4), -1) + amountTo(book.asks, mid * (1 + bps / 1e4), 1)) / 2;
  return {
    second,
    mid,
    spreadBps: ((ask - bid) / mid) * 1e4,
    touch: (book.bids.amountAt(0) + book.asks.amountAt(0)) / 2,
    within10: both(10),
    within25: both(25),
  };
}

function amountTo(side: RecordedSide, limit: number, sign: 1 | -1): number {
  let sum = 0;
  for (let i = 0; i < side.length && side.priceAt(i) * sign <= limit * sign; i++) sum += side.amountAt(i);
  return sum;
}

function rootMeanSquareMove(samples: readonly Sample[], seconds: number): number {
  const squares: number[] = [];
  for (let i = 0, j = 0; j < samples.length; j++) {
    while (samples[j]!.second - samples[i]!.second > seconds) i++;
    if (samples[j]!.second - samples[i]!.second !== seconds) continue;
    squares.push((Math.log(samples[j]!.mid / samples[i]!.mid) * 1e4) ** 2);
  }
  return Math.sqrt(mean(squares));
}

function meanMarkout(takers: readonly Taker[], mids: Mids, end: number, ms: number): number {
  const moves = takers
    .filter(taker => taker.at + ms <= end)
    .map(taker => taker.sign * (midAt(mids, taker.at + ms) / taker.mid - 1) * 1e4);
  return mean(moves);
}

function midAt(mids: Mids, at: number): number {
  let low = 0;
  let high = mids.at.length;
  while (low < high) {
    const pivot = (low + high) >> 1;
    if (mids.at[pivot]! <= at) low = pivot + 1;
    else high = pivot;
  }
  return mids.mid[low - 1] ?? Number.NaN;
}

function sideCorrelation(takers: readonly Taker[], lag: number): number {
  const average = mean(takers.map(taker => taker.sign));
  const products = takers.slice(lag).map((taker, i) => (taker.sign - average) * (takers[i]!.sign - average));
  return mean(products) / (1 - average * average);
}

const sorted = (values: number[]): number[] => values.sort((a, b) => a - b);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function deviation(values: readonly number[]): number {
  const average = mean(values);
  return Math.sqrt(mean(values.map(value => (value - average) ** 2)));
}

/** Returns a quantile of ascending values. */
const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? Number.NaN;
