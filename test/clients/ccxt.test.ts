/** ccxt's bitso class, unchanged but for its base address, drives the embedded exchange: every trading method it has. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// By its file: the package's own entry loads every exchange there is.
import Bitso from '../../node_modules/ccxt/js/src/bitso.js';
import { stockedMarket, type Market } from './served.ts';

const SYMBOL = 'BTC/MXN';
let market: Market;
let ccxt: Bitso;
/** One millisecond for each signed request: ccxt takes the time for a nonce, and two in one millisecond would be one. */
let nonce = 1_790_000_000_000;
const next = (): number => ++nonce;
/** Methods that the tests called. */
const called = new Set<string>();

beforeAll(async () => {
  market = await stockedMarket();
  const api = { rest: `${market.served.url}/api` };
  const real = new Bitso({ apiKey: market.key, secret: market.secret, enableRateLimit: false, urls: { api } });
  real.nonce = next;
  ccxt = new Proxy(real, { get: (of, name) => noted(of, name) });
  await ccxt.loadMarkets();
});
afterAll(async () => {
  await market.close();
});

function noted(of: Bitso, name: string | symbol): unknown {
  const found: unknown = Reflect.get(of, name);
  if (typeof found !== 'function') return found;
  called.add(String(name));
  return found.bind(of) as unknown;
}

/** Places with ccxt and gives the id. */
async function place(...of: Parameters<Bitso['createOrder']>): Promise<string> {
  const { id } = await ccxt.createOrder(...of);
  if (id === undefined) throw new Error('ccxt found no id in the reply');
  return id;
}

const text = (value: unknown): string => String(value);

