/** Who asks: the header, the signature, the nonce and what a key may do. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { randomOf, Secret, VirtualClock } from '../../src/core/index.ts';
import { meaningOf, nonceV2, signatureOf } from '../../src/exchange/index.ts';
import { ROUTES } from '../../src/sandbox/index.ts';
import { json, scriptedClient } from '../exchange/bitso/fakes.ts';
import { everyWay, WAYS, done, refusal } from './driver.ts';

/** Those of v3 and v4: RFQ says it in its own envelope. */
const TRADING = ROUTES.filter(({ pattern }) => !pattern.startsWith('/rfq/'));

everyWay(open => {
  it('rest-api 5 key, signature and nonce are all required on private endpoints', async () => {
    const { ann, send, exchange } = open({ authHeaders: 'plain' });
    const [, key, nonce, signature] = /^Bitso (.+):(.+):(.+)$/.exec(
      ann.headers('GET', '/api/v3/balance', '')['authorization']!,
    )!;
    const all = { key: key!, signature: signature!, nonce: nonce! };
    for (const missing of Object.keys(all)) {
      const headers = Object.fromEntries(Object.entries(all).filter(([name]) => name !== missing));
      expect(await send('GET', '/api/v3/balance', headers), missing).toMatchObject({ status: 401, code: '0208' });
    }
    expect((await send('GET', '/api/v3/balance', all)).status).toBe(200);
    exchange.venue.set({ authHeaders: 'bitso' });
    expect((await send('GET', '/api/v3/balance', all)).code).toBe('0208');
  });

  it('rest-api 5 the client sends the three headers apart when it is told to', async () => {
    const { member, client, exchange } = open({ authHeaders: 'plain' });
    const { id } = member({ balances: { mxn: '5' } });
    const { key, secret } = exchange.venue.addKey(id);
    expect(done(await client(key, secret, 'three').balances()).find(b => b.currency === 'mxn')!.total).toBe(
      '5.00000000',
    );
    expect(refusal(await client(key, secret).balances())).toBe('0208');
  });

  it('rest-api 5 every private route refuses who does not sign, and no public one does', async () => {
    const { send } = open();
    for (const { method, pattern, scope } of TRADING) {
      const answer = await send(method, pattern.replace(/:\w+/, 'abc1'));
      if (scope === 'private') expect(answer.code, `${method} ${pattern}`).toBe('0208');
      else expect(answer.code ?? '', `${method} ${pattern}`).not.toMatch(/^02/);
    }
    expect(TRADING.filter(({ scope }) => scope === 'private').length).toBeGreaterThan(20);
  });

  it('rest-api 5 the JSON that is sent is the JSON that was signed, to the byte', async () => {
    const { ann, send } = open();
    const signed = '{"from_currency":"mxn","to_currency":"usd","spend_amount":"10"}';
    const headers = ann.headers('POST', '/api/v4/currency_conversions', signed);
    const spaced = signed.replaceAll(':', ': ');
    expect((await send('POST', '/api/v4/currency_conversions', headers, spaced)).code).toBe('0215');
    expect((await send('POST', '/api/v4/currency_conversions', headers, signed)).code).toBe('0367');
  });

  it('rest-api 5 0201 answers an unknown key and a used nonce, 0215 a wrong signature, 0216 a restricted account', async () => {
    const { ann, send, client, exchange } = open();
    expect(refusal(await client('nobody', 'secret').balances())).toBe('0201');
    const headers = ann.headers('GET', '/api/v3/balance', '');
    expect((await send('GET', '/api/v3/balance', headers)).status).toBe(200);
    expect(await send('GET', '/api/v3/balance', headers)).toMatchObject({ status: 401, code: '0201' });
    expect(refusal(await client(ann.key, 'wrong').balances())).toBe('0215');
    exchange.venue.accounts.get(ann.id)!.restricted = true;
    expect(refusal(await ann.client.balances())).toBe('0216');
  });

  it('public-facts 2.1 one Authorization header carries key, nonce and signature', async () => {
    const { ann, send } = open();
    const { authorization } = ann.headers('GET', '/api/v3/balance', '') as { authorization: string };
    expect(authorization).toMatch(/^Bitso \w{16}:\d{14,19}:[0-9a-f]{64}$/);
    expect((await send('GET', '/api/v3/balance', { authorization })).status).toBe(200);
    for (const wrong of [authorization.slice(6), authorization.replace('Bitso', 'Basic'), 'Bitso', 'Bitso a:b'])
      expect((await send('GET', '/api/v3/balance', { authorization: wrong })).code, wrong).toBe('0208');
  });

  it('public-facts 2.1 no content type is needed with a body', async () => {
    const { ann } = open();
    const order = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1000000', major: '0.01' };
    for (const more of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }])
      expect((await ann.call('POST', '/api/v3/orders', order, more)).status).toBe(200);
  });

  it('public-facts 2.2 the signature covers method, path, query as sent, and body', async () => {
    const { ann, send } = open();
    const target = '/api/v3/orders?oids=a,b';
    expect((await send('GET', target, ann.headers('GET', target, ''))).status).toBe(200);
    const encoded = '/api/v3/orders?oids=a%2Cb';
    expect((await send('GET', encoded, ann.headers('GET', encoded, ''))).status).toBe(200);
    for (const other of ['/v3/orders?oids=a,b', encoded, '/api/v3/orders', `${target}&x=1`])
      expect((await send('GET', target, ann.headers('GET', other, ''))).code, other).toBe('0215');
    expect((await send('DELETE', target, ann.headers('GET', target, ''))).code).toBe('0215');
  });

  it('public-facts 2.3 nonces of 14 to 19 digits pass in any order, and none passes twice', async () => {
    const { ann, send } = open();
    const ask = (nonce: string) => send('GET', '/api/v3/balance', ann.headers('GET', '/api/v3/balance', '', nonce));
    for (const nonce of ['1790000000000123456', '17900000000005', '1789999999999000001', '1700000000000999999'])
      expect((await ask(nonce)).status, nonce).toBe(200);
    expect((await ask('17900000000005')).code).toBe('0201');
    expect((await ask('17900000000')).code).toBe('0207');
    expect((await ask('17900000000001234567')).code).toBe('0207');
    for (const nonce of ['abc', '1.5', '-1']) expect((await ask(nonce)).code, nonce).toBe('0206');
  });

  it('public-facts 2.3 v1 nonces must grow where the exchange is switched to them', async () => {
    const { ann, send } = open({ nonce: 'v1' });
    const ask = (nonce: string) => send('GET', '/api/v3/balance', ann.headers('GET', '/api/v3/balance', '', nonce));
    expect((await ask('5')).status).toBe(200);
    expect((await ask('6')).status).toBe(200);
    expect((await ask('6')).code).toBe('0201');
    expect((await ask('4')).code).toBe('0201');
  });

  it('public-facts 2.3 a nonce far from the clock is 0207 where skew is checked', async () => {
    const { ann, send } = open({ nonceSkewMs: 300_000 });
    const ask = (ms: number) =>
      send('GET', '/api/v3/balance', ann.headers('GET', '/api/v3/balance', '', `${ms}000001`));
    expect((await ask(1_790_000_000_000 - 299_000)).status).toBe(200);
    expect((await ask(1_790_000_000_000 - 301_000)).code).toBe('0207');
    expect((await ask(1_790_000_000_000 + 301_000)).code).toBe('0207');
  });

  it('public-facts 2.3 nonces belong to a key: another key may use the same', async () => {
    const { ann, bob, send } = open();
    for (const who of [ann, bob])
      expect(
        (await send('GET', '/api/v3/balance', who.headers('GET', '/api/v3/balance', '', '1790000000000000077'))).status,
      ).toBe(200);
  });

  it('public-facts 2.4 a key without the permission gets 0202, an inactive key 0326, a foreign address 0213', async () => {
    const { exchange, member, client } = open();
    const { id } = member({ balances: { mxn: '1000' } });
    const order = {
      book: 'btc_mxn',
      side: 'buy',
      price: '1000000',
      major: '0.0001',
      originId: 'a',
      timeInForce: 'post only',
    } as const;
    const reads = exchange.venue.addKey(id, { permissions: ['account'] });
    const reader = client(reads.key, reads.secret);
    expect(done(await reader.openOrders())).toEqual([]);
    expect(refusal(await reader.place(order))).toBe('0202');
    expect(refusal(await reader.balances())).toBe('0202');
    expect(refusal(await reader.cancelAll())).toBe('0202');
    exchange.venue.keys.get(reads.key)!.active = false;
    expect(refusal(await reader.openOrders())).toBe('0326');
    const bound = exchange.venue.addKey(id, { addresses: ['10.9.8.7'] });
    expect(refusal(await client(bound.key, bound.secret).openOrders())).toBe('0213');
  });

  it('public-facts 2.5 market data needs no header', async () => {
    const { stranger } = open();
    expect(done(await stranger.availableBooks()).length).toBeGreaterThan(0);
    expect(done(await stranger.orderBook('btc_mxn')).bids).toEqual([]);
    expect(done(await stranger.trades('btc_mxn'))).toEqual([]);
    expect(done(await stranger.ticker('btc_mxn')).book).toBe('btc_mxn');
    expect(done(await stranger.candles({ book: 'btc_mxn', seconds: 60, from: 0, to: 1 }))).toEqual([]);
  });
}, WAYS);

