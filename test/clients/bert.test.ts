/** bitso-bert-api drives the embedded exchange: every call of it that can be sent to another address. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stockedMarket, type Market } from './served.ts';

let market: Market;
let bert: Api;
type Call = (...args: readonly unknown[]) => Promise<unknown>;
type Calls<Names extends string> = Readonly<Record<Names, Call>>;
type Placing = Calls<'market' | 'limit' | 'stopLoss' | 'stopLimit'>;
/** What is called of it: its own types cannot be resolved. */
type Api = {
  readonly public: Calls<'getAvailableBooks' | 'getTicker' | 'getOrderBook' | 'getTrades'>;
  readonly private: Calls<
    'getAccountStatus' | 'getBalance' | 'getFees' | 'getOpenOrders' | 'getFundingDestination' | 'getBankCodes'
  > & {
    readonly mobilePhone: Calls<'register' | 'verify'>;
    readonly ledger: Calls<'getLedger' | 'getTrades' | 'getFees' | 'getFundings' | 'getWithdrawals'>;
    readonly withdrawals: Calls<'getAll' | 'getByWid' | 'getByWids' | 'getByOriginIds'>;
    readonly fundings: Calls<'getAll' | 'getByFid' | 'getByFids'>;
    readonly orderTrades: Calls<'getByOid' | 'getByOriginId'>;
    readonly userTrades: Calls<'getByBook' | 'getByTid' | 'getByTids'>;
    readonly lookupOrders: Calls<'getByOid' | 'getByOids' | 'getByOriginIds'>;
    readonly cancelOrder: Calls<'cancelAll' | 'cancelByOid' | 'cancelByOids' | 'cancelByOrderIds'>;
    readonly placeOrder: { readonly buy: Placing; readonly sell: Placing };
  };
  readonly undocumented: Calls<'getTickers' | 'getSettings'> & {
    readonly charts: Calls<'getChartInfo'>;
    readonly catalogues: Calls<'getCountries' | 'getCurrencies'> & {
      readonly availableCurrencyConversions: Calls<'public' | 'private'>;
    };
  };
};
type Rows = Record<string, unknown>[];
let at = 0;

beforeAll(async () => {
  // Its nonce is the time in milliseconds, and two calls in one would be one.
  market = await stockedMarket({ nonce: 'unchecked' });
  process.env['BITSO_API_URL'] = market.served.url;
  process.env['BITSO_API_KEY'] = market.key;
  process.env['BITSO_API_SECRET'] = market.secret;
  type Loaded = Api & { readonly default?: Api };
  const loaded = ((await import('bitso-bert-api')) as unknown as { readonly default: Loaded }).default;
  bert = noted(loaded.default ?? loaded, '') as Api;
});
afterAll(async () => {
  for (const name of ['BITSO_API_URL', 'BITSO_API_KEY', 'BITSO_API_SECRET']) delete process.env[name];
  await market.close();
});

const rows = async (reply: Promise<unknown>): Promise<Rows> => (await reply) as Rows;
const row = async (reply: Promise<unknown>): Promise<Rows[number]> => (await reply) as Rows[number];
const amount = () => `0.0${++at}`;

/** Calls that the client has, and those that the tests made, by path. */
const had = new Set<string>();
const made = new Set<string>();

/** The same tree, each call of it noted. */
function noted(node: unknown, path: string): unknown {
  if (typeof node === 'function') {
    had.add(path);
    return (...args: unknown[]): unknown => {
      made.add(path);
      return (node as (...args: unknown[]) => unknown)(...args);
    };
  }
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([name, each]) => [name, noted(each, `${path}.${name}`)]));
}

