/** ccxt's binance class, unchanged but for its addresses, trades on the second embedded exchange over real sockets. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AuthenticationError,
  DDoSProtection,
  ExchangeError,
  ExchangeNotAvailable,
  InsufficientFunds,
  InvalidNonce,
  InvalidOrder,
  NetworkError,
  OperationFailed,
  OrderImmediatelyFillable,
  OrderNotFound,
  RateLimitExceeded,
  RequestTimeout,
  BadSymbol,
} from '../../node_modules/ccxt/js/src/base/errors.js';
// By its file: the package's own entry loads every exchange there is.
import Binance from '../../node_modules/ccxt/js/src/pro/binance.js';
import { createSecondExchange, serve, type SecondExchange, type Served } from '../../src/sandbox/index.ts';
import { realClock } from '../../src/live/realClock.ts';

const SYMBOL = 'BTC/USDT';
let exchange: SecondExchange;
let served: Served;
let ccxt: Binance;
let other: ReturnType<SecondExchange['openAccount']>;

async function client(account: { key: string; secret: string }): Promise<Binance> {
  const { url } = served;
  const ws = url.replace('http', 'ws');
  const made = new Binance({
    apiKey: account.key,
    secret: account.secret,
    number: String,
    enableRateLimit: false,
    timeout: 2_000,
    options: { fetchMarkets: { types: ['spot'] }, fetchCurrencies: false, fetchMargins: false },
  });
  made.urls['api'] = {
    ...made.urls['api'],
    public: `${url}/api/v3`,
    private: `${url}/api/v3`,
    sapi: `${url}/sapi/v1`,
    ws: { spot: `${ws}/ws` },
  };
  await made.loadHttpProxyAgent();
  await made.loadMarkets();
  return made;
}

beforeAll(async () => {
  exchange = createSecondExchange({ clock: realClock(), seed: 5 });
  served = await serve(
    { serveRequest: exchange.serveRequest, stream: exchange.stream },
    { host: '127.0.0.1', port: 0 },
  );
  other = exchange.openAccount({ balances: { btc: '100', usdt: '10000000' } });
  ccxt = await client(exchange.openAccount({ balances: { btc: '2', usdt: '100000', bnb: '10' } }));
});
it('x', async () => {
  console.log(ccxt.market(SYMBOL));
  const o = await client(other);
  console.log(await o.createOrder(SYMBOL, 'limit', 'sell', '0.5', '80010', { postOnly: true }));
  console.log(await o.createOrder(SYMBOL, 'limit', 'buy', '0.5', '79990'));
  console.log(await ccxt.fetchOrderBook(SYMBOL));
  console.log(await ccxt.createOrder(SYMBOL, 'limit', 'buy', '0.1', '80020', { timeInForce: 'IOC', clientOrderId: 'abc' }));
  console.log(await ccxt.fetchMyTrades(SYMBOL), await ccxt.fetchBalance());
  console.log(await ccxt.watchOrderBook(SYMBOL));
  ccxt.close();
});
afterAll(async () => {
  await served.close();
  exchange.close();
});
