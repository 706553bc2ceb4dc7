/**
 * Public routes of the second exchange: rules, time, books and trades. Source: rest-api.md (general and market data
 * endpoints) of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { moneyOfValue, valueOf, type Amount, type Instrument } from '../../core/index.ts';
import { TRADES_MAX, type TradeRow } from '../venue/tradeHistory.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import { text8 } from '../wire/wire.ts';
import {
  bookAsked,
  bookMaybe,
  bookNamed,
  listLimit,
  pageOfRows,
  type BinanceRequest,
  type BinanceRoute,
  type BinanceWorld,
} from './binanceRoute.ts';
import { REFUSALS } from './failures.ts';
import { wholeTime } from './orderAnswers.ts';
import { bestFields, DEPTH_MAX, levelTexts, price8, quantity8, symbolOf, symbolRow } from './symbols.ts';
import type { RequestFields } from './requestFields.ts';

export const marketRoutes: readonly BinanceRoute[] = [
  { method: 'GET', path: '/api/v3/ping', security: 'none', weight: 1, handle: () => ({}) },
  {
    method: 'GET',
    path: '/api/v3/time',
    security: 'none',
    weight: 1,
    handle: ({ world }) => ({ serverTime: wholeTime(world.clock.now()) }),
  },
  { method: 'GET', path: '/api/v3/exchangeInfo', security: 'none', weight: 20, handle: exchangeInfo },
  { method: 'GET', path: '/api/v3/depth', security: 'none', weight: depthWeight, handle: depth },
  { method: 'GET', path: '/api/v3/trades', security: 'none', weight: 25, handle: recentTrades },
  { method: 'GET', path: '/api/v3/historicalTrades', security: 'none', weight: 25, handle: olderTrades },
  { method: 'GET', path: '/api/v3/aggTrades', security: 'none', weight: 4, handle: aggregateTrades },
  {
    method: 'GET',
    path: '/api/v3/ticker/bookTicker',
    security: 'none',
    weight: fields => (fields.text('symbol') === undefined ? 4 : 2),
    handle: bookTicker,
  },
  {
    method: 'GET',
    path: '/api/v3/ticker/price',
    security: 'none',
    weight: fields => (fields.text('symbol') === undefined ? 4 : 2),
    handle: lastPrice,
  },
];

/** Rate limits as the list of rules shows them. */
const rateLimits = ({ switches }: BinanceWorld) => [
  { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: switches.weightPerMinute },
  { rateLimitType: 'ORDERS', interval: 'SECOND', intervalNum: 10, limit: switches.ordersPer10s },
  { rateLimitType: 'ORDERS', interval: 'DAY', intervalNum: 1, limit: switches.ordersPerDay },
];

function exchangeInfo(ask: BinanceRequest): unknown {
  const { world, fields } = ask;
  const one = bookMaybe(ask);
  const several = namesIn(fields.text('symbols'));
  if (one && several) throw REFUSALS.combination();
  fields.text('permissions');
  fields.text('showPermissionSets');
  fields.text('symbolStatus');
  const books = one ? [one] : (several?.map(name => bookNamed(world, name)) ?? [...world.venue.books.values()]);
  return {
    timezone: 'UTC',
    serverTime: wholeTime(world.clock.now()),
    rateLimits: rateLimits(world),
    exchangeFilters: [],
    symbols: books.map(book => symbolRow(book, world.switches.trading === 'on', world.switches.openOrdersMax)),
  };
}

/** Parses a list like ["BTCUSDT","BNBUSDT"]; `undefined` if absent. Throws -1130 for anything else. */
function namesIn(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  if (!/^\["[A-Z0-9]{1,20}"(?:,"[A-Z0-9]{1,20}")*\]$/.test(text)) throw REFUSALS.invalid('symbols');
  return text.slice(2, -2).split('","');
}

const depthLimit = (fields: RequestFields): number => listLimit(fields, 100, DEPTH_MAX);

function depthWeight(fields: RequestFields): number {
  const limit = depthLimit(fields);
  if (limit <= 100) return 5;
  if (limit <= 500) return 25;
  return limit <= 1_000 ? 50 : 250;
}

