import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { metrics, serveMonitor, type MonitorServer } from '../../src/monitor/index.ts';
import { holding } from '../guard/holding.ts';
import { calm } from './calm.ts';

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };

/** fetch would not let a test choose the Host header. */
const ask = (url: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, reply => {
      let body = '';
      reply.setEncoding('utf8');
      reply.on('data', (part: string) => void (body += part));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });

let reasons: readonly string[] = [];
let server: MonitorServer;
const serve = (host = '127.0.0.1', port = 0, allowedHosts: readonly string[] = ['bot.internal']) =>
  serveMonitor({ page: metrics('btc_mxn', '1', calm), host, port, allowedHosts, notReady: () => reasons });

beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

describe('the monitor', () => {
  test('serves the metrics in the format of Prometheus', async () => {
    const answer = await ask(`${server.url}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(answer.body).toContain('puntas_quotes_live{book="btc_mxn",side="buy"} 3\n');
  });

  test('is alive while it answers, and ready only while quoting is possible', async () => {
    expect(await ask(`${server.url}/healthz`)).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await ask(`${server.url}/readyz`)).toMatchObject({
      status: 200,
      body: '{"ready":true,"reasons":[],"warnings":[]}',
    });
    reasons = ['stale-book', 'halted'];
    const answer = await ask(`${server.url}/readyz`);
    reasons = [];
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toEqual({ ready: false, reasons: ['stale-book', 'halted'], warnings: [] });
    expect(await ask(`${server.url}/healthz`)).toMatchObject({ status: 200 });
  });

  test.each(['/', '/metrics/', '/metrics/../state', '/%2e%2e/etc/passwd', '/readyz/x', '//metrics', '/%zz'])(
    'has nothing at %s',
    async path => {
      const url = new URL(server.url);
      expect(
        (await raw(Number(url.port), `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).status,
      ).toBeOneOf([400, 404]);
    },
  );

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])('changes nothing by %s', async method => {
    expect((await ask(`${server.url}/metrics`, method)).status).toBeOneOf([404, 405]);
  });

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'localhost@evil.example', '10.0.0.9'])(
    'does not answer to the name %j, which a rebound DNS entry could carry',
    async host => {
      const answer = await ask(`${server.url}/metrics`, 'GET', { host });
      expect(answer).toMatchObject({ status: 421 });
      expect(answer.body).not.toContain('puntas_');
    },
  );

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:9464', '[::1]:9464', 'bot.internal', 'bot.internal:9464'])(
    'answers to the name %s',
    async host => {
      expect(await ask(`${server.url}/metrics`, 'GET', { host })).toMatchObject({ status: 200 });
    },
  );

  test('on every interface, answers to any address by number, but to no unknown name', async () => {
    const everywhere = await serve('0.0.0.0');
    const url = everywhere.url.replace('0.0.0.0', '127.0.0.1');
    expect(await ask(`${url}/healthz`, 'GET', { host: '172.17.0.2:9464' })).toMatchObject({ status: 200 });
    expect(await ask(`${url}/healthz`, 'GET', { host: 'evil.example' })).toMatchObject({ status: 421 });
    await everywhere.close();
  });

  test.each([
    ['/metrics', 'GET', 'localhost'],
    ['/readyz', 'GET', 'localhost'],
    ['/nowhere', 'GET', 'localhost'],
    ['/metrics', 'POST', 'localhost'],
    ['/metrics', 'GET', 'evil.example'],
  ])('sends its security headers with %s by %s as %s', async (path, method, host) => {
    const { headers } = await ask(`${server.url}${path}`, method, { host });
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  test('a snapshot that cannot be read is a 500 without its reason, and the process stays alive', async () => {
    const broken = await serveMonitor({
      page: metrics('btc_mxn', '1', () => {
        throw new Error('canary of the inside');
      }),
      host: '127.0.0.1',
      port: 0,
      notReady: () => [],
    });
    expect(await ask(`${broken.url}/metrics`)).toMatchObject({ status: 500, body: 'failed\n' });
    expect(await ask(`${broken.url}/healthz`)).toMatchObject({ status: 200 });
    await broken.close();
  });
});

describe('connections that others hold', () => {
  test.each([64, 400])('and say nothing on, %d of them, keep no probe and no scrape out', async idle => {
    const own = await serve();
    const holder = holding(() => Number(new URL(own.url).port));
    for (let n = 0; n < idle; n++) await holder.idle();
    for (let n = 0; n < 40; n++) (await holder.idle()).write('GET /healthz HTTP/1.1\r\nHost: loc');
    expect(await ask(`${own.url}/healthz`)).toMatchObject({ status: 200 });
    expect(await ask(`${own.url}/metrics`)).toMatchObject({ status: 200 });
    holder.end();
    await own.close();
  });
});

describe('a port that cannot be had', () => {
  test('is one line that names it and says what to set', async () => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(serve('127.0.0.1', port)).rejects.toThrow(
      `metrics: port 127.0.0.1:${port} is in use by another process; set metrics.port to another port, or start with --metrics-port 0 for any free port`,
    );
    await new Promise(resolve => other.close(resolve));
  });

  test('because the address is not of this machine, too', async () => {
    await expect(serve('203.0.113.7', 0)).rejects.toThrow('metrics: 203.0.113.7 is not an address of this machine');
  });

  test('is free again as soon as the monitor has closed, even while a scraper keeps its connection', async () => {
    const first = await serve();
    const port = Number(new URL(first.url).port);
    const socket = connect(port, '127.0.0.1');
    await new Promise(resolve => socket.once('connect', resolve));
    await first.close();
    const second = await serve('127.0.0.1', port);
    await second.close();
    socket.destroy();
  });
});

/** Sends bytes as they are: clients tidy paths up before they send them. */
function raw(port: number, text: string): Promise<{ readonly status: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let reply = '';
    socket.on('data', part => void (reply += part.toString()));
    socket.on('end', () => resolve({ status: Number(reply.split(' ')[1]) }));
    socket.on('error', reject);
  });
}
