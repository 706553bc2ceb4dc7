/** Requests of the client beside those of ccxt 4.5.84, and documented examples of signatures. */
import { createHmac, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { TimeInForce, VenueClient, WireRequest } from '../../../src/core/index.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { payloadSignatureOf } from '../../../src/exchange/binance/wire/protocol.ts';
import { ccxtFixtures, compareRequests, type Compared } from '../ccxtRequests.ts';
import { scriptedBinance, SYMBOLS } from './fakes.ts';

const ORIGIN_ID = 'pt0a1b2c3d4e5f';
const [BTC_USDT] = SYMBOLS.symbols;
const LTC_USDT = { ...BTC_USDT!, symbol: 'LTCUSDT', baseAsset: 'LTC' };

const sentBy = async (call: (client: VenueClient) => Promise<unknown>): Promise<WireRequest> => {
  const answer = () => ({ status: 200, headers: {}, body: '[]' });
  const { client, transport } = scriptedBinance(answer, 5_000, [BTC_USDT!, LTC_USDT]);
  await call(client);
  // A cancel does not wait for the time of the exchange, which is read after it.
  return transport.requests.findLast(({ target }) => !target.includes('/v3/time'))!;
};
const order = (timeInForce: TimeInForce, major: string, price: string, book = 'btc_usdt') => ({
  ...({ book, side: 'buy', price, major, originId: ORIGIN_ID, timeInForce } as const),
});

const SIGNED = { signature: /^[\da-f]{64}$/, recvWindow: '5000' };
const STATIC = { ...SIGNED, timestamp: '1700000000000' };
const MARKET = 'the port has no market orders: a limit bounds the price of every order';
const placed = (...of: Parameters<typeof order>): Compared['call'] => {
  return client => client.place(order(...of));
};

compareRequests({
  ...{ fixtures: ccxtFixtures('binance'), sentBy },
  reasons: {
    '* signature': 'another key; the fixtures of the class have none',
    '* timestamp': 'another clock',
    '* recvWindow':
      'ccxt sends 10000; the client sends its deadline, at most 5000, so that a late request is not executed',
    'order newOrderRespType': 'ccxt requests all fills; the client reads them from the list of trades',
    'order newClientOrderId': 'ccxt makes up the client id of an order without one',
    'order orderId': 'the example has an id that is no number',
    'myTrades startTime': 'the client reads on from an id, so that no trade of one millisecond is missed',
    'myTrades fromId': 'the same',
    'depth limit': 'the client reads as many levels as cost the same weight',
  },
  table: {
    'static: Spot market buy order': MARKET,
    'static: Spot limit buy order': {
      call: placed('good till canceled', '0.2', '50', 'ltc_usdt'),
      differs: { ...STATIC, newOrderRespType: 'RESULT', newClientOrderId: ORIGIN_ID },
    },
    'static: Spot limit buy with postOnly': {
      call: placed('post only', '0.2', '50', 'ltc_usdt'),
      differs: { ...STATIC, newOrderRespType: 'RESULT', newClientOrderId: ORIGIN_ID },
    },
    // The caller has rounded the price and the amount.
    'static: spot order with weird price/amount': {
      call: placed('good till canceled', '0.423', '55.32', 'ltc_usdt'),
      differs: { ...STATIC, newOrderRespType: 'RESULT', newClientOrderId: ORIGIN_ID },
    },
    'captured 0: createOrder': {
      call: placed('immediate or cancel', '0.12345678', '30000.13'),
      differs: { ...SIGNED, newOrderRespType: 'RESULT' },
    },
    'captured 1: createOrder': MARKET,
    'captured 2: createOrder': MARKET,
    'captured 3: createOrder': {
      call: placed('post only', '0.5', '30000'),
      differs: { ...SIGNED, newOrderRespType: 'RESULT', newClientOrderId: ORIGIN_ID },
    },
    'captured 4: fetchOrder': { call: client => client.lookUp({ originIds: [ORIGIN_ID] }), differs: SIGNED },
    'captured 5: fetchOrder': {
      call: client => client.lookUp({ oids: ['1234'] }),
      differs: { ...SIGNED, orderId: '1234' },
    },
    // The first read measures the time of the exchange, for which no cancel waits.
    'captured 6: cancelOrder': {
      call: async client => {
        await client.openOrders({ book: 'btc_usdt' });
        await client.cancel({ originIds: [ORIGIN_ID] });
      },
      differs: SIGNED,
    },
    'captured 7: fetchMyTrades': {
      call: client => client.userTrades({ sort: 'asc', marker: '16', limit: 50 }),
      differs: { ...SIGNED, startTime: null, fromId: '17' },
    },
    'captured 8: fetchOpenOrders': { call: client => client.openOrders({ book: 'btc_usdt' }), differs: SIGNED },
    'captured 9: fetchBalance': { call: client => client.balances(), differs: SIGNED },
    'captured 10: fetchOrderBook': { call: client => client.orderBook('btc_usdt'), differs: { limit: '100' } },
    'captured 11: fetchTradingFees':
      'another endpoint: account/commission has the rates of the account with their parts, for one book',
  },
});

describe('a signature', () => {
  // rest-api.md, SIGNED endpoint examples, HMAC keys.
  const secret = new Secret('NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j');
  const payload =
    'symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559';

  test('is that of the documented example', () => {
    expect(payloadSignatureOf(secret, payload)).toBe(
      'c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71',
    );
  });

  test('with a private key in PEM is an Ed25519 signature', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const signature = Buffer.from(payloadSignatureOf(new Secret(privateKey), payload), 'base64');
    expect(verify(null, Buffer.from(payload), createPublicKey(publicKey), signature)).toBe(true);
  });

  test('covers the query of a read and the body of an order, and comes last', async () => {
    for (const call of [
      (c: VenueClient) => c.openOrders({}),
      (c: VenueClient) => c.place(order('post only', '0.5', '30000')),
    ]) {
      const { target, body, headers } = await sentBy(call);
      const sent = body === '' ? target.split('?')[1]! : body;
      const [signed, signature] = sent.split('&signature=');
      expect(signature).toBe(createHmac('sha256', 'the-secret').update(signed!).digest('hex'));
      expect(headers['X-MBX-APIKEY']).toBe('the-key');
      expect(new URLSearchParams(signed).get('timestamp')).toBe('1700000000000');
    }
  });

  test('has a validity that ends before the deadline of the request', async () => {
    for (const [deadlineMs, recvWindow] of [
      [1_234.5, '1234'],
      [60_000, '5000'],
    ] as const) {
      const { client, transport } = scriptedBinance(() => ({ status: 200, headers: {}, body: '[]' }), deadlineMs);
      await client.openOrders({});
      expect(new URLSearchParams(transport.requests.at(-1)!.target.split('?')[1]).get('recvWindow')).toBe(recvWindow);
    }
  });
});