function depth(ask: BinanceRequest): unknown {
  const book = bookAsked(ask);
  const { sequence, bids, asks } = ask.world.shown.of(book, depthLimit(ask.fields));
  const { instrument } = book;
  return { lastUpdateId: sequence, bids: levelTexts(instrument, bids), asks: levelTexts(instrument, asks) };
}

function recentTrades(ask: BinanceRequest): unknown {
  const { instrument, history } = bookAsked(ask);
  return history
    .page(listLimit(ask.fields), 'desc')
    .reverse()
    .map(row => tradeFields(instrument, row));
}

function olderTrades(ask: BinanceRequest): unknown {
  const fromId = ask.fields.whole('fromId');
  if (fromId === undefined) return recentTrades(ask);
  const { instrument, history } = bookAsked(ask);
  const found = history.page(TRADES_MAX, 'asc').filter(({ ordinal }) => ordinal >= fromId);
  return found.slice(0, listLimit(ask.fields)).map(row => tradeFields(instrument, row));
}

const tradeFields = (i: Instrument, { ordinal, at, price, amount, makerSide }: TradeRow) => ({
  id: ordinal,
  price: price8(i, price),
  qty: quantity8(i, amount),
  quoteQty: text8(moneyOfValue(i, valueOf(price, amount))),
  time: wholeTime(at),
  isBuyerMaker: makerSide === 'buy',
  isBestMatch: true,
});

type Run = { first: TradeRow; last: TradeRow; lots: number };

/** Joins consecutive trades of one taker at one price into runs, oldest first. */
export function tradeRuns(trades: readonly TradeRow[]): Run[] {
  const runs: Run[] = [];
  for (const trade of trades) {
    const open = runs.at(-1);
    if (open && open.first.run === trade.run) {
      open.last = trade;
      open.lots += trade.amount;
    } else runs.push({ first: trade, last: trade, lots: trade.amount });
  }
  return runs;
}

/** Fields of an aggregate trade, in answers and in the stream. */
export const aggregateFields = ({ instrument: i }: Pick<VenueBook, 'instrument'>, { first, last, lots }: Run) => ({
  a: first.run,
  p: price8(i, first.price),
  q: quantity8(i, lots as Amount),
  f: first.ordinal,
  l: last.ordinal,
  T: wholeTime(first.at),
  m: first.makerSide === 'buy',
  M: true,
});

function aggregateTrades(ask: BinanceRequest): unknown {
  const book = bookAsked(ask);
  const { fields } = ask;
  const fromId = fields.whole('fromId');
  const [from, to] = [fields.whole('startTime'), fields.whole('endTime')];
  const runs = tradeRuns(book.history.page(TRADES_MAX, 'asc'));
  const isFromId = fromId === undefined ? null : ({ first }: Run) => first.run >= fromId;
  return pageOfRows(runs, listLimit(fields), { from, to }, ({ first }) => first.at, isFromId).map(run =>
    aggregateFields(book, run),
  );
}

/** Returns one answer for a single symbol, or a list of answers for several symbols or for all. */
function perSymbol(ask: BinanceRequest, row: (book: VenueBook) => unknown): unknown {
  const { world, fields } = ask;
  const one = bookMaybe(ask);
  const several = namesIn(fields.text('symbols'));
  if (one && several) throw REFUSALS.combination();
  if (one) return row(one);
  return (several?.map(name => bookNamed(world, name)) ?? [...world.venue.books.values()]).map(row);
}

function bookTicker(ask: BinanceRequest): unknown {
  return perSymbol(ask, book => {
    const { b, B, a, A } = bestFields(book, ask.world.shown.of(book, 1));
    return { symbol: symbolOf(book.instrument), bidPrice: b, bidQty: B, askPrice: a, askQty: A };
  });
}

function lastPrice(ask: BinanceRequest): unknown {
  return perSymbol(ask, ({ instrument: i, history }) => ({
    symbol: symbolOf(i),
    price: price8(i, history.last),
  }));
}
