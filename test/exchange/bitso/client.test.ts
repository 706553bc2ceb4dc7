import fc from 'fast-check';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  randomOf,
  settle,
  TransportFailure,
  VirtualClock,
  type Exchange,
  type Outcome,
  type WireReply,
  type Observation,
} from '../../../src/core/index.ts';
import { exchangeClient, type Client } from '../../../src/exchange/bitso/client.ts';
import { signatureOf } from '../../../src/exchange/bitso/wire/sign.ts';
import { httpTransport } from '../../../src/exchange/transport/transport.ts';
import { ROUTES } from '../../../src/sandbox/index.ts';
import { credentials, json, ok, scriptedClient } from './fakes.ts';
import { nonceV1 } from './nonceV1.ts';

const limit = {
  book: 'btc_mxn',
  side: 'sell',
  price: '1502340',
  major: '0.00250000',
  originId: 'mm-ask-000017',
  timeInForce: 'post only',
} as const;

/** Every endpoint of both documents: the call, and the request that it must become. */
const ENDPOINTS: readonly [string, (client: Client) => Promise<unknown>, string, string?][] = [
  ['available books', c => c.availableBooks(), 'GET /api/v3/available_books'],
  ['order book', c => c.orderBook('btc_mxn'), 'GET /api/v3/order_book?book=btc_mxn&aggregate=true'],
  ['whole book', c => c.orderBook('btc_mxn', false), 'GET /api/v3/order_book?book=btc_mxn&aggregate=false'],
  ['trades', c => c.trades('btc_mxn'), 'GET /api/v3/trades?book=btc_mxn'],
  [
    'trades by page',
    c => c.trades('btc_mxn', { marker: '77', sort: 'asc', limit: 100 }),
    'GET /api/v3/trades?book=btc_mxn&marker=77&sort=asc&limit=100',
  ],
  ['ticker', c => c.ticker('btc_mxn'), 'GET /api/v3/ticker?book=btc_mxn'],
  ['all tickers', c => c.tickers(), 'GET /api/v3/ticker'],
  [
    'candles',
    c => c.candles({ book: 'btc_mxn', seconds: 60, from: 1, to: 2 }),
    'GET /api/v3/ohlc?book=btc_mxn&time_bucket=60&start=1&end=2',
  ],
  ['balances', c => c.balances(), 'GET /api/v3/balance'],
  ['fees', c => c.fees(), 'GET /api/v3/fees'],
  ['fee schedule', c => c.feeSchedule(), 'GET /api/v3/fees'],
  ['account status', c => c.accountStatus(), 'GET /api/v3/account_status'],
  ['open orders', c => c.openOrders({}), 'GET /api/v3/open_orders'],
  [
    'open orders by everything',
    c => c.openOrders({ book: 'btc_mxn', currency: 'btc', limit: 500, source: 'alpha' }),
    'GET /api/v3/open_orders?book=btc_mxn&currency=btc&limit=500&source=alpha',
  ],
  ['user trades', c => c.userTrades({}), 'GET /api/v3/user_trades'],
  [
    'user trades by page',
    c => c.userTrades({ book: 'btc_mxn', marker: '5', sort: 'desc', limit: 1 }),
    'GET /api/v3/user_trades?book=btc_mxn&marker=5&sort=desc&limit=1',
  ],
  ['one user trade', c => c.userTradesByTid(['17']), 'GET /api/v3/user_trades/17'],
  ['several user trades', c => c.userTradesByTid(['17', '18']), 'GET /api/v3/user_trades/17-18'],
  ['order trades by oid', c => c.orderTrades({ oid: 'abc' }), 'GET /api/v3/order_trades/abc'],
  ['order trades by our id', c => c.orderTrades({ originId: 'mm-1' }), 'GET /api/v3/order_trades?origin_id=mm-1'],
  ['one order', c => c.order('abc'), 'GET /api/v3/orders/abc'],
  ['orders by oid', c => c.lookUp({ oids: ['a', 'b'] }), 'GET /api/v3/orders?oids=a,b'],
  ['orders by our id', c => c.lookUp({ originIds: ['x-1', 'x_2'] }), 'GET /api/v3/orders?origin_ids=x-1,x_2'],
  ['cancel one', c => c.cancelOne('abc'), 'DELETE /api/v3/orders/abc'],
  ['cancel by oid', c => c.cancel({ oids: ['a', 'b'] }), 'DELETE /api/v3/orders?oids=a,b'],
  ['cancel by our id', c => c.cancel({ originIds: ['x', 'y'] }), 'DELETE /api/v3/orders?origin_ids=x,y'],
  ['cancel all', c => c.cancelAll(), 'DELETE /api/v3/orders/all'],
  [
    'place',
    c => c.place(limit),
    'POST /api/v3/orders',
    '{"book":"btc_mxn","side":"sell","type":"limit","major":"0.00250000","price":"1502340","time_in_force":"postonly","origin_id":"mm-ask-000017"}',
  ],
  [
    'place a market order',
    c => c.placeOrder({ book: 'btc_mxn', side: 'buy', type: 'market', minor: '500', slippageTolerance: '0.5' }),
    'POST /api/v3/orders',
    '{"book":"btc_mxn","side":"buy","type":"market","minor":"500","slippage_tolerance":0.5}',
  ],
  [
    'place a stop-limit order',
    c =>
      c.placeOrder({
        ...limit,
        type: 'limit',
        timeInForce: 'postonly',
        stop: '1500000',
        marginOrderType: 'CROSS_MARGIN',
      }),
    'POST /api/v3/orders',
    '{"book":"btc_mxn","side":"sell","type":"limit","major":"0.00250000","stop":"1500000","price":"1502340","time_in_force":"postonly","origin_id":"mm-ask-000017","margin_order_type":"CROSS_MARGIN"}',
  ],
  [
    'replace',
    c => c.replace({ oid: 'abc' }, { price: '1', major: '2', originId: 'new' }),
    'PATCH /api/v3/orders/abc',
    '{"price":"1","major":"2","origin_id":"new"}',
  ],
  [
    'modify',
    c => c.modify({ originId: 'mm-1' }, { price: '1499980', major: '0.0041', cancel: true }),
    'PATCH /api/v4/orders?origin_id=mm-1',
    '{"price":"1499980","major":"0.0041","cancel":true}',
  ],
  [
    'conversion quote',
    c => c.requestConversion({ from: 'mxn', to: 'usd', receive: '100' }),
    'POST /api/v4/currency_conversions',
    '{"from_currency":"mxn","to_currency":"usd","receive_amount":"100"}',
  ],
  ['execute a conversion', c => c.executeConversion('kT4b'), 'PUT /api/v4/currency_conversions/kT4b'],
  ['conversion', c => c.conversion('8123'), 'GET /api/v4/currency_conversions/8123'],
  ['conversion by its quote', c => c.conversionOfQuote('kT4b'), 'GET /api/v3/currency_conversions/kT4b'],
  [
    'ledger of the exchange',
    c => c.transferLines('fundings', { limit: 25 }),
    'GET /api/v3/ledger/fundings?sort=desc&limit=25',
  ],
  ['keys of deliveries', c => c.webhookKeys(), 'GET /v4/webhooks/public-key'],
  ['rfq pairs', c => c.rfq.pairs(), 'GET /rfq/v1/pairs'],
  ['rfq pairs of', c => c.rfq.pairs({ source: 'BTC', target: 'MXN' }), 'GET /rfq/v1/pairs?source=BTC&target=MXN'],
  [
    'rfq quote request',
    c => c.rfq.requestQuote({ source: 'BTC', target: 'MXN', sourceAmount: '0.1' }),
    'POST /rfq/v1/quotes',
    '{"source":"BTC","target":"MXN","source_amount":"0.1"}',
  ],
  ['rfq quote', c => c.rfq.quote('1-a'), 'GET /rfq/v1/quotes/1-a'],
  ['rfq convert', c => c.rfq.convert('1-a'), 'POST /rfq/v1/conversions', '{"quote_id":"1-a"}'],
  ['rfq conversion', c => c.rfq.conversion('1-a'), 'GET /rfq/v1/conversions/1-a'],
  ['rfq conversions', c => c.rfq.conversions(), 'GET /rfq/v1/conversions'],
  [
    'rfq conversions by page',
    c => c.rfq.conversions({ status: 'PENDING', pageSize: 10, pageToken: 'a+/=&' }),
    'GET /rfq/v1/conversions?status=PENDING&page_size=10&page_token=a%2B%2F%3D%26',
  ],
  [
    'webhook registration',
    c => c.registerWebhook('https://example.com/hook'),
    'POST /v4/webhooks',
    '{"callback_url":"https://example.com/hook","events":["TRANSACTION"]}',
  ],
];

