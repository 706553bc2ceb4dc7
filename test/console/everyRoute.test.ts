/** Every route that the servers of console and fleet page serve, for every caller: the list is that of the running server, so a new route without a role fails. */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConsoleAccess } from '../../src/console/access.ts';
import { API_DOCUMENT_PATH, API_ROUTES, type ApiRouteSpec } from '../../src/console/apiSchemas.ts';
import { serveConsole, serveFleet, type ConsoleServer } from '../../src/console/index.ts';
import { GuardedServer } from '../../src/guard/index.ts';

const OPERATOR = 'operator-token-0123456789abcdef-0123';
const VIEWER = 'viewer-token-0123456789abcdef-012345';

/**
 * Permission to use a route: `everyone`; `reader`, with any login; `login`, with any login and the key of its page; `operator`, with an operator's login and this key;
 * an API route has the role of its own.
 */
type Needed = 'everyone' | 'reader' | 'login' | 'operator' | ApiRouteSpec;
const OF_EACH_PAGE: Readonly<Record<string, Needed>> = {
  ...Object.fromEntries(
    ['/', '/style.css', '/icon.svg', '/main.js', '/healthz', '/session'].map(path => [`GET ${path}`, 'everyone']),
  ),
  'GET /live': 'reader',
  'POST /login': 'everyone',
  'POST /logout': 'login',
};
const OF_CONSOLE: Readonly<Record<string, Needed>> = {
  ...OF_EACH_PAGE,
  [`GET ${API_DOCUMENT_PATH}`]: 'everyone',
  ...Object.fromEntries(['/history', '/long-history', '/past'].map(path => [`GET ${path}`, 'reader'])),
  ...Object.fromEntries(
    [
      ...['GET /actions/cost', 'GET /actions/parameters', 'GET /actions/outcome'],
      ...['POST /actions/preview', 'POST /actions/confirm', 'POST /proposals/preview', 'POST /proposals/reject'],
    ].map(route => [route, 'operator']),
  ),
  ...Object.fromEntries(Object.values<ApiRouteSpec>(API_ROUTES).map(spec => [`${spec.method} ${spec.path}`, spec])),
};

/** Servers that listen, as they start. */
const guarded: GuardedServer[] = [];
const listen = Object.getOwnPropertyDescriptor(GuardedServer.prototype, 'listen')!;
beforeEach(() => {
  Object.defineProperty(GuardedServer.prototype, 'listen', {
    ...listen,
    value(this: GuardedServer) {
      guarded.push(this);
      return (listen.value as GuardedServer['listen']).call(this);
    },
  });
});
let server: ConsoleServer | null = null;
afterEach(async () => {
  Object.defineProperty(GuardedServer.prototype, 'listen', listen);
  await server?.close();
  server = null;
  guarded.length = 0;
});

/** Number of reads and actions that were asked of the bot. */
let done = 0;
const doing = <T>(value: T): T => {
  done++;
  return value;
};

const access = (operatorToken: string | null): ConsoleAccess => ({
  ...{ operatorToken, viewerToken: VIEWER, behindTls: false, now: () => 0, onEvent: () => undefined },
  newSecret: (
    (made: number) => () =>
      `secret-${++made}-${'x'.repeat(30)}`
  )(0),
});

async function consoleServer(): Promise<ConsoleServer> {
  const prepared = async () => doing({ lines: [], execute: async () => doing({ end: 'done' as const, lines: [] }) });
  const over = { end: 'done' as const, lines: [], isRepeated: false };
  return serveConsole(
    {
      ...{ scripts: { 'main.js': 'void 0;' }, libraryStyle: '' },
      ...{ history: () => doing('{}'), longHistory: () => doing('{}'), past: async () => doing('null') },
    },
    {
      ...{ host: '127.0.0.1', port: 0, access: access(OPERATOR) },
      actions: {
        names: ['pause', 'halt', 'flatten'],
        parameters: () => doing({ digest: 'ab', parameters: [], changes: [] }),
        cost: async () => doing([]),
        prepare: prepared,
        proposals: {
          prepare: async () =>
            doing({
              ...{ action: 'pause', reason: 'a reason', minutes: null, costMax: null, by: 'Ana', lines: [] },
              execute: async () => doing({ end: 'done' as const, lines: [] }),
            }),
          reject: () => void doing(0),
        },
      },
      api: {
        read: async () => doing('{}'),
        preview: async () => doing([]),
        act: async () => doing(over),
        proposals: { list: () => doing([]), propose: async () => doing({}), preview: async () => doing([]) },
      },
    },
  );
}

/** Routes of the running server, as Fastify prints them; HEAD belongs to GET. */
function servedRoutes(): readonly string[] {
  const found: string[] = [];
  const above: string[] = [];
  for (const line of guarded.at(-1)!.routes.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, part, methods] = /^((?:[│ ] {3})*)[├└]── (\S*) ?(?:\((.*)\))?$/.exec(line) ?? [];
    if (indent === undefined || part === undefined) continue;
    above.length = indent.length / 4;
    const path = `${above.join('')}${part}`;
    above.push(part);
    for (const method of methods?.split(', ') ?? []) if (method !== 'HEAD') found.push(`${method} ${path}`);
  }
  return found.sort();
}

