/**
 * Sign of the return after a fill against the chance of the fill, on recordings with executions. Published: orders that
 * are likely to fill lose more after the fill (arXiv 2502.18625, 2407.16527).
 */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FLAG, rowsOfTape, TickBook } from '../../backtest/index.ts';
import { blockBootstrap, randomOf } from '../../src/core/index.ts';
import { KIND, openTape, walk, type Gap, type Tape } from '../../src/tape/index.ts';
import { ORDER_LOGS, openOrderLog } from './logs.ts';

export type FillTape = {
  readonly name: string;
  readonly set: string;
  readonly book?: string;
  /** A file of docs/mappings, the words to replace in it, and words in the names of its files. */
  readonly mapping?: string;
  readonly replace?: readonly [from: RegExp, to: string];
  readonly files?: RegExp;
};

const B3 = 'b3-wide-2025-04-08_10-l1-trades';
const NINE = 'bitso-nine-books-2018-06-03_05-trades';
const NINE_BOOKS = ['btc', 'eth', 'xrp', 'bch', 'ltc']
  .map(coin => `${coin}_mxn`)
  .concat(['xrp_btc', 'eth_btc', 'bch_btc', 'ltc_btc']);

/** Every recording of `../shared/data` with executions that the importer can open. */
export const FILL_TAPES: readonly FillTape[] = [
  ...ORDER_LOGS.map(({ name, set }) => ({ name: `bitstamp ${name}`, set })),
  { name: 'gemini eth_usd', set: 'gemini-ethusd-2021-07-01-l1-trades' },
  ...['btc', 'eth'].flatMap(coin => [
    { name: `hyperliquid ${coin}_usd`, set: 'hyperliquid-2025-09-04-l2-trades', book: `${coin}_usd` },
    { name: `binance 2024 ${coin}_usdt`, set: 'binance-spot-2024-08-08', book: `${coin}_usdt` },
  ]),
  { name: 'binance 2020 eth_btc', set: 'binance-spot-2020-11-01-ethbtc-l2-trades' },
  { name: 'standx btc_usd', set: 'standx-btcusd-2026-01-dirty-l2-trades' },
  ...['ibm', 'bac'].map(share => ({
    ...{ name: `us ${share}`, set: `us-${share}-2013-10-07_09-nbbo-trades`, mapping: 'us-shares.yaml' },
    ...{ replace: [/ibm/g, share] as const, files: /\.gz$/ },
  })),
  ...['AMBP3', 'P2LT34', 'BIAU39', 'ETHE11', 'XPML11'].map(ticker => ({
    ...{ name: `b3 ${ticker}`, set: B3, mapping: 'b3.yaml', replace: [/ambp3/gi, ticker] as const },
    files: new RegExp(`^${ticker}_`),
  })),
  ...['ASTER', 'BTC', 'USD1'].map(coin => ({
    ...{ name: `aster ${coin.toLowerCase()}_usdt`, set: 'aster-2025-09-23_24-bbo-trades', mapping: 'aster.yaml' },
    ...{ replace: [/ASTERUSDT/g, `${coin}USDT*`] as const, files: new RegExp(`_${coin}USDT`) },
  })),
  ...['BTC_JPY', 'ETH_BTC'].map(pair => ({
    ...{ name: `bitflyer ${pair.toLowerCase()}`, set: 'bitflyer-btcjpy-2018-01-21_30-trades-bbo-1m' },
    ...{ mapping: 'bitflyer.yaml', files: new RegExp(pair) },
    replace: [/BTC_JPY/g, pair] as const,
  })),
  ...NINE_BOOKS.map(book => ({
    ...{ name: `bitso 2018 ${book}`, set: NINE, mapping: 'bitso-2018-trades.yaml' },
    ...{ replace: [/btc_mxn/g, book] as const, files: /\.gz$/ },
  })),
];

