/**
 * Thread in which ccxt runs: one class, one book. A fault of ccxt ends this thread and not the bot, and the end of the
 * thread closes all of its sockets.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { textOfError, type DecimalText, type Outcome } from '../core/index.ts';
import { fetchWhole } from './fetchWhole.ts';
import { bookOfMarket, rulesOfMarket, type CcxtMarketRow } from './marketRules.ts';
import { nearestNames } from './installed.ts';
import type { CcxtAnswers, CcxtThreadData, FromCcxt, TextBook, ToCcxt, TradesRead } from './messages.ts';
import { plainDecimal } from './plainDecimal.ts';
import { isSameBook, readTrades, textBook, withRawLevels, type CcxtBook } from './textBook.ts';

/** Parts of a ccxt class that this program uses. */
type CcxtExchange = {
  readonly has: Readonly<Record<string, unknown>>;
  readonly rateLimit: number;
  readonly precisionMode: number;
  readonly urls: { api: unknown };
  readonly options: Record<string, unknown>;
  loadHttpProxyAgent(): Promise<unknown>;
  loadMarkets(reload?: boolean): Promise<Readonly<Record<string, CcxtMarketRow>>>;
  setMarkets(markets: readonly object[]): Readonly<Record<string, CcxtMarketRow>>;
  fetchOrderBook(symbol: string): Promise<CcxtBook>;
  fetchTrades(symbol: string, since: undefined, limit: undefined, parameters: object): Promise<readonly unknown[]>;
  watchOrderBook(symbol: string): Promise<CcxtBook>;
  watchBidsAsks(symbols: readonly string[]): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>>;
  watchTrades(symbol: string): Promise<readonly unknown[]>;
  parseOrderBook(...of: unknown[]): CcxtBook;
};

const data = workerData as CcxtThreadData;
const post = (message: FromCcxt): void => parentPort?.postMessage(message);

/**
 * Options of classes whose defaults would mix data. Binance: REST reads aggregated trades by default, whose ids are
 * not the ids of the streamed trades (ccxt 4.5.84 js/src/binance.js, fetchTrades).
 */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  binance: { fetchTradesMethod: 'publicGetTrades' },
  binanceus: { fetchTradesMethod: 'publicGetTrades' },
};

/**
 * Parameters for reading trades, for exchanges whose default page is short. Bitso lists 25 trades by default, and at
 * most 100 (rest-api 4.4).
 */
const TRADES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { bitso: { limit: 100 } };

async function created(): Promise<CcxtExchange> {
  const { default: Class } = (await import(pathToFileURL(data.file).href)) as {
    readonly default: new (options: object) => CcxtExchange;
  };
  const exchange = new Class({
    number: String,
    enableRateLimit: true,
    timeout: data.requestMs,
    userAgent: 'puntas',
    fetchImplementation: fetchWhole,
    options: { ...OPTIONS[data.id], defaultType: 'spot' },
  });
  const markets = exchange.options['fetchMarkets'];
  if (isObject(markets) && Array.isArray(markets['types'])) markets['types'] = ['spot'];
  if (data.url !== undefined) exchange.urls.api = movedTo(data.url, exchange.urls.api);
  withRawLevels(exchange);
  // Without this call, ccxt refuses a WebSocket without TLS (js/src/base/Exchange.js, getHttpAgentIfNeeded).
  await exchange.loadHttpProxyAgent();
  return exchange;
}

/**
 * Returns the addresses of a ccxt class, with the origin of each replaced by `origin`. WebSocket addresses use `wss` if
 * `origin` uses `https`, otherwise `ws`.
 */
