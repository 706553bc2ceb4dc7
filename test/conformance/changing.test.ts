/** Replacing (v3) and modifying (v4) orders. */
import { expect, it } from 'vitest';
import { everyWay, done, refusal, type Fields } from './driver.ts';

everyWay(open => {
  it('rest-api 4.11 PATCH v3 replaces an order by a new one, named by oid in path or query, or by origin_id', async () => {
    const { ann } = open();
    for (const target of ['path', 'query', 'origin_id'] as const) {
      const oid = await ann.limit('buy', '1400000', '0.1', { origin_id: `o-${target}` });
      const path = { path: `/${oid}`, query: `?oid=${oid}`, origin_id: `?origin_id=o-${target}` }[target];
      const made = (await ann.call('PATCH', `/api/v3/orders${path}`, { price: '1410000' })).payload<{ oid: string }>()
        .oid;
      expect(made).not.toBe(oid);
      expect(done(await ann.client.order(oid))[0]!.status).toBe('cancelled');
      expect(done(await ann.client.order(made))[0]).toMatchObject({
        status: 'open',
        price: '1410000',
        originalAmount: '0.10000000',
      });
    }
  });

  it('rest-api 4.11 PATCH v4 changes an order in place, named by oid in path or query, or by origin_id', async () => {
    const { ann } = open();
    for (const target of ['path', 'query', 'origin_id'] as const) {
      const oid = await ann.limit('sell', '1600000', '0.1', { origin_id: `o-${target}` });
      const path = { path: `/${oid}`, query: `?oid=${oid}`, origin_id: `?origin_id=o-${target}` }[target];
      expect((await ann.call('PATCH', `/api/v4/orders${path}`, { price: '1610000' })).payload()).toEqual({ oid });
      expect(done(await ann.client.order(oid))[0]).toMatchObject({
        status: 'open',
        price: '1610000',
        originId: `o-${target}`,
      });
    }
  });

  it('rest-api 9 cancel belongs to the v4 body, and says what becomes of an order that cannot be changed', async () => {
    const { ann, bob } = open();
    await bob.limit('sell', '1500000', '0.1');
    const oid = await ann.limit('buy', '1400000', '0.1', { time_in_force: 'postonly' });
    const status = async () => done(await ann.client.order(oid))[0]!.status;
    expect(done(await ann.client.modify({ oid }, { price: '1500000', major: '0.1' })).oid).toBe(oid);
    expect(await status()).toBe('open');
    done(await ann.client.modify({ oid }, { price: '1500000', major: '0.1', cancel: true }));
    expect(await status()).toBe('cancelled');
  });

  it('public-facts 6 cancel is taken as true or false, 1 or 0, "1" or "0"', async () => {
    const { ann } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    for (const cancel of [true, false, 1, 0, '1', '0'])
      expect(
        (await ann.call('PATCH', `/api/v4/orders/${oid}`, { price: '1400000', cancel })).status,
        String(cancel),
      ).toBe(200);
    expect((await ann.call('PATCH', `/api/v4/orders/${oid}`, { price: '1400000', cancel: 'maybe' })).code).toBe('0372');
  });

  it('public-facts 6 a v4 body needs price, major, minor or stop: cancel alone is invalid, major and minor together too', async () => {
    const { ann } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    const code = async (body: object) => (await ann.call('PATCH', `/api/v4/orders/${oid}`, body)).code;
    expect(await code({ cancel: true })).toBe('0360');
    expect(await code({})).toBe('0360');
    expect(await code({ major: '0.1', minor: '100000' })).toBe('0308');
    expect(refusal(await ann.client.modify({ oid }, { major: '1', minor: '1' }))).toBe('not-sent');
  });

  it('public-facts 6 a replacement inherits no origin_id, and takes the one in the body', async () => {
    const { ann } = open();
    await ann.limit('buy', '1400000', '0.1', { origin_id: 'old' });
    const bare = done(await ann.client.replace({ originId: 'old' }, { price: '1410000' })).oid;
    expect(done(await ann.client.order(bare))[0]!.originId).toBeUndefined();
    const named = done(await ann.client.replace({ oid: bare }, { price: '1420000', originId: 'new' })).oid;
    expect(done(await ann.client.order(named))[0]!.originId).toBe('new');
  });

  it('public-facts 6 a replacement needs its balance on top of what the old order locks, a modification the difference', async () => {
    const { member } = open();
    const who = member({ balances: { mxn: '150' } });
    const oid = await who.limit('buy', '1000000', '0.0001');
    expect(refusal(await who.client.replace({ oid }, { price: '1100000', major: '0.0001' }))).toBe('0379');
    done(await who.client.modify({ oid }, { price: '1100000', major: '0.0001' }));
    expect(refusal(await who.client.modify({ oid }, { price: '1600000', major: '0.0001' }))).toBe('0379');
    expect(done(await who.client.balances()).find(b => b.currency === 'mxn')!.locked).toBe('110.00000000');
  });

  it('public-facts 6 a replacement is created even when the old order fills meanwhile', async () => {
    const { ann, bob, clock } = open(
      { engineDelayMinMs: 10, engineDelayMaxMs: 10 },
      'it looks between the reply and the decision of the engine',
    );
    const old = await ann.limit('sell', '1500000', '0.1');
    await clock.advance(10);
    await bob.limit('buy', '1500000', '0.1');
    const made = done(await ann.client.replace({ oid: old }, { price: '1510000' })).oid;
    await clock.advance(10);
    expect(done(await ann.client.lookUp({ oids: [old, made] })).map(o => o.status)).toEqual(['completed', 'open']);
  });

  it('public-facts 6 side and type stay, and market, finished and unknown orders cannot be changed', async () => {
    const { ann, bob } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    done(await ann.client.modify({ oid }, { price: '1410000' }));
    expect(done(await ann.client.order(oid))[0]).toMatchObject({ side: 'buy', type: 'limit' });
    done(await ann.client.cancelOne(oid));
    for (const of of [{ oid }, { oid: 'unknown' }])
      expect(refusal(await ann.client.modify(of, { price: '1400000' }))).toBe('0312');
    expect(refusal(await ann.client.modify({ originId: 'unknown' }, { price: '1400000' }))).toBe('0357');
    const filled = await ann.limit('sell', '1500000', '0.1');
    await bob.limit('buy', '1500000', '0.1');
    expect(refusal(await ann.client.replace({ oid: filled }, { price: '1510000' }))).toBe('0312');
  });

  it('public-facts 6 stop cannot be set on a limit order, and moves on a stop order that waits', async () => {
    const { ann } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    expect(refusal(await ann.client.modify({ oid }, { stop: '1500000' }))).toBe('0304');
    const waiting = await ann.limit('buy', '1400000', '0.1', { stop: '1450000' });
    done(await ann.client.modify({ oid: waiting }, { stop: '1460000' }));
    expect(done(await ann.client.order(waiting))[0]!.stop).toBe('1460000');
  });

  it('public-facts 6 a buy changed by price alone keeps its value and lock, and its amount is recomputed', async () => {
    const { ann } = open();
    const oid = await ann.limit('buy', '100000', '1');
    done(await ann.client.modify({ oid }, { price: '120000' }));
    expect(done(await ann.client.order(oid))[0]).toMatchObject({ originalAmount: '0.83333333', price: '120000' });
    const locked = Number(done(await ann.client.balances()).find(b => b.currency === 'mxn')!.locked);
    expect(locked).toBeGreaterThan(99_999.99);
    expect(locked).toBeLessThanOrEqual(100_000);
    done(await ann.client.modify({ oid }, { price: '130000', major: '1' }));
    expect(done(await ann.client.balances()).find(b => b.currency === 'mxn')!.locked).toBe('130000.00000000');
  });

  it('public-facts 6 a sell changed by price alone keeps its amount and lock', async () => {
    const { ann } = open();
    const oid = await ann.limit('sell', '1600000', '0.1');
    done(await ann.client.modify({ oid }, { price: '1700000' }));
    expect(done(await ann.client.order(oid))[0]).toMatchObject({
      originalAmount: '0.10000000',
      originalValue: '170000.00000000',
    });
    expect(done(await ann.client.balances()).find(b => b.currency === 'btc')!.locked).toBe('0.10000000');
  });

  it('public-facts 6 a modified order goes to the end of its queue, or keeps its place when reduced where that is switched on', async () => {
    for (const [modifyPriority, filled] of [
      ['lost', 'bob'],
      ['kept when reduced', 'ann'],
    ] as const) {
      const { ann, bob, member } = open({ modifyPriority });
      const mine = await ann.limit('sell', '1500000', '0.2');
      const his = await bob.limit('sell', '1500000', '0.1');
      done(await ann.client.modify({ oid: mine }, { major: '0.1' }));
      await member({ balances: { mxn: '1000000' } }).limit('buy', '1500000', '0.1');
      const [one, two] = [done(await ann.client.order(mine))[0]!.status, done(await bob.client.order(his))[0]!.status];
      expect([one, two]).toEqual(filled === 'ann' ? ['completed', 'open'] : ['open', 'completed']);
    }
  });

  it('public-facts 6 a new major is the new original amount, and must be above what is filled', async () => {
    const { ann, bob } = open();
    const oid = await ann.limit('sell', '1500000', '0.2');
    await bob.limit('buy', '1500000', '0.1');
    expect(refusal(await ann.client.modify({ oid }, { major: '0.1' }))).toBe('0343');
    done(await ann.client.modify({ oid }, { major: '0.15' }));
    expect(done(await ann.client.order(oid))[0]).toMatchObject({
      originalAmount: '0.15000000',
      unfilledAmount: '0.05000000',
    });
  });

  it.each<[string, string, Fields]>([
    ['price below the minimum', '0401', { price: '99990' }],
    ['price above the maximum', '0402', { price: '40000010' }],
    ['major below the minimum', '0403', { major: '0.00000059' }],
    ['major above the maximum', '0404', { major: '600.00000001' }],
    ['value below the minimum', '0405', { price: '100000', major: '0.00009999' }],
    ['value above the maximum', '0406', { price: '40000000', major: '5.1' }],
    ['price off the tick', '0407', { price: '1600005' }],
    ['amount of nine decimals', '0407', { major: '0.100000001' }],
    ['amount zero', '0408', { major: '0' }],
  ])(
    'public-facts 6 a change with %s is refused with %s by v3 and v4, and the order stays as it was',
    async (_, code, change) => {
      const { member } = open();
      const rich = member({ balances: { btc: '2000' } });
      const oid = await rich.limit('sell', '1600000', '0.1');
      const before = done(await rich.client.openOrders());
      for (const version of ['v3', 'v4'])
        expect(await rich.call('PATCH', `/api/${version}/orders/${oid}`, change), version).toMatchObject({
          status: 400,
          code,
        });
      expect(done(await rich.client.openOrders())).toEqual(before);
      expect(done(await rich.client.balances()).find(b => b.currency === 'btc')!.locked).toBe('0.10000000');
    },
  );
});
