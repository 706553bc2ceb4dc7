/** The operator's calls: who may make them, and what each does. */
import { describe, expect, it } from 'vitest';
import { httpTransport } from '../../../src/exchange/index.ts';
import { OPERATOR_ROUTES, serve, SWITCHES, withOperator, type Switches } from '../../../src/sandbox/index.ts';
import type { WireRequest } from '../../../src/core/index.ts';
import { conserved, deskArena } from '../desk.ts';
import { publicCall, Trader } from '../trader.ts';

const TOKEN = 'a-token-for-the-operator';
type Json = Record<string, unknown>;

function operated(switches: Partial<Switches> = {}) {
  const arena = deskArena(switches);
  const respond = withOperator(arena.exchange, TOKEN);
  const raw = (
    method: WireRequest['method'],
    target: string,
    body = '',
    authorization = `Bearer ${TOKEN}`,
    peer = '127.0.0.1',
  ) => respond({ method, target, headers: { authorization }, body }, peer);
  const call = (method: WireRequest['method'], path: string, fields?: unknown) => {
    const reply = raw(method, `/operator/${path}`, fields === undefined ? '' : JSON.stringify(fields));
    return { status: reply.status, body: JSON.parse(reply.body) as Json };
  };
  return { ...arena, respond, raw, call };
}

