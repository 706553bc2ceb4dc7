/** The caller's trades: by page, by id and by order. */
import { expect, it } from 'vitest';
import { moneyOf } from '../../src/core/index.ts';
import { everyWay, done, fieldsOf, refusal, traded, type Fields } from './driver.ts';

everyWay(open => {
  it.each(fieldsOf('rest-api', '2.1'))('rest-api 2.1 $name is $word', async ({ name, shape, sometimes }) => {
    const stage = open();
    await traded(stage, 1, { margin_order_type: 'CROSS_MARGIN' });
    await stage.bob.limit('sell', '1500000', '0.01');
    await stage.ann.limit('buy', '1500000', '0.01');
    const rows = await stage.ann.get<Fields[]>('/api/v3/user_trades');
    expect(rows).toHaveLength(2);
    for (const row of rows)
      expect(shape!.fits(row[name]) || (sometimes === true && !(name in row)), JSON.stringify(row)).toBe(true);
    expect(rows.some(row => name in row)).toBe(true);
    expect(await stage.ann.get(`/api/v3/user_trades/${String(rows[0]!['tid'])}`)).toEqual([rows[0]]);
  });

  it.each(fieldsOf('rest-api', '2.2'))('rest-api 2.2 $name is $word', async ({ name, shape }) => {
    const stage = open();
    await traded(stage, 1, { margin_order_type: 'CROSS_MARGIN' });
    const rows = await stage.ann.get<Fields[]>('/api/v3/order_trades?origin_id=ann-0');
    expect(rows).toHaveLength(1);
    expect(shape!.fits(rows[0]![name]), JSON.stringify(rows)).toBe(true);
    expect(rows[0]).not.toHaveProperty('margin_order_type');
  });

  it('rest-api 4.1 user_trades lists the caller’s trades, newest first', async () => {
    const stage = open();
    await traded(stage, 3);
    const trades = done(await stage.ann.client.userTrades());
    expect(trades.map(trade => trade.originId)).toEqual(['ann-2', 'ann-1', 'ann-0']);
    expect(done(await stage.member({}).client.userTrades())).toEqual([]);
  });

  it('rest-api 4.1 tid in the path names one trade, or several joined with dashes', async () => {
    const stage = open();
    await traded(stage, 3);
    const tids = async (...of: [string, ...string[]]) =>
      done(await stage.ann.client.userTradesByTid(of)).map(t => t.tid);
    expect(await tids('100000002')).toEqual(['100000002']);
    expect(await tids('100000001', '100000003', '999')).toEqual(['100000003', '100000001']);
    expect((await stage.ann.call('GET', '/api/v3/user_trades/x')).code).toBe('0321');
  });

  it('rest-api 4.1 book, limit, marker and sort choose the page', async () => {
    const stage = open();
    await traded(stage, 4);
    const ids = async (query: object) => done(await stage.ann.client.userTrades(query)).map(t => Number(t.tid) % 1000);
    expect(await ids({ book: 'btc_mxn' })).toEqual([4, 3, 2, 1]);
    expect(await ids({ book: 'eth_mxn' })).toEqual([]);
    expect(await ids({ limit: 1 })).toEqual([4]);
    expect(await ids({ marker: '100000003' })).toEqual([2, 1]);
    expect(await ids({ marker: '100000003', sort: 'asc' })).toEqual([4]);
    expect(await ids({ sort: 'asc', limit: 2 })).toEqual([1, 2]);
    for (const query of ['sort=up', 'limit=x', 'limit=1.5', 'marker=x'])
      expect((await stage.ann.call('GET', `/api/v3/user_trades?${query}`)).code, query).toBe('0320');
    expect(refusal(await stage.ann.client.userTrades({ book: 'nope_usd' }))).toBe('0301');
  });

  it('rest-api 8 limit of zero or below is the default one, as the official client expects of no refusal, or refused where that is switched on', async () => {
    const stage = open();
    const { ann } = stage;
    await traded(stage, 3);
    stage.exchange.venue.withdraw(stage.exchange.venue.accounts.get(ann.id)!, 'mxn', moneyOf('7'));
    await stage.clock.advance(1000);
    const lists = [
      'user_trades',
      'trades?book=btc_mxn',
      'ledger',
      'ledger/trades',
      'fundings',
      'withdrawals',
      'open_orders',
    ];
    await ann.limit('buy', '1400000', '0.1');
    for (const list of lists) {
      const ask = (limit: string) => ann.call('GET', `/api/v3/${list}${list.includes('?') ? '&' : '?'}limit=${limit}`);
      const plain = await ann.get<Fields[]>(`/api/v3/${list}`);
      expect(plain.length, list).toBeGreaterThan(0);
      for (const limit of ['0', '-1', '-10']) expect((await ask(limit)).payload(), list).toEqual(plain);
    }
    stage.exchange.venue.set({ limitBelowOne: '0320' });
    for (const list of lists) {
      const ask = (limit: string) => ann.call('GET', `/api/v3/${list}${list.includes('?') ? '&' : '?'}limit=${limit}`);
      for (const limit of ['0', '-1', '-10']) expect((await ask(limit)).code, list).toBe('0320');
      expect(await ask('1'), list).toMatchObject({ status: 200 });
    }
  });

  it('rest-api 8 limit default is 25 and limit maximum is 100, in user_trades and trades', async () => {
    const stage = open();
    const { ann, bob } = stage;
    await ann.limit('sell', '1500000', '1.1');
    for (let i = 0; i < 101; i++) await bob.limit('buy', '1500000', '0.01');
    for (const path of ['user_trades', 'trades']) {
      const rows = async (query: string) => (await ann.get<Fields[]>(`/api/v3/${path}?book=btc_mxn${query}`)).length;
      expect(await rows(''), path).toBe(25);
      expect(await rows('&limit=100'), path).toBe(100);
      expect(await rows('&limit=101'), path).toBe(100);
    }
    expect(refusal(await ann.client.userTrades({ limit: 101 }))).toBe('not-sent');
    stage.exchange.venue.set({ limitAboveMax: '0320' });
    expect((await ann.call('GET', '/api/v3/user_trades?limit=101')).code).toBe('0320');
  });

  it('rest-api 9 margin_order_type is in user_trades of margin trades, and left out of spot trades', async () => {
    const stage = open();
    await traded(stage, 1, { margin_order_type: 'CROSS_MARGIN' });
    expect(done(await stage.ann.client.userTrades())[0]!.marginOrderType).toBe('CROSS_MARGIN');
    await stage.ann.limit('sell', '1500000', '0.01');
    await stage.bob.limit('buy', '1500000', '0.01');
    expect(done(await stage.ann.client.userTrades())[0]!.marginOrderType).toBeUndefined();
  });

  it('rest-api 4.3 order_trades lists the trades of one order, named by oid, newest first', async () => {
    const { ann, bob } = open();
    const oid = await ann.limit('sell', '1500000', '0.1');
    for (const amount of ['0.01', '0.02']) await bob.limit('buy', '1500000', amount);
    expect(done(await ann.client.orderTrades({ oid })).map(t => t.major)).toEqual(['0.02000000', '0.01000000']);
  });

  it('rest-api 4.3 origin_id gives the trades of every order that shared it, in any book', async () => {
    const { ann, bob } = open();
    const same = { origin_id: 'shared' };
    await ann.limit('sell', '1500000', '0.01', same);
    await bob.limit('buy', '1500000', '0.01');
    await ann.limit('sell', '50000', '0.01', { ...same, book: 'eth_mxn' });
    await bob.limit('buy', '50000', '0.01', { book: 'eth_mxn' });
    expect(done(await ann.client.orderTrades({ originId: 'shared' })).map(t => t.book)).toEqual(['eth_mxn', 'btc_mxn']);
  });

  it('rest-api 4.3 without oid and origin_id nothing can be listed, and of an unknown one nothing is', async () => {
    const { ann } = open();
    expect((await ann.call('GET', '/api/v3/order_trades')).code).toBe('0303');
    expect(done(await ann.client.orderTrades({ oid: 'unknown' }))).toEqual([]);
    expect(done(await ann.client.orderTrades({ originId: 'unknown' }))).toEqual([]);
  });

  it('rest-api 7 0377 answers order_trades while records are written, 0378 before a match', async () => {
    const { ann, bob, clock } = open(
      { tradeRecordDelayMs: 50, engineDelayMinMs: 0, engineDelayMaxMs: 0 },
      'it looks between a fill and its record',
    );
    const oid = await ann.limit('sell', '1500000', '0.1');
    expect(refusal(await ann.client.orderTrades({ oid }))).toBe('0378');
    await bob.limit('buy', '1500000', '0.1');
    expect(refusal(await ann.client.orderTrades({ oid }))).toBe('0377');
    expect(done(await ann.client.userTrades())).toEqual([]);
    await clock.advance(50);
    expect(done(await ann.client.orderTrades({ oid }))).toHaveLength(1);
    expect(done(await ann.client.userTrades())).toHaveLength(1);
  });

  it('public-facts 9.2 a buy has major positive and minor negative, a sell the other way round', async () => {
    const stage = open();
    await traded(stage);
    const [sell] = await stage.ann.get<Fields[]>('/api/v3/user_trades');
    const [buy] = await stage.bob.get<Fields[]>('/api/v3/user_trades');
    expect(sell).toMatchObject({ major: '-0.01000000', minor: '15000.00000000', side: 'sell' });
    expect(buy).toMatchObject({ major: '0.01000000', minor: '-15000.00000000', side: 'buy' });
    expect(done(await stage.bob.client.userTrades())[0]).toMatchObject({
      major: '0.01000000',
      minor: '15000.00000000',
    });
  });

  it('public-facts 9.2 the fee is in the currency received, positive, and taken out of it', async () => {
    const stage = open();
    await traded(stage);
    const total = async (who: typeof stage.ann, currency: string) =>
      done(await who.client.balances()).find(b => b.currency === currency)!.total;
    expect(done(await stage.bob.client.userTrades())[0]).toMatchObject({
      feeCurrency: 'btc',
      feeAmount: '0.00007800',
      maker: false,
    });
    expect(await total(stage.bob, 'btc')).toBe('10.00992200');
    expect(done(await stage.ann.client.userTrades())[0]).toMatchObject({
      feeCurrency: 'mxn',
      feeAmount: '90.00000000',
      maker: true,
    });
    expect(await total(stage.ann, 'mxn')).toBe('10014910.00000000');
    stage.exchange.venue.set({ feeSign: 'negative' });
    expect((await stage.ann.get<Fields[]>('/api/v3/user_trades'))[0]!['fees_amount']).toBe('-90.00000000');
    expect(done(await stage.ann.client.userTrades())[0]!.feeAmount).toBe('90.00000000');
  });

  it('public-facts 9.2 maker_side equal to side means that the caller was maker', async () => {
    const stage = open();
    await traded(stage);
    expect((await stage.ann.get<Fields[]>('/api/v3/user_trades'))[0]).toMatchObject({
      side: 'sell',
      maker_side: 'sell',
    });
    expect((await stage.bob.get<Fields[]>('/api/v3/user_trades'))[0]).toMatchObject({
      side: 'buy',
      maker_side: 'sell',
    });
  });

  it('public-facts 9.2 the tid is text here and the same number in public trades', async () => {
    const stage = open();
    await traded(stage);
    const mine = done(await stage.ann.client.userTrades())[0]!.tid;
    expect(done(await stage.stranger.trades('btc_mxn'))[0]!.tid).toBe(mine);
    expect(done(await stage.bob.client.userTrades())[0]!.tid).toBe(mine);
  });
});
