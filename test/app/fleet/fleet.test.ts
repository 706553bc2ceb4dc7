/** The fleet page over real sockets: fifty bots, truth within a second, login, tokens that change, and the table of a terminal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fleetOnce, readFleet, startFleet, type FleetAsk } from '../../../src/app/fleet/fleet.ts';
import { fleetTable } from '../../../src/app/fleet/fleetTable.ts';
import type { ConsoleServer, FleetView } from '../../../src/console/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { asking } from '../../console/asking.ts';
import { double, growing, json, summaryWith, type Double } from '../../fleet/doubles.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-fleet-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const TOKEN = 'viewer-token-0123456789abcdef-012345';
const tokenFile = (name: string, token = TOKEN, mode = 0o600): string => {
  writeFileSync(join(dir, name), token, { mode });
  return `./${name}`;
};

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
const started = async (handler: Parameters<typeof double>[0]): Promise<Double> => {
  const of = await double(handler);
  ends.push(() => of.close());
  return of;
};

const asked = (bots: readonly string[], more = '', environment: FleetAsk['environment'] = {}): FleetAsk => {
  const file = join(dir, 'fleet.yaml');
  writeFileSync(file, `currency: mxn\nport: 0\n${more}bots:\n${bots.map(bot => `  - { ${bot} }\n`).join('')}`);
  return { config: readFleet(file), clock: realClock(), version: '0.1.0', environment };
};
const page = async (ask: FleetAsk): Promise<ConsoleServer> => {
  const server = await startFleet(ask);
  ends.push(() => server.close());
  return server;
};

/** Views of the page's stream until one is as wanted, or until the time is over. */
async function viewWhere(url: string, isWanted: (view: FleetView) => boolean, withinMs: number): Promise<FleetView> {
  const reply = await fetch(`${url}/live`, { signal: AbortSignal.timeout(withinMs) });
  let text = '';
  for await (const chunk of reply.body!) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const events = text.split('\n\n');
    text = events.pop()!;
    for (const event of events) {
      if (!event.startsWith('data: ')) continue;
      const view = JSON.parse(event.slice('data: '.length)) as FleetView;
      if (isWanted(view)) return view;
    }
  }
  throw new Error('the stream ended');
}

describe('a page of fifty bots', () => {
  const doubles: Double[] = [];
  let server: ConsoleServer;
  beforeAll(async () => {
    for (let i = 0; i < 50; i++)
      doubles.push(
        await double(growing({ instance: `bot${i}`, profit: { total: `0.${i + 10}`, run: null, since: `day ${i}` } })),
      );
    server = await startFleet(asked(doubles.map(({ url }, i) => `name: b${i}, url: "${url}"`)));
  });
  afterAll(async () => {
    await server.close();
    await Promise.all(doubles.map(each => each.close()));
  });

  test('shows all of them, and their sum to the digit', async () => {
    const view = await viewWhere(server.url, ({ bots }) => bots.every(({ state }) => state === 'heard'), 60_000);
    expect(view.bots).toHaveLength(50);
    // 0.10 + 0.11 + … + 0.59
    expect(view.sums).toMatchObject([{ money: 'real', bots: 50, profit: '17.25' }]);
  });

  test('shows a change, and asks each bot at most twice a second', async () => {
    const before = doubles.map(({ asked: of }) => of.length);
    const began = performance.now();
    doubles[7]!.handler = growing({ instance: 'bot7', profit: { total: '1000', run: null, since: 'day 7' } });
    await viewWhere(server.url, ({ bots }) => bots[7]?.profit === '1000', 60_000);
    const took = performance.now() - began;
    const counts = doubles.map(({ asked: of }, i) => of.length - before[i]!);
    expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(took / 500) + 1);
  });

  test('says who is silent, since when and why, and shows it again when it is back', async () => {
    const { handler } = doubles[3]!;
    doubles[3]!.handler = (_, reply) => void reply.destroy();
    const view = await viewWhere(server.url, ({ bots }) => bots[3]?.state === 'silent', 60_000);
    expect(view.bots[3]?.trouble).toMatch(/^silent for \d+ s: the connection broke off$/);
    // On a busy machine another answer may be late too.
    const silent = view.bots.filter(({ state }) => state === 'silent').map(({ name }) => ({ name }));
    expect(view.sums[0]).toMatchObject({ bots: 50, stale: silent });
    doubles[3]!.handler = handler;
    await viewWhere(server.url, ({ bots }) => bots[3]?.state === 'heard', 60_000);
  });
});