/** Returns the status only: an open stream has no end. */
const statusOf = (route: string, headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve, reject) => {
    const [method, path] = route.split(' ');
    const origin = path!.startsWith('/api/') ? {} : { origin: server!.url };
    const asked = request(`${server!.url}${path}`, { method: method!, agent: false }, reply => {
      resolve(reply.statusCode!);
      reply.destroy();
    });
    for (const [name, value] of Object.entries({ 'content-type': 'application/json', ...origin, ...headers }))
      asked.setHeader(name, value);
    asked.on('error', reject);
    asked.end(method === 'POST' ? '{}' : undefined);
  });

async function loggedIn(token: string): Promise<{ readonly cookie: string; readonly 'x-puntas-key': string }> {
  const { url } = server!;
  const reply = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: 'Ana' }),
  });
  expect(reply.status).toBe(200);
  const { key } = (await reply.json()) as { key: string };
  return { cookie: reply.headers.get('set-cookie')!.split(';')[0]!, 'x-puntas-key': key };
}

/** Kinds of callers: what they send, and which role they have for the page and for the API. */
type Caller = {
  readonly name: string;
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly login: 'viewer' | 'operator' | null;
  readonly hasKey: boolean;
  readonly bearer: 'viewer' | 'operator' | null;
};
const caller = (name: string, headers: Caller['headers'], more: Partial<Caller> = {}): Caller => ({
  ...{ name, headers, login: null, hasKey: false, bearer: null },
  ...more,
});
const withoutKey = async (token: string) => ({ cookie: (await loggedIn(token)).cookie });
const CALLERS: readonly Caller[] = [
  caller('nobody', async () => ({})),
  caller('an invented login', async () => ({ cookie: `puntas-1=${'x'.repeat(43)}`, 'x-puntas-key': 'x'.repeat(43) })),
  caller('a viewer without the key of the page', () => withoutKey(VIEWER), { login: 'viewer' }),
  caller('a viewer', () => loggedIn(VIEWER), { login: 'viewer', hasKey: true }),
  caller('an operator without the key of the page', () => withoutKey(OPERATOR), { login: 'operator' }),
  caller('an operator', () => loggedIn(OPERATOR), { login: 'operator', hasKey: true }),
  caller('the token of a viewer', async () => ({ authorization: `Bearer ${VIEWER}` }), { bearer: 'viewer' }),
  caller('the token of an operator', async () => ({ authorization: `Bearer ${OPERATOR}` }), { bearer: 'operator' }),
];

function mayUse(needed: Needed, { login, hasKey, bearer }: Caller): boolean {
  if (needed === 'everyone') return true;
  if (needed === 'reader') return login !== null;
  if (needed === 'login') return login !== null && hasKey;
  if (needed === 'operator') return login === 'operator' && hasKey;
  // A login reads and never acts through the API.
  const role = bearer ?? (needed.method === 'GET' ? login : null);
  return role === 'operator' || (role === 'viewer' && needed.role === 'viewer');
}

describe('the console', () => {
  test('serves the routes of the table, and no other', async () => {
    server = await consoleServer();
    expect(servedRoutes()).toEqual(Object.keys(OF_CONSOLE).sort());
  });

  test.each(CALLERS)('does for $name what the role of each route allows, and nothing else', async who => {
    server = await consoleServer();
    const start = done;
    for (const [route, needed] of Object.entries(OF_CONSOLE)) {
      // A logout ends the login.
      const headers = await who.headers();
      const before = done;
      const status = await statusOf(route, headers);
      if (mayUse(needed, who)) expect([route, status]).not.toEqual([route, expect.toBeOneOf([401, 403])]);
      else expect([route, status, done - before]).toEqual([route, expect.toBeOneOf([401, 403]), 0]);
    }
    expect(done > start).toBe(who.login !== null || who.bearer !== null);
  });
});

describe('the fleet page', () => {
  const fleet = () =>
    serveFleet({
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      access: access(null),
      scripts: { 'main.js': 'void 0;' },
    });

  test('serves the routes of every page, and none that acts', async () => {
    server = await fleet();
    expect(servedRoutes()).toEqual(Object.keys(OF_EACH_PAGE).sort());
  });

  test.each(CALLERS.filter(({ login }) => login !== 'operator'))(
    'does for $name what the role of each route allows',
    async who => {
      server = await fleet();
      for (const [route, needed] of Object.entries(OF_EACH_PAGE)) {
        const status = await statusOf(route, await who.headers());
        expect([route, status === 401 || status === 403]).toEqual([route, !mayUse(needed, who)]);
      }
    },
  );
});
