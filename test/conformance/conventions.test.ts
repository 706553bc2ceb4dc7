/** What holds for every request and reply: envelopes, numbers, times, paths and ids. */
import { expect, it } from 'vitest';
import { everyWay, WAYS, done, refusal, traded, type Fields } from './driver.ts';

const TWO_FORMS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+0000|\.\d{3}\+00:00)$/;

everyWay(open => {
  it('rest-api 0 envelope: a success is an object with success true and a payload', async () => {
    const { ann, send } = open();
    for (const answer of [await send('GET', '/api/v3/available_books'), await ann.call('GET', '/api/v3/balance')]) {
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body).sort()).toEqual(['payload', 'success']);
      expect(answer.body['success']).toBe(true);
      expect(answer.headers['content-type']).toBe('application/json');
    }
  });

  it('rest-api 0 decimals are text: no amount, price, fee or volume is a JSON number', async () => {
    const stage = open();
    await traded(stage);
    await stage.ann.limit('buy', '1400000', '0.1');
    const numbers: string[] = [];
    const look = (at: string, value: unknown): void => {
      if (typeof value === 'number') numbers.push(at);
      else if (typeof value === 'object' && value !== null)
        for (const [name, each] of Object.entries(value)) look(Array.isArray(value) ? at : name, each);
    };
    for (const path of ['balance', 'fees', 'open_orders', 'user_trades'])
      look(path, await stage.ann.get(`/api/v3/${path}`));
    for (const path of ['available_books', 'ticker?book=btc_mxn', 'order_book?book=btc_mxn', 'trades?book=btc_mxn'])
      look(path, (await stage.send('GET', `/api/v3/${path}`)).payload());
    expect(new Set(numbers)).toEqual(new Set(['tid']));
  });

  it('rest-api 0 timestamps are ISO 8601 in one of the two observed forms, and the client reads both', async () => {
    const stage = open();
    await traded(stage);
    const oid = await stage.ann.limit('buy', '1400000', '0.1');
    const [trade] = await stage.ann.get<Fields[]>('/api/v3/user_trades');
    const [order] = await stage.ann.get<Fields[]>(`/api/v3/orders/${oid}`);
    expect(trade!['created_at']).toMatch(/\+0000$/);
    expect(order!['created_at']).toMatch(/\.\d{3}\+00:00$/);
    for (const row of [trade, order]) expect(row!['created_at']).toMatch(TWO_FORMS);
    const told = [done(await stage.ann.client.userTrades())[0]!, done(await stage.ann.client.order(oid))[0]!];
    expect(told.map(({ createdAt }) => createdAt)).toEqual(
      [trade, order].map(row => Date.parse(String(row!['created_at']))),
    );
  });

  it('rest-api 0 timestamps of every endpoint have one of the two forms, the third only where that is switched on', async () => {
    const stage = open();
    await traded(stage);
    await stage.ann.limit('buy', '1400000', '0.1');
    const odd: string[] = [];
    const look = (at: string, value: unknown): void => {
      if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !TWO_FORMS.test(value))
        odd.push(`${at} ${value}`);
      else if (typeof value === 'object' && value !== null)
        for (const [name, each] of Object.entries(value)) look(`${at}.${name}`, each);
    };
    const all = async () => {
      for (const path of ['ticker', 'ticker?book=btc_mxn', 'order_book?book=btc_mxn', 'trades?book=btc_mxn'])
        look(path, (await stage.send('GET', `/api/v3/${path}`)).payload());
      for (const path of [
        'open_orders',
        'orders?origin_ids=ann-0',
        'user_trades',
        'order_trades?origin_id=ann-0',
        'account_status',
        'ledger',
        'fundings',
      ])
        look(path, await stage.ann.get(`/api/v3/${path}`));
    };
    await all();
    expect(odd).toEqual([]);
    stage.exchange.venue.set({ bookTimes: 'seconds' });
    await all();
    expect(new Set(odd.map(line => line.replace(/^(\w+).* /, '$1 ')))).toEqual(
      new Set(['ticker 2026-09-21T14:13:20+00:00', 'order_book 2026-09-21T14:13:20+00:00']),
    );
    expect(done(await stage.stranger.orderBook('btc_mxn')).updatedAt).toBe(1_790_000_000_000);
  });

  it('rest-api 0 symbol: a book is major_minor in lower case, and nothing else names it', async () => {
    const { send, stranger } = open();
    for (const { book } of done(await stranger.availableBooks())) expect(book).toMatch(/^[a-z0-9]+_[a-z0-9]+$/);
    expect((await send('GET', '/api/v3/order_book?book=BTC_MXN')).code).toBe('0301');
    expect(refusal(await stranger.orderBook('BTC_MXN'))).toBe('not-sent');
  });

  it('rest-api 0 origin_id takes a-z, A-Z, 0-9, _ and -, at most 40 of them', async () => {
    const { ann } = open();
    const order = { book: 'btc_mxn', side: 'buy', price: '1000000', major: '0.01', timeInForce: 'post only' } as const;
    for (const originId of ['a', 'Z9_-', 'x'.repeat(40)])
      expect(done(await ann.client.place({ ...order, originId })).oid).toMatch(/^\w{16}$/);
    const raw = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1000000', major: '0.01' };
    for (const origin_id of ['', 'x'.repeat(41), 'a b', 'a.b', 'ñ', 'a/b', 'a,b']) {
      expect((await ann.call('POST', '/api/v3/orders', { ...raw, origin_id })).code, origin_id).toBe('0304');
      expect(refusal(await ann.client.place({ ...order, originId: origin_id }))).toBe('not-sent');
    }
  });

  it('rest-api 9 version: trading lives under v3 and v4, and no other version answers', async () => {
    const { ann, send } = open();
    expect((await ann.call('GET', '/api/v4/balance')).status).toBe(404);
    expect((await send('GET', '/api/v2/order_book?book=btc_mxn')).status).toBe(404);
    expect((await ann.call('PATCH', '/api/v4/orders/unknown', { price: '1' })).code).toBe('0312');
    expect((await ann.call('PATCH', '/api/v3/orders/unknown', { price: '1' })).code).toBe('0312');
  });

  it('public-facts 3 a failure has success false and an error with code, message and empty details', async () => {
    const { send } = open();
    const { status, body } = await send('GET', '/api/v3/order_book?book=nope_usd');
    expect(status).toBe(400);
    expect(body).toEqual({
      success: false,
      error: { code: '0301', message: expect.any(String) as string, details: [] },
    });
  });

  it('public-facts 3 an oid is 16 characters of both cases and digits', async () => {
    const { ann } = open();
    for (let i = 0; i < 20; i++) expect(await ann.limit('buy', '1000000', '0.01')).toMatch(/^[A-Za-z0-9]{16}$/);
  });

  it('public-facts 3 times have the spelling of their endpoint where the captured one is switched on, each of which the client reads', async () => {
    const stage = open({ bookTimes: 'seconds' });
    const { ann, send, stranger } = stage;
    await traded(stage);
    const at = async (target: string) => (await send('GET', target)).payload<Fields[]>()[0]!['created_at'];
    expect((await send('GET', '/api/v3/ticker?book=btc_mxn')).payload()['created_at']).toBe(
      '2026-09-21T14:13:20+00:00',
    );
    expect((await send('GET', '/api/v3/order_book?book=btc_mxn')).payload()['updated_at']).toBe(
      '2026-09-21T14:13:20+00:00',
    );
    expect(await at('/api/v3/trades?book=btc_mxn')).toBe('2026-09-21T14:13:20+0000');
    expect((await ann.get('/api/v3/account_status'))['account_creation_date']).toBe('2026-09-21T14:13:20+0000');
    expect(done(await stranger.ticker('btc_mxn')).createdAt).toBe(1_790_000_000_000);
    expect(done(await stranger.orderBook('btc_mxn')).updatedAt).toBe(1_790_000_000_000);
    expect(done(await stranger.trades('btc_mxn'))[0]!.createdAt).toBe(1_790_000_000_000);
  });

  it('public-facts 3 a trailing slash is accepted, and signed with the rest of the path', async () => {
    const { ann, send } = open();
    expect((await send('GET', '/v3/ticker/?book=btc_mxn')).status).toBe(200);
    expect((await ann.call('GET', '/api/v3/balance/')).status).toBe(200);
    const unslashed = ann.headers('GET', '/api/v3/balance', '');
    expect((await send('GET', '/api/v3/balance/', unslashed)).code).toBe('0215');
  });

  it('public-facts 3 an unknown path answers 404 with an empty body', async () => {
    const { send } = open();
    for (const target of ['/', '/api', '/api/v3', '/api/v3/nothing', '/v3/orders/a/b/c'])
      expect(await send('GET', target), target).toMatchObject({ status: 404, text: '' });
  });

  it('public-facts 1 the short path without the prefix answers with the same bytes', async () => {
    const { send } = open();
    expect((await send('GET', '/v3/available_books')).text).toBe((await send('GET', '/api/v3/available_books')).text);
  });

  it('public-facts 1 the server tells its time in the Date header, to the second', async () => {
    const { send } = open();
    expect(Date.parse((await send('GET', '/api/v3/trades?book=btc_mxn')).headers['date']!)).toBe(1_790_000_000_000);
  });
}, WAYS);
