/** The operator's calls of the second exchange, over real sockets: each does what its own requests then show, and says what is wrong. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Transport, WireRequest } from '../../../src/core/index.ts';
import { httpTransport } from '../../../src/exchange/index.ts';
import { SECOND_OPERATOR_ROUTES, serve, withSecondOperator, type Served } from '../../../src/sandbox/index.ts';
import { Caller, RICH, stage, type Opened } from './caller.ts';

const TOKEN = 'a-token-for-the-operator';
const { clock, exchange, caller } = stage();
const maker = caller();
let served: Served;
let transport: Transport;

beforeAll(async () => {
  served = await serve({ serveRequest: withSecondOperator(exchange, TOKEN) }, { host: '127.0.0.1', port: 0 });
  transport = httpTransport({ origin: served.url, deadlineMs: 20_000 });
});
afterAll(async () => {
  await transport.close();
  await served.close();
});

type Json = Record<string, never>;
const send = async (request: WireRequest): Promise<{ readonly status: number; readonly body: Json }> => {
  const { status, body } = await transport.send(request);
  return { status, body: JSON.parse(body) as Json };
};
const operate = (method: WireRequest['method'], path: string, fields?: unknown, authorization = `Bearer ${TOKEN}`) =>
  send({
    ...{ method, target: `/operator/${path}`, headers: { authorization, 'content-type': 'application/json' } },
    body: fields === undefined ? '' : JSON.stringify(fields),
  });

/** Opens an account with the operator's call, and signs with its key. */
async function opened(balances: Record<string, string> = {}): Promise<Caller> {
  const { status, body } = await operate('POST', 'accounts', { balances });
  expect(status).toBe(200);
  return new Caller(exchange, clock, body as unknown as Opened);
}
/** Balances of an account by its own signed request over the socket. */
async function balancesOf(account: Caller): Promise<Record<string, string>> {
  const { body } = await send(account.signed('GET', '/api/v3/account', { omitZeroBalances: 'true' }));
  const rows = body['balances'] as unknown as readonly { asset: string; free: string }[];
  return Object.fromEntries(rows.map(({ asset, free }) => [asset, free]));
}
const order = (account: Caller, side: string, price: string, quantity = '0.1') =>
  send(
    account.signed('POST', '/api/v3/order', {
      ...{ symbol: 'BTCUSDT', side, type: 'LIMIT', timeInForce: 'GTC', price, quantity, newOrderRespType: 'FULL' },
    }),
  );

test('an opened account has its balances and a key that trades', async () => {
  const account = await opened({ btc: '1.5', USDT: '20000' });
  expect(await balancesOf(account)).toEqual({ BTC: '1.50000000', USDT: '20000.00000000' });
  expect(await order(account, 'BUY', '70000')).toMatchObject({ status: 200, body: { status: 'NEW' } });
});

test('an account without permission to trade places nothing, until it has it again', async () => {
  const account = await opened(RICH);
  const permit = (fields: unknown, id = account.id) => operate('PATCH', `accounts/${id}`, fields);
  expect(await permit({ trading: false })).toEqual({ status: 200, body: { id: account.id, trading: false } });
  expect(await order(account, 'BUY', '70000')).toMatchObject({ status: 400, body: { code: -1013 } });
  expect((await permit({})).body['trading']).toBe(false);
  expect((await permit({ trading: 'yes' })).body).toEqual({ error: 'trading: expected true or false' });
  expect(await permit({ trading: true }, '7000')).toEqual({ status: 404, body: { error: 'no account 7000' } });
  expect((await permit({ trading: true })).status).toBe(200);
  expect((await order(account, 'BUY', '70000')).status).toBe(200);
});