describe('the operator’s face', () => {
  it('is not there for requests from other machines, even with the token', () => {
    const { raw } = operated();
    for (const peer of ['10.0.0.1', '192.168.1.2', '::2', '', '128.0.0.1'])
      expect(raw('GET', '/operator/truth', '', `Bearer ${TOKEN}`, peer)).toMatchObject({ status: 404, body: '' });
    for (const peer of ['127.0.0.1', '127.8.0.1', '::1'])
      expect(raw('GET', '/operator/truth', '', `Bearer ${TOKEN}`, peer).status).toBe(200);
  });

  it('answers nothing without the token, to no call', () => {
    const { raw } = operated();
    for (const { method, pattern } of OPERATOR_ROUTES)
      for (const wrong of ['', TOKEN, 'Bearer ', 'Bearer nope', `Bearer ${TOKEN}x`, `bearer ${TOKEN}`])
        expect(raw(method, pattern, '', wrong).status, pattern).toBe(401);
    expect(() => withOperator(operated().exchange, 'short')).toThrow('16 characters');
  });

  it('is not there at all on an exchange that was opened without it', () => {
    expect(publicCall(deskArena().exchange, '/operator/truth').status).toBe(404);
  });

  it('lets everything else pass', () => {
    const { respond } = operated();
    const target = '/api/v3/available_books';
    expect(respond({ method: 'GET', target, headers: {}, body: '' }, '10.0.0.1').status).toBe(200);
    expect(respond({ method: 'GET', target: '/operators', headers: {}, body: '' }, '127.0.0.1').body).toBe('');
  });

  it('says what is wrong with a call', () => {
    const { call, raw } = operated();
    expect(call('GET', 'nothing')).toMatchObject({ status: 404 });
    expect(call('DELETE', 'truth')).toMatchObject({ status: 405 });
    expect(raw('POST', '/operator/deposits', '[')).toMatchObject({ status: 400 });
    const wrong: [string, unknown, string][] = [
      ['deposits', { amount: '1' }, 'asset'],
      ['deposits', { asset: 'btc', amount: 1 }, 'amount'],
      ['deposits', { asset: 'btc', amount: '0' }, 'amount'],
      ['deposits', { asset: 'btc', amount: '-1' }, 'amount'],
      ['deposits', { asset: 'btc', amount: '0.000000001' }, 'amount'],
      ['deposits', { asset: 'btc', amount: '1', account: '7' }, 'no account 7'],
      ['deposits', { asset: 'btc', amount: '1', outcome: 'LOST' }, 'outcome'],
      ['deposits', { asset: 'btc', amount: '1', refund: {} }, 'only issuances'],
      ['withdrawals', { asset: 'btc', amount: '10.00000001' }, 'not have enough btc'],
      ['redemptions', { amount: '10000001' }, 'not have enough mxn'],
      ['issuances', { amount: '1', method: 'CASH' }, 'method'],
      ['issuances', { amount: '1', refund: [] }, 'refund'],
      ['issuances', { amount: '1', refund: { steps: ['TOKEN_MINT'] } }, 'steps'],
      ['issuances', { amount: '1', refund: { steps: [] } }, 'steps'],
    ];
    for (const [path, fields, about] of wrong) {
      const { status, body } = call('POST', path, fields);
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(body['error'], path).toContain(about);
    }
    expect(call('GET', 'transactions').body).toEqual({ transactions: [] });
  });

  it('makes a transaction of each kind for the account named, and lists and shows it', async () => {
    const { call, clock, bob, exchange } = operated();
    const made = [
      call('POST', 'deposits', { asset: 'BTC', amount: '1', account: bob.id }),
      call('POST', 'withdrawals', { asset: 'usd', amount: '10', account: bob.id }),
      call('POST', 'issuances', { amount: '100', account: bob.id }),
      call('POST', 'redemptions', { amount: '50', account: bob.id }),
    ].map(({ body }) => body);
    expect(bob.balance('usd')).toMatchObject({ total: '99990.00000000', locked: '0.00000000' });
    await clock.advance(2000);
    const { transactions } = call('GET', `transactions?account=${bob.id}`).body as { transactions: Json[] };
    expect(transactions.map(each => [each['id'], each['status']])).toEqual(made.map(each => [each['id'], 'COMPLETE']));
    expect(call('GET', `transactions/${String(made[0]!['id'])}`).body).toEqual(transactions[0]);
    expect(call('GET', 'transactions?account=1').body).toEqual({ transactions: [] });
    expect(call('GET', 'transactions/nope').status).toBe(404);
    expect(['btc', 'usd', 'mxn'].map(currency => bob.balance(currency).total)).toEqual([
      '11.00000000',
      '99990.00000000',
      '10000050.00000000',
    ]);
    expect(conserved(exchange)).toBe(true);
  });

  it('triggers a refund once, and only of an issuance or redemption that ended and kept the money', async () => {
    const { call, clock, ann } = operated();
    const id = (what: string, fields: Json) => String(call('POST', what, { amount: '1', ...fields }).body['id']);
    const refund = (of: string, fields: Json = {}) => call('POST', `transactions/${of}/refund`, fields);
    const issued = id('issuances', {});
    const [deposit, failed] = [id('deposits', { asset: 'btc' }), id('redemptions', { outcome: 'FAILED' })];
    expect(refund(issued).body['error']).toContain('not finished');
    await clock.advance(2000);
    expect(refund(deposit).body['error']).toContain('only issuances');
    expect(refund(failed).body['error']).toContain('already returned');
    expect(refund('nope').status).toBe(404);
    expect(refund(issued)).toMatchObject({ status: 200, body: { issuance: { refund_status: 'PENDING' } } });
    expect(refund(issued).body['error']).toContain('already');
    await clock.advance(5000);
    expect(ann.balance('mxn').total).toBe('10000000.00000000');
  });

  it('opens accounts, and takes RFQ and trading away and back', () => {
    const { call, exchange } = operated();
    const opened = call('POST', 'accounts', { balances: { MXN: '100' } }).body as {
      id: string;
      key: string;
      secret: string;
    };
    const trader = new Trader(exchange, opened);
    expect(trader.balance('mxn').total).toBe('100.00000000');
    const rfq = () => trader.call('GET', '/rfq/v1/pairs').status;
    expect(call('PATCH', `accounts/${opened.id}`, { rfq: false, trading: false }).body).toEqual({
      id: opened.id,
      rfq: false,
      trading: false,
    });
    expect(rfq()).toBe(403);
    expect(trader.limit('btc_mxn', 'buy', '1400000', '0.00002')).toBe('1008');
    call('PATCH', `accounts/${opened.id}`, { rfq: true });
    expect(rfq()).toBe(200);
    expect(call('PATCH', 'accounts/7', { rfq: true }).status).toBe(404);
    expect(call('PATCH', `accounts/${opened.id}`, { rfq: 'no' }).status).toBe(400);
    expect(call('POST', 'accounts', { balances: { mxn: 'x' } }).status).toBe(400);
  });

  it('takes a quote back', () => {
    const { call, ann } = operated();
    const ask = { source: 'MXN', target: 'USD', source_amount: '50' };
    const { id } = ann.call('POST', '/rfq/v1/quotes', ask).body as unknown as { id: string };
    expect(call('POST', `quotes/${id}/cancel`).status).toBe(200);
    expect(ann.call('POST', '/rfq/v1/conversions', { quote_id: id }).text).toContain('quote_cancelled');
    expect(call('POST', `quotes/${id}/cancel`).status).toBe(404);
  });

  it('shows every switch, changes them from now on, and changes none when one is wrong', () => {
    const { call, exchange } = operated();
    expect(Object.keys(call('GET', 'switches').body)).toEqual(Object.keys(SWITCHES));
    expect(call('PATCH', 'switches', { rfqSpreadPips: 50 }).body['rfqSpreadPips']).toBe(50);
    const wrong = call('PATCH', 'switches', { rfqSpreadPips: 60, rfqPairs: 'maybe' });
    expect(wrong).toMatchObject({ status: 400, body: { error: expect.stringContaining('rfqPairs') as string } });
    for (const value of [-1, 1.5, '7', 1e9])
      expect(call('PATCH', 'switches', { rfqSpreadPips: value }).status).toBe(400);
    expect(call('PATCH', 'switches', { nonsense: 1 }).status).toBe(400);
    expect(exchange.venue.switches.rfqSpreadPips).toBe(50);
  });

  it('tells the truth: balances, live orders, no money made or lost, deliveries', () => {
    const { call, ann } = operated();
    const oid = ann.limit('btc_mxn', 'buy', '1400000', '0.5', { origin_id: 'a-1' });
    const truth = call('GET', 'truth').body as { accounts: Json[]; imbalance: Json; deliveries: Json };
    const [own] = truth.accounts;
    expect(own!['balances']).toContainEqual({ currency: 'mxn', total: '10000000.00000000', locked: '700000.00000000' });
    expect(own!['live_orders']).toEqual([
      {
        oid,
        origin_id: 'a-1',
        book: 'btc_mxn',
        side: 'buy',
        price: '1400000',
        unfilled: '0.50000000',
        status: 'open',
      },
    ]);
    expect(new Set(Object.values(truth.imbalance))).toEqual(new Set(['0']));
    expect(truth.deliveries).toMatchObject({ waiting: 0, dropped: 0 });
  });

  it('lists and removes webhooks, and rotates the key', () => {
    const { call, ann, register } = operated();
    register(ann);
    expect(call('GET', 'webhooks').body['webhooks']).toMatchObject([{ id: 1, account: ann.id }]);
    expect(call('DELETE', 'webhooks/1').status).toBe(200);
    expect(call('DELETE', 'webhooks/1').status).toBe(404);
    expect(register(ann).status).toBe(200);
    const before = call('POST', 'webhooks/keys').body as unknown as unknown[];
    expect(call('POST', 'webhooks/keys').body).toHaveLength(before.length + 1);
  });

  it('works over HTTP', async () => {
    const { respond } = operated();
    const served = await serve({ respond }, { host: '127.0.0.1', port: 0 });
    const transport = httpTransport({ origin: served.url, deadlineMs: 20_000 });
    const ask = (authorization: string) =>
      transport.send({ method: 'GET', target: '/operator/switches', headers: { authorization }, body: '' });
    expect((await ask(`Bearer ${TOKEN}`)).status).toBe(200);
    expect((await ask('Bearer guess')).status).toBe(401);
    await transport.close();
    await served.close();
  });
});
