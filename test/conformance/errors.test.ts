/** Error codes: what each means to the client, with which status the exchange answers, and that none is lost. */
import { describe, expect, it } from 'vitest';
import { meaningOf } from '../../src/exchange/index.ts';
import { CODES, statusOf, type Switches } from '../../src/sandbox/index.ts';
import { provesRefusal } from '../../src/exchange/bitso/wire/errorCodes.ts';
import { json, scriptedClient } from '../exchange/bitso/fakes.ts';
import { everyWay, WAYS, done, errorsOf, refusal, type Stage } from './driver.ts';

const LIMIT = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1500000', major: '0.1' } as const;

/** How each code that the exchange answers with is brought about. Those of section 7 with a handler; a test below holds the list whole. */
const PROVOKED: Readonly<Record<string, readonly [Partial<Switches>, (stage: Stage) => Promise<string>]>> = {
  '0201': [{}, async ({ client }) => refusal(await client('nobody', 'x').balances())],
  '0215': [{}, async ({ client, ann }) => refusal(await client(ann.key, 'x').balances())],
  '0216': [
    {},
    async ({ ann, exchange }) => {
      exchange.venue.accounts.get(ann.id)!.restricted = true;
      return refusal(await ann.client.placeOrder(LIMIT));
    },
  ],
  '0301': [{}, async ({ ann }) => refusal(await ann.client.placeOrder({ ...LIMIT, book: 'nope_usd' }))],
  '0302': [{}, async ({ ann }) => (await ann.call('POST', '/api/v3/orders', { ...LIMIT, time_in_force: 'day' })).code!],
  '0343': [
    {},
    async ({ ann, bob }) => {
      const oid = await ann.limit('sell', '1500000', '0.2');
      await bob.limit('buy', '1500000', '0.1');
      return refusal(await ann.client.modify({ oid }, { major: '0.1' }));
    },
  ],
  '0377': [
    { tradeRecordDelayMs: 50 },
    async ({ ann, bob }) => {
      const oid = await ann.limit('sell', '1500000', '0.1');
      await bob.limit('buy', '1500000', '0.1');
      return refusal(await ann.client.orderTrades({ oid }));
    },
  ],
  '0378': [
    {},
    async ({ ann }) => refusal(await ann.client.orderTrades({ oid: await ann.limit('buy', '1400000', '0.1') })),
  ],
  '0379': [{}, async ({ ann }) => refusal(await ann.client.placeOrder({ ...LIMIT, major: '7' }))],
  '0407': [{}, async ({ ann }) => refusal(await ann.client.placeOrder({ ...LIMIT, price: '1500001' }))],
  '0408': [{}, async ({ ann }) => (await ann.call('POST', '/api/v3/orders', { ...LIMIT, major: '0' })).code!],
  '0410': [{ trading: 'off' }, async ({ ann }) => refusal(await ann.client.placeOrder(LIMIT))],
  '0411': [
    { marketOrders: 'off' },
    async ({ ann }) =>
      refusal(await ann.client.placeOrder({ book: 'btc_mxn', side: 'buy', type: 'market', major: '1' })),
  ],
};

everyWay(open => {
  it.each(Object.entries(PROVOKED))(
    'rest-api 7 %s is what the exchange answers, and the client is refused with it',
    async (code, [switches, ask]) => {
      expect(await ask(open(switches))).toBe(code);
    },
  );

  it('rest-api 7 four-digit codes come as text with the HTTP status of their category', async () => {
    const { send, ann, exchange } = open();
    const asked = [
      [await send('GET', '/api/v3/order_book?book=nope_usd'), 400],
      [await send('GET', '/api/v3/balance'), 401],
      [await ann.call('GET', '/api/v3/currency_conversions/none'), 404],
      [await ann.call('DELETE', '/api/v3/balance'), 400],
    ] as const;
    for (const [answer, status] of asked) {
      expect(answer.status).toBe(status);
      expect(answer.code).toMatch(/^\d{4}$/);
    }
    exchange.venue.set({ rateLimits: 'on', publicPerMinute: 1 });
    await send('GET', '/api/v3/available_books');
    expect(await send('GET', '/api/v3/available_books')).toMatchObject({ status: 420, code: '0801' });
  });

  it('public-facts 10 a method that a path does not have is 0901', async () => {
    const { send, ann } = open();
    expect((await send('DELETE', '/api/v3/trades')).code).toBe('0901');
    expect((await ann.call('PUT', '/api/v3/orders')).code).toBe('0901');
  });
}, WAYS);

describe('every code', () => {
  it('rest-api 7 of the document that an endpoint can answer is brought about by a test', () => {
    const answered = errorsOf('rest-api', '7')
      .filter(row => row.handler === undefined)
      .map(row => row.name);
    expect(Object.keys(PROVOKED).sort()).toEqual(answered.sort());
  });

  it.each(errorsOf('rest-api', '7'))(
    'rest-api 7 $name has a meaning and an advice in the client, and is kept',
    async ({ name: code }) => {
      expect(meaningOf(code)?.meaning).toBeTruthy();
      const reply = JSON.stringify({ success: false, error: { code, message: 'said so', details: [] } });
      const { client } = scriptedClient(() => json(reply, 400));
      expect(await client.openOrders()).toMatchObject({ kind: 'refused', code });
      const placed = await client.placeOrder(LIMIT);
      expect(placed.kind).toBe(provesRefusal(code) ? 'refused' : 'unknown');
      expect(JSON.stringify(placed)).toContain(code);
    },
  );

  it('public-facts 10 that the exchange answers is in the client’s table', () => {
    for (const code of CODES) expect(meaningOf(code), code).toBeDefined();
  });

  it('public-facts 10 has the HTTP status of its category', () => {
    for (const code of CODES) {
      const wanted = { '01': 500, '02': 401, '08': 420, '11': 500, '14': 404 }[code.slice(0, 2)] ?? 400;
      expect(statusOf(code), code).toBe(wanted);
    }
  });

  it('public-facts 10 is branched on, never its text: a wrong signature may answer 0201 in the same words', async () => {
    for (const code of ['0201', '0215']) {
      const same = JSON.stringify({
        success: false,
        error: { code, message: 'Invalid credentials', details: [], errorData: null },
      });
      expect(refusal(await scriptedClient(() => json(same, 401)).client.balances())).toBe(code);
    }
  });

  it('public-facts 3 may be a number or text, and success may be spelled in four ways', async () => {
    const numbered = JSON.stringify({ error: { code: 20, message: 'Unknown OrderBook x' } });
    expect(refusal(await scriptedClient(() => json(numbered, 400)).client.ticker('btc_mxn'))).toBe('20');
    for (const success of [true, 'true', '1', 1])
      expect(
        done(await scriptedClient(() => json(JSON.stringify({ success, payload: [] }))).client.openOrders()),
      ).toEqual([]);
  });
});