describe('ccxt 4.5.84', () => {
  it('loadMarkets reads books, limits, ticks, tiers and currencies', () => {
    const btc = ccxt.market(SYMBOL);
    expect(Object.keys(ccxt.markets ?? {})).toContain('ETH/USD');
    expect(btc).toMatchObject({
      id: 'btc_mxn',
      precision: { price: 10, amount: 1e-8 },
      limits: {
        amount: { min: 6e-7, max: 600 },
        price: { min: 100_000, max: 40_000_000 },
        cost: { min: 10, max: 200_000_000 },
      },
      // The first tier stands for maker and taker.
      maker: 0.006,
      taker: 0.0078,
    });
  });

  it('fetchCurrencies reads the catalogue', async () => {
    const currencies = await ccxt.fetchCurrencies();
    expect(currencies['BTC']).toMatchObject({ id: 'btc', precision: 1e-8, type: 'crypto' });
    expect(currencies['MXN']).toMatchObject({ id: 'mxn', type: 'fiat' });
  });

  it('fetchTicker reads best prices and the day', async () => {
    expect(await ccxt.fetchTicker(SYMBOL)).toMatchObject({
      symbol: SYMBOL,
      bid: 1_499_990,
      ask: 1_500_010,
      last: 1_500_000,
    });
  });

  it('fetchOrderBook reads the aggregated book, and the whole one', async () => {
    const book = await ccxt.fetchOrderBook(SYMBOL);
    expect(book.bids.slice(0, 2)).toEqual([
      [1_499_990, 1],
      [1_499_980, 1],
    ]);
    expect(book.asks[0]).toEqual([1_500_010, 1]);
    expect(((await ccxt.fetchL2OrderBook(SYMBOL)) as { asks: unknown[] }).asks[0]).toEqual([1_500_010, 1]);
    expect((await ccxt.fetchOrderBook(SYMBOL, undefined, { aggregate: false })).asks[0]).toEqual([1_500_010, 1]);
  });

  it('fetchTrades reads public trades, with the side of the taker', async () => {
    const trades = await ccxt.fetchTrades(SYMBOL);
    expect(trades[0]).toMatchObject({ side: 'buy', price: 1_500_000, amount: 0.02, symbol: SYMBOL });
  });

  it('fetchOHLCV reads candles at each of its widths', async () => {
    for (const timeframe of Object.keys(ccxt.timeframes)) {
      const [candle] = await ccxt.fetchOHLCV(SYMBOL, timeframe);
      expect(candle!.slice(1), timeframe).toEqual([1_500_000, 1_500_000, 1_500_000, 1_500_000, 0.02]);
    }
    expect(await ccxt.fetchOHLCV(SYMBOL, '1m', undefined, 5)).toHaveLength(1);
    expect(await ccxt.fetchOHLCV(SYMBOL, '1m', 0, 5)).toEqual([]);
  });

  it('fetchBalance reads free, used and total', async () => {
    const balance = await ccxt.fetchBalance();
    expect(balance['MXN']).toEqual({ free: 10_000_000, used: 0, total: 10_000_000 });
  });

  it('fetchTradingFees reads the account’s own rates', async () => {
    expect((await ccxt.fetchTradingFees())[SYMBOL]).toMatchObject({ maker: 0.006, taker: 0.0078 });
  });

  it('fetchTransactionFees reads deposit and withdrawal fees', async () => {
    const fees = (await ccxt.fetchTransactionFees()) as unknown as Record<string, unknown>;
    expect(fees['MXN']).toMatchObject({ deposit: 0, withdraw: 0 });
    expect(fees['BTC']).toMatchObject({ withdraw: 0 });
  });

  it('fetchDepositWithdrawFees asks for the same reply and finds nothing in it: it looks for a list where an object is', async () => {
    expect(await ccxt.fetchDepositWithdrawFees()).toEqual({});
  });

  it('createOrder places limit orders that fetchOrder and fetchOpenOrders find, and cancelOrder takes out', async () => {
    const placed = {
      id: await place(SYMBOL, 'limit', 'buy', 0.1, 1_400_000, {
        origin_id: 'from-ccxt',
        time_in_force: 'postonly',
      }),
    };
    expect(placed.id).toMatch(/^\w{16}$/);
    expect(await ccxt.fetchOrder(placed.id)).toMatchObject({
      id: placed.id,
      status: 'open',
      side: 'buy',
      type: 'limit',
      price: 1_400_000,
      amount: 0.1,
      remaining: 0.1,
      filled: 0,
      symbol: SYMBOL,
    });
    expect((await ccxt.fetchOpenOrders(SYMBOL)).map(order => order.id)).toEqual([placed.id]);
    expect((await ccxt.fetchOpenOrders(SYMBOL, undefined, 25, { marker: 5 })).map(order => order.id)).toEqual([
      placed.id,
    ]);
    expect((await ccxt.cancelOrder(placed.id)).id).toBe(placed.id);
    expect((await ccxt.fetchOrder(placed.id)).status).toBe('cancelled');
    expect(await ccxt.fetchOpenOrders(SYMBOL)).toEqual([]);
  });

  it('createOrder cuts amounts to eight decimals and rounds prices to the tick', async () => {
    const id = await place(SYMBOL, 'limit', 'buy', 0.123456789, 1_400_004);
    expect(await ccxt.fetchOrder(id)).toMatchObject({ amount: 0.12345678, price: 1_400_000 });
    await ccxt.cancelAllOrders();
  });

  it('createOrder places market orders, whose fills fetchMyTrades and fetchOrderTrades find', async () => {
    const id = await place(SYMBOL, 'market', 'buy', 0.5);
    expect(await ccxt.fetchOrder(id)).toMatchObject({ status: 'closed', filled: 0.5, type: 'market' });
    const [mine] = await ccxt.fetchMyTrades(SYMBOL);
    expect(mine).toMatchObject({
      order: id,
      side: 'buy',
      takerOrMaker: 'taker',
      price: 1_500_010,
      amount: 0.5,
      cost: 750_005,
      fee: { currency: 'BTC', cost: 0.0039 },
    });
    expect((await ccxt.fetchOrderTrades(id, SYMBOL)).map(trade => trade.id)).toEqual([mine!.id]);
    expect(await ccxt.fetchMyTrades(SYMBOL, undefined, 25, { marker: mine!.id })).toEqual([]);
  });

  it('createOrder passes stops, and orders by value, through to the wire', async () => {
    const id = await place(SYMBOL, 'limit', 'sell', 0.1, 1_450_000, { stop: '1460000' });
    expect(await ccxt.fetchOrder(id)).toMatchObject({ status: 'open', info: { status: 'queued', stop: '1460000' } });
    await ccxt.cancelAllOrders();
    await expect(ccxt.createOrder(SYMBOL, 'market', 'buy', 0.1, undefined, { minor: '15000' })).rejects.toThrow('0308');
  });

  it('sees its own order filled by somebody else, as maker', async () => {
    const id = await place(SYMBOL, 'limit', 'sell', 0.1, 1_500_000);
    market.bob.limit('btc_mxn', 'buy', '1500000', '0.04');
    expect(await ccxt.fetchOrder(id)).toMatchObject({ status: 'open', filled: 0.04, remaining: 0.06 });
    // Oldest first: ccxt sorts what it gets. Its volume by now earns 0.56 percent.
    expect((await ccxt.fetchMyTrades(SYMBOL)).at(-1)).toMatchObject({
      takerOrMaker: 'maker',
      fee: { currency: 'MXN', cost: 336 },
    });
    await ccxt.cancelAllOrders();
  });

  it('cancelOrders sends ids with an encoded comma, cancelAllOrders takes every order out', async () => {
    const one = () => place(SYMBOL, 'limit', 'buy', 0.1, 1_300_000);
    const [a, b, c] = [await one(), await one(), await one()];
    expect((await ccxt.cancelOrders([a, b])).map(order => order.id)).toEqual([a, b]);
    expect((await ccxt.cancelAllOrders()).map(order => order.id)).toEqual([c]);
    await expect(ccxt.cancelAllOrders(SYMBOL)).rejects.toThrow('does not support filtering');
  });

  it('its implicit PATCH calls replace an order by path and by query', async () => {
    const id = await place(SYMBOL, 'limit', 'buy', 0.1, 1_300_000);
    type Patch = (fields: object) => Promise<{ payload: { oid: string } }>;
    const { privatePatchOrdersOid: byOid, privatePatchOrders: byQuery } = ccxt as unknown as Record<string, Patch>;
    const first = (await byOid!.call(ccxt, { oid: id, price: '1310000' })).payload.oid;
    expect(await ccxt.fetchOrder(first)).toMatchObject({ price: 1_310_000, status: 'open' });
    expect((await ccxt.fetchOrder(id)).status).toBe('cancelled');
    // Everything that is not in the path goes into the body, the oid too: no document knows it there.
    await expect(byQuery!.call(ccxt, { oid: first, price: '1320000' })).rejects.toThrow('0360');
    await ccxt.cancelAllOrders();
  });

  it('fetchLedger reads trades, fees and fundings', async () => {
    const ledger = await ccxt.fetchLedger('MXN');
    expect(ledger.map(entry => entry.type)).toEqual(expect.arrayContaining(['transaction', 'fee']));
    expect(ledger.every(entry => entry.timestamp !== undefined && text(entry.id).length > 0)).toBe(true);
  });

  it('fetchDeposits, fetchDeposit and fetchDepositAddress read fundings', async () => {
    const deposits = await ccxt.fetchDeposits();
    expect(deposits.find(deposit => deposit.currency === 'BTC')).toMatchObject({
      amount: 10,
      status: 'ok',
      type: 'deposit',
    });
    expect(await ccxt.fetchDeposit(text(deposits[0]!.id))).toMatchObject({ id: deposits[0]!.id });
    expect((await ccxt.fetchDepositAddress('BTC')).address).toMatch(/^sandbox-btc-/);
  });

  it('its errors are the codes that the exchange sent', async () => {
    await expect(ccxt.createOrder(SYMBOL, 'limit', 'buy', 100, 1_400_000)).rejects.toThrow('0379');
    await expect(ccxt.fetchOrder('unknown')).rejects.toMatchObject({ name: 'OrderNotFound' });
    const wrong = new Bitso({
      apiKey: market.key,
      secret: 'x',
      enableRateLimit: false,
      urls: { api: { rest: `${market.served.url}/api` } },
    });
    await expect(wrong.fetchBalance()).rejects.toThrow('0215');
    const unknown = new Bitso({
      apiKey: 'x',
      secret: 'x',
      enableRateLimit: false,
      urls: { api: { rest: `${market.served.url}/api` } },
    });
    await expect(unknown.fetchBalance()).rejects.toMatchObject({ name: 'AuthenticationError' });
  });

  it('with its own nonce two requests in one millisecond are one: the second is 0201 until nonces are unchecked', async () => {
    nonce = 1_795_000_000_000;
    ccxt.nonce = () => nonce;
    const both = await Promise.allSettled([ccxt.fetchBalance(), ccxt.fetchBalance()]);
    expect(both.map(each => each.status).sort()).toEqual(['fulfilled', 'rejected']);
    market.exchange.venue.set({ nonce: 'unchecked' });
    await Promise.all([ccxt.fetchBalance(), ccxt.fetchBalance()]);
    market.exchange.venue.set({ nonce: 'v2' });
    ccxt.nonce = next;
  });

  it('has no unified method that was not called here, but for withdrawing', () => {
    const has = Object.entries(ccxt.has).filter(
      ([name, there]) => there === true && /^(fetch|create|cancel|withdraw)(?!.*Ws$)/.test(name),
    );
    expect(has.length).toBeGreaterThan(15);
    // What createOrder does under other names, and what is put together from other calls.
    const others = ['createLimitOrder', 'createMarketOrder', 'fetchMarkets'];
    expect(has.map(([name]) => name).filter(name => !called.has(name) && !others.includes(name))).toEqual(['withdraw']);
  });
});
