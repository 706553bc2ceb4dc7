/** Requests of the client beside those of ccxt 4.5.84, and documented examples of signatures. */
import { createHmac, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TimeInForce, VenueClient, WireRequest } from '../../../src/core/index.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { payloadSignatureOf } from '../../../src/exchange/binance/wire/protocol.ts';
import { scriptedBinance } from './fakes.ts';

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';
const FIXTURES = `${DATA}/ccxt-fixtures/binance.json`;
type Case = { readonly method: string; readonly input: readonly unknown[]; readonly request: Captured };
type Captured = { readonly method: string; readonly url: string; readonly body?: string };

/** Fields of a request, without those that differ for the reasons given. */
function fieldsOf(text: string): Record<string, string> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  // `signature`, `timestamp`: other keys, another clock. `recvWindow`: ccxt sends 10000; the client sends its deadline,
  // at most 5000, so that a late request is dead.
  for (const name of ['signature', 'timestamp', 'recvWindow']) delete fields[name];
  return fields;
}

const sentBy = async (call: (client: VenueClient) => Promise<unknown>): Promise<WireRequest> => {
  const { client, transport } = scriptedBinance(() => ({ status: 200, headers: {}, body: '[]' }));
  await call(client);
  // A cancel does not wait for the time of the exchange, which is read after it.
  return transport.requests.findLast(({ target }) => !target.includes('/v3/time'))!;
};
const order = (timeInForce: TimeInForce, major: string, price: string) => ({
  ...({ book: 'btc_usdt', side: 'buy', price, major, originId: 'pt0a1b2c3d4e5f', timeInForce } as const),
});

describe.skipIf(!existsSync(FIXTURES))('a request', () => {
  const { captured } = existsSync(FIXTURES)
    ? (JSON.parse(readFileSync(FIXTURES, 'utf8')) as { captured: { cases: readonly Case[] } })
    : { captured: { cases: [] } };

  test.each([
    // ccxt asks for FULL answers; the client for RESULT, because it reads fills from the list of trades.
    [
      0,
      (c: VenueClient) => c.place(order('immediate or cancel', '0.12345678', '30000.13')),
      { newOrderRespType: 'RESULT' },
    ],
    // ccxt makes up the client id of an order without one.
    [
      3,
      (c: VenueClient) => c.place(order('post only', '0.5', '30000')),
      { newOrderRespType: 'RESULT', newClientOrderId: 'pt0a1b2c3d4e5f' },
    ],
    [4, (c: VenueClient) => c.lookUp({ originIds: ['pt0a1b2c3d4e5f'] }), {}],
    // The example has an id that is no number.
    [5, (c: VenueClient) => c.lookUp({ oids: ['1234'] }), { orderId: '1234' }],
    [6, (c: VenueClient) => c.cancel({ originIds: ['pt0a1b2c3d4e5f'] }), {}],
    // The client reads on from an id, not from a time, so that no trade of one millisecond is missed.
    [
      7,
      (c: VenueClient) => c.userTrades({ sort: 'asc', marker: '16', limit: 50 }),
      { startTime: undefined, fromId: '17' },
    ],
    [8, (c: VenueClient) => c.openOrders({ book: 'btc_usdt' }), {}],
    [9, (c: VenueClient) => c.balances(), {}],
    // The client reads as many levels as cost the same weight.
    [10, (c: VenueClient) => c.orderBook('btc_usdt'), { limit: '100' }],
  ] as const)('of case %i equals that of ccxt but for what is said here', async (n, call, differences) => {
    const { method, url, body = '' } = captured.cases[n]!.request;
    const theirs = new URL(url);
    const ours = await sentBy(call);
    const target = new URL(ours.target, 'https://api.binance.com');
    expect([ours.method, target.pathname]).toEqual([method, theirs.pathname]);
    const expected = Object.entries({ ...fieldsOf(theirs.search), ...fieldsOf(body), ...differences });
    expect({ ...fieldsOf(target.search), ...fieldsOf(ours.body) }).toEqual(
      Object.fromEntries(expected.filter(([, value]) => value !== undefined)),
    );
  });
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
