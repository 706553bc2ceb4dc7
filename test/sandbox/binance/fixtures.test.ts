/** Answers of the second exchange beside the public fixtures of ccxt: the same fields, and requests that it accepts. */
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../../src/core/index.ts';
import { ccxtFixtures } from '../../exchange/ccxtRequests.ts';
import { read, stage, type Caller } from './caller.ts';

type Row = Record<string, unknown>;
type Captured = {
  readonly method: string;
  readonly request: { method: 'GET' | 'POST' | 'DELETE'; url: string; body?: string };
};
type Fixtures = {
  readonly static: { readonly response: { readonly cases: readonly { httpResponse: Row }[] } };
  readonly captured: { readonly cases: readonly Captured[] };
  readonly samples: { readonly cases: readonly { line: number; about: string; sample: Row | Row[] }[] };
};
const found = ccxtFixtures<Fixtures>('binance');
const missing = found === null;
const fixtures = (): Fixtures => found!;

const { exchange, caller } = stage();
const [maker, taker] = [caller(), caller()];
maker.limit('SELL', '30000', '5');
maker.limit('BUY', '29990', '5');
const filled = taker.limit('BUY', '30000', '0.1', { newClientOrderId: 'one' }).body as Row;

/** A sample of ccxt's source by its line and a part of what it is about. */
function sample(line: number, about: string): Row {
  const found = fixtures().samples.cases.find(each => each.line === line && each.about.includes(about));
  if (!found) throw new Error(`no sample of line ${line} about ${about}`);
  return Array.isArray(found.sample) ? found.sample[0]! : found.sample;
}

describe.skipIf(missing)('an answer', () => {
  const BTC = { symbol: 'BTCUSDT' };
  const first = (rows: unknown): Row => (rows as Row[])[0]!;

  it.each<[what: string, answer: () => Row, line: number, about: string, not?: readonly string[]]>([
    ['balances', () => taker.get<Row>('GET', '/api/v3/account'), 4206, 'spot'],
    ['a balance', () => first(taker.get<Row>('GET', '/api/v3/account')['balances']), 4206, 'spot', ['in it']],
    // E and T are fields of futures.
    ['a book', () => read<Row>(exchange, '/api/v3/depth?symbol=BTCUSDT'), 4436, 'future', ['E', 'T']],
    ['an aggregate trade', () => first(read(exchange, '/api/v3/aggTrades?symbol=BTCUSDT')), 5297, 'compressed'],
    ['a trade', () => first(read(exchange, '/api/v3/trades?symbol=BTCUSDT')), 5297, 'old-trade'],
    ['a trade of the account', () => first(taker.get('GET', '/api/v3/myTrades', BTC)), 9192, 'spot trade'],
    // rest-api.md has a number for its id.
    ['a fill of a new order', () => first(filled['fills']), 5297, 'FULL', ['tradeId']],
    ['an order', () => taker.get<Row>('GET', '/api/v3/order', { ...BTC, origClientOrderId: 'one' }), 6252, 'spot'],
    ['a fee', () => first(taker.get('GET', '/sapi/v1/asset/tradeFee')), 10_828, 'sapi'],
    ['an error', () => taker.limit('LEFT', '1', '1').body, 13_485, 'error response'],
  ])('about %s has every field of the sample', (_, answer, line, about, not = []) => {
    const whole = sample(line, about);
    const wanted = not[0] === 'in it' ? (whole['balances'] as Row[])[0]! : whole;
    const got = answer();
    for (const [name, value] of Object.entries(wanted)) {
      if (not.includes(name)) continue;
      expect(Object.keys(got), name).toContain(name);
      expect(typeof got[name], name).toBe(typeof value);
    }
  });

  it('to a new order has every field of a recorded one, but for an iceberg', () => {
    const { cases } = fixtures().static.response;
    expect(cases).toHaveLength(1);
    const [{ httpResponse }] = cases as [{ httpResponse: Row }];
    const wanted = Object.keys(httpResponse).filter(name => name !== 'icebergQty');
    expect(Object.keys(filled).sort()).toEqual(wanted.sort());
  });
});

describe.skipIf(missing)('a request that ccxt sends', () => {
  it('is accepted with its parameters as they are, only signed anew', () => {
    const seen = fixtures().captured.cases.map(({ method, request }) => {
      const { status, body } = exchange.respond(signedAnew(caller(), request), '127.0.0.1');
      return [method, status, (JSON.parse(body) as { code?: number }).code ?? 0];
    });
    // 0.12345678 is no multiple of the double's step of 0.00001, OID1 no number, and no order has that client id.
    expect(seen).toEqual([
      ['createOrder', 400, -1013],
      ['createOrder', 200, 0],
      ['createOrder', 200, 0],
      ['createOrder', 400, -2010],
      ['fetchOrder', 400, -2013],
      ['fetchOrder', 400, -1100],
      ['cancelOrder', 400, -2011],
      ['fetchMyTrades', 200, 0],
      ['fetchOpenOrders', 200, 0],
      ['fetchBalance', 200, 0],
      ['fetchOrderBook', 200, 0],
      ['fetchTradingFees', 200, 0],
    ]);
  });

  function signedAnew(who: Caller, { method, url, body = '' }: Captured['request']): WireRequest {
    const [path = '', query = ''] = url.replace(/^https?:\/\/[^/]+/, '').split('?', 2);
    if (path === '/api/v3/depth') return { method, target: `${path}?${query}`, headers: {}, body: '' };
    const values = Object.fromEntries(new URLSearchParams(method === 'POST' ? body : query));
    delete values['timestamp'];
    return who.signed(method, path, values);
  }
});
