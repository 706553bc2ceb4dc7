import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realClock } from '../../../src/live/realClock.ts';
import { createVenue, serve, type EmbeddedExchange, type Served } from '../../../src/sandbox/index.ts';
import { CALM, Trader } from '../trader.ts';

let exchange: EmbeddedExchange;
let served: Served;
let trader: Trader;

beforeEach(async () => {
  exchange = createVenue({ clock: realClock(), seed: 3, switches: CALM });
  trader = new Trader(exchange, exchange.openAccount({ balances: { mxn: '1000000', btc: '1' } }));
  served = await serve(exchange, { host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await served.close();
  exchange.close();
});

async function call(
  method: 'GET' | 'POST' | 'DELETE' | 'PATCH',
  target: string,
  body = '',
  headers: Record<string, string> = {},
) {
  const reply = await request(served.url + target, {
    method,
    headers: { ...trader.headers(method, target, body), ...headers },
    ...(body !== '' && { body }),
  });
  const text = await reply.body.text();
  return { status: reply.statusCode, headers: reply.headers, text };
}

describe('the HTTP face', () => {
  it('carries a signed order, its lookup and its cancel', async () => {
    const order =
      '{"book":"btc_mxn","side":"buy","type":"limit","price":"1500000","major":"0.1","origin_id":"over-http"}';
    const placed = await call('POST', '/api/v3/orders', order, { 'content-type': 'text/plain' });
    expect(placed.status).toBe(200);
    const { payload } = JSON.parse(placed.text) as { payload: { oid: string } };
    expect((await call('GET', `/v3//orders/${payload.oid}/?undefined`)).text).toContain('"origin_id":"over-http"');
    const cancelled = await call('DELETE', `/api/v3/orders?origin_ids=over-http%2Cnothing`);
    expect(JSON.parse(cancelled.text)).toEqual({ success: true, payload: [payload.oid] });
    expect(cancelled.headers['content-type']).toBe('application/json');
    expect(Math.abs(Date.parse(String(cancelled.headers['date'])) - exchange.venue.clock.now())).toBeLessThan(5000);
  });

  it('refuses a body over its size, headers over their size, and unknown paths', async () => {
    expect((await call('POST', '/api/v3/orders', 'x'.repeat(70_000))).status).toBe(413);
    expect((await call('GET', `/api/v3/orders?oids=${'x'.repeat(40_000)}`)).status).toBe(431);
    expect(await call('GET', '/nothing')).toMatchObject({ status: 404, text: '' });
    expect((await call('GET', '/api/v3/balance')).status).toBe(200);
  });

  it('survives what is not HTTP', async () => {
    const { port } = new URL(served.url);
    await new Promise<void>(resolve => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end('\0\x01 nonsense\r\n\r\n'));
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
      socket.resume();
    });
    expect((await call('GET', '/api/v3/balance')).status).toBe(200);
  });

  it('says in one line that its port is taken', async () => {
    const port = Number(new URL(served.url).port);
    await expect(serve(exchange, { host: '127.0.0.1', port })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: the port is in use by another program`,
    );
  });

  it('decides after its engine delay on the real clock', async () => {
    exchange.venue.set({ engineDelayMinMs: 1, engineDelayMaxMs: 3 });
    const order = '{"book":"btc_mxn","side":"sell","type":"limit","price":"1500000","major":"0.1"}';
    const { payload } = JSON.parse((await call('POST', '/api/v3/orders', order)).text) as { payload: { oid: string } };
    let status = '';
    for (let i = 0; i < 200 && status !== 'open'; i++) {
      status = (
        JSON.parse((await call('GET', `/api/v3/orders/${payload.oid}`)).text) as { payload: { status: string }[] }
      ).payload[0]!.status;
    }
    expect(status).toBe('open');
  });

  it('takes the signature over exactly the bytes that were sent', async () => {
    const body = '{"book":"btc_mxn","note":"ñ ü €"}';
    const nonce = trader.nonce();
    const signature = createHmac('sha256', trader.secret).update(`${nonce}POST/api/v3/orders${body}`).digest('hex');
    const reply = await call('POST', '/api/v3/orders', body, {
      authorization: `Bitso ${trader.key}:${nonce}:${signature}`,
    });
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: '0303' } });
  });
});
