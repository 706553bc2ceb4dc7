import { createHmac } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../../src/core/index.ts';
import { expectedSignature } from '../../../src/sandbox/venue/auth.ts';
import type { Switches } from '../../../src/sandbox/index.ts';
import { arena, publicCall, read, type Trader } from '../trader.ts';

const TARGET = '/api/v3/balance';

function ask(a: ReturnType<typeof arena>, headers: Record<string, string>, target = TARGET, peer = '127.0.0.1') {
  const reply = read(a.exchange.respond({ method: 'GET', target, headers, body: '' }, peer));
  return reply.body.success ? 'ok' : `${reply.status}/${reply.body.error.code}`;
}
const signed = (who: Trader, nonce?: string) => who.headers('GET', TARGET, '', nonce);

describe('the signature', () => {
  const secret = 'demo_secret_0f1e2d3c';
  const nonce = '1789000000123004217';
  const order =
    '{"book":"btc_mxn","side":"sell","type":"limit","major":"0.00250000","price":"1502340","time_in_force":"postonly","origin_id":"mm-ask-000017"}';
  // Check values of public-facts 2.2.
  it.each<[WireRequest['method'], string, string, string]>([
    ['GET', '/api/v3/balance', '', 'd31ba9f13e617ee214b8a2de0063f7f394796dcb99ca9e352f283bd08566e078'],
    [
      'GET',
      '/api/v3/open_orders?book=btc_mxn&limit=100',
      '',
      '5f9d57e1293ff6f2c614ae9137bb608ad0fee3ab6ef960dcbe167c9742be86c9',
    ],
    ['POST', '/api/v3/orders', order, '3e949d7f57a862ec62c95d87b083b03f4d002f32b36381005c0f4f2f938952c6'],
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
  ])('of %s %s is the published check value', (method, target, body, expected) => {
    expect(expectedSignature(secret, nonce, { method, target, body })).toBe(expected);
  });

  it('is checked over the exact target and body, with everything a client writes into them', () => {
    const a = arena();
    for (const target of [
      '/v3/balance?undefined',
      '/api/v3/balance/',
      '//api//v3///balance//?x=%2C&x=1',
      '/api/v3/orders?oids=a%2Cb',
    ]) {
      expect(ask(a, a.ann.headers('GET', target, ''), target)).toBe('ok');
      expect(ask(a, a.ann.headers('GET', target + '&', ''), target)).toBe('401/0215');
    }
    const body = '{ "book" : "btc_mxn","side":"buy", "type":"limit","price":"1500000","major":"0.1" }';
    const headers = { ...a.ann.headers('POST', '/api/v3/orders', body), 'content-type': 'text/plain' };
    expect(a.exchange.respond({ method: 'POST', target: '/api/v3/orders', headers, body }, '::1').status).toBe(200);
    const other = a.ann.headers('POST', '/api/v3/orders', body.trim() + ' ');
    expect(a.exchange.respond({ method: 'POST', target: '/api/v3/orders', headers: other, body }, '::1').status).toBe(
      401,
    );
  });
});