/** By the routes of the embedded exchange. */
const isPublic = (line: string): boolean =>
  ROUTES.some(
    ({ scope, method, pattern }) =>
      scope === 'public' && `${method} ${pattern}` === line.replace(' /api/', ' /').replace(/\?.*/, ''),
  );

/** What is no endpoint. */
const OTHERS = ['budget', 'close', 'lockOuts'];

describe('an endpoint', () => {
  it.each(ENDPOINTS)('%s goes out as documented, signed when private', async (_, call, line, body = '') => {
    const { client, transport } = scriptedClient();
    await call(client);
    expect(transport.requests).toHaveLength(1);
    const request = transport.requests[0]!;
    expect(`${request.method} ${request.target}`).toBe(line);
    expect(request.body).toBe(body);
    expect(request.headers['content-type']).toBe(body === '' ? undefined : 'application/json');
    const [, key, nonce, signature] =
      /^Bitso ([^:]+):(\d{19}):([0-9a-f]{64})$/.exec(request.headers['authorization'] ?? '') ?? [];
    if (isPublic(line)) {
      expect(request.headers).toEqual({ accept: 'application/json' });
    } else {
      expect(key).toBe('the-key');
      expect(signature).toBe(signatureOf(credentials.secret, nonce!, request));
    }
  });

  it.each(ENDPOINTS)(
    '%s with an unknown error is rejected for sure exactly if it changes nothing',
    async (_, call, line) => {
      const error = { success: false, error: { code: '0999', message: 'no document has this code' } };
      const changesNothing = line.startsWith('GET ') || /^POST \S+\/(?:currency_conversions|quotes)$/.test(line);
      expect(await call(scriptedClient(() => json(error, 400)).client)).toMatchObject({
        kind: changesNothing ? 'refused' : 'unknown',
      });
    },
  );

  it('of the client is in this table, whichever it is', async () => {
    const called = new Set<string>();
    const { client } = scriptedClient();
    const noting = <T extends object>(of: T, prefix = ''): T =>
      new Proxy(of, {
        get(at, key) {
          const found: unknown = Reflect.get(at, key);
          if (typeof found === 'object' && found !== null) return noting(found, `${String(key)}.`);
          called.add(`${prefix}${String(key)}`);
          return found;
        },
      });
    for (const [, call] of ENDPOINTS) await call(noting(client));
    const namesIn = (of: object, prefix = ''): readonly string[] =>
      Object.entries(of).flatMap(([key, value]: [string, unknown]) => {
        if (typeof value === 'object' && value !== null) return namesIn(value, `${key}.`);
        return typeof value === 'function' ? [`${prefix}${key}`] : [];
      });
    expect(
      namesIn(client)
        .filter(name => !called.has(name))
        .sort(),
    ).toEqual(OTHERS);
  });

  it.each(ENDPOINTS)('%s ends in an outcome whatever the answer, never in an exception', async (_, call) => {
    const weird = [
      '',
      'null',
      '[]',
      '{}',
      '{"success":true}',
      '{"success":true,"payload":null}',
      '{"success":true,"payload":[1]}',
    ];
    weird.push('{"success":true,"payload":{"a":[]}}', '{"pairs":[{}]}', '{"error":5}', '{"errors":[5]}', '<html>');
    for (const text of weird) {
      for (const status of [200, 302, 400, 420, 500]) {
        const outcome = (await call(scriptedClient(() => json(text, status)).client)) as Outcome<unknown>;
        expect(['done', 'refused', 'unknown'], `${status} ${text}`).toContain(outcome.kind);
      }
    }
    for (const sent of [true, false]) {
      const { client } = scriptedClient(() => Promise.reject(new TransportFailure('gone', sent)));
      expect(await call(client)).toMatchObject(sent ? { kind: 'unknown' } : { kind: 'refused', code: 'not-sent' });
    }
  });
});

