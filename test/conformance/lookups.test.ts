/** Looking orders up, and the list of open ones. */
import { expect, it } from 'vitest';
import { everyWay, done, fieldsOf, refusal, type Fields } from './driver.ts';

everyWay(open => {
  it.each(fieldsOf('rest-api', '2.4'))('rest-api 2.4 $name is $word', async ({ name, shape, sometimes }) => {
    const { ann, bob } = open();
    await ann.limit('sell', '1500000', '0.1', {
      origin_id: 'a-1',
      margin_order_type: 'CROSS_MARGIN',
      time_in_force: 'postonly',
    });
    await bob.limit('buy', '1500000', '0.05');
    await ann.limit('buy', '1400000', '0.1');
    const rows = await ann.get<Fields[]>('/api/v3/open_orders');
    expect(rows).toHaveLength(2);
    for (const row of rows)
      expect(shape!.fits(row[name]) || (sometimes === true && !(name in row)), JSON.stringify(row)).toBe(true);
    expect(rows.some(row => name in row)).toBe(true);
  });

  it('rest-api 3 an order is queued before the engine, open without fills, partially filled with some', async () => {
    const { ann, bob, clock } = open(
      { engineDelayMinMs: 10, engineDelayMaxMs: 10 },
      'it looks between the reply and the decision of the engine',
    );
    await ann.limit('sell', '1500000', '0.1');
    const status = async () => done(await ann.client.openOrders())[0]!.status;
    expect(await status()).toBe('queued');
    await clock.advance(10);
    expect(await status()).toBe('open');
    await bob.limit('buy', '1500000', '0.05');
    await clock.advance(10);
    expect(await status()).toBe('partially filled');
  });

  it('rest-api 4.4 open_orders lists the caller’s open orders and nobody else’s', async () => {
    const { ann, bob } = open();
    const mine = await ann.limit('buy', '1400000', '0.1');
    const gone = await ann.limit('buy', '1300000', '0.1');
    await bob.limit('buy', '1400000', '0.1');
    done(await ann.client.cancelOne(gone));
    expect(done(await ann.client.openOrders()).map(o => o.oid)).toEqual([mine]);
  });

  it('rest-api 2.4 type is always limit: market orders, orders that fill at once or not at all, and stop-market orders are never listed', async () => {
    const { ann, bob, clock } = open(
      { engineDelayMinMs: 20, engineDelayMaxMs: 20 },
      'it looks between the reply and the decision of the engine',
    );
    await bob.limit('sell', '1500000', '1');
    await bob.limit('buy', '1490000', '1');
    await clock.advance(20);
    const of = { book: 'btc_mxn', side: 'buy' } as const;
    const limit = { ...of, type: 'limit', price: '1500000', major: '0.01' } as const;
    for (const order of [
      { ...of, type: 'market', major: '0.01' },
      { ...of, type: 'market', minor: '15000' },
      { ...of, type: 'market', major: '0.01', stop: '1600000' },
      { ...of, type: 'market', minor: '15000', stop: '1600000' },
      { ...limit, timeInForce: 'fillorkill' },
      { ...limit, timeInForce: 'immediateorcancel' },
      { ...limit, timeInForce: 'fillorkill', stop: '1600000' },
    ] as const) {
      const { oid } = done(await ann.client.placeOrder(order));
      expect(done(await ann.client.order(oid))[0]!.status, 'still on its way').toBe('queued');
    }
    const seen = async () => done(await ann.client.openOrders()).map(o => o.oid);
    expect(await seen()).toEqual([]);
    const resting = await ann.limit('buy', '1400000', '0.01');
    const waiting = await ann.limit('buy', '1450000', '0.01', { stop: '1600000' });
    expect((await seen()).sort()).toEqual([resting, waiting].sort());
    await clock.advance(20);
    expect((await seen()).sort()).toEqual([resting, waiting].sort());
    const rows = await ann.get<Fields[]>('/api/v3/open_orders');
    for (const { name, shape, sometimes } of fieldsOf('rest-api', '2.4'))
      for (const row of rows)
        expect(shape!.fits(row[name]) || (sometimes === true && !(name in row)), `${name} ${JSON.stringify(row)}`).toBe(
          true,
        );
  });

  it('rest-api 2.4 updated_at of an order that was never changed is its created_at, as recorded, or null where that is switched on', async () => {
    const { ann, exchange, clock } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    const row = async () => (await ann.get<Fields[]>('/api/v3/open_orders'))[0]!;
    expect((await row())['updated_at']).toBe((await row())['created_at']);
    expect(done(await ann.client.openOrders())[0]!.updatedAt).toBe(Date.parse(String((await row())['created_at'])));
    exchange.venue.set({ orderUpdatedAt: 'null' });
    expect((await row())['updated_at']).toBeNull();
    expect(done(await ann.client.openOrders())[0]!.updatedAt).toBeUndefined();
    await clock.advance(5_000);
    const asked = clock.now();
    done(await ann.client.modify({ oid }, { price: '1410000' }));
    const { updatedAt } = done(await ann.client.openOrders())[0]!;
    expect(updatedAt).toBeGreaterThanOrEqual(asked);
    expect(updatedAt).toBeLessThanOrEqual(clock.now());
  });

  it('rest-api 4.4 book, currency and limit choose among them', async () => {
    const { ann } = open();
    const btc = await ann.limit('buy', '1400000', '0.1');
    const eth = await ann.limit('buy', '50000', '0.1', { book: 'eth_mxn' });
    const usd = await ann.limit('buy', '80000', '0.1', { book: 'btc_usd' });
    const oids = async (query: object) =>
      done(await ann.client.openOrders(query))
        .map(o => o.oid)
        .sort();
    expect(await oids({})).toEqual([btc, eth, usd].sort());
    expect(await oids({ book: 'btc_mxn' })).toEqual([btc]);
    expect(await oids({ currency: 'mxn' })).toEqual([btc, eth].sort());
    expect(await oids({ currency: 'btc' })).toEqual([btc, usd].sort());
    expect(await oids({ limit: 2 })).toHaveLength(2);
    expect(refusal(await ann.client.openOrders({ book: 'nope_usd' }))).toBe('0301');
  });

  it('rest-api 4.4 source is alpha or all, and nothing else', async () => {
    const { ann } = open();
    await ann.limit('buy', '1400000', '0.1');
    expect(done(await ann.client.openOrders({ source: 'all' }))).toHaveLength(1);
    expect(done(await ann.client.openOrders({ source: 'alpha' }))).toHaveLength(1);
    expect((await ann.call('GET', '/api/v3/open_orders?source=retail')).code).toBe('0304');
  });

  it('rest-api 8 open_orders shows 500 without a limit', async () => {
    const { exchange, ann } = open();
    const { venue } = exchange;
    const account = venue.accounts.get(ann.id)!;
    const book = venue.books.get('btc_mxn')!;
    for (let i = 0; i < 501; i++)
      venue.accept(
        account,
        book,
        {
          side: 'buy',
          type: 'limit',
          timeInForce: 'postonly',
          price: (100_000 + i) as never,
          amount: 1000 as never,
          minor: undefined,
          stop: undefined,
          originId: undefined,
          marginOrderType: undefined,
          slippage: undefined,
        },
        0n as never,
      );
    expect(done(await ann.client.openOrders())).toHaveLength(500);
    expect(await ann.get('/api/v3/open_orders?limit=501')).toHaveLength(501);
    // No maximum is given: the client sends what it is asked for.
    expect(done(await ann.client.openOrders({ limit: 600 }))).toHaveLength(501);
  });

  it('public-facts 7 keys that open_orders does not know are ignored', async () => {
    const { ann } = open();
    await ann.limit('buy', '1400000', '0.1');
    expect(await ann.get('/api/v3/open_orders?marker=5&sort=asc&undefined')).toHaveLength(1);
  });

  it('public-facts 7 one id or many are found in path, oids and origin_ids, always as a list', async () => {
    const { ann } = open();
    const [a, b] = [
      await ann.limit('buy', '1400000', '0.1', { origin_id: 'x' }),
      await ann.limit('buy', '1300000', '0.1', { origin_id: 'y' }),
    ];
    const oids = async (target: string) => (await ann.get<{ oid: string }[]>(target)).map(o => o.oid);
    expect(await oids(`/api/v3/orders/${a}`)).toEqual([a]);
    for (const target of [`/${a}-${b}`, `?oids=${a},${b}`, `?oids=${a}%2C${b}`, '?origin_ids=x,y'])
      expect(await oids(`/api/v3/orders${target}`), target).toEqual([a, b]);
    expect(done(await ann.client.lookUp({ oids: [a, b] })).map(o => o.oid)).toEqual([a, b]);
    expect(done(await ann.client.lookUp({ originIds: ['x', 'y'] })).map(o => o.oid)).toEqual([a, b]);
  });

  it('public-facts 7 an element has its fifteen fields, stop and triggered_at as null or left out', async () => {
    const { ann, exchange } = open();
    const oid = await ann.limit('buy', '1400000', '0.1', { origin_id: 'x' });
    const fields =
      'book oid origin_id original_amount unfilled_amount original_value price side type status time_in_force stop triggered_at created_at updated_at';
    const keys = async () => Object.keys((await ann.get<Fields[]>(`/api/v3/orders/${oid}`))[0]!).sort();
    expect(await keys()).toEqual(fields.split(' ').sort());
    exchange.venue.set({ absentFields: 'omitted' });
    expect(await keys()).toEqual(
      fields
        .split(' ')
        .filter(name => name !== 'stop' && name !== 'triggered_at')
        .sort(),
    );
    expect(done(await ann.client.order(oid))[0]!.stop).toBeUndefined();
  });

  it('public-facts 7 all five states are told: queued, open, partially filled, completed, cancelled', async () => {
    const { ann, bob, clock } = open(
      { engineDelayMinMs: 1, engineDelayMaxMs: 1 },
      'it looks between the reply and the decision of the engine',
    );
    const oid = await ann.limit('sell', '1500000', '0.1');
    const other = await ann.limit('sell', '1600000', '0.1');
    const status = async (of: string) => done(await ann.client.order(of))[0]!.status;
    const seen = [await status(oid)];
    await clock.advance(1);
    seen.push(await status(oid));
    for (const amount of ['0.04', '0.06']) {
      await bob.limit('buy', '1500000', amount);
      await clock.advance(1);
      seen.push(await status(oid));
    }
    done(await ann.client.cancelOne(other));
    await clock.advance(1);
    seen.push(await status(other));
    expect(seen).toEqual(['queued', 'open', 'partially filled', 'completed', 'cancelled']);
  });

  it('public-facts 7 a finished order is shown for 60 minutes, and its trades longer', async () => {
    const { ann, bob, clock } = open();
    const oid = await ann.limit('sell', '1500000', '0.1');
    await bob.limit('buy', '1500000', '0.1');
    await clock.advance(3_599_000);
    expect(done(await ann.client.order(oid))).toHaveLength(1);
    await clock.advance(2_000);
    expect(done(await ann.client.order(oid))).toEqual([]);
    expect(done(await ann.client.orderTrades({ oid }))).toHaveLength(1);
  });

  it('public-facts 7 ids that match nothing are left out, or refused where that is switched on', async () => {
    const { ann, exchange } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    expect(done(await ann.client.order('unknown'))).toEqual([]);
    expect(done(await ann.client.lookUp({ oids: ['unknown', oid] })).map(o => o.oid)).toEqual([oid]);
    exchange.venue.set({ lookupUnknown: '0312' });
    expect(refusal(await ann.client.order('unknown'))).toBe('0312');
    expect((await ann.call('GET', '/api/v3/orders?origin_ids=unknown')).code).toBe('0357');
    // Of many, the client takes it for one that is left out.
    expect(done(await ann.client.lookUp({ originIds: ['unknown'] }))).toEqual([]);
  });
});
