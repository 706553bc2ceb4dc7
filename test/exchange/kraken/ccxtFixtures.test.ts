/**
 * Requests and replies of Kraken beside ccxt's: its static fixtures, and requests captured from its class. Each
 * difference has its reason.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NewOrder } from '../../../src/core/index.ts';
import { ASSET_PAIRS, reply, scriptedKraken } from './scripted.ts';

const FILE = join(process.env['PUNTAS_DATA'] ?? '../shared/data', 'ccxt-fixtures/kraken.json');
const missing = !existsSync(FILE);
if (missing) console.log(`skipped: no fixtures of ccxt at ${FILE} (set PUNTAS_DATA)`);

type Case = {
  readonly method: string;
  readonly description?: string;
  readonly input: readonly unknown[];
  readonly output?: string;
  readonly url?: string;
  readonly request?: { readonly url: string; readonly body?: string };
  readonly httpResponse?: { readonly result: unknown };
};
type Fixtures = {
  readonly static: {
    readonly request: { readonly cases: readonly Case[] };
    readonly response: { readonly cases: readonly Case[] };
  };
  readonly captured: { readonly cases: readonly Case[] };
  readonly samples: {
    readonly cases: readonly { readonly method: string; readonly about: string; readonly sample: unknown }[];
  };
};

const fixtures = missing ? null : (JSON.parse(readFileSync(FILE, 'utf8')) as Fixtures);
const formOf = (body: string | undefined) => Object.fromEntries(new URLSearchParams(body ?? ''));
const captured = (method: string, part: string): Readonly<Record<string, string>> => {
  const found = fixtures!.captured.cases.find(
    each => each.method === method && (each.request?.body ?? each.request?.url ?? '').includes(part),
  );
  if (!found) throw new Error(`no captured ${method} with ${part}`);
  return formOf(found.request?.body);
};

/** The path that ccxt requested. */
const pathOf = (method: string): string => {
  const all = [...fixtures!.captured.cases, ...fixtures!.static.request.cases].filter(each => each.method === method);
  return new URL(all[0]!.request?.url ?? all[0]!.url!).pathname;
};

/**
 * Fields that differ from ccxt's requests, each with its reason. `*`: in every request.
 */
const DIFFERENCES: Readonly<Record<string, string>> = {
  '* nonce': 'nanoseconds instead of milliseconds, so that two requests in one millisecond differ',
  'AddOrder price': 'ccxt rounds the price half up to the tick; here the caller rounds it to the safe side',
  'AddOrder oflags': 'fciq is added, so that the currency of the fee is certain',
  'AddOrder timeinforce': 'GTC is stated instead of left to the default',
  'AddOrder deadline': 'added, so that a late order is not executed',
  'OpenOrders cl_ord_id': 'ccxt asks QueryOrders by userref, which does not find an order by its cl_ord_id',
  'QueryOrders consolidate_taker': 'added: ids of single trades instead of joined ones',
  'QueryOrders trades': 'only where the trades are needed',
  'TradesHistory consolidate_taker': 'added: single trades instead of joined ones',
  'TradesHistory ofs': 'pages are read by offset; ccxt reads the first page alone',
  'TradesHistory start': 'a second earlier than the marker, because the list starts after this time',
  'BalanceEx type': 'ccxt passes a parameter of its own on, which the exchange does not know',
  'TradeVolume fee-info': 'ccxt sends a parameter that the documents no longer have',
};

/** Compares a request with ccxt's: equal fields but for the listed differences, each of which must really differ. */
function compare(name: string, ours: Readonly<Record<string, string>>, theirs: Readonly<Record<string, string>>) {
  const different = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
    field => ours[field] !== theirs[field],
  );
  const unexplained = different.filter(
    field => DIFFERENCES[`${name} ${field}`] === undefined && DIFFERENCES[`* ${field}`] === undefined,
  );
  expect(
    unexplained,
    `${name}: ${unexplained.map(field => `${field} ${ours[field]} / ${theirs[field]}`).join(', ')}`,
  ).toEqual([]);
  return different;
}

const order: NewOrder = {
  ...{ book: 'btc_usd', side: 'buy', price: '30000.12', major: '0.12345678', originId: 'pt0a1b2c3d4e5f' },
  timeInForce: 'immediate or cancel',
};
const accepted = reply({ txid: ['OL7LNO-R4SAD-6UINEU'], descr: { order: '' } });

