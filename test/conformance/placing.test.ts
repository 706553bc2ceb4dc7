/** Placing orders: the body, the checks and their codes, and what types and times in force do. */
import { expect, it } from 'vitest';
import type { Switches } from '../../src/sandbox/index.ts';
import { everyWay, done, refusal, type Fields } from './driver.ts';

const LIMIT = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1500000', major: '0.1' };
const MARKET = { book: 'btc_mxn', side: 'buy', type: 'market' };
const OURS = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1500000', major: '0.1' } as const;

everyWay(open => {
  it('rest-api 4.11 POST orders places an order and answers with its oid', async () => {
    const { ann } = open();
    const { oid } = done(await ann.client.place({ ...OURS, originId: 'mm-1', timeInForce: 'post only' }));
    expect(done(await ann.client.openOrders())).toMatchObject([
      { oid, originId: 'mm-1', side: 'buy', price: '1500000' },
    ]);
  });

  it('public-facts 5 a trailing slash is accepted', async () => {
    expect((await open().ann.call('POST', '/api/v3/orders/', LIMIT)).status).toBe(200);
  });

  it('public-facts 5.1 time_in_force is goodtillcancelled without one', async () => {
    const { ann } = open();
    await ann.call('POST', '/api/v3/orders', LIMIT);
    expect(done(await ann.client.openOrders())[0]!.timeInForce).toBe('goodtillcancelled');
  });

  it('public-facts 5.1 a limit order needs major, not minor, a market order either, and neither takes both', async () => {
    const { ann, bob } = open();
    await bob.limit('sell', '1500000', '1');
    expect(done(await ann.client.placeOrder({ ...MARKET, side: 'buy', type: 'market', major: '0.01' })).oid).toMatch(
      /\w/,
    );
    expect(done(await ann.client.placeOrder({ ...MARKET, side: 'buy', type: 'market', minor: '1500' })).oid).toMatch(
      /\w/,
    );
    const code = async (fields: Fields) => (await ann.call('POST', '/api/v3/orders', fields)).code;
    expect(await code({ ...LIMIT, minor: '150000' })).toBe('0308');
    expect(await code({ ...LIMIT, major: undefined, minor: '150000' })).toBe('0329');
    expect(await code({ ...MARKET, major: '1', minor: '1' })).toBe('0308');
  });

  it('public-facts 5.1 an origin_id is taken while its order is active, and free afterwards', async () => {
    const { ann, bob } = open();
    const place = { ...OURS, originId: 'one', timeInForce: 'good till canceled' } as const;
    done(await ann.client.place(place));
    expect(refusal(await ann.client.place({ ...place, price: '1400000' }))).toBe('0356');
    done(await bob.client.place(place));
    done(await ann.client.cancel({ originIds: ['one'] }));
    done(await ann.client.place(place));
  });

  it('rest-api 9 active orders alone hold an origin_id: a finished one gives it back, a dash is allowed in it', async () => {
    const { ann, bob } = open();
    const place = { ...OURS, originId: 'with-dash', timeInForce: 'good till canceled' } as const;
    done(await ann.client.place(place));
    await bob.limit('sell', '1500000', '0.1');
    done(await ann.client.place(place));
    expect(done(await ann.client.lookUp({ originIds: ['with-dash'] })).map(o => o.status)).toEqual([
      'open',
      'completed',
    ]);
  });

  it('rest-api 9 slippage_tolerance is optional: without it a market order takes any price', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.01');
    await ann.limit('sell', '3000000', '0.01');
    const { oid } = done(await bob.client.placeOrder({ book: 'btc_mxn', side: 'buy', type: 'market', major: '0.02' }));
    expect(done(await bob.client.order(oid))[0]!.status).toBe('completed');
  });

  it('public-facts 5.1 slippage_tolerance is a percentage from 0 to 100, as a JSON number', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.01');
    await ann.limit('sell', '1510000', '0.01');
    const sweep = { book: 'btc_mxn', side: 'buy', type: 'market', major: '0.02' } as const;
    const { oid } = done(await bob.client.placeOrder({ ...sweep, slippageTolerance: '0.5' }));
    expect(done(await bob.client.order(oid))[0]).toMatchObject({ status: 'cancelled', unfilledAmount: '0.01000000' });
    for (const slippage_tolerance of [-1, 100.1, 'much', '1e1'])
      expect((await bob.call('POST', '/api/v3/orders', { ...sweep, slippage_tolerance })).code).toBe('0304');
    expect(refusal(await bob.client.placeOrder({ ...sweep, slippageTolerance: '101' }))).toBe('not-sent');
  });

  it('public-facts 5.1 margin_order_type CROSS_MARGIN is told back, and anything else refused', async () => {
    const { ann } = open();
    const { oid } = done(await ann.client.placeOrder({ ...OURS, marginOrderType: 'CROSS_MARGIN' }));
    expect(done(await ann.client.order(oid))[0]!.marginOrderType).toBe('CROSS_MARGIN');
    expect((await ann.call('POST', '/api/v3/orders', { ...LIMIT, margin_order_type: 'ISOLATED' })).code).toBe('0304');
  });

  it('public-facts 5.1 a price off the tick is 0407, or rounded away from the other side where that is switched on', async () => {
    const { ann, exchange } = open();
    const place = (side: 'buy' | 'sell') => ann.call('POST', '/api/v3/orders', { ...LIMIT, side, price: '1500001' });
    expect((await place('buy')).code).toBe('0407');
    exchange.venue.set({ offTickPrice: 'round' });
    await place('buy');
    expect(done(await ann.client.openOrders())[0]!.price).toBe('1500000');
    await ann.client.cancelAll();
    await place('sell');
    expect(done(await ann.client.openOrders())[0]!.price).toBe('1500010');
  });

  it('public-facts 5.2 the reply is accepted, not executed: the engine decides afterwards', async () => {
    const { ann, clock } = open(
      { engineDelayMinMs: 20, engineDelayMaxMs: 20 },
      'it looks between the reply and the decision of the engine',
    );
    const { oid } = done(await ann.client.placeOrder(OURS));
    const status = async () => done(await ann.client.order(oid))[0]!.status;
    expect(await status()).toBe('queued');
    await clock.advance(20);
    expect(await status()).toBe('open');
  });

  it('public-facts 5.2 the payload of a placed order is its oid alone', async () => {
    const { ann } = open();
    const answer = await ann.call('POST', '/api/v3/orders', LIMIT);
    expect(answer.payload()).toEqual({ oid: expect.stringMatching(/^\w{16}$/) as string });
  });

  it.each<[string, string, Fields, Partial<Switches>?]>([
    ['unknown book', '0301', { ...LIMIT, book: 'nope_usd' }],
    ['invalid time_in_force', '0302', { ...LIMIT, time_in_force: 'day' }],
    ['book missing', '0303', { ...LIMIT, book: undefined }],
    ['side missing', '0303', { ...LIMIT, side: undefined }],
    ['type missing', '0303', { ...LIMIT, type: undefined }],
    ['price malformed', '0304', { ...LIMIT, price: '1,500,000' }],
    ['price of a market order', '0304', { ...MARKET, major: '0.1', price: '1500000' }],
    ['side invalid', '0306', { ...LIMIT, side: 'bid' }],
    ['type invalid', '0307', { ...LIMIT, type: 'stop' }],
    ['both amounts', '0308', { ...LIMIT, minor: '1000' }],
    ['no amount', '0309', { ...LIMIT, major: undefined }],
    ['limit order by minor', '0329', { ...LIMIT, major: undefined, minor: '1000' }],
    ['amount as a JSON number', '0372', { ...LIMIT, major: 0.1 }],
    ['price as a JSON number', '0372', { ...LIMIT, price: 1_500_000 }],
    ['more than is available', '0379', { ...LIMIT, major: '7' }],
    ['price below the minimum', '0401', { ...LIMIT, price: '99990' }],
    ['price above the maximum', '0402', { ...LIMIT, price: '40000010' }],
    ['major below the minimum', '0403', { ...LIMIT, major: '0.00000059' }],
    ['major above the maximum', '0404', { ...LIMIT, major: '600.00000001' }],
    ['value below the minimum', '0405', { ...LIMIT, price: '100000', major: '0.00009999' }],
    ['value above the maximum', '0406', { ...LIMIT, price: '40000000', major: '5.1' }],
    ['minor below the minimum', '0405', { ...MARKET, minor: '9.99' }],
    ['minor above the maximum', '0406', { ...MARKET, minor: '200000000.01' }],
    ['price missing', '0407', { ...LIMIT, price: undefined }],
    ['price off the tick', '0407', { ...LIMIT, price: '1500005' }],
    ['amount of nine decimals', '0407', { ...LIMIT, major: '0.100000001' }],
    ['amount zero', '0408', { ...LIMIT, major: '0' }],
    ['amount negative', '0408', { ...LIMIT, major: '-0.1' }],
    ['amount with an exponent', '0408', { ...LIMIT, major: '1e-1' }],
    ['trading off', '0410', LIMIT, { trading: 'off' }],
    ['market orders off', '0411', { ...MARKET, major: '0.1' }, { marketOrders: 'off' }],
    ['stop below the minimum', '0412', { ...LIMIT, stop: '99990' }],
    ['stop above the maximum', '0413', { ...LIMIT, stop: '40000010' }],
    ['API off', '1000', LIMIT, { api: 'off' }],
    [
      'post-only that would cross, where it is refused',
      '1002',
      { ...LIMIT, time_in_force: 'postonly', price: '1600000' },
      { postOnlyCross: 'refuse' },
    ],
    ['body that is not an object', '0372', [] as unknown as Fields],
    ['body that is not JSON', '0304', '{' as unknown as Fields],
  ])('public-facts 5.3 %s is HTTP 400 with %s, and nothing is locked', async (_, code, fields, switches) => {
    const { ann, bob, exchange } = open();
    await bob.limit('sell', '1550000', '0.1');
    exchange.venue.set(switches ?? {});
    expect(await ann.call('POST', '/api/v3/orders', fields)).toMatchObject({ status: 400, code });
    expect(done(await ann.client.openOrders())).toEqual([]);
    for (const { locked } of done(await ann.client.balances())) expect(locked).toBe('0.00000000');
  });

  it('public-facts 5.3 one order too many is 1001, a suspended account 1008', async () => {
    const { ann, exchange } = open({ openOrdersMax: 1 });
    await ann.limit('buy', '1400000', '0.01');
    expect(refusal(await ann.client.place({ ...OURS, originId: 'b', timeInForce: 'post only' }))).toBe('1001');
    exchange.venue.accounts.get(ann.id)!.trading = false;
    expect(refusal(await ann.client.place({ ...OURS, originId: 'b', timeInForce: 'post only' }))).toBe('1008');
  });

  it('public-facts 5.4 an order whose reply was lost is found by its origin_id', async () => {
    const { ann } = open();
    await ann.call('POST', '/api/v3/orders', { ...LIMIT, origin_id: 'lost' });
    expect(done(await ann.client.lookUp({ originIds: ['lost'] }))).toMatchObject([
      { originId: 'lost', status: 'open' },
    ]);
    expect(refusal(await ann.client.place({ ...OURS, originId: 'lost', timeInForce: 'post only' }))).toBe('0356');
  });

  it('public-facts 16.1 goodtillcancelled matches what crosses, and the rest stays', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.1');
    const oid = await bob.limit('buy', '1510000', '0.3');
    expect(done(await bob.client.order(oid))[0]).toMatchObject({
      status: 'partially filled',
      unfilledAmount: '0.20000000',
    });
  });

  it('public-facts 16.1 fillorkill fills wholly or not at all', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.1');
    const killed = await bob.limit('buy', '1500000', '0.2', { time_in_force: 'fillorkill' });
    expect(done(await bob.client.order(killed))[0]).toMatchObject({
      status: 'cancelled',
      unfilledAmount: '0.20000000',
    });
    const filled = await bob.limit('buy', '1500000', '0.1', { time_in_force: 'fillorkill' });
    expect(done(await bob.client.order(filled))[0]!.status).toBe('completed');
  });

  it('public-facts 16.1 immediateorcancel keeps what matches and cancels the rest', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.1');
    const oid = await bob.limit('buy', '1500000', '0.3', { time_in_force: 'immediateorcancel' });
    expect(done(await bob.client.order(oid))[0]).toMatchObject({ status: 'cancelled', unfilledAmount: '0.20000000' });
    expect(done(await bob.client.orderTrades({ oid }))).toHaveLength(1);
  });

  it('public-facts 16.1 postonly that would match is accepted, then cancelled without a fill', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.1');
    const { oid } = done(await bob.client.place({ ...OURS, originId: 'p', timeInForce: 'post only' }));
    expect(done(await bob.client.order(oid))[0]).toMatchObject({ status: 'cancelled', unfilledAmount: '0.10000000' });
    expect(done(await ann.client.openOrders())[0]!.status).toBe('open');
  });

  it('public-facts 16.1 a market order sweeps by major or by minor, and cancels what the book lacks', async () => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.1');
    await ann.limit('sell', '1600000', '0.1');
    const minor = done(
      await bob.client.placeOrder({ book: 'btc_mxn', side: 'buy', type: 'market', minor: '166000' }),
    ).oid;
    expect(done(await bob.client.order(minor))[0]!.status).toBe('completed');
    const major = done(await bob.client.placeOrder({ book: 'btc_mxn', side: 'buy', type: 'market', major: '1' })).oid;
    expect(done(await bob.client.order(major))[0]).toMatchObject({ status: 'cancelled', unfilledAmount: '0.91000000' });
  });

  it('public-facts 16.1 a stop order waits for the last trade to reach its stop, then acts as its type', async () => {
    const { ann, bob, clock } = open();
    const stop = { book: 'btc_mxn', side: 'sell', stop: '1450000' } as const;
    const loss = done(await ann.client.placeOrder({ ...stop, type: 'market', major: '0.01' })).oid;
    const limit = done(await ann.client.placeOrder({ ...stop, type: 'limit', price: '1480000', major: '0.01' })).oid;
    await bob.limit('buy', '1450000', '1');
    const order = async (oid: string) => done(await ann.client.order(oid))[0]!;
    expect(await order(loss)).toMatchObject({ status: 'queued', stop: '1450000' });
    const before = clock.now();
    await ann.limit('sell', '1450000', '0.01');
    const [sold, resting] = [await order(loss), await order(limit)];
    expect(sold).toMatchObject({ status: 'completed' });
    expect(resting).toMatchObject({ status: 'open', price: '1480000' });
    for (const { triggeredAt } of [sold, resting]) {
      expect(triggeredAt).toBeGreaterThanOrEqual(before);
      expect(triggeredAt).toBeLessThanOrEqual(clock.now());
    }
  });

  it('public-facts 16.1 orders match by price, then by time, at the price of the resting one', async () => {
    const { ann, bob, member } = open();
    const first = await ann.limit('sell', '1500000', '0.1');
    const cid = member({ balances: { btc: '1' } });
    const second = await cid.limit('sell', '1500000', '0.1');
    const better = await cid.limit('sell', '1490000', '0.1');
    const oid = await bob.limit('buy', '1600000', '0.2');
    expect(done(await bob.client.orderTrades({ oid })).map(trade => trade.price)).toEqual(['1500000', '1490000']);
    expect(done(await cid.client.order(better))[0]!.status).toBe('completed');
    expect(done(await ann.client.order(first))[0]!.status).toBe('completed');
    expect(done(await cid.client.order(second))[0]!.status).toBe('open');
  });

  it('public-facts 16.1 an account may trade with itself, or is kept from it where that is switched on', async () => {
    for (const [selfTrade, resting, incoming] of [
      ['allow', 'completed', 'completed'],
      ['drop-new', 'open', 'cancelled'],
      ['remove-old', 'cancelled', 'open'],
    ] as const) {
      const { ann } = open({ selfTrade });
      const old = await ann.limit('sell', '1500000', '0.1');
      const fresh = await ann.limit('buy', '1500000', '0.1');
      const statuses = done(await ann.client.lookUp({ oids: [old, fresh] })).map(order => order.status);
      expect(statuses, selfTrade).toEqual([resting, incoming]);
    }
  });
});