/** An order rests at most this long at the best price of its arrival, in ms; the return is measured this long after a fill. */
const LIFE_MS = 60_000;
const AFTER_MS = 10_000;
/** Arrivals on each side of a recording. Fewer fills than this say nothing. */
const ARRIVALS = 4_000;
const FILLS_MIN = 50;
/** Blocks of time for the fit and the interval. */
const BLOCKS = 40;
/** Fewer rows of the book than this for each trade: the last price is newer than the best prices. */
const RARE = 0.2;

export type FillReturns = {
  readonly name: string;
  /** Best prices: with amounts, without amounts, or no book; then the last price counts as both. */
  readonly quotes: 'amounts' | 'prices' | 'trades';
  readonly orders: number;
  readonly filled: number;
  /** Share filled and mean return in bps, of the third of the orders with the smallest and with the largest predicted chance. */
  readonly thirds: readonly (readonly [share: number, returnBps: number])[];
  /** Slope of the return on the chance in bps for ten points of chance, with its 95 % interval; `null` with too few fills. */
  readonly slope: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** Best prices and executions by time, in ticks and lots. */
type Market = {
  readonly quotes: FillReturns['quotes'];
  readonly at: number[];
  readonly bid: number[];
  readonly ask: number[];
  readonly bidLots: number[];
  readonly askLots: number[];
  readonly tradeAt: number[];
  readonly tradePrice: number[];
  readonly tradeLots: number[];
  readonly gaps: readonly Gap[];
};

export async function fillReturns(data: string, tape: FillTape): Promise<FillReturns> {
  const market = marketOf(await opened(data, tape));
  const orders = ordersOf(market);
  predict(orders);
  return summary(tape.name, market.quotes, orders);
}

async function opened(data: string, { set, book, mapping, replace, files }: FillTape): Promise<Tape> {
  const dir = join(data, set);
  if (mapping === undefined)
    return ORDER_LOGS.some(one => one.set === set)
      ? openOrderLog(dir)
      : openTape(dir, book === undefined ? {} : { book });
  const work = mkdtempSync(join(tmpdir(), 'puntas-returns-'));
  try {
    for (const name of readdirSync(dir)) if (files!.test(name)) copyFileSync(join(dir, name), join(work, name));
    const text = readFileSync(join('docs/mappings', mapping), 'utf8');
    const [from, to] = replace ?? [/^$/, ''];
    const path = join(work, 'tape.mapping.yaml');
    // The book is named in lower case, the files as they are.
    const mapped = text.replace(from, to).replace(/^book: .*$/m, line => line.toLowerCase());
    // Prices of other books can be finer than the tick of the mapping's own, so the tick is inferred.
    writeFileSync(path, mapped.replace(/^tick: .*\n/m, ''));
    return await openTape(path);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function marketOf(tape: Tape): Market {
  const { columns, gaps, quotesOnly } = tape;
  const hasOrders = columns.kind.includes(KIND.add) && !columns.kind.includes(KIND.level);
  const hasBook = hasOrders || columns.kind.includes(KIND.level);
  const trades = columns.kind.reduce((sum, kind) => sum + Number(kind === KIND.trade), 0);
  // Best prices of each minute are too old for an order between them.
  const isRare = !hasOrders && columns.length - trades < RARE * trades;
  const quotes = !hasBook || isRare ? 'trades' : quotesOnly ? 'prices' : 'amounts';
  const market: Market = {
    ...{ quotes, gaps, at: [], bid: [], ask: [], bidLots: [], askLots: [], tradeAt: [], tradePrice: [], tradeLots: [] },
  };
  const quote = (at: number, bid: number, ask: number, bidLots: number, askLots: number): void => {
    market.at.push(at);
    market.bid.push(bid);
    market.ask.push(ask);
    market.bidLots.push(bidLots);
    market.askLots.push(askLots);
  };
  const trade = (at: number, price: number, lots: number): void => {
    market.tradeAt.push(at);
    market.tradePrice.push(price);
    market.tradeLots.push(lots);
    if (quotes === 'trades') quote(at, price, price, 0, 0);
  };
  if (hasOrders) walkRows(tape, quote, trade);
  else
    walk(tape, {
      touch: (at, { bid, ask, bidAmount, askAmount }) => {
        if (quotes !== 'trades') quote(at, bid, ask, bidAmount, askAmount);
      },
      trade: (at, price, lots) => trade(at, price, lots),
    });
  return market;
}

/** Best prices of single orders, without the stale orders that the rows of a replay leave out. */
function walkRows(
  tape: Tape,
  quote: (at: number, bid: number, ask: number, bidLots: number, askLots: number) => void,
  trade: (at: number, price: number, lots: number) => void,
): void {
  const rows = rowsOfTape(tape, { from: 'orders' });
  const book = new TickBook(rows);
  for (let row = 0; row < rows.length; row++) {
    const [flags, at, place, lots] = [rows.flags[row]!, rows.at[row]!, rows.place[row]!, rows.lots[row]!];
    if ((flags & FLAG.trade) !== 0) {
      trade(at, place + rows.base, lots);
      continue;
    }
    if ((flags & FLAG.sell) !== 0) book.setAsk(place, lots);
    else book.setBid(place, lots);
    if (rows.at[row + 1] === at || book.bid === 0 || book.ask === book.last) continue;
    quote(at, book.bid + rows.base, book.ask + rows.base, book.bids[book.bid]!, book.asks[book.ask]!);
  }
}

type Placed = {
  readonly block: number;
  /** Facts known at arrival. */
  readonly features: readonly number[];
  readonly returnBps: number | null;
  chance: number;
};

/** Orders on both sides at even times, each at the best price of its side and behind everything there. */
function ordersOf(market: Market): Placed[] {
  const { at, bid, ask, bidLots, askLots, tradeAt, gaps } = market;
  const placed: Placed[] = [];
  if (at.length < 2 || tradeAt.length === 0) return placed;
  const begin = Math.max(at[0]!, tradeAt[0]!);
  const end = Math.min(at.at(-1)!, tradeAt.at(-1)!) - LIFE_MS - AFTER_MS;
  const step = Math.max(1_000, (end - begin) / ARRIVALS);
  for (let time = begin + LIFE_MS; time < end; time += step) {
    if (gaps.some(({ from, to }) => from < time + LIFE_MS + AFTER_MS && to > time - LIFE_MS)) continue;
    const now = indexAt(at, time);
    const mid = (bid[now]! + ask[now]!) / 2;
    const before = indexAt(at, time - AFTER_MS);
    const move = before < 0 ? 0 : (1e4 * (mid - (bid[before]! + ask[before]!) / 2)) / mid;
    const spread = Math.log(Math.max((1e4 * (ask[now]! - bid[now]!)) / mid, 0.01));
    const busy = Math.log1p(indexAt(tradeAt, time) - indexAt(tradeAt, time - LIFE_MS));
    const block = Math.min(BLOCKS - 1, Math.floor((BLOCKS * (time - begin)) / (end - begin)));
    for (const sign of [1, -1]) {
      const [own, other] = sign > 0 ? [bidLots[now]!, askLots[now]!] : [askLots[now]!, bidLots[now]!];
      const imbalance = market.quotes === 'amounts' && own + other > 0 ? Math.log((own + 1) / (other + 1)) : 0;
      placed.push({
        block,
        features: [imbalance, sign * move, spread, busy],
        returnBps: returnOf(market, time, now, sign, own),
        chance: 0,
      });
    }
  }
  return placed;
}

/**
 * Return of an order in bps of its price, `AFTER_MS` after its fill; `null` without a fill. A trade at a worse price
 * fills the order, and so do trades at its price beyond the amount that was there, and the other side's best price.
 */
function returnOf(market: Market, time: number, now: number, sign: number, ahead: number): number | null {
  const { at, bid, ask, tradeAt, tradePrice, tradeLots, quotes } = market;
  const price = sign > 0 ? bid[now]! : ask[now]!;
  let [quote, trade] = [now + 1, indexAt(tradeAt, time) + 1];
  let queue = quotes === 'amounts' ? ahead : Infinity;
  for (;;) {
    const next = Math.min(at[quote] ?? Infinity, tradeAt[trade] ?? Infinity);
    if (!(next <= time + LIFE_MS)) return null;
    let isFilled = false;
    if ((tradeAt[trade] ?? Infinity) <= next) {
      if (tradePrice[trade] === price) queue -= tradeLots[trade]!;
      isFilled = (price - tradePrice[trade]!) * sign > 0 || queue < 0;
      trade++;
    } else {
      isFilled = quotes !== 'trades' && (sign > 0 ? ask[quote]! <= price : bid[quote]! >= price);
      quote++;
    }
    if (!isFilled) continue;
    const later = indexAt(at, next + AFTER_MS);
    return (1e4 * sign * ((bid[later]! + ask[later]!) / 2 - price)) / price;
  }
}

/** Index of the last time at or before a time; -1 if there is none. */
function indexAt(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const pivot = (low + high) >> 1;
    if (times[pivot]! <= time) low = pivot + 1;
    else high = pivot;
  }
  return low - 1;
}

/** Predicts the chance of a fill: a logistic regression on the blocks of even number for those of odd number, and the reverse. */
function predict(orders: readonly Placed[]): void {
  for (const half of [0, 1]) {
    const train = orders.filter(({ block }) => block % 2 === half);
    const model = logistic(train);
    for (const order of orders) if (order.block % 2 !== half) order.chance = model(order.features);
  }
}

/** Fits by gradient steps on standardized features; a thousand steps are enough for five coefficients. */
function logistic(orders: readonly Placed[]): (features: readonly number[]) => number {
  const size = orders[0]?.features.length ?? 0;
  const mean = Array.from({ length: size }, (_, i) => average(orders.map(({ features }) => features[i]!)));
  const scale = mean.map((m, i) => Math.sqrt(average(orders.map(({ features }) => (features[i]! - m) ** 2))) || 1);
  const weights = new Array<number>(size + 1).fill(0);
  const inputs = orders.map(({ features }) => [1, ...features.map((x, i) => (x - mean[i]!) / scale[i]!)]);
  const chanceOf = (x: readonly number[]): number =>
    1 / (1 + Math.exp(-weights.reduce((sum, weight, i) => sum + weight * x[i]!, 0)));
  for (let step = 0; step < 1_000; step++) {
    const slope = weights.map(() => 0);
    inputs.forEach((x, n) => {
      const miss = Number(orders[n]!.returnBps !== null) - chanceOf(x);
      x.forEach((value, i) => (slope[i]! += (miss * value) / inputs.length));
    });
    slope.forEach((value, i) => (weights[i]! += value));
  }
  return features => chanceOf([1, ...features.map((x, i) => (x - mean[i]!) / scale[i]!)]);
}

const average = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;

function summary(name: string, quotes: FillReturns['quotes'], orders: readonly Placed[]): FillReturns {
  const filled = orders.filter(({ returnBps }) => returnBps !== null);
  const sorted = [...orders].sort((a, b) => a.chance - b.chance);
  const third = Math.floor(sorted.length / 3);
  const thirds = [sorted.slice(0, third), sorted.slice(sorted.length - third)].map(part => {
    const met = part.flatMap(({ returnBps }) => (returnBps === null ? [] : [returnBps]));
    return [met.length / Math.max(1, part.length), average(met)] as const;
  });
  const blocks = Array.from({ length: BLOCKS }, (_, block) => filled.filter(order => order.block === block));
  const interval =
    filled.length < FILLS_MIN
      ? null
      : blockBootstrap(
          blocks.filter(block => block.length > 0),
          of => slopeOf(of.flat()),
          { random: randomOf(1) },
        );
  const slope = interval && { value: interval.value, low: interval.low, high: interval.high };
  return { name, quotes, orders: orders.length, filled: filled.length, thirds, slope };
}

/** Least-squares slope of the return on the chance, for ten points of chance. */
function slopeOf(orders: readonly Placed[]): number {
  const x = average(orders.map(({ chance }) => chance));
  const y = average(orders.map(({ returnBps }) => returnBps!));
  let [both, square] = [0, 0];
  for (const { chance, returnBps } of orders) {
    both += (chance - x) * (returnBps! - y);
    square += (chance - x) ** 2;
  }
  return both / square / 10;
}
