import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveConsole, type ConsoleServer, type ConsoleSource } from '../../src/console/index.ts';
import { asking, type Answer } from './asking.ts';

const ask = asking(() => server.url);

const source: ConsoleSource = {
  scripts: { 'main.js': 'void 0;' },
  libraryStyle: '.u{}',
  history: () => '{"run":1}',
  longHistory: () => '{"results":[]}',
  past: async (at, _, onProgress) => {
    if (at === 13) throw new Error('the recording is damaged, and the rest of it cannot be read');
    onProgress(0.5);
    return JSON.stringify({ at });
  },
};
const serve = (host = '127.0.0.1', port = 0) => serveConsole(source, { host, port, allowedHosts: ['desk.internal'] });

let server: ConsoleServer;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

describe('the console', () => {
  test('serves its page and every part that the page names', async () => {
    const page = await ask('/');
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(page.body).not.toMatch(/(?:src|href)="(?!\/)|style="|<script>|\son\w+="/);
    const named = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(named.sort()).toEqual(['/icon.svg', '/main.js', '/preact.js', '/style.css', '/uPlot.js']);
    // The libraries are the caller's.
    for (const path of ['/icon.svg', '/main.js', '/style.css']) expect(await ask(path)).toMatchObject({ status: 200 });
    expect(await ask('/history')).toMatchObject({ status: 200, body: '{"run":1}' });
    expect(await ask('/long-history')).toMatchObject({ status: 200, body: '{"results":[]}' });
  });

  test.each([
    '/',
    '/live',
    '/history',
    '/long-history',
    '/past?at=1',
    '/past',
    '/main.js',
    '/style.css',
    '/icon.svg',
    '/healthz',
    '/nowhere',
  ])('sends its security headers with %s, to whoever asks, however', async path => {
    for (const [method, host, origin] of [
      ['HEAD', 'localhost', undefined],
      ['POST', 'localhost', undefined],
      ['GET', 'evil.example', undefined],
      ['GET', 'localhost', 'https://evil.example'],
    ] as const) {
      const { headers } =
        path === '/live' && method === 'HEAD'
          ? await head()
          : await ask(path, method, { host, ...(origin ? { origin } : {}) });
      expect(headers, `${method} ${host}`).toMatchObject(HEADERS);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers).not.toHaveProperty('set-cookie');
    }
  });

  test('sends them with what is no HTTP, too', async () => {
    const reply = await raw('NONSENSE\r\n\r\n');
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    for (const [name, value] of Object.entries(HEADERS)) expect(reply).toContain(`${name}: ${value}\r\n`);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])('does nothing by %s', async method => {
    for (const path of ['/', '/live', '/past?at=1', '/halt'])
      expect((await ask(path, method)).status).toBeOneOf([404, 405]);
  });

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'localhost@evil.example', '10.0.0.9'])(
    'does not answer to the name %j',
    async host => {
      for (const path of ['/', '/history', '/long-history', '/past?at=1', '/live'])
        expect(await ask(path, 'GET', { host })).toMatchObject({
          status: 421,
          body: 'unexpected Host\n',
        });
    },
  );

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:9465', '[::1]:9465', 'desk.internal:80'])(
    'answers to the name %s',
    async host => {
      expect(await ask('/history', 'GET', { host })).toMatchObject({ status: 200 });
    },
  );

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('answers no other page: %o', async headers => {
    for (const path of ['/', '/history', '/long-history', '/past?at=1', '/live'])
      expect(await ask(path, 'GET', { host: 'localhost', ...headers })).toMatchObject({
        status: 403,
        body: 'unexpected Origin\n',
      });
  });

  test('answers its own page', async () => {
    const { host } = new URL(server.url);
    const headers = { host, origin: server.url, 'sec-fetch-site': 'same-origin' };
    expect(await ask('/history', 'GET', headers)).toMatchObject({ status: 200 });
  });

  test.each(['', 'x', '-1', '1e3', '1.5', '99999999999999999', '1&at=2'])('has no moment ?at=%s', async at => {
    expect((await ask(`/past?at=${at}`)).status).toBe(400);
  });

  test('tells of a moment on its way, and why there is none', async () => {
    expect((await ask('/past?at=7')).body).toBe('{"share":0.5}\n{"at":7}\n');
    expect((await ask('/past?at=13')).body).toBe(
      '{"problem":"the recording is damaged, and the rest of it cannot be read"}\n',
    );
  });

  test('on every interface, answers to any address by number, but to no unknown name', async () => {
    const everywhere = await serve('0.0.0.0');
    const url = everywhere.url.replace('0.0.0.0', '127.0.0.1');
    expect(await ask('/healthz', 'GET', { host: '172.17.0.2:1' }, undefined, url)).toMatchObject({ status: 200 });
    expect(await ask('/healthz', 'GET', { host: 'evil.example' }, undefined, url)).toMatchObject({ status: 421 });
    await everywhere.close();
  });

  test('says in one line that a port is taken', async () => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(serve('127.0.0.1', port)).rejects.toThrow(
      `console: port 127.0.0.1:${port} is in use by another process; choose another port with console.port or --port, or 0 for any free port`,
    );
    await new Promise(resolve => other.close(resolve));
  });
});

describe('the live stream', () => {
  test('begins with the newest view, and a page that does not read misses those in between, not the newest', async () => {
    const own = await serve();
    const big = 'x'.repeat(400_000);
    own.send(JSON.stringify({ n: 0 }));
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8');
    const hears = (text: string) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (heard.includes(text)) resolve();
          else socket.once('data', () => setImmediate(look));
        };
        look();
      });
    socket.on('data', (part: string) => void (heard += part));
    socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await hears('data: {"n":0}\n\n');
    socket.pause();
    for (let n = 1; n <= 200; n++) {
      own.send(JSON.stringify({ n, big }));
      await new Promise(resolve => setImmediate(resolve));
    }
    socket.resume();
    await hears('data: {"n":200,');
    const views = [...heard.matchAll(/data: \{"n":(\d+)/g)].map(([, n]) => Number(n));
    expect(views[0]).toBe(0);
    // What waits for a page is a few views, not all: the rest was left out.
    expect(views.length).toBeLessThan(100);
    expect(own.pages).toBe(1);
    socket.destroy();
    await own.close();
  });
});

/** The stream does not end by itself. */
const head = (): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(`${server.url}/live`, { agent: false }, reply => {
      resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: '' });
      asked.destroy();
    });
    asked.on('error', reject);
    asked.end();
  });

/** Sends bytes as they are. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text));
    let reply = '';
    socket.on('data', part => void (reply += part.toString()));
    socket.on('close', () => resolve(reply));
    socket.on('error', reject);
  });
}
