/** Signed orders per second into the embedded exchange over HTTP, beside a bare node:http server under the same generator in the same run. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { realClock } from '../../src/live/realClock.ts';
import { createVenue, serve } from '../../src/sandbox/index.ts';

export type HttpFigures = { readonly orders: number; readonly bare: number; readonly ratio: number };

const CONNECTIONS = 16;

const ROUNDS = 5;

/** Posts `count` signed orders at a concurrency of CONNECTIONS; returns the seconds it took, the signing included. */
async function load(url: string, key: string, secret: string, first: number, count: number): Promise<number> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const target = '/api/v3/orders';
  let next = first;
  let nonce = BigInt(Date.now()) * 1_000_000n;
  const worker = async () => {
    while (next < first + count) {
      const body = orderOf(next++);
      const stamp = String(++nonce);
      const signature = createHmac('sha256', secret).update(`${stamp}POST${target}${body}`).digest('hex');
      const headers = { authorization: `Bitso ${key}:${stamp}:${signature}`, 'content-type': 'application/json' };
      const reply = await pool.request({ path: target, method: 'POST', headers, body });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`order refused: ${reply.statusCode} ${text}`);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - start) / 1000;
  await pool.close();
  return seconds;
}

/** Every fourth order crosses and trades with those before it, so that the book stays small and settling is measured too. */
const orderOf = (i: number): string => {
  const side = i % 2 === 0 ? 'buy' : 'sell';
  const price = i % 4 < 2 ? 1_500_000 + (side === 'buy' ? -10 : 10) : 1_500_000 + (side === 'buy' ? 10 : -10);
  return `{"book":"btc_mxn","side":"${side}","type":"limit","price":"${price}","major":"0.0001","origin_id":"bench-${i}"}`;
};

/** Prints its lines; the generator runs in the same process, so the figures include it. */
export async function httpBench(count = 20_000, print = (line: string) => console.log(line)): Promise<HttpFigures> {
  const clock = realClock();
  const exchange = createVenue({ clock, switches: { rateLimits: 'off', engineDelayMinMs: 0, engineDelayMaxMs: 0 } });
  const account = exchange.openAccount({ balances: { mxn: '1000000000', btc: '1000' } });
  const served = await serve(exchange, { host: '127.0.0.1', port: 0 });
  const bare = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"success":true,"payload":{"oid":"Zk81mQpX02vbTn7C"}}');
    });
  });
  await new Promise<void>(resolve => bare.listen(0, '127.0.0.1', resolve));
  const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
  const { key, secret } = account;
  const round = Math.ceil(count / ROUNDS);
  const seconds = { bare: 0, orders: 0 };
  let next = 0;
  await load(bareUrl, key, secret, 0, round);
  await load(served.url, key, secret, (next += round), round);
  // In turns, so that what else the machine does meanwhile falls on both alike.
  for (let i = 0; i < ROUNDS; i++) {
    seconds.bare += await load(bareUrl, key, secret, 0, round);
    seconds.orders += await load(served.url, key, secret, (next += round), round);
  }
  const total = round * ROUNDS;
  await served.close();
  exchange.close();
  await new Promise(resolve => {
    bare.close(resolve);
    bare.closeAllConnections();
  });
  const figures = {
    orders: Math.round(total / seconds.orders),
    bare: Math.round(total / seconds.bare),
    ratio: seconds.bare / seconds.orders,
  };
  print(
    `http: ${figures.orders} signed orders/s through signature check, matching and settling, generator included (${total} orders)`,
  );
  print(
    `http: bare node:http ${figures.bare} requests/s under the same generator; the exchange is at ${figures.ratio.toFixed(2)} of it`,
  );
  return figures;
}
