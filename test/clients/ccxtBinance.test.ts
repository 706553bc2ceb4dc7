/** ccxt's binance class, unchanged but for its addresses, trades on the second embedded exchange over real sockets. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
// By its file: the package's own entry loads every exchange there is.
import Binance from '../../node_modules/ccxt/js/src/pro/binance.js';
import { realClock } from '../../src/live/realClock.ts';
import {
  createSecondExchange,
  SECOND_SWITCHES,
  serve,
  type SecondExchange,
  type SecondSwitches,
  type Served,
} from '../../src/sandbox/index.ts';

const SYMBOL = 'BTC/USDT';
let exchange: SecondExchange;
let served: Served;
let ccxt: Binance;
let maker: Binance;

/** Amounts and prices as text: ccxt's types say numbers, its code takes both. */
const text = (exact: string): number => exact as unknown as number;

/** Order options of ccxt, which a test combines with an id. */
type Extra = Record<string, unknown>;
const place = (who: Binance, type: string, side: string, amount: string, price?: string, extra: Extra = {}) =>
  who.createOrder(SYMBOL, type, side, text(amount), price === undefined ? undefined : text(price), extra);

async function client(balances: Record<string, string>): Promise<Binance> {
  const { key, secret } = exchange.openAccount({ balances });
  const made = new Binance({
    apiKey: key,
    secret,
    number: String,
    enableRateLimit: false,
    timeout: 1_000,
    options: { fetchMarkets: { types: ['spot'] }, fetchCurrencies: false, fetchMargins: false },
  });
  const { url } = served;
  made.urls['api'] = {
    ...(made.urls['api'] as object),
    public: `${url}/api/v3`,
    private: `${url}/api/v3`,
    sapi: `${url}/sapi/v1`,
    ws: { spot: `${url.replace('http', 'ws')}/ws` },
  };
  // Plain ws:// addresses need this once (ccxt 4.5.84).
  await made.loadHttpProxyAgent();
  await made.loadMarkets();
  return made;
}

beforeAll(async () => {
  exchange = createSecondExchange({ clock: realClock(), seed: 5 });
  const { serveRequest, stream } = exchange;
  served = await serve({ serveRequest, stream }, { host: '127.0.0.1', port: 0 });
  maker = await client({ btc: '100', usdt: '10000000' });
  ccxt = await client({ btc: '2', usdt: '100000', bnb: '10' });
  await place(maker, 'limit', 'sell', '0.5', '80010');
  await place(maker, 'limit', 'sell', '5', '80020');
  await place(maker, 'limit', 'buy', '5', '79990');
});
afterEach(() => {
  exchange.set(defaults());
});
afterAll(async () => {
  for (const each of [ccxt, maker]) await each.close();
  await served.close();
  exchange.close();
});

const defaults = (): Partial<SecondSwitches> =>
  Object.fromEntries(Object.entries(SECOND_SWITCHES).map(([name, { fallback }]) => [name, fallback]));

