/**
 * Requests and replies of Kraken beside ccxt's: its static fixtures, and requests captured from its class. Each
 * difference has its reason.
 */
import { describe, expect, test } from 'vitest';
import type { NewOrder, WireRequest } from '../../../src/core/index.ts';
import { ccxtFixtures, compareRequests, type Compared, type RequestFixtures } from '../ccxtRequests.ts';
import { ASSET_PAIRS, reply, scriptedKraken } from './scripted.ts';

type Fixtures = RequestFixtures & {
  readonly static: {
    readonly response: {
      readonly cases: readonly { readonly description: string; readonly httpResponse: { readonly result: unknown } }[];
    };
  };
  readonly samples: {
    readonly cases: readonly { readonly method: string; readonly about: string; readonly sample: unknown }[];
  };
};
const fixtures = ccxtFixtures<Fixtures>('kraken');
const missing = fixtures === null;

const order: NewOrder = {
  ...{ book: 'btc_usd', side: 'buy', price: '30000.12', major: '0.12345678', originId: 'pt0a1b2c3d4e5f' },
  timeInForce: 'immediate or cancel',
};
const postOnly: NewOrder = { ...order, price: '30000', major: '0.5', timeInForce: 'post only' };
const accepted = reply({ txid: ['OL7LNO-R4SAD-6UINEU'], descr: { order: '' } });

const sentBy = async (call: Compared['call']): Promise<WireRequest> => {
  const { client, sent } = scriptedKraken(({ name }) => {
    if (name === 'AddOrder') return accepted;
    if (name === 'CancelOrder') return reply({ count: 0 });
    if (name === 'TradesHistory') return reply({ trades: {}, count: 0 });
    if (name === 'TradeVolume') return reply({ currency: 'ZUSD', volume: '0', fees: {}, fees_maker: {} });
    if (name === 'Depth') return reply({ XXBTZUSD: { asks: [], bids: [] }, XBTUSDT: { asks: [], bids: [] } });
    return reply(name === 'OpenOrders' ? { open: {} } : {});
  });
  await call(client);
  const { method, headers } = sent.at(-1)!;
  if (method === 'POST') expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
  return sent.at(-1)!;
};

const NONCE = { nonce: /^17000000000\d{8}$/ };
const NEW_ORDER = { ...NONCE, deadline: /^2023-11-14T22:13:\d\d/ };
const MARKET = 'the port has no market orders: a limit bounds the price of every order';
const TRADES = { ...NONCE, consolidate_taker: 'false', ofs: '0' };

compareRequests({
  ...{ fixtures, sentBy },
  reasons: {
    '* nonce': 'nanoseconds instead of milliseconds, so that two requests in one millisecond differ',
    'AddOrder price': 'ccxt rounds the price half up to the tick; here the caller rounds it to the safe side',
    'AddOrder oflags': 'fciq is added, so that the currency of the fee is certain',
    'AddOrder timeinforce': 'GTC is stated instead of left to the default',
    'AddOrder deadline': 'added, so that a late order is not executed',
    'AddOrder cl_ord_id': 'ccxt sends none of its own',
    'QueryOrders consolidate_taker': 'added: ids of single trades instead of joined ones',
    'QueryOrders trades': 'only where the trades are needed',
    'TradesHistory consolidate_taker': 'added: single trades instead of joined ones',
    'TradesHistory ofs': 'pages are read by offset; ccxt reads the first page alone',
    'BalanceEx type': 'ccxt passes a parameter of its own on, which the exchange does not know',
    'Depth count': 'the client reads 100 levels',
    'TradeVolume fee-info': 'ccxt sends a parameter that the documents no longer have',
  },
  table: {
    'static: Spot market buy': MARKET,
    'static: Spot market sell': MARKET,
    // Flags are joined by the same comma.
    'static: order with multiple oflags combined': {
      call: client => client.place({ ...postOnly, book: 'ltc_usdt', price: '50', major: '0.1' }),
      differs: { ...NEW_ORDER, oflags: 'post,fciq', timeinforce: 'GTC', cl_ord_id: order.originId },
    },
    'static: market buy order': MARKET,
    'static: cancel open trailing percent order': {
      call: client => client.cancel({ oids: ['OF7S76-H2IMS-N2ML4U'] }),
      differs: NONCE,
    },
    // The list starts after this time, so it is a second earlier than the marker.
    'static: Spot private trades': {
      call: client => client.userTrades({ sort: 'asc', marker: '1699457639000000000000001' }),
      differs: TRADES,
    },
    'static: Spot open orders': { call: client => client.openOrders({ book: 'ltc_usdt' }), differs: NONCE },
    'static: Fetch spot Balance': { call: client => client.balances(), differs: { ...NONCE, type: null } },
    'static: spot orderbook': { call: client => client.orderBook('btc_usdt'), differs: { count: '100' } },
    'captured 0: createOrder': {
      call: client => client.place(order),
      differs: { ...NEW_ORDER, price: '30000.12', oflags: 'fciq' },
    },
    'captured 1: createOrder': MARKET,
    'captured 2: createOrder': MARKET,
    'captured 3: createOrder': {
      call: client => client.place(postOnly),
      differs: { ...NEW_ORDER, oflags: 'post,fciq', timeinforce: 'GTC', cl_ord_id: order.originId },
    },
    'captured 4: fetchOrder':
      'ccxt asks QueryOrders by userref, which does not find an order by its cl_ord_id; the client reads OpenOrders and ClosedOrders',
    'captured 5: fetchOrder': {
      call: client => client.lookUp({ oids: ['OID1'] }),
      differs: { ...NONCE, consolidate_taker: 'false', trades: 'false' },
    },
    'captured 6: cancelOrder': {
      call: client => client.cancel({ originIds: [order.originId] }),
      differs: NONCE,
    },
    'captured 7: fetchMyTrades': {
      call: client => client.userTrades({ sort: 'asc', marker: '1699990001000000000000001' }),
      differs: TRADES,
    },
    'captured 8: fetchOpenOrders': { call: client => client.openOrders({ book: 'btc_usd' }), differs: NONCE },
    'captured 9: fetchBalance': { call: client => client.balances(), differs: NONCE },
    'captured 10: fetchOrderBook': { call: client => client.orderBook('btc_usd'), differs: { count: '100' } },
    // Books that the client has used are requested by name.
    'captured 11: fetchTradingFee': {
      call: async client => {
        await client.place(order);
        await client.fees();
      },
      differs: { ...NONCE, 'fee-info': null },
    },
  },
});

describe.skipIf(missing)('replies', () => {
  const responseOf = (description: string) =>
    fixtures!.static.response.cases.find(each => each.description === description)!.httpResponse.result;

  test('of the static fixtures are all read here', () => {
    expect(fixtures!.static.response.cases.map(({ description }) => description)).toEqual([
      ...['create order', 'fetch spot limit order', 'closed market order'],
    ]);
  });

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