describe.skipIf(missing)('requests', () => {
  test('a limit order has the fields of ccxt, and only the listed ones differ', async () => {
    const { client, sent } = scriptedKraken(() => accepted);
    await client.place(order);
    await client.place({ ...order, price: '30000', major: '0.5', timeInForce: 'post only' });
    const [ioc, post] = sent;
    expect(new URL(ioc!.target, 'https://api.kraken.com').pathname).toBe(pathOf('createOrder'));
    expect(ioc!.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(compare('AddOrder', ioc!.form, captured('createOrder', 'timeinforce=IOC'))).toEqual(
      expect.arrayContaining(['nonce', 'price', 'oflags', 'deadline']),
    );
    const theirs = captured('createOrder', 'oflags=post');
    expect(compare('AddOrder', { ...post!.form, cl_ord_id: '' }, { ...theirs, cl_ord_id: '' })).toEqual(
      expect.arrayContaining(['oflags', 'timeinforce', 'deadline']),
    );
    expect(post!.form['oflags']!.split(',')).toContain(theirs['oflags']);
    // Combined flags have the form of the static fixture.
    const combined = fixtures!.static.request.cases.find(each => each.description?.includes('oflags'))!;
    expect(formOf(combined.output)['oflags']!.split(',')).toContain('post');
    expect(combined.output).toContain('%2C');
    expect(post!.body).toContain('oflags=post%2Cfciq');
  });

  test('cancels by either id, look-ups, own trades, balances, fees and books have the fields of ccxt', async () => {
    const { client, sent } = scriptedKraken(({ name }) => {
      if (name === 'CancelOrder') return reply({ count: 0 });
      if (name === 'TradesHistory') return reply({ trades: {}, count: 0 });
      if (name === 'TradeVolume') return reply({ currency: 'ZUSD', volume: '0', fees: {}, fees_maker: {} });
      if (name === 'Depth') return reply({ XXBTZUSD: { asks: [], bids: [] } });
      return reply(name === 'OpenOrders' ? { open: {} } : name === 'ClosedOrders' ? { closed: {}, count: 0 } : {});
    });
    await client.cancel({ originIds: ['pt0a1b2c3d4e5f'] });
    compare('CancelOrder', sent.at(-1)!.form, captured('cancelOrder', 'cl_ord_id'));
    const byTxid = fixtures!.static.request.cases.find(each => each.method === 'cancelOrder')!;
    await client.cancel({ oids: ['OF7S76-H2IMS-N2ML4U'] });
    compare('CancelOrder', sent.at(-1)!.form, formOf(byTxid.output));
    await client.openOrders({ book: 'btc_usd' });
    compare('OpenOrders', sent.at(-1)!.form, captured('fetchOpenOrders', ''));
    await client.lookUp({ oids: ['OID1'] });
    compare('QueryOrders', sent.at(-1)!.form, captured('fetchOrder', 'txid'));
    await client.userTrades({ sort: 'asc', marker: '1699990001000000000000001' });
    expect(compare('TradesHistory', sent.at(-1)!.form, captured('fetchMyTrades', ''))).not.toContain('start');
    await client.balances();
    compare('BalanceEx', sent.at(-1)!.form, captured('fetchBalance', ''));
    await client.orderBook('btc_usd');
    expect(sent.at(-1)!.target).toBe('/0/public/Depth?pair=XXBTZUSD&count=100');
    expect(fixtures!.captured.cases.some(each => each.request?.url.endsWith('/Depth?pair=XXBTZUSD&count=20'))).toBe(
      true,
    );
    await client.fees();
    compare('TradeVolume', sent.at(-1)!.form, captured('fetchTradingFee', ''));
    for (const { target, name } of sent)
      expect(target.split('?')[0]).toMatch(new RegExp(`^/0/(?:private|public)/${name}$`));
  });
});

describe.skipIf(missing)('replies', () => {
  const responseOf = (description: string) =>
    fixtures!.static.response.cases.find(each => each.description === description)!.httpResponse!.result;

  test('orders of the static fixtures are read with all digits', async () => {
    const { client } = scriptedKraken(({ form }) =>
      reply(responseOf(form['txid'] === 'OR6EGN-KQSEG-AMI6CL' ? 'fetch spot limit order' : 'closed market order')),
    );
    expect(await client.lookUp({ oids: ['OR6EGN-KQSEG-AMI6CL'] })).toMatchObject({
      value: [
        {
          ...{ book: 'ltc_usdt', oid: 'OR6EGN-KQSEG-AMI6CL', side: 'buy', type: 'limit', status: 'open' },
          ...{ price: '50.00000', originalAmount: '0.10000000', unfilledAmount: '0.1', createdAt: 1_705_259_439_563 },
        },
      ],
    });
    expect(await client.lookUp({ oids: ['OGMZCL-KC6MC-ZRBGM6'] })).toMatchObject({
      value: [{ type: 'market', status: 'completed', unfilledAmount: '0', tradeIds: ['TWA6QJ-ZO4EM-6QIHQJ'] }],
    });
  });

  test('the id of an accepted order is read', async () => {
    const { client } = scriptedKraken(() => reply(responseOf('create order')));
    expect(await client.place(order)).toEqual({ kind: 'done', value: { oid: 'OL7LNO-R4SAD-6UINEU' } });
  });

  test('samples of the source are read: balances as numbers, levels and fees', async () => {
    const sample = (method: string) =>
      fixtures!.samples.cases.find(each => each.method === method)!.sample as { readonly result: unknown };
    const { client } = scriptedKraken(({ name }) => {
      if (name === 'BalanceEx') return reply(sample('fetchBalance').result);
      if (name === 'TradeVolume') return reply(sample('fetchTradingFee').result);
      return reply({ XXBTZUSD: (sample('fetchOrderBook').result as Record<string, unknown>)['XETHXXBT'] });
    });
    expect(await client.balances()).toMatchObject({
      value: [
        { currency: 'usd', total: '25435.21', locked: '8249.76', available: '17185.45' },
        { currency: 'btc', total: '1.2435', locked: '0.8423', available: '0.4012' },
        { currency: 'ltc', total: '0' },
        { currency: 'usdt', total: '0' },
      ],
    });
    expect(await client.orderBook('btc_usd')).toMatchObject({
      value: { asks: [{ price: '0.023480', amount: '4.000' }, {}, {}], bids: [{ price: '0.023470' }, {}, {}] },
    });
    expect(await client.fees()).toMatchObject({
      value: [
        { book: 'btc_usd', maker: '0.0016', taker: '0.0026', nextMaker: '0.0014', nextVolume: '50000.0000' },
        ...Object.keys(ASSET_PAIRS)
          .slice(1)
          .map(() => ({ taker: '0.0026' })),
      ],
    });
  });

  test('a trade of the source with times finer than a millisecond is read', async () => {
    const { sample } = fixtures!.samples.cases.find(({ about }) => about === 'fetchMyTrades')!;
    const row = { ...(sample as object), margin: '0', ordertype: 'limit' };
    const { client } = scriptedKraken(({ name }) =>
      name === 'QueryOrders'
        ? reply({ 'OSJVN7-A2AE-63WZV': orderRow('pt-1-1') })
        : reply({ trades: { 'TBP7O6-PNXI-CONU': row }, count: 1 }),
    );
    expect(await client.userTrades({ limit: 1 })).toMatchObject({
      value: [
        {
          ...{ tid: '1710429248305000068230622', oid: 'OSJVN7-A2AE-63WZV', originId: 'pt-1-1', side: 'sell' },
          ...{ price: '72026.50000', major: '0.00010000', minor: '7.20265', feeAmount: '0.01873', feeCurrency: 'usd' },
          ...{ createdAt: 1_710_429_248_305, maker: false },
        },
      ],
    });
    // On margin, the trade changes balances otherwise.
    const { client: onMargin } = scriptedKraken(() => reply({ trades: { T: sample }, count: 1 }));
    expect(await onMargin.userTrades({ limit: 1 })).toMatchObject({ value: [], unreadable: [{ book: 'btc_usd' }] });
  });
});

const orderRow = (clientId: string) => ({
  ...{ status: 'closed', opentm: 1710429248, cl_ord_id: clientId, vol: '0.0001', vol_exec: '0.0001', oflags: 'fciq' },
  descr: { pair: 'XBTUSD', type: 'sell', ordertype: 'limit', price: '72026.5', price2: '0' },
});