test('deposits and withdrawals move the balance of the named account alone, and without a name that of the oldest', async () => {
  const [account, other] = [await opened({ usdt: '100' }), await opened({ usdt: '100' })];
  const move = (path: string, amount: unknown, more: object = { account: account.id }) =>
    operate('POST', path, { asset: 'USDT', amount, ...more });
  expect(await move('deposits', '0.00000001')).toEqual({
    ...{ status: 200, body: { id: account.id, asset: 'usdt', available: '100.00000001' } },
  });
  expect((await move('withdrawals', '100')).body['available']).toBe('0.00000001');
  expect([await balancesOf(account), await balancesOf(other)]).toEqual([
    { USDT: '0.00000001' },
    { USDT: '100.00000000' },
  ]);
  expect((await move('deposits', '1', {})).body['id']).toBe(maker.id);
});

test('a withdrawal of more than is available is refused, funds of open orders included, and moves nothing', async () => {
  const account = await opened({ usdt: '8000' });
  const withdraw = (amount: string) => operate('POST', 'withdrawals', { asset: 'usdt', amount, account: account.id });
  await order(account, 'BUY', '70000');
  const refused = { status: 400, body: { error: 'amount: expected at most the available balance of 1000.00000000' } };
  expect(await withdraw('1000.00000001')).toEqual(refused);
  expect(await withdraw('8000')).toEqual(refused);
  expect(await balancesOf(account)).toEqual({ USDT: '1000.00000000' });
  expect((await withdraw('1000')).body['available']).toBe('0.00000000');
});

test('fees of a book change for the next order', async () => {
  const account = await opened(RICH);
  const fees = (fields: unknown, book = 'btc_usdt') => operate('PATCH', `books/${book}`, fields);
  const rates = { maker: '0.0002', taker: '0.0005' };
  maker.limit('SELL', '80010', '1');
  expect(await fees(rates)).toEqual({ status: 200, body: { book: 'btc_usdt', ...rates } });
  const { body } = await order(account, 'BUY', '80010');
  expect(body['fills']).toMatchObject([{ qty: '0.10000000', commission: '0.00005000', commissionAsset: 'BTC' }]);
  expect(await fees(rates, 'btc_doge')).toEqual({ status: 404, body: { error: 'no book btc_doge' } });
  for (const [name, wrong] of [
    ['maker', { taker: '0.001' }],
    ['taker', { maker: '0.001' }],
    ['taker', { maker: '0.001', taker: '1' }],
    ['maker', { maker: '1e-3', taker: '0.001' }],
  ] as const)
    expect(await fees(wrong)).toEqual({
      status: 400,
      body: { error: `${name}: expected a fraction below 1 as text, like 0.001` },
    });
});

test('a call that is wrong names its field', async () => {
  for (const [fields, about] of [
    [{ amount: '1' }, 'asset: expected a currency'],
    [{ asset: 'btc', amount: 1 }, 'amount: expected a positive amount'],
    [{ asset: 'btc', amount: '0' }, 'amount: expected a positive amount'],
    [{ asset: 'btc', amount: '-1' }, 'amount: expected a positive amount'],
    [{ asset: 'btc', amount: '0.000000001' }, 'amount: expected a positive amount'],
    [{ asset: 'btc', amount: '1', account: '7000' }, 'no account 7000'],
  ] as const)
    for (const path of ['deposits', 'withdrawals']) {
      const { status, body } = await operate('POST', path, fields);
      expect([status >= 400, body['error']]).toEqual([true, expect.stringContaining(about)]);
    }
});

test('without the token, no call does or shows anything', async () => {
  const before = JSON.stringify((await operate('GET', 'truth')).body);
  for (const { method, pattern } of SECOND_OPERATOR_ROUTES)
    for (const wrong of ['', `Bearer ${TOKEN}x`]) {
      const path = pattern.replace('/operator/', '').replace(':book', 'btc_usdt').replace(':id', maker.id);
      expect(await operate(method, path, { asset: 'btc', amount: '1' }, wrong)).toEqual({
        ...{ status: 401, body: { error: 'the operator token is missing or wrong' } },
      });
    }
  expect(JSON.stringify((await operate('GET', 'truth')).body)).toBe(before);
});