/** Name of the class that ccxt throws; the text of the answer if it throws none. */
async function thrown(call: Promise<unknown>): Promise<string> {
  try {
    return `none: ${JSON.stringify(await call)}`;
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

describe('ccxt 4.5.84', () => {
  it('loadMarkets reads ticks, steps and bounds', () => {
    expect(Object.keys(ccxt.markets ?? {})).toEqual(['BTC/USDT', 'ETH/USDT', 'BTC/MXN', 'USDT/MXN', 'BNB/USDT']);
    expect(ccxt.market(SYMBOL)).toMatchObject({
      id: 'BTCUSDT',
      active: true,
      precision: { price: '0.01000000', amount: '0.00001000' },
      limits: { amount: { min: '0.00001000' }, price: { max: '1000000.00000000' }, cost: { min: '5.00000000' } },
    });
  });

  it('fetchOrderBook and fetchBidsAsks read the book', async () => {
    const book = await ccxt.fetchOrderBook(SYMBOL, 20);
    expect(book.bids[0]).toEqual([79_990, 5]);
    expect(book.asks).toEqual([
      [80_010, 0.5],
      [80_020, 5],
    ]);
    const tickers = await ccxt.fetchBidsAsks([SYMBOL]);
    expect(tickers[SYMBOL]).toMatchObject({ bid: '79990.00000000', ask: '80010.00000000' });
  });

  it('an immediate order takes what its price allows and ends; it is found by its client id, with its trades and fees', async () => {
    const order = await place(ccxt, 'limit', 'buy', '0.7', '80010', { timeInForce: 'IOC', clientOrderId: 'ioc-1' });
    expect(order).toMatchObject({
      status: 'expired',
      filled: '0.50000000',
      timeInForce: 'IOC',
      clientOrderId: 'ioc-1',
    });
    const found = await ccxt.fetchOrder('', SYMBOL, { clientOrderId: 'ioc-1' });
    expect(found).toMatchObject({ id: order.id, status: 'expired', filled: '0.50000000' });
    const trades = (await ccxt.fetchMyTrades(SYMBOL)).filter(each => each.order === order.id);
    expect(trades).toMatchObject([
      {
        amount: '0.50000000',
        price: '80010.00000000',
        takerOrMaker: 'taker',
        fee: { currency: 'BTC', cost: '0.00050000' },
      },
    ]);
    const balance = await ccxt.fetchBalance();
    expect(balance['BTC']).toMatchObject({ free: '2.49950000', used: '0.00000000' });
    expect(balance['USDT']).toMatchObject({ free: '59995.00000000' });
  });

  it('market, fill-or-kill and post-only orders do what they say', async () => {
    const sold = await place(ccxt, 'market', 'sell', '0.1');
    expect(sold).toMatchObject({ status: 'closed', filled: '0.10000000', average: '79990' });
    const killed = await place(ccxt, 'limit', 'buy', '50', '80020', { timeInForce: 'FOK' }).catch((e: unknown) => e);
    expect(killed).toBeInstanceOf(Error);
    const small = await place(ccxt, 'limit', 'buy', '0.6', '80000', { timeInForce: 'FOK' });
    expect(small).toMatchObject({ status: 'expired', filled: '0.00000000' });
    const rests = await place(ccxt, 'limit', 'buy', '0.1', '80000', { postOnly: true, clientOrderId: 'rests' });
    expect(rests).toMatchObject({ status: 'open', postOnly: true });
    expect((await ccxt.fetchOpenOrders(SYMBOL)).map(each => each.clientOrderId)).toEqual(['rests']);
    expect((await ccxt.fetchBalance())['USDT']).toMatchObject({ used: '8000.00000000' });
    const canceled = await ccxt.cancelOrder('', SYMBOL, { clientOrderId: 'rests' });
    expect(canceled).toMatchObject({ id: rests.id, status: 'canceled' });
    expect(await ccxt.fetchOpenOrders(SYMBOL)).toEqual([]);
    expect((await ccxt.fetchOrders(SYMBOL)).map(each => each.id)).toContain(rests.id);
    const again = await place(ccxt, 'limit', 'buy', '0.1', '70000', { clientOrderId: 'rests' });
    expect(again.id).not.toBe(rests.id);
    await ccxt.cancelAllOrders(SYMBOL);
  });

  it('fetchTradingFees, fetchTrades and fetchTime read fees, trades and the clock', async () => {
    expect((await ccxt.fetchTradingFees())[SYMBOL]).toMatchObject({ maker: '0.001', taker: '0.001' });
    const trades = await ccxt.fetchTrades(SYMBOL);
    expect(trades.at(-1)).toMatchObject({ price: '79990.00000000', amount: '0.10000000', side: 'sell' });
    expect(Math.abs(Number(await ccxt.fetchTime()) - Date.now())).toBeLessThan(2_000);
  });

  it('watchOrderBook and watchTrades follow the exchange by its stream', async () => {
    const first = await ccxt.watchOrderBook(SYMBOL);
    expect(first.bids[0]?.[0]).toBe(79_990);
    const nextTrade = ccxt.watchTrades(SYMBOL);
    const nextBook = ccxt.watchOrderBook(SYMBOL);
    await place(maker, 'limit', 'buy', '0.2', '79995');
    expect((await nextBook).bids[0]).toEqual([79_995, 0.2]);
    // The subscription to trades may be later than the first trade, so trades go on until one arrives.
    const timer = setInterval(() => void place(maker, 'market', 'sell', '0.001'), 100);
    const [trade] = await nextTrade;
    clearInterval(timer);
    expect(trade).toMatchObject({ side: 'sell', price: '79995.00000000' });
    await maker.cancelAllOrders(SYMBOL);
    await place(maker, 'limit', 'sell', '5', '80020');
    await place(maker, 'limit', 'buy', '5', '79990');
  });
});

describe('an error arrives as the class that ccxt gives it', () => {
  const buy = (extra: Extra = {}) => place(ccxt, 'limit', 'buy', '0.01', '70000', extra);

  it.each<[what: string, called: string, make: () => Promise<unknown>]>([
    ['too little money', 'InsufficientFunds', () => place(ccxt, 'limit', 'buy', '100', '80000')],
    [
      'a post-only order that would trade',
      'OrderImmediatelyFillable',
      () => place(ccxt, 'limit', 'buy', '0.01', '80030', { postOnly: true }),
    ],
    ['a value below the minimum', 'BadRequest', () => place(ccxt, 'limit', 'buy', '0.00002', '70000')],
    ['an order that does not exist', 'OrderNotFound', () => ccxt.fetchOrder('77', SYMBOL)],
    ['a cancel of such an order', 'OrderNotFound', () => ccxt.cancelOrder('77', SYMBOL)],
  ])('%s: %s', async (_, called, make) => {
    expect(await thrown(make())).toBe(called);
  });

  it('a wrong key, a wrong signature and a wrong time', async () => {
    const other = await client({ usdt: '100' });
    other.secret = 'wrong';
    expect(await thrown(other.fetchBalance())).toBe('AuthenticationError');
    other.apiKey = 'AAAAAAAAAAAAAAAA';
    expect(await thrown(other.fetchBalance())).toBe('AuthenticationError');
    exchange.set({ clockOffsetMs: 60_000 });
    expect(await thrown(ccxt.fetchBalance())).toBe('InvalidNonce');
    exchange.set({ clockOffsetMs: -60_000 });
    expect(await thrown(ccxt.fetchBalance())).toBe('InvalidNonce');
    await other.close();
  });

  it('throttling, a ban and a firewall', async () => {
    exchange.set({ throttle: '429' });
    expect(await thrown(buy())).toBe('DDoSProtection');
    exchange.set({ throttle: '418' });
    expect(await thrown(buy())).toBe('DDoSProtection');
    exchange.set({ throttle: '403' });
    expect(await thrown(buy())).toBe('ExchangeNotAvailable');
  });

  it.each<[error: SecondSwitches['serverError'], called: string]>([
    ['502', 'ExchangeNotAvailable'],
    ['504', 'RequestTimeout'],
    ['-1000', 'OperationFailed'],
    ['-1006', 'OperationFailed'],
    ['-1007', 'RequestTimeout'],
    ['-1008', 'ExchangeError'],
  ])('the server error %s after execution: %s, and the order exists', async (serverError, called) => {
    exchange.set({ serverErrorPips: 10_000, serverError, serverErrorExecutes: 'always' });
    const clientOrderId = `e${serverError}`;
    expect(await thrown(buy({ clientOrderId }))).toBe(called);
    expect(await ccxt.fetchOrder('', SYMBOL, { clientOrderId })).toMatchObject({ status: 'open' });
    await ccxt.cancelOrder('', SYMBOL, { clientOrderId });
  });

  it('an answer that is lost or cut is unknown to the client, and the order exists; a lost request leaves none', async () => {
    exchange.set({ answerLostPips: 10_000 });
    expect(await thrown(buy({ clientOrderId: 'lost' }))).toBe('NetworkError');
    exchange.set({ answerLostPips: 10_000, lostAs: 'silence' });
    expect(await thrown(buy({ clientOrderId: 'silent' }))).toBe('RequestTimeout');
    exchange.set({ ...defaults(), answerCutPips: 10_000 });
    expect(await thrown(buy({ clientOrderId: 'cut' }))).toMatch(/SocketError|NetworkError|TypeError/);
    exchange.set({ ...defaults(), requestLostPips: 10_000 });
    expect(await thrown(buy({ clientOrderId: 'never' }))).toBe('NetworkError');
    exchange.set(defaults());
    const open = (await ccxt.fetchOpenOrders(SYMBOL)).map(each => each.clientOrderId);
    expect(open.sort()).toEqual(['cut', 'lost', 'silent']);
    await ccxt.cancelAllOrders(SYMBOL);
  });
});