describe('a private request', () => {
  it('needs credentials, a known and active key, the right address, and the right permission', () => {
    const a = arena();
    expect(ask(a, {})).toBe('401/0208');
    expect(ask(a, { authorization: 'Bitso nobody:1789000000123004217:00' })).toBe('401/0201');
    expect(ask(a, { ...signed(a.ann), authorization: signed(a.ann)['authorization']!.slice(0, -1) })).toBe('401/0215');
    const limited = a.exchange.venue.addKey(a.ann.id, { permissions: ['account'], addresses: ['10.1.1.1'] });
    const header = (target: string) => {
      const nonce = a.ann.nonce();
      const signature = createHmac('sha256', limited.secret).update(`${nonce}GET${target}`).digest('hex');
      return { authorization: `Bitso ${limited.key}:${nonce}:${signature}` };
    };
    expect(ask(a, header(TARGET))).toBe('401/0213');
    expect(ask(a, header(TARGET), TARGET, '10.1.1.1')).toBe('401/0202');
    expect(ask(a, header('/api/v3/fees'), '/api/v3/fees', '10.1.1.1')).toBe('ok');
    a.exchange.venue.keys.get(limited.key)!.active = false;
    expect(ask(a, header('/api/v3/fees'), '/api/v3/fees', '10.1.1.1')).toBe('400/0326');
  });

  it('may come with the plain three headers where that is switched on', () => {
    const plain = (who: Trader): Record<string, string> => {
      const [key, nonce, signature] = signed(who)['authorization']!.slice('Bitso '.length).split(':') as [
        string,
        string,
        string,
      ];
      return { key, nonce, signature };
    };
    const bitso = arena();
    expect(ask(bitso, plain(bitso.ann))).toBe('401/0208');
    const either = arena({ authHeaders: 'either' });
    expect(ask(either, plain(either.ann))).toBe('ok');
    expect(ask(either, signed(either.ann))).toBe('ok');
    const only = arena({ authHeaders: 'plain' });
    expect(ask(only, plain(only.ann))).toBe('ok');
    expect(ask(only, signed(only.ann))).toBe('401/0208');
  });

  const cases: [Partial<Switches>, readonly (readonly [string, string])[]][] = [
    [
      { nonce: 'v2' },
      [
        ['1789000000123004217', 'ok'],
        ['1789000000123004217', '401/0201'],
        ['1789000000122004217', 'ok'],
        ['1789000000123', 'ok'],
        ['1789000000123', '401/0201'],
        ['178900000012', '401/0207'],
        ['17890000001230042171', '401/0207'],
        ['178900000x1230042', '401/0206'],
      ],
    ],
    [
      { nonce: 'v2 strict' },
      [
        ['1789000000123', '401/0207'],
        ['17890000001231', 'ok'],
      ],
    ],
    [
      { nonce: 'v1' },
      [
        ['5', 'ok'],
        ['5', '401/0201'],
        ['4', '401/0201'],
        ['1789000000123004217', 'ok'],
        ['1789000000123004216', '401/0201'],
      ],
    ],
    [
      { nonce: 'unchecked' },
      [
        ['5', 'ok'],
        ['5', 'ok'],
      ],
    ],
    [
      { nonceSkewMs: 1000 },
      [
        ['1790000001000000000', 'ok'],
        ['1790000001001000000', '401/0207'],
        ['1789999998999000000', '401/0207'],
      ],
    ],
    [
      { noncesKept: 1 },
      [
        ['1789000000123004217', 'ok'],
        ['1789000000123004218', 'ok'],
        ['1789000000123004217', '401/0201'],
        ['1789000000123004219', 'ok'],
        ['1789000000123004217', 'ok'],
      ],
    ],
  ];
  it.each(cases)('with %j keeps the nonce rules', (switches, nonces) => {
    const a = arena(switches);
    expect(nonces.map(([nonce]) => ask(a, signed(a.ann, nonce)))).toEqual(nonces.map(([, expected]) => expected));
  });

  it('costs the memory of a number for each nonce, not of the request that it came with', () => {
    const many = 10_000;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const a = arena({ rateLimits: 'off', noncesKept: 2 * many });
    const heap = () => {
      collect();
      collect();
      return process.memoryUsage().heapUsed;
    };
    const asked = () => {
      for (let i = 0; i < many; i++) ask(a, signed(a.ann));
      return heap();
    };
    // The code that it takes is compiled by then.
    const before = asked();
    expect((asked() - before) / many).toBeLessThan(100);
  });

  it('with a wrong signature leaves its nonce unused', () => {
    const a = arena();
    const nonce = a.ann.nonce();
    const [scheme, signature] = [signed(a.ann, nonce)['authorization']!.slice(0, -64), '0'.repeat(64)];
    expect(ask(a, { authorization: scheme + signature })).toBe('401/0215');
    expect(ask(a, signed(a.ann, nonce))).toBe('ok');
  });
});

describe('the request budget', () => {
  const ON: Partial<Switches> = { rateLimits: 'on' };
  const BOOK = '/api/v3/order_book?book=btc_mxn';

  it('of public requests is 60 a minute and address; then 420 with 0801 for a minute', async () => {
    const a = arena(ON);
    // Half a minute into the window: the lockout outlasts it.
    await a.clock.advance(30_000);
    for (let i = 0; i < 60; i++) expect(publicCall(a.exchange, BOOK).status).toBe(200);
    const over = publicCall(a.exchange, BOOK);
    expect([over.status, over.body.error.code]).toEqual([420, '0801']);
    expect(a.exchange.respond({ method: 'GET', target: BOOK, headers: {}, body: '' }, '10.0.0.2').status).toBe(200);
    await a.clock.advance(59_999);
    expect(publicCall(a.exchange, BOOK).status).toBe(420);
    await a.clock.advance(1);
    expect(publicCall(a.exchange, BOOK).status).toBe(200);
  });

  it('of private requests is 300 a minute and account, over all its keys, with cancels exempt', () => {
    const a = arena(ON);
    for (let i = 0; i < 300; i++) expect(ask(a, signed(a.ann))).toBe('ok');
    expect(ask(a, signed(a.ann))).toBe('420/0801');
    expect(a.ann.call('DELETE', '/api/v3/orders/all').status).toBe(200);
    const second = a.exchange.venue.addKey(a.ann.id);
    const nonce = a.ann.nonce();
    const signature = createHmac('sha256', second.secret).update(`${nonce}GET${TARGET}`).digest('hex');
    expect(ask(a, { authorization: `Bitso ${second.key}:${nonce}:${signature}` })).toBe('420/0801');
    expect(ask(a, signed(a.bob))).toBe('ok');
  });

  it('slides where that is switched on', async () => {
    const a = arena({ ...ON, rateWindow: 'sliding', publicPerMinute: 2, lockoutMs: 0 });
    const status = () => publicCall(a.exchange, BOOK).status;
    expect(status()).toBe(200);
    await a.clock.advance(30_000);
    expect([status(), status()]).toEqual([200, 420]);
    await a.clock.advance(30_000);
    expect([status(), status()]).toEqual([200, 420]);
  });
});