describe('what no request to the embedded exchange brings about', () => {
  it('rest-api 5 0214, which only logins in a browser get, is kept and known', async () => {
    const reply = JSON.stringify({ success: false, error: { code: '0214', message: 'reCAPTCHA', details: [] } });
    expect(refusal(await scriptedClient(() => json(reply, 401)).client.balances())).toBe('0214');
    expect(meaningOf('0214')).toBeDefined();
  });

  it('rfq 3 EXPIRED is a status that the client reads, though an expired quote is answered with quote_not_found', async () => {
    const [created_at, expires_at] = ['2026-02-11T16:05:09Z', '2026-02-11T16:05:39Z'];
    const terms = { id: 'q', source: 'MXN', target: 'USD', source_amount: '1', target_amount: '1', rate: '1' };
    for (const status of ['ACTIVE', 'EXPIRED', 'ACCEPTED', 'REJECTED']) {
      const reply = JSON.stringify({ ...terms, status, created_at, expires_at, can_confirm: true });
      expect(done(await scriptedClient(() => json(reply)).client.rfq.quote('q')).status).toBe(status);
    }
  });
});

describe('the signature, whoever makes it', () => {
  const secret = 'demo_secret_0f1e2d3c';
  const nonce = '1789000000123004217';
  it.each([
    ['GET', '/api/v3/balance', '', 'd31ba9f13e617ee214b8a2de0063f7f394796dcb99ca9e352f283bd08566e078'],
    [
      'GET',
      '/api/v3/open_orders?book=btc_mxn&limit=100',
      '',
      '5f9d57e1293ff6f2c614ae9137bb608ad0fee3ab6ef960dcbe167c9742be86c9',
    ],
    ['DELETE', '/api/v3/orders/all', '', '3af87e5de8f4fd6bf4bdc9f1d7d118762415582e6ce40d00f85999f1a0262b43'],
    [
      'DELETE',
      '/api/v3/orders?oids=Ab3dEf6hIj9kLm2n,Qr5sTu8vWx1yZa4b',
      '',
      '8a681bde7b48e9c6d2234c27e60da8fee3f2e269a575ac79b5ba1ef990fc7a8f',
    ],
    [
      'PATCH',
      '/api/v4/orders/Ab3dEf6hIj9kLm2n',
      '{"price":"1502350","cancel":true}',
      '5a9bb08ba4bd088c72342e47fcc722f10012074351ac5fa06e336c080bef3a4b',
    ],
    [
      'PUT',
      '/api/v4/currency_conversions/kT4bW9xZ2mN7pQ1r',
      '',
      'a60d3d631c610a7f4f93b601ed9ad053807e861901bf133126789d8f10d21d4f',
    ],
    [
      'POST',
      '/api/v3/orders',
      '{"book":"btc_mxn","side":"sell","type":"limit","major":"0.00250000","price":"1502340","time_in_force":"postonly","origin_id":"mm-ask-000017"}',
      '3e949d7f57a862ec62c95d87b083b03f4d002f32b36381005c0f4f2f938952c6',
    ],
  ] as const)('public-facts 2.2 of %s %s is the check value of the document', (method, target, body, wanted) => {
    expect(signatureOf(new Secret(secret), nonce, { method, target, body })).toBe(wanted);
    expect(
      createHmac('sha256', secret)
        .update(nonce + method + target + body)
        .digest('hex'),
    ).toBe(wanted);
  });

  it('public-facts 2.3 a nonce of the client is 13 digits of milliseconds and 6 of salt, and never repeats', () => {
    const nonces = nonceV2(new VirtualClock(1_790_000_000_000), randomOf(3));
    const seen = Array.from({ length: 500 }, () => nonces.next());
    for (const nonce of seen) expect(nonce).toMatch(/^17900000000\d{8}$/);
    expect(new Set(seen).size).toBe(500);
  });
});