describe('what breaks the rules of the interface', () => {
  const bad: readonly [string, (client: Client) => Promise<unknown>][] = [
    ['a book', c => c.orderBook('btc_mxn&x=1')],
    ['an oid', c => c.cancelOne('all/../..')],
    ['an empty oid', c => c.order('')],
    ['an oid among others', c => c.cancel({ oids: ['a', 'b,c'] })],
    ['an origin_id', c => c.place({ ...limit, originId: 'ä' })],
    ['an origin_id of 41 characters', c => c.place({ ...limit, originId: 'x'.repeat(41) })],
    ['a price of zero', c => c.place({ ...limit, price: '0.00' })],
    ['a price with an exponent', c => c.place({ ...limit, price: '1e5' })],
    ['a negative amount', c => c.place({ ...limit, major: '-1' })],
    ['an amount that is not a number', c => c.place({ ...limit, major: 'NaN' })],
    ['a time in force that is none', c => c.place({ ...limit, timeInForce: 'postonly' as never })],
    ['no time in force', c => c.place({ ...limit, timeInForce: undefined as never })],
    ['no change', c => c.modify({ oid: 'a' }, { cancel: true })],
    ['two amounts', c => c.modify({ oid: 'a' }, { major: '1', minor: '1' })],
    [
      'a slippage of over 100',
      c => c.placeOrder({ book: 'btc_mxn', side: 'buy', type: 'market', major: '1', slippageTolerance: '100.5' }),
    ],
    ['a page too long', c => c.trades('btc_mxn', { limit: 101 })],
    ['a page of nothing', c => c.userTrades({ limit: 0 })],
    ['a page of NaN', c => c.openOrders({ limit: NaN })],
    ['a width of candle', c => c.candles({ book: 'btc_mxn', seconds: 61, from: 1, to: 2 })],
    ['a tid', c => c.userTradesByTid(['1', '2-3'])],
    ['a callback URL', c => c.registerWebhook('file:///etc/passwd')],
    [
      'both conversion amounts',
      c => c.requestConversion({ from: 'mxn', to: 'usd', spend: '1', receive: '1' } as never),
    ],
    ['no RFQ amount', c => c.rfq.requestQuote({ source: 'BTC', target: 'MXN' } as never)],
    [
      'a market order by both amounts',
      c => c.placeOrder({ ...limit, type: 'market', major: '1', minor: '1' } as never),
    ],
  ];
  it.each(bad)('(%s) is refused here and not sent', async (_, call) => {
    const { client, transport } = scriptedClient();
    expect(await call(client)).toMatchObject({ kind: 'refused', code: 'not-sent' });
    expect(transport.requests).toEqual([]);
  });

  it('is not sent either when a private endpoint is asked without a key', async () => {
    const transport = { send: () => Promise.reject(new Error('sent')), close: async () => undefined };
    const client = exchangeClient({ transport, clock: new VirtualClock(), random: randomOf(1) });
    expect(await client.balances()).toMatchObject({ kind: 'refused', code: 'not-sent' });
    expect(await client.cancelAll()).toMatchObject({ kind: 'refused', code: 'not-sent' });
  });
});