describe('bitso-bert-api 0.0.13', () => {
  it('reads the public endpoints', async () => {
    expect((await rows(bert.public.getAvailableBooks()))[0]).toMatchObject({ book: 'btc_mxn', tickSize: '10' });
    expect(await row(bert.public.getTicker('btc_mxn'))).toMatchObject({ last: '1500000', bid: '1499990' });
    expect((await row(bert.public.getOrderBook('btc_mxn')))['bids']).toHaveLength(5);
    const whole = (await row(bert.public.getOrderBook('btc_mxn', { aggregate: false })))['bids'] as Rows;
    expect(whole[0]!['oid']).toMatch(/^\w{16}$/);
    expect(await rows(bert.public.getTrades('btc_mxn', { limit: 1 }))).toMatchObject([{ makerSide: 'sell' }]);
  });

  it('reads account, balances and fees', async () => {
    expect(await row(bert.private.getAccountStatus())).toMatchObject({ status: 'active', verificationLevel: 4 });
    expect((await row(bert.private.getBalance()))['balances']).toContainEqual(
      expect.objectContaining({ currency: 'mxn', total: '10000000.00000000' }),
    );
    expect((await row(bert.private.getFees()))['fees']).toContainEqual(
      expect.objectContaining({ book: 'btc_mxn', makerFeeDecimal: '0.00600000' }),
    );
  });

  it('places limit, market and stop-limit orders on both sides', async () => {
    const { buy, sell } = bert.private.placeOrder;
    for (const placed of [
      buy.limit('btc_mxn', amount(), 'btc', '1400000'),
      sell.limit('btc_mxn', amount(), 'btc', '1600000', 'postonly'),
      buy.market('btc_mxn', amount(), 'btc'),
      sell.market('btc_mxn', amount(), 'btc'),
      buy.market('btc_mxn', '1500', 'mxn'),
      buy.stopLimit('btc_mxn', amount(), 'btc', '1700000', '1650000'),
      sell.stopLimit('btc_mxn', amount(), 'btc', '1300000', '1350000'),
    ])
      expect((await row(placed))['oid']).toMatch(/^\w{16}$/);
    expect((await rows(bert.private.getOpenOrders())).map(order => order['status']).sort()).toEqual([
      'open',
      'open',
      'queued',
      'queued',
    ]);
  });

  it('sends a stop-loss as a limit order without a price, and a limit order by minor: both are refused', async () => {
    const { buy, sell } = bert.private.placeOrder;
    for (const { stopLoss } of [buy, sell])
      await expect(stopLoss('btc_mxn', '0.1', '1450000')).rejects.toMatchObject({ code: '0407' });
    await expect(buy.limit('btc_mxn', '1500', 'mxn', '1400000')).rejects.toMatchObject({ code: '0329' });
  });

  it('looks orders up and cancels them, one, several, by id of ours and all', async () => {
    const place = async () =>
      String((await row(bert.private.placeOrder.buy.limit('btc_mxn', amount(), 'btc', '1300000')))['oid']);
    const [a, b, c] = [await place(), await place(), await place()];
    const { lookupOrders, cancelOrder, getOpenOrders } = bert.private;
    expect(await rows(lookupOrders.getByOid(a))).toMatchObject([{ oid: a, status: 'open' }]);
    expect((await rows(lookupOrders.getByOids([a, b]))).map(each => each['oid'])).toEqual([a, b]);
    expect(await rows(lookupOrders.getByOriginIds(['none']))).toEqual([]);
    expect((await rows(getOpenOrders({ book: 'btc_mxn' }))).length).toBeGreaterThan(2);
    expect(await cancelOrder.cancelByOid(a)).toEqual([a]);
    expect(await cancelOrder.cancelByOids([b, 'none'])).toEqual([b]);
    expect(await cancelOrder.cancelByOrderIds(['none'])).toEqual([]);
    expect(await cancelOrder.cancelAll()).toContain(c);
    expect(await getOpenOrders()).toEqual([]);
  });

  it('reads own trades by book, by id, by ids and by order', async () => {
    const { userTrades, orderTrades } = bert.private;
    const trades = await rows(userTrades.getByBook('btc_mxn'));
    expect(trades[0]).toMatchObject({ makerSide: 'sell', side: 'buy', feesCurrency: 'btc' });
    const [first, second] = trades.map(trade => String(trade['tid']));
    expect(await rows(userTrades.getByTid(first!))).toEqual([trades[0]]);
    expect(await rows(userTrades.getByTids([first!, second!]))).toEqual(trades.slice(0, 2));
    expect(await rows(orderTrades.getByOid(String(trades[0]!['oid'])))).toMatchObject([{ tid: first }]);
    expect(await rows(orderTrades.getByOriginId('none'))).toEqual([]);
  });

  it('reads ledger, fundings and withdrawals', async () => {
    const { ledger, fundings, withdrawals } = bert.private;
    for (const call of [ledger.getLedger, ledger.getTrades, ledger.getFees, ledger.getFundings])
      expect((await rows(call()))[0]).toMatchObject({
        eid: expect.any(String) as string,
        balanceUpdates: expect.any(Array) as unknown[],
      });
    expect(await rows(ledger.getWithdrawals({ limit: 5 }))).toEqual([]);
    const all = await rows(fundings.getAll());
    const fids = all.map(funding => String(funding['fid']));
    expect(await rows(fundings.getByFid(fids[0]!))).toEqual([all[0]]);
    expect(await rows(fundings.getByFids(fids))).toEqual(all);
    expect(await rows(withdrawals.getAll())).toEqual([]);
    expect(await rows(withdrawals.getByWids(['a', 'b']))).toEqual([]);
    expect(await rows(withdrawals.getByOriginIds(['a']))).toEqual([]);
    await expect(withdrawals.getByWid('a')).rejects.toMatchObject({ code: '0310' });
  });

  it('reads the rest of what it knows', async () => {
    expect(await row(bert.private.getFundingDestination('btc'))).toMatchObject({
      accountIdentifier: expect.any(String) as string,
    });
    expect((await rows(bert.private.getBankCodes()))[0]).toHaveProperty('name');
    expect(await row(bert.private.mobilePhone.register('5525500000000'))).toHaveProperty('phone');
    expect(await row(bert.private.mobilePhone.verify('1234'))).toHaveProperty('phone');
    const { charts, getTickers, getSettings, catalogues } = bert.undocumented;
    expect((await rows(getTickers())).length).toBeGreaterThan(5);
    expect(await row(getSettings())).toHaveProperty('language');
    expect(await rows(catalogues.getCountries())).toHaveLength(1);
    expect((await row(catalogues.getCurrencies()))['metadata']).toContainEqual(
      expect.objectContaining({ code: 'btc' }),
    );
    for (const { public: open, private: signed } of [catalogues.availableCurrencyConversions])
      for (const call of [open, signed]) expect((await row(call()))['btc']).toContain('mxn');
    const { chartingTimeFrame } = (await import('bitso-bert-api')) as unknown as {
      chartingTimeFrame: Record<string, number>;
    };
    for (const width of Object.keys(chartingTimeFrame)) {
      const candles = await rows(charts.getChartInfo('btc_mxn', width, new Date(0), new Date()));
      // All trades are of the last seconds: two candles where a border of the width lies among them.
      expect([1, 2], width).toContain(candles.length);
    }
  });

  it('tells a refusal by its code', async () => {
    await expect(bert.public.getOrderBook('nope_usd')).rejects.toMatchObject({ code: '0301' });
    await expect(bert.private.placeOrder.buy.limit('btc_mxn', '100', 'btc', '1400000')).rejects.toMatchObject({
      code: '0379',
    });
    const secret = process.env['BITSO_API_SECRET'];
    process.env['BITSO_API_SECRET'] = 'wrong';
    await expect(bert.private.getBalance()).rejects.toMatchObject({ code: '0215' });
    process.env['BITSO_API_SECRET'] = secret!;
  });

  it('has no call that was not made here, but for one whose address cannot be changed', () => {
    expect(had.size).toBeGreaterThan(45);
    expect([...had].filter(path => !made.has(path))).toEqual(['.undocumented.charts.getChartTrades']);
  });
});
