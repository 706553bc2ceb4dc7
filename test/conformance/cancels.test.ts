/** Cancelling orders, in each of its four forms. */
import { expect, it } from 'vitest';
import { everyWay, done, refusal, type Member } from './driver.ts';

const three = async (who: Member) => [
  await who.limit('buy', '1400000', '0.1', { origin_id: 'a' }),
  await who.limit('buy', '1300000', '0.1', { origin_id: 'b' }),
  await who.limit('buy', '50000', '0.1', { origin_id: 'c', book: 'eth_mxn' }),
];

everyWay(open => {
  it('rest-api 4.2 DELETE of one oid cancels that order and lists its id', async () => {
    const { ann } = open();
    const [a, b, c] = await three(ann);
    expect(done(await ann.client.cancelOne(a!))).toEqual([a]);
    expect(
      done(await ann.client.openOrders())
        .map(o => o.oid)
        .sort(),
    ).toEqual([b, c].sort());
  });

  it('rest-api 4.2 oids and origin_ids name several, and the reply lists oids for both', async () => {
    const { ann } = open();
    const [a, b, c] = await three(ann);
    expect(done(await ann.client.cancel({ oids: [a!, b!] }))).toEqual([a, b]);
    expect(done(await ann.client.cancel({ originIds: ['c'] }))).toEqual([c]);
    expect(done(await ann.client.openOrders())).toEqual([]);
  });

  it('rest-api 4.2 all cancels every open order of the account, in every book, and of nobody else', async () => {
    const { ann, bob } = open();
    const oids = await three(ann);
    await three(bob);
    expect([...done(await ann.client.cancelAll())].sort()).toEqual([...oids].sort());
    expect(done(await ann.client.openOrders())).toEqual([]);
    expect(done(await bob.client.openOrders())).toHaveLength(3);
  });

  it('rest-api 3 a cancelled order is no longer open, and its oid was in the reply', async () => {
    const { ann } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    expect(done(await ann.client.cancelOne(oid))).toContain(oid);
    expect(done(await ann.client.openOrders())).toEqual([]);
    expect(done(await ann.client.order(oid))[0]!.status).toBe('cancelled');
  });

  it('public-facts 8 filled, cancelled and unknown ids are missing from the list, and the call succeeds', async () => {
    const { ann, bob } = open();
    const filled = await ann.limit('sell', '1500000', '0.1');
    await bob.limit('buy', '1500000', '0.1');
    const gone = await ann.limit('buy', '1400000', '0.1');
    done(await ann.client.cancelOne(gone));
    const live = await ann.limit('buy', '1300000', '0.1');
    expect(done(await ann.client.cancel({ oids: [filled, gone, 'unknown', live] }))).toEqual([live]);
    expect(done(await ann.client.cancelOne('unknown'))).toEqual([]);
    expect(done(await bob.client.cancelOne(live))).toEqual([]);
  });

  it('public-facts 8 one unknown id is refused where that is switched on', async () => {
    const { ann } = open({ cancelUnknown: '0312' });
    expect(refusal(await ann.client.cancelOne('unknown'))).toBe('0312');
    expect((await ann.call('DELETE', '/api/v3/orders?origin_ids=unknown')).code).toBe('0357');
    // Of many, the client takes it for one that is left out.
    expect(done(await ann.client.cancel({ originIds: ['unknown'] }))).toEqual([]);
  });

  it('rest-api 3 cancelled is true at once: what a DELETE listed is not open at the next read and not filled later, whatever the engine has before it', async () => {
    const { ann, bob, clock } = open(
      { engineDelayMinMs: 20, engineDelayMaxMs: 20 },
      'it looks between the reply and the decision of the engine',
    );
    const oids = [await ann.limit('sell', '1500000', '0.1'), await ann.limit('sell', '1510000', '0.1')];
    await clock.advance(20);
    const queued = await ann.limit('sell', '1490000', '0.1', { origin_id: 'queued' });
    await bob.limit('buy', '1520000', '0.3');
    expect(done(await ann.client.cancelOne(oids[0]!))).toEqual([oids[0]]);
    expect(done(await ann.client.cancel({ originIds: ['queued'] }))).toEqual([queued]);
    expect(done(await ann.client.openOrders()).map(o => o.oid)).toEqual([oids[1]]);
    expect(done(await ann.client.cancelAll())).toEqual([oids[1]]);
    expect(done(await ann.client.openOrders())).toEqual([]);
    for (const oid of [...oids, queued]) expect(done(await ann.client.order(oid))[0]!.status).toBe('cancelled');
    for (const { locked } of done(await ann.client.balances())) expect(locked).toBe('0.00000000');
    await clock.advance(100);
    expect(done(await ann.client.userTrades())).toEqual([]);
    expect(done(await ann.client.openOrders())).toEqual([]);
  });

  it('public-facts 8 being listed means accepted where that is switched on: a fill that comes first still counts', async () => {
    const { ann, bob, clock } = open(
      { cancelTiming: 'queued', engineDelayMinMs: 5, engineDelayMaxMs: 5 },
      'it looks between the reply and the decision of the engine',
    );
    const oid = await ann.limit('sell', '1500000', '0.1');
    await clock.advance(5);
    await bob.limit('buy', '1500000', '0.1');
    expect(done(await ann.client.cancelOne(oid))).toEqual([oid]);
    await clock.advance(10);
    expect(done(await ann.client.order(oid))[0]!.status).toBe('completed');
  });

  it('public-facts 8 ids joined with dashes in the path are several', async () => {
    const { ann } = open();
    const [a, b] = await three(ann);
    expect((await ann.call('DELETE', `/api/v3/orders/${a}-${b}`)).payload()).toEqual([a, b]);
  });

  it('public-facts 8 a cancel releases what the order locked', async () => {
    const { ann } = open();
    const locked = async () => done(await ann.client.balances()).find(b => b.currency === 'mxn')!.locked;
    const oid = await ann.limit('buy', '1400000', '0.1');
    expect(await locked()).toBe('140000.00000000');
    done(await ann.client.cancelOne(oid));
    expect(await locked()).toBe('0.00000000');
  });

  it('public-facts 8 cancels do not count against the request budget', async () => {
    const { ann } = open({ rateLimits: 'on', privatePerMinute: 2 });
    for (let i = 0; i < 5; i++) expect(done(await ann.client.cancelAll())).toEqual([]);
    expect(done(await ann.client.openOrders())).toEqual([]);
  });

  it('public-facts 8 a cancel that names nothing is refused', async () => {
    expect((await open().ann.call('DELETE', '/api/v3/orders')).code).toBe('0360');
  });
});
