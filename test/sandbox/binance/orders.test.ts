/** Orders of the second exchange: rules, codes, client ids, and what becomes of each kind. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { createSecondExchange } from '../../../src/sandbox/index.ts';
import { Caller, RICH, read, stage, told } from './caller.ts';

const ORDER = '/api/v3/order';
type Row = Record<string, string | number | boolean>;

function stocked(switches = {}) {
  const made = stage(switches);
  const maker = made.caller();
  maker.limit('SELL', '80010', '1');
  maker.limit('SELL', '80020', '2');
  maker.limit('BUY', '79990', '1');
  return { ...made, maker, taker: made.caller() };
}

describe('a new order', () => {
  it.each<[what: string, fields: Record<string, string>, code: number]>([
    ['no side', { side: '' }, -1105],
    ['an unknown side', { side: 'LEFT' }, -1117],
    ['an unknown type', { type: 'BEST' }, -1116],
    ['a stop, which the books do not have', { type: 'STOP_LOSS' }, -1013],
    ['an unknown lifetime', { timeInForce: 'GTD' }, -1115],
    ['an unknown symbol', { symbol: 'BTCEUR' }, -1121],
    ['letters outside a symbol', { symbol: 'btc/usdt' }, -1100],
    ['a price off the tick', { price: '80010.005' }, -1013],
    ['a quantity off the step', { quantity: '0.000015' }, -1013],
    ['too many decimals', { price: '80010.123456789' }, -1111],
    ['a number that is none', { price: '8e4' }, -1100],
    ['a value below the minimum', { quantity: '0.00001' }, -1013],
    ['a price far from the market', { price: '900000' }, -1013],
    ['a quantity of zero', { quantity: '0' }, -1013],
    ['more than the account has', { side: 'SELL', quantity: '101' }, -2010],
    ['an iceberg', { icebergQty: '0.1' }, -1013],
    ['a stop price', { stopPrice: '1' }, -1106],
    ['an unknown parameter', { leverage: '2' }, -1104],
    ['a client id with a space', { newClientOrderId: 'a b' }, -1100],
    ['a client id of 37 letters', { newClientOrderId: 'a'.repeat(37) }, -1100],
  ])('with %s is refused, and nothing is locked', (_, fields, code) => {
    const { maker, taker } = stocked();
    maker.limit('BUY', '80010', '0.1');
    const good = { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price: '70000', quantity: '0.1' };
    expect(taker.code('POST', ORDER, { ...good, ...fields })).toBe(code);
    expect(taker.get<Row[]>('GET', '/api/v3/openOrders')).toEqual([]);
    const { balances } = taker.get<{ balances: Row[] }>('GET', '/api/v3/account');
    expect(balances.every(({ locked }) => locked === '0.00000000')).toBe(true);
  });

  it.each([
    ['quantity', { side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price: '1' }],
    ['price', { side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', quantity: '1' }],
    ['timeInForce', { side: 'BUY', type: 'LIMIT', price: '1', quantity: '1' }],
    ['type', { side: 'BUY' }],
    ['quantity', { side: 'BUY', type: 'MARKET' }],
  ])('without %s is refused by -1102, which names it', (name, fields) => {
    const answer = stocked().taker.call('POST', ORDER, { symbol: 'BTCUSDT', ...fields });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: -1102, msg: expect.stringContaining(`'${name}'`) as string },
    });
  });

  it('answers by what it asked for, with its fills', () => {
    const { taker } = stocked();
    const form = (newOrderRespType: string) =>
      Object.keys(taker.limit('BUY', '80010', '0.1', { newOrderRespType }).body);
    const ack = ['symbol', 'orderId', 'orderListId', 'clientOrderId', 'transactTime'];
    expect(form('ACK')).toEqual(ack);
    const result = [
      ...ack,
      ...['price', 'origQty', 'executedQty', 'origQuoteOrderQty', 'cummulativeQuoteQty', 'status', 'timeInForce'],
      ...['type', 'side', 'workingTime', 'selfTradePreventionMode'],
    ];
    expect(form('RESULT')).toEqual(result);
    expect(form('FULL')).toEqual([...result, 'fills']);
    expect(taker.limit('BUY', '80010', '0.2').body).toMatchObject({
      status: 'FILLED',
      executedQty: '0.20000000',
      cummulativeQuoteQty: '16002.00000000',
      fills: [
        { price: '80010.00000000', qty: '0.20000000', commission: '0.00020000', commissionAsset: 'BTC', tradeId: 4 },
      ],
    });
  });

  it('rests, ends or is refused by its kind', () => {
    const { taker } = stocked();
    const state = (answer: { body: never }) => {
      const { status, executedQty } = answer.body as Row;
      return [status, executedQty];
    };
    expect(state(taker.limit('BUY', '80010', '3', { timeInForce: 'IOC' }))).toEqual(['EXPIRED', '1.00000000']);
    expect(state(taker.limit('BUY', '80020', '3', { timeInForce: 'FOK' }))).toEqual(['EXPIRED', '0.00000000']);
    expect(state(taker.limit('BUY', '80020', '2', { timeInForce: 'FOK' }))).toEqual(['FILLED', '2.00000000']);
    expect(state(taker.limit('BUY', '80000', '1'))).toEqual(['NEW', '0.00000000']);
    expect(state(taker.limit('SELL', '80000', '3'))).toEqual(['PARTIALLY_FILLED', '1.00000000']);
    const postOnly = (price: string) =>
      taker.call('POST', ORDER, { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT_MAKER', price, quantity: '1' });
    expect(postOnly('80000')).toMatchObject({
      status: 400,
      body: { code: -2010, msg: 'Order would immediately match and take.' },
    });
    expect(postOnly('79999').body).toEqual(expect.objectContaining({ clientOrderId: expect.any(String) as string }));
    const market = (fields: Record<string, string>) =>
      taker.call('POST', ORDER, { symbol: 'BTCUSDT', side: 'SELL', type: 'MARKET', ...fields });
    expect(state(market({ quantity: '0.5' }))).toEqual(['FILLED', '0.50000000']);
    const byValue = market({ quoteOrderQty: '1000' }).body as Row;
    expect(byValue).toMatchObject({ status: 'FILLED', origQuoteOrderQty: '1000.00000000' });
    expect(Number(byValue['cummulativeQuoteQty'])).toBeLessThanOrEqual(1000);
    expect(Number(byValue['cummulativeQuoteQty'])).toBeGreaterThan(1000 - 80_000 * 0.00001);
  });

  it('may use a client id again only after the order with it has ended', () => {
    const { taker } = stocked();
    const mine = { newClientOrderId: 'mine', timeInForce: 'GTC' };
    const first = taker.limit('BUY', '70000', '0.1', mine).body as Row;
    expect(taker.limit('BUY', '70000', '0.1', mine)).toMatchObject({
      body: { code: -2010, msg: 'Duplicate order sent.' },
    });
    const asked = { symbol: 'BTCUSDT', origClientOrderId: 'mine' };
    expect(taker.get<Row>('DELETE', ORDER, asked)).toMatchObject({ status: 'CANCELED', orderId: first['orderId'] });
    expect(taker.code('DELETE', ORDER, asked)).toBe(-2011);
    const second = taker.limit('BUY', '70001', '0.1', mine).body as Row;
    expect(taker.get<Row>('GET', ORDER, asked)).toMatchObject({ orderId: second['orderId'], status: 'NEW' });
    const both = { ...asked, orderId: first['orderId'] as number };
    expect(taker.get<Row>('GET', ORDER, both)).toMatchObject({ status: 'CANCELED', clientOrderId: 'mine' });
    expect(taker.code('GET', ORDER, { ...both, origClientOrderId: 'other' })).toBe(-2013);
    expect(taker.code('GET', ORDER, { symbol: 'BTCMXN', orderId: first['orderId'] as number })).toBe(-2013);
    expect(taker.code('GET', ORDER, { symbol: 'BTCUSDT' })).toBe(-1102);
    expect(taker.get<Row[]>('GET', '/api/v3/allOrders', { symbol: 'BTCUSDT' }).map(({ orderId }) => orderId)).toEqual([
      first['orderId'],
      second['orderId'],
    ]);
  });

  it('tested by order/test places nothing, and tells the commissions', () => {
    const { exchange, taker } = stocked();
    const fields = { symbol: 'BTCUSDT', side: 'BUY', type: 'MARKET', quantity: '0.1' };
    const before = read<{ lastUpdateId: number }>(exchange, '/api/v3/depth?symbol=BTCUSDT');
    expect(taker.get('POST', `${ORDER}/test`, fields)).toEqual({});
    expect(taker.get('POST', `${ORDER}/test`, { ...fields, computeCommissionRates: 'true' })).toMatchObject({
      standardCommissionForOrder: { maker: '0.00100000', taker: '0.00100000' },
      discount: { enabledForAccount: false, discount: '0.25000000' },
    });
    const clock = new VirtualClock();
    const free = createSecondExchange({ clock, seed: 1, fees: { maker: '0', taker: '0.00075' } });
    const caller = new Caller(free, clock, free.openAccount({ balances: RICH }));
    const limit = { ...fields, type: 'LIMIT', timeInForce: 'GTC', price: '80000' };
    expect(caller.get('POST', `${ORDER}/test`, { ...limit, computeCommissionRates: 'true' })).toMatchObject({
      standardCommissionForOrder: { maker: '0.00000000', taker: '0.00075000' },
    });
    expect(read(exchange, '/api/v3/depth?symbol=BTCUSDT')).toEqual(before);
  });
});

describe('own trades', () => {
  it('are paged by id, order and time, and listed after their delay', async () => {
    const { clock, exchange, taker } = stocked({ tradeRecordDelayMs: 500 });
    const ids = (more = {}) =>
      taker.get<Row[]>('GET', '/api/v3/myTrades', { symbol: 'BTCUSDT', ...more }).map(({ id }) => id);
    const order = taker.limit('BUY', '80020', '1.5').body as Row;
    expect(ids()).toEqual([]);
    await clock.advance(499);
    expect(ids()).toEqual([]);
    await clock.advance(1);
    expect(ids()).toEqual([1, 2]);
    const from = clock.now();
    taker.limit('SELL', '79990', '0.5');
    await clock.advance(500);
    expect(ids()).toEqual([1, 2, 3]);
    expect(ids({ fromId: 2 })).toEqual([2, 3]);
    expect(ids({ fromId: 1, limit: 1 })).toEqual([1]);
    expect(ids({ limit: 1 })).toEqual([3]);
    expect(ids({ orderId: order['orderId'] as number })).toEqual([1, 2]);
    expect(ids({ startTime: from })).toEqual([3]);
    expect(ids({ endTime: from - 1 })).toEqual([1, 2]);
    const at = (more: Record<string, number>) => taker.code('GET', '/api/v3/myTrades', { symbol: 'BTCUSDT', ...more });
    expect(at({ startTime: 0, endTime: 86_400_001 })).toBe(-1127);
    expect(at({ startTime: 0, fromId: 1 })).toBe(-1128);
    expect(read<Row[]>(exchange, '/api/v3/trades?symbol=BTCUSDT&limit=2').map(({ id }) => id)).toEqual([2, 3]);
    const runs = read<Row[]>(exchange, '/api/v3/aggTrades?symbol=BTCUSDT');
    expect(runs.map(({ a, f, l, m }) => [a, f, l, m])).toEqual([
      [1, 1, 1, false],
      [2, 2, 2, false],
      [3, 3, 3, true],
    ]);
  });

  it('have their commission in BNB while that is switched on and the account has enough', () => {
    const { exchange, maker, caller } = stocked({ bnbFees: 'on' });
    const feesOf = (balances: Record<string, string>) => {
      const { fills } = caller(balances).limit('BUY', '80020', '0.1').body as { fills: Row[] };
      return fills.map(({ commission, commissionAsset }) => `${commission} ${commissionAsset}`);
    };
    // Without a price of BNB, commissions come from what is received.
    expect(feesOf(RICH)).toEqual(['0.00010000 BTC']);
    const bnb = (side: string, price: string) =>
      maker.call('POST', ORDER, { symbol: 'BNBUSDT', side, type: 'LIMIT', timeInForce: 'GTC', price, quantity: '1' });
    bnb('BUY', '599');
    bnb('SELL', '601');
    // 0.1 btc * 80,000 usdt / 600 usdt * 0.1% * 75%; the mid price of btc is 80,000.
    expect(feesOf(RICH)).toEqual(['0.01000000 BNB']);
    expect(feesOf({ usdt: '10000', bnb: '0.009' })).toEqual(['0.00010000 BTC']);
    expect([...exchange.truth().imbalance.values()].every(sum => sum === 0n)).toBe(true);
  });
});

describe('a signed request', () => {
  const ACCOUNT = '/api/v3/account';

  it('counts its signature over the query and the body, in any case of letters', () => {
    const { clock, exchange, taker } = stocked();
    const query = `symbol=BTCUSDT&side=BUY&type=LIMIT&timestamp=${clock.now()}`;
    const body = 'timeInForce=GTC&price=70000&quantity=0.1';
    const sign = (payload: string) => createHmac('sha256', taker.secret).update(payload).digest('hex');
    const send = (signature: string) =>
      told(
        exchange.respond(
          {
            method: 'POST',
            target: `${ORDER}?${query}`,
            headers: { 'x-mbx-apikey': taker.key },
            body: `${body}&signature=${signature}`,
          },
          '127.0.0.1',
        ),
      );
    expect(send(sign(query + body).toUpperCase()).status).toBe(200);
    expect(send(sign(`${query}&${body}`))).toMatchObject({ status: 400, body: { code: -1022 } });
  });

  it('is dead after its window, refused before its time, and without a good key refused by 401', () => {
    const { clock, exchange, taker } = stocked();
    const code = (request: Parameters<typeof exchange.respond>[0]) => {
      const { status, body } = told(exchange.respond(request, '127.0.0.1'));
      return [status, (body as { code?: number }).code ?? 0];
    };
    const at = (ms: number, fields = {}) => code(taker.signed('GET', ACCOUNT, fields, clock.now() + ms));
    expect(at(-5_000)).toEqual([200, 0]);
    expect(at(-5_001)).toEqual([400, -1021]);
    expect(at(-60_000, { recvWindow: 60_000 })).toEqual([200, 0]);
    expect(at(0, { recvWindow: 60_001 })).toEqual([400, -1131]);
    expect(at(999)).toEqual([200, 0]);
    expect(at(1_000)).toEqual([400, -1021]);
    const good = taker.signed('GET', ACCOUNT);
    expect(code({ ...good, headers: {} })).toEqual([401, -2014]);
    expect(code({ ...good, headers: { 'x-mbx-apikey': 'A'.repeat(16) } })).toEqual([401, -2015]);
    expect(code({ ...good, target: `${good.target}&timestamp=1` })).toEqual([400, -1101]);
    expect(code({ ...good, method: 'PUT' })).toEqual([405, -1000]);
    expect(code({ ...good, target: '/api/v3/nothing' })).toEqual([404, -1000]);
  });

  it('costs its weight; beyond the limit 429 with the time to wait, then 418 until the ban is over', async () => {
    const { clock, exchange } = stage({ rateLimits: 'on', weightPerMinute: 60, banAfter: 2 });
    const ask = (target: string, peer = '1.1.1.1') =>
      told(exchange.respond({ method: 'GET', target, headers: {}, body: '' }, peer));
    const depth = (limit: number) => `/api/v3/depth?symbol=BTCUSDT&limit=${limit}`;
    expect(ask(depth(100)).headers['x-mbx-used-weight-1m']).toBe('5');
    expect(ask(depth(101)).headers['x-mbx-used-weight-1m']).toBe('30');
    expect(ask('/api/v3/trades?symbol=BTCUSDT').headers['x-mbx-used-weight-1m']).toBe('55');
    expect(ask(depth(5000))).toMatchObject({ status: 429, body: { code: -1003 }, headers: { 'retry-after': '60' } });
    expect(ask('/api/v3/ping', '2.2.2.2').status).toBe(200);
    await clock.advance(30_000);
    expect(ask(depth(5000))).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    expect(ask(depth(5000))).toMatchObject({ status: 418, headers: { 'retry-after': '120' } });
    await clock.advance(119_000);
    expect(ask('/api/v3/ping')).toMatchObject({ status: 418, headers: { 'retry-after': '1' } });
    await clock.advance(1_000);
    expect(ask('/api/v3/ping').status).toBe(200);
  });

  it('for an order counts against the orders of its account', async () => {
    const made = stage({ rateLimits: 'on', ordersPer10s: 2 });
    const taker = made.caller();
    const place = () => taker.limit('BUY', '70000', '0.01');
    expect(place().headers['x-mbx-order-count-10s']).toBe('1');
    expect(place().headers['x-mbx-order-count-10s']).toBe('2');
    expect(place()).toMatchObject({ status: 429, body: { code: -1015 }, headers: { 'retry-after': '10' } });
    expect(made.caller().limit('BUY', '70000', '0.01').status).toBe(200);
    await made.clock.advance(10_000);
    expect(place().headers['x-mbx-order-count-1d']).toBe('3');
  });
});