describe('the page', () => {
  test('with a viewer token shows nothing without a login, and none of the tokens ever', async () => {
    const bot = await started(growing());
    const own = 'page-token-0123456789abcdef-01234567';
    tokenFile('page.token', own);
    const server = await page(
      asked([`name: a, url: "${bot.url}", tokenFile: ${tokenFile('a.token')}`], 'viewerTokenFile: ./page.token\n'),
    );
    const ask = asking(() => server.url);
    expect((await ask('/live')).status).toBe(401);
    const post = { 'content-type': 'application/json', origin: server.url };
    expect((await ask('/login', 'POST', post, JSON.stringify({ token: TOKEN }))).status).toBe(401);
    const login = await ask('/login', 'POST', post, JSON.stringify({ token: own }));
    expect(login.status).toBe(200);
    const [cookie] = String(login.headers['set-cookie']).split(';');
    const reply = await fetch(`${server.url}/live`, { headers: { cookie: cookie! } });
    const reader = reply.body!.getReader();
    const text = Buffer.from((await reader.read()).value as Uint8Array).toString();
    await reader.cancel();
    expect(text).toContain('"name":"a"');
    expect(text).not.toContain(TOKEN);
    expect(bot.asked[0]?.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('refuses other sites and names, and has no route that acts', async () => {
    const bot = await started(growing());
    const ask = asking(
      (
        (server: ConsoleServer) => () =>
          server.url
      )(await page(asked([`name: a, url: "${bot.url}"`]))),
    );
    expect((await ask('/', 'GET', { host: 'evil.example' })).status).toBe(421);
    expect((await ask('/live', 'GET', { origin: 'https://evil.example' })).status).toBe(403);
    for (const path of ['/actions/preview', '/api/v1/actions/pause', '/login'])
      expect((await ask(path, 'POST', { 'content-type': 'application/json' }, '{}')).status).toBeGreaterThanOrEqual(
        403,
      );
    expect((await ask('/')).body).toContain('fleetMain.js');
    for (const script of [
      '/fleet/fleetMain.js',
      '/fleet/fleetPanels.js',
      '/fleet/fleetRows.js',
      '/access.js',
      '/preact.js',
    ])
      expect((await ask(script)).status, script).toBe(200);
    expect((await ask('/healthz')).body).toBe('ok\n');
  });
});

describe('a start is refused in one line', () => {
  const bot = 'name: a, url: "http://127.0.0.1:1"';
  const start = (of: string, environment: FleetAsk['environment'] = {}) =>
    fleetOnce(asked([`${bot}${of}`], '', environment));

  test.each([
    [
      'with a missing token',
      () => start(', tokenFile: ./none.token'),
      /none\.token: no such file; create a token for bot a: tokenFile with: /,
    ],
    [
      'with a token that others can read',
      () => start(`, tokenFile: ${tokenFile('open.token', TOKEN, 0o644)}`),
      /chmod 600/,
    ],
    [
      'with a short token',
      () => start(`, tokenFile: ${tokenFile('short.token', 'abc')}`),
      /expected a random token of 32/,
    ],
    ['without its variable', () => start(', tokenVariable: A_TOKEN'), /bot a: environment variable A_TOKEN is not set/],
    [
      'with a short variable',
      () => start(', tokenVariable: A_TOKEN', { A_TOKEN: 'abc' }),
      /A_TOKEN: expected a random token/,
    ],
    [
      'with a key of an exchange',
      () => start('', { PUNTAS_API_SECRET: 'x' }),
      /the environment of the fleet must not contain secrets/,
    ],
    [
      'without a certificate',
      () => fleetOnce(asked([`name: a, url: "https://127.0.0.1:1", caFile: ${tokenFile('no.pem', 'x')}`])),
      /expected a certificate in PEM/,
    ],
  ])('%s', async (_, run, message) => {
    await expect(run()).rejects.toThrow(message);
  });

  test('for a page that shows others on the network what needs a token', async () => {
    const open = (of: string, more: string) => startFleet(asked([`${bot}${of}`], more));
    await expect(open(`, tokenFile: ${tokenFile('b.token')}`, 'host: 0.0.0.0\n')).rejects.toThrow(
      /fleet: on 0\.0\.0\.0, anyone on the network could read .*; set viewerTokenFile/,
    );
    // A console without a token answers this machine only; the page must not pass its figures on.
    await expect(open('', 'host: 0.0.0.0\n')).rejects.toThrow(
      /only to this machine or with a token; set viewerTokenFile/,
    );
    await (await open('', 'host: 127.0.0.1\n')).close();
  });

  test('with a broken certificate', async () => {
    const file = tokenFile('bad.pem', '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n');
    const broken = fleetOnce(asked([`name: a, url: "https://127.0.0.1:1", caFile: ${file}`]));
    await expect(broken).rejects.toThrow(/expected a certificate in PEM/);
  });

  test('without its file', () => {
    expect(() => readFleet(join(dir, 'none.yaml'))).toThrow(/none\.yaml: no such file; pass a YAML file with -c FILE/);
  });
});

describe('once', () => {
  test('asks every bot, also with a token of the environment, and waits for none longer than a request may take', async () => {
    const [bot, silent] = [await started(growing()), await started(() => undefined)];
    const began = performance.now();
    const view = await fleetOnce(
      asked([`name: a, url: "${bot.url}/", tokenVariable: A_TOKEN`, `name: b, url: "${silent.url}"`], '', {
        A_TOKEN: TOKEN,
      }),
    );
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(view.bots.map(({ state }) => state)).toEqual(['heard', 'silent']);
    expect(bot.asked).toEqual([{ path: '/api/v1/summary', authorization: `Bearer ${TOKEN}` }]);
  });

  test('prints a table of at most 80 columns, also of names and texts that are long or hostile', async () => {
    const text = `\u001b[31m${'x'.repeat(300)} ${'many words '.repeat(30)}`;
    const halt = { what: 'halted', reason: text, at: 1, by: 'ana', until: null } as const;
    const bots = [
      await started(
        json(summaryWith({ inventory: '-12345678.123456789012345678', note: text } as object, { halts: [halt] })),
      ),
      await started(json(summaryWith({ book: 'eth_usd', base: 'eth', quote: 'usd' }))),
      await started(json({}, 404)),
    ];
    const lines = fleetTable(
      await fleetOnce(asked(bots.map(({ url }, i) => `name: ${'n'.repeat(39)}${i}, url: "${url}"`))),
    );
    expect(lines.filter(line => line.length > 80)).toEqual([]);
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines.join('\n')).toMatch(/profit, real money, 2 bots: \+12\.50 mxn\n/);
    expect(lines.join('\n')).toMatch(/not in the sum: \+12\.50 usd of 1 bot, because no book has a rate to mxn/);
    expect(lines.join('\n').replace(/\n {2}/g, ' ')).toMatch(/has no summary; its version is too old/);
  });
});