describe('many ids', () => {
  it.each([0, 1, 50, 51, 120])('(%i of them) are canceled and looked up in requests of at most 50', async count => {
    const oids = Array.from({ length: count }, (_, i) => `oid${i}`);
    const { client, transport } = scriptedClient(request => {
      const asked = request.target.split('oids=')[1]!.split(',');
      return ok(request.method === 'DELETE' ? asked : []);
    });
    expect(await client.cancel({ oids })).toEqual({ kind: 'done', value: oids });
    expect(await client.lookUp({ oids })).toEqual({ kind: 'done', value: [] });
    expect(transport.requests).toHaveLength(2 * Math.ceil(count / 50));
    for (const request of transport.requests) expect(request.target.split(',').length).toBeLessThanOrEqual(50);
  });

  it('of which one request fails still name those that were canceled; a lookup is done only when whole', async () => {
    const oids = Array.from({ length: 60 }, (_, i) => `oid${i}`);
    const { client } = scriptedClient(request => {
      if (request.target.includes('oid50,')) throw new TransportFailure('reset', true);
      return ok(request.method === 'DELETE' ? ['oid3'] : []);
    });
    expect(await client.cancel({ oids })).toEqual({ kind: 'done', value: ['oid3'] });
    expect(await client.lookUp({ oids })).toMatchObject({ kind: 'unknown' });
  });

  it('brings with a refusal what it means and what a person can do; one of our own has neither', async () => {
    const code = '0201';
    const { client } = scriptedClient(() => json({ success: false, error: { code, message: 'no' } }, 401));
    const refused = await client.balances();
    expect(refused).toMatchObject({ kind: 'refused', code, status: 401, meaning: 'nonce' });
    expect(refused).toHaveProperty('remedy', expect.stringContaining('PUNTAS_API_KEY'));
    await client.close();
    const closed = await client.balances();
    expect(closed).toMatchObject({ kind: 'refused', code: 'closed' });
    expect(['meaning', 'remedy'].filter(name => name in closed)).toEqual([]);
  });

  it.each(['0312', '0357'])('of which one is refused with %s as unknown never hide the others', async code => {
    const originIds = Array.from({ length: 40 }, (_, i) => `mm-${i}`);
    const { client, transport } = scriptedClient(({ method, target }) => {
      const asked = target.split('origin_ids=')[1]!.split(',');
      if (asked.includes('mm-17')) return json({ success: false, error: { code, message: '' } }, 400);
      return ok(method === 'DELETE' ? asked : []);
    });
    const others = originIds.filter(id => id !== 'mm-17');
    expect(await client.cancel({ originIds })).toEqual({ kind: 'done', value: others });
    expect(transport.requests.length).toBeLessThan(15);
    expect(await client.cancel({ originIds: ['mm-17'] })).toEqual({ kind: 'done', value: [] });
    expect(await client.lookUp({ originIds })).toEqual({ kind: 'done', value: [] });
    expect(await client.lookUp({ originIds: ['mm-17'] })).toEqual({ kind: 'done', value: [] });
  });

  it('are looked up whole or not at all, and canceled as far as requests are answered, whichever ids are unknown and whichever requests fail', async () => {
    const rowOf = (oid: string) => ({
      ...{ book: 'btc_mxn', oid, side: 'buy', type: 'limit', status: 'open', price: '1' },
      ...{ original_amount: '1', unfilled_amount: '1', created_at: '2026-01-01T00:00:00+00:00' },
    });
    const fates = fc.array(fc.constantFrom('known', 'known', 'known', 'unknown', 'failing'), { maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(fates, fc.boolean(), async (drawn, isSent) => {
        const fateOf = new Map(drawn.map((fate, i) => [`oid${i}`, fate]));
        const oids = [...fateOf.keys()];
        // The ids of requests that were answered.
        const answered: string[] = [];
        const { client } = scriptedClient(({ method, target }) => {
          const asked = target.split('oids=')[1]!.split(',');
          const has = (fate: string) => asked.some(oid => fateOf.get(oid) === fate);
          if (has('unknown')) return json({ success: false, error: { code: '0312', message: '' } }, 400);
          if (has('failing')) throw new TransportFailure('reset', isSent);
          answered.push(...asked);
          return ok(method === 'DELETE' ? asked : asked.map(rowOf));
        });
        const found = await client.lookUp({ oids });
        const known = oids.filter(oid => fateOf.get(oid) === 'known');
        expect(found.kind === 'done').toBe(!drawn.includes('failing'));
        if (found.kind === 'done') expect(found.value.map(({ oid }) => oid)).toEqual(known);
        answered.length = 0;
        const canceled = await client.cancel({ oids });
        if (canceled.kind === 'done') expect([...canceled.value].sort()).toEqual(answered.sort());
        else expect(answered).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('of which no request was answered are unknown when any of them may have arrived', async () => {
    const oids = Array.from({ length: 60 }, (_, i) => `oid${i}`);
    const { client } = scriptedClient(request => {
      throw new TransportFailure('reset', request.target.includes('oid50,'));
    });
    expect((await client.cancel({ oids })).kind).toBe('unknown');
  });
});

describe('the budgets', () => {
  it('hold back reads and places but no cancel, and the wait is bounded', async () => {
    const { client, transport, clock } = scriptedClient(() => ok([]), { budgets: { public: 1, private: 2 } });
    await client.openOrders({});
    await client.openOrders({});
    await client.trades('btc_mxn');
    expect(client.budget()).toEqual({ public: 0, private: 0 });
    const place = client.place(limit);
    const trades = client.trades('btc_mxn');
    expect((await client.cancel({ oids: ['a'] })).kind).toBe('done');
    expect(transport.requests).toHaveLength(4);
    await clock.advance(5_000);
    expect(await place).toMatchObject({ kind: 'refused', code: 'budget' });
    expect(await trades).toMatchObject({ kind: 'refused', code: 'budget' });
    await clock.advance(55_000);
    expect(client.budget()).toEqual({ public: 1, private: 2 });
  });

  it('are paused for a minute by a throttle answer, scope by scope', async () => {
    const { client, clock } = scriptedClient(request =>
      request.target.includes('balance')
        ? json({ success: false, error: { code: '0801', message: 'slow down' } }, 420)
        : ok([]),
    );
    expect(await client.balances()).toMatchObject({ kind: 'refused', code: '0801', status: 420 });
    expect(client.budget()).toEqual({ public: 60, private: 0 });
    expect(client.lockOuts()).toEqual({ public: 0, private: 1 });
    expect((await client.cancelAll()).kind).toBe('done');
    expect((await client.trades('btc_mxn')).kind).toBe('done');
    await clock.advance(60_000);
    expect(client.budget().private).toBe(300);
  });

  it('are not charged for what was not sent', async () => {
    const { client } = scriptedClient(() => Promise.reject(new TransportFailure('refused', false)));
    await client.balances();
    expect(client.budget().private).toBe(300);
  });

  it('let no request start after its wait is over, though a lane was full', async () => {
    const held: ((reply: WireReply) => void)[] = [];
    const { client, transport, clock } = scriptedClient(() => new Promise(resolve => held.push(resolve)), {
      lanes: { concurrency: 1 },
    });
    const hanging = client.balances();
    const place = client.place(limit);
    await clock.advance(1_001);
    held[0]!(ok({ balances: [] }));
    expect(await place).toMatchObject({ kind: 'refused', code: 'budget' });
    expect((await hanging).kind).toBe('done');
    expect(transport.requests).toHaveLength(1);
    expect(client.budget().private).toBe(299);
  });
});

describe('the client', () => {
  it('is an Exchange', () => {
    const exchange: Exchange = scriptedClient().client;
    expect(exchange).toBeDefined();
  });

  it('shows every request to the observer, with its endpoint, end, status and time', async () => {
    const seen: Observation[] = [];
    const clock = new VirtualClock();
    const { client } = scriptedClient(
      async request => {
        await new Promise<void>(resolve => clock.after(30, resolve));
        return request.method === 'DELETE'
          ? ok(['a'])
          : json({ success: false, error: { code: '0379', message: '' } }, 400);
      },
      { clock, onRequest: observation => void seen.push(observation) },
    );
    const both = Promise.all([client.cancel({ oids: ['a'] }), client.place(limit), client.order('')]);
    await clock.advance(30);
    await both;
    expect(seen).toEqual([
      { endpoint: 'DELETE orders', outcome: 'done', ms: 30, status: 200 },
      { endpoint: 'POST orders', outcome: 'refused', code: '0379', ms: 30, status: 400 },
    ]);
  });

  it('once closed refuses, lets what is under way end, and closes its transport', async () => {
    const held: ((reply: WireReply) => void)[] = [];
    const { client, transport } = scriptedClient(() => new Promise(resolve => held.push(resolve)), {
      budgets: { private: 1 },
    });
    const underWay = client.balances();
    const waiting = client.fees();
    await settle();
    let closed = false;
    const closing = client.close().then(() => (closed = true));
    expect(await client.trades('btc_mxn')).toMatchObject({ kind: 'refused', code: 'closed' });
    expect(await waiting).toMatchObject({ kind: 'refused', code: 'closed' });
    expect(await client.openOrders()).toMatchObject({ kind: 'refused', code: 'closed' });
    await settle();
    expect([closed, transport.closed]).toEqual([false, false]);
    held[0]!(ok({ balances: [] }));
    expect(await underWay).toEqual({ kind: 'done', value: [] });
    await closing;
    expect(transport.closed).toBe(true);
  });

  it('signs one request at a time, in order, with nonces of the first kind', async () => {
    const clock = new VirtualClock();
    let [running, most] = [0, 0];
    const { client, transport } = scriptedClient(
      async () => {
        most = Math.max(most, ++running);
        await settle();
        running--;
        return ok([]);
      },
      { clock, nonces: nonceV1(clock) },
    );
    await Promise.all([
      client.openOrders(),
      client.place(limit),
      client.cancelAll(),
      client.userTrades(),
      client.cancelOne('a'),
    ]);
    const nonces = transport.requests.map(request => Number(request.headers['authorization']!.split(':')[1]));
    expect(most).toBe(1);
    expect(nonces).toEqual([...nonces].sort((a, b) => a - b));
  });

  it('knows the other two interfaces by their own addresses', async () => {
    const other = scriptedClient().transport;
    const { client, transport } = scriptedClient(() => ok([]), {
      basePath: '',
      rfq: { transport: other, basePath: '/x' },
      webhooks: { transport: other, basePath: '' },
    });
    await client.balances();
    await client.rfq.pairs();
    await client.registerWebhook('https://example.com/');
    expect(transport.requests.map(r => r.target)).toEqual(['/v3/balance']);
    expect(other.requests.map(r => r.target)).toEqual(['/x/rfq/v1/pairs', '/v4/webhooks']);
    await client.close();
    expect([transport.closed, other.closed]).toEqual([true, true]);
  });

  it('registers a webhook, and is refused in words when it is registered already', async () => {
    const registered = {
      message: 'ok',
      webhooks: [{ id: 9007199254740993n, callback_url: 'https://e.com/', event: 'transaction' }],
    };
    const text = JSON.stringify(registered, (_, v: unknown) => (typeof v === 'bigint' ? 'BIG' : v)).replace(
      '"BIG"',
      '9007199254740993',
    );
    expect(await scriptedClient(() => json(text)).client.registerWebhook('https://e.com/')).toEqual({
      kind: 'done',
      value: {
        message: 'ok',
        webhooks: [{ id: '9007199254740993', callbackUrl: 'https://e.com/', event: 'TRANSACTION' }],
      },
    });
    const { client } = scriptedClient(() => json({ success: false, error: 'Duplicated: TRANSACTION' }, 400));
    expect(await client.registerWebhook('https://e.com/')).toMatchObject({
      kind: 'refused',
      message: 'Duplicated: TRANSACTION',
    });
  });
});

describe('over real sockets', () => {
  it('the bytes that arrive are the bytes that were signed', async () => {
    const faults: string[] = [];
    let count = 0;
    const server = createServer((req, res) => {
      let body = '';
      req.setEncoding('utf8');
      req.on('data', (text: string) => (body += text));
      req.on('end', () => {
        count++;
        const [, nonce, signature] = (req.headers.authorization ?? '').split(':');
        const method = req.method as 'GET';
        const target = req.url ?? '';
        if (signature !== signatureOf(credentials.secret, nonce ?? '', { method, target, body }))
          faults.push(`${method} ${target}`);
        res.end('{"success":true,"payload":{"oid":"a"}}');
      });
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = exchangeClient({
      transport: httpTransport({ origin, deadlineMs: 60_000 }),
      clock: new VirtualClock(),
      random: randomOf(7),
      credentials,
      budgets: { private: 10_000 },
    });
    const id = fc.stringMatching(/^[A-Za-z0-9]{1,16}$/);
    const originId = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
    const amount = fc.stringMatching(/^[1-9]\d{0,8}\.\d{1,8}$/);
    const call = fc.oneof(
      fc.array(id, { minLength: 1, maxLength: 50 }).map(oids => () => client.cancel({ oids })),
      fc.array(originId, { minLength: 1, maxLength: 50 }).map(originIds => () => client.lookUp({ originIds })),
      fc.tuple(originId, amount, amount).map(
        ([own, price, major]) =>
          () =>
            client.place({ ...limit, originId: own, price, major }),
      ),
      fc.string().map(pageToken => () => client.rfq.conversions({ pageToken })),
    );
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(call, async go => void (calls++, await go())),
      { numRuns: 150 },
    );
    expect(count).toBe(calls);
    expect(faults).toEqual([]);
    expect(await client.place(limit)).toEqual({ kind: 'done', value: { oid: 'a' } });
    await client.close();
    await new Promise(resolve => server.close(resolve));
  });
});