function movedTo(origin: string, addresses: unknown): unknown {
  if (typeof addresses === 'string')
    return addresses.replace(/^(https?|wss?):\/\/[^/]*/, (_, protocol: string) =>
      protocol.startsWith('ws') ? origin.replace(/^http/, 'ws') : origin,
    );
  if (!isObject(addresses)) return addresses;
  return Object.fromEntries(Object.entries(addresses).map(([key, value]) => [key, movedTo(origin, value)]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the spot market of the book. Throws an error of one line, with the nearest book names, if there is none. */
function marketIn(markets: Readonly<Record<string, CcxtMarketRow>>): CcxtMarketRow {
  const spot = Object.values(markets).filter(({ spot: isSpot }) => isSpot === true);
  const market = spot.find(row => bookOfMarket(row) === data.book);
  if (market) return market;
  const near = nearestNames(
    data.book,
    spot.map(bookOfMarket).filter(name => name !== null),
  );
  throw new Error(`ccxt:${data.id} has no spot book ${data.book}; nearest names: ${near.join(', ')}`);
}

async function run(): Promise<void> {
  const exchange = await created();
  const markets = data.market ? exchange.setMarkets([data.market]) : await exchange.loadMarkets();
  const market = marketIn(markets);
  if (!data.market) unusedMarket = market;
  const can = (what: string): boolean => exchange.has[what] === true;
  const bestOnly = data.wants === 'prices' && data.levels === 1 && can('watchBidsAsks');
  const streams =
    data.wants !== 'polls' &&
    (bestOnly || can('watchOrderBook')) &&
    (data.wants === 'prices' || (can('watchOrderBook') && can('watchTrades')));
  parentPort?.on('message', (message: ToCcxt) => void answerRequest(exchange, market, message));
  // JSON drops the functions of the market, which cannot be sent to another thread.
  post({
    kind: 'ready',
    market: JSON.parse(JSON.stringify(market)) as object,
    streams,
    rateLimitMs: exchange.rateLimit,
  });
  if (!streams) return;
  if (data.wants === 'tape') void repeated(async () => tellTrades(await exchange.watchTrades(market.symbol)));
  void repeated(async () =>
    tellBook(
      bestOnly
        ? bestPrices((await exchange.watchBidsAsks([market.symbol]))[market.symbol])
        : await exchange.watchOrderBook(market.symbol),
    ),
  );
}

/** Calls `watch` again and again. Any error ends the thread, because ccxt may have lost changes. */
async function repeated(watch: () => Promise<void>): Promise<void> {
  try {
    for (;;) {
      await watch();
      // A class whose calls return immediately must not keep timers and sockets waiting.
      await nextTurn();
    }
  } catch (error) {
    post({ kind: 'failed', reason: shortReason(error) });
  }
}

/** Best bid and ask as a book of one level per side. */
function bestPrices(ticker: Readonly<Record<string, unknown>> | undefined): CcxtBook {
  const side = (price: unknown, amount: unknown) => (price === undefined ? [] : [[price, amount ?? '0']]);
  return {
    bids: side(ticker?.['bid'], ticker?.['bidVolume']),
    asks: side(ticker?.['ask'], ticker?.['askVolume']),
    timestamp: ticker?.['timestamp'],
  };
}

/**
 * Market that this thread has just read. The first request for the rules uses it, so that the markets are not read
 * twice.
 */
let unusedMarket: CcxtMarketRow | null = null;
let last: TextBook | null = null;

function tellBook(found: CcxtBook): void {
  const book = textBook(found, data.levels);
  if (last !== null && isSameBook(last, book)) return post({ kind: 'same', sentAt: book.sentAt });
  last = book;
  post({ kind: 'book', book });
}

const tellTrades = (found: readonly unknown[]): void => post({ kind: 'trades', ...readTrades(found) });

async function answerRequest(exchange: CcxtExchange, market: CcxtMarketRow, { request, what }: ToCcxt): Promise<void> {
  const read: { readonly [W in keyof CcxtAnswers]: () => Promise<CcxtAnswers[W]> } = {
    rules: async () => {
      const row = unusedMarket ?? marketIn(await exchange.loadMarkets(true));
      unusedMarket = null;
      return rulesOfMarket(row, exchange.precisionMode, async () =>
        bestPrice(await exchange.fetchOrderBook(row.symbol)),
      );
    },
    book: async () => {
      const book = textBook(await exchange.fetchOrderBook(market.symbol), data.levels);
      // ccxt also returns an empty book for an answer that is not in the expected form.
      if (book.bids.length + book.asks.length === 0) throw new Error('ccxt returned an order book without levels');
      return book;
    },
    trades: async (): Promise<TradesRead> =>
      readTrades(await exchange.fetchTrades(market.symbol, undefined, undefined, TRADES[data.id] ?? {})),
  };
  const outcome: Outcome<unknown> = await read[what]().then(
    value => ({ kind: 'done' as const, value }),
    (error: unknown) => ({ kind: 'unknown' as const, reason: shortReason(error) }),
  );
  post({ kind: 'answer', request, outcome });
}

const bestPrice = ({ bids, asks }: CcxtBook): DecimalText | null => plainDecimal((bids[0] ?? asks[0])?.[0]);

/** Maximum length of a reason. ccxt quotes whole replies in its errors. */
const REASON_MAX = 300;

const shortReason = (error: unknown): string => textOfError(error).replace(/\s+/g, ' ').slice(0, REASON_MAX);

process.on('uncaughtException', error => post({ kind: 'failed', reason: shortReason(error) }));
run().catch((error: unknown) => post({ kind: 'failed', reason: shortReason(error) }));
