/** Request budgets and lockouts. */
import { expect, it } from 'vitest';
import { everyWay, WAYS, done } from './driver.ts';

everyWay(open => {
  it('public-facts 11 sixty public requests a minute pass, the next is 420 with 0801 for a minute', async () => {
    const { send, clock } = open({ rateLimits: 'on' });
    const ask = async () => (await send('GET', '/api/v3/available_books')).status;
    for (let i = 0; i < 60; i++) expect(await ask()).toBe(200);
    expect(await send('GET', '/api/v3/available_books')).toMatchObject({ status: 420, code: '0801' });
    await clock.advance(59_000);
    expect(await ask()).toBe(420);
    await clock.advance(61_000);
    expect(await ask()).toBe(200);
  });

  it('public-facts 11 three hundred private requests a minute belong to the account, whatever key signs them', async () => {
    const { ann, exchange, client } = open({ rateLimits: 'on' });
    const { key, secret } = exchange.venue.addKey(ann.id);
    const other = client(key, secret);
    for (let i = 0; i < 150; i++) {
      done(await ann.client.openOrders());
      done(await other.openOrders());
    }
    expect(await ann.call('GET', '/api/v3/balance')).toMatchObject({ status: 420, code: '0801' });
  });

  it('public-facts 11 one account’s lockout is nobody else’s, and cancels pass through it', async () => {
    const { ann, bob } = open({ rateLimits: 'on', privatePerMinute: 3 });
    for (let i = 0; i < 3; i++) done(await ann.client.openOrders());
    expect((await ann.call('GET', '/api/v3/open_orders')).status).toBe(420);
    expect(done(await ann.client.cancelAll())).toEqual([]);
    expect(done(await bob.client.openOrders())).toEqual([]);
  });

  it('public-facts 11 a lockout carries no Retry-After, and ordinary replies no rate headers', async () => {
    const { send } = open({ rateLimits: 'on', publicPerMinute: 1 });
    for (const status of [200, 420]) {
      const answer = await send('GET', '/api/v3/available_books');
      expect(answer.status).toBe(status);
      for (const name of Object.keys(answer.headers)) expect(name).not.toMatch(/retry|rate/i);
    }
  });

  it('public-facts 11 the client takes a lockout for refused on a read and unknown on an order, and pauses', async () => {
    const { ann } = open({ rateLimits: 'on', privatePerMinute: 1 });
    done(await ann.client.openOrders());
    const order = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1000000', major: '0.01' } as const;
    expect((await ann.client.placeOrder(order)).kind).toBe('unknown');
    expect(ann.client.lockOuts()).toEqual({ public: 0, private: 1 });
    expect(ann.client.budget().private).toBe(0);
  });

  it('public-facts 11 the window is a minute of the clock, or the last sixty seconds where that is switched on', async () => {
    for (const [rateWindow, status] of [
      ['fixed', 200],
      ['sliding', 420],
    ] as const) {
      const { send, clock } = open({ rateLimits: 'on', rateWindow, publicPerMinute: 2 });
      await clock.advance(59_000);
      for (let i = 0; i < 2; i++) expect((await send('GET', '/api/v3/available_books')).status).toBe(200);
      await clock.advance(2_000);
      expect((await send('GET', '/api/v3/available_books')).status, rateWindow).toBe(status);
    }
  });
}, WAYS);
