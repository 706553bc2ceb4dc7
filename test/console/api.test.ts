/** The HTTP API: every route for every role, keys of actions, wrong tokens, floods, and the document that is generated from its routes. */
import { afterEach, describe, expect, test } from 'vitest';
import { WRONG_MAX, type AccessEvent, type ConsoleAccess } from '../../src/console/access.ts';
import {
  API_ACTIONS,
  API_BODY_MAX,
  API_ROUTES,
  BOOK_PATTERN,
  openApiDocument,
  type ApiRouteSpec,
} from '../../src/console/apiSchemas.ts';
import type { ActionRequest } from '../../src/console/approvals.ts';
import { BOOK_NAME } from '../../src/core/index.ts';
import { serveConsole, type ApiRead, type ConsoleApi, type ConsoleServer } from '../../src/console/index.ts';
import { asking, type Answer } from './asking.ts';

const OPERATOR = 'operator-token-0123456789abcdef-0123';
const VIEWER = 'viewer-token-0123456789abcdef-012345';

let server: ConsoleServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function apiWith(change: Partial<ConsoleAccess> | null = {}, host = '127.0.0.1') {
  let time = 0;
  const events: AccessEvent[] = [];
  const reads: ApiRead[] = [];
  const [previews, acts]: [ActionRequest[], [ActionRequest, string][]] = [[], []];
  const proposed: object[] = [];
  let hold: Promise<void> = Promise.resolve();
  const access: ConsoleAccess | null = change && {
    ...{ operatorToken: OPERATOR, viewerToken: VIEWER, behindTls: false, now: () => time },
    newSecret: () => 'x'.repeat(30),
    onEvent: event => void events.push(event),
    ...change,
  };
  const canAct = access !== null && access.operatorToken !== null;
  const api: ConsoleApi = {
    read: async read => {
      reads.push(read);
      await hold;
      if (read.what === 'explain' && read.at === 7) throw new Error('no recording of this time');
      return JSON.stringify(read.what === 'fills' ? [] : { told: read.what });
    },
    preview: canAct
      ? async request => {
          previews.push(request);
          return ['4 orders would be canceled'];
        }
      : null,
    act: canAct
      ? async (request, key) => {
          acts.push([request, key]);
          if (key === 'other-request') return 'other request';
          if (key === 'repeated-key') return { end: 'refused', lines: ['the bot does not run'], isRepeated: true };
          return { end: 'done', lines: ['4 orders canceled'], isRepeated: false };
        }
      : null,
    proposals: {
      list: () => {
        proposed.push({});
        return [{ id: 'p-abcdefgh23' }];
      },
      propose: async request => {
        proposed.push(request);
        return { id: 'p-abcdefgh23' };
      },
      preview: async request => {
        proposed.push(request);
        return ['4 orders would be canceled'];
      },
    },
  };
  const source = {
    scripts: {},
    libraryStyle: '',
    history: () => null,
    longHistory: () => null,
    past: async () => 'null',
  };
  server = await serveConsole(source, { host, port: 0, access, api });
  const { url } = server;
  const ask = asking(() => url);
  const headersOf = (token: string | null, more: Record<string, string> = {}) => ({
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...more,
  });
  const get = (path: string, token: string | null, more = {}) => ask(path, 'GET', headersOf(token, more));
  const post = (path: string, token: string | null, body: unknown, more: Record<string, string> = {}) =>
    ask(
      path,
      'POST',
      headersOf(token, { 'content-type': 'application/json', 'idempotency-key': 'a-key-of-the-test', ...more }),
      typeof body === 'string' ? body : JSON.stringify(body),
    );
  return {
    ...{ url, ask, get, post, events, reads, previews, acts, proposed },
    passes: (ms: number) => void (time += ms),
    holds: (until: Promise<void>) => void (hold = until),
  };
}

const json = ({ body }: Answer) => JSON.parse(body) as Record<string, unknown>;
const SAID = { reason: 'the feed looks wrong', by: 'Ana' };
const routes = Object.entries<ApiRouteSpec>(API_ROUTES);
const CHANGE = { key: 'strategy.halfSpreadBps', value: '13', digest: 'ab'.repeat(32) };
const PROPOSED = { action: 'pause', agent: 'a helper', minutes: 5 };
const BODIES: Readonly<Record<string, object>> = {
  preview: { action: 'halt', by: 'Ana' },
  propose: { ...PROPOSED, reason: SAID.reason },
  proposalPreview: PROPOSED,
  set: { ...SAID, ...CHANGE },
};
const bodyFor = (name: string) => BODIES[name] ?? SAID;

describe.each(routes)('the route %s', (name, { method, path, role, needsToken = false }) => {
  const askAs = (desk: Awaited<ReturnType<typeof apiWith>>, token: string | null) =>
    method === 'GET' ? desk.get(path, token) : desk.post(path, token, bodyFor(name));
  const done = ({ reads, previews, acts, proposed }: Awaited<ReturnType<typeof apiWith>>) =>
    reads.length + previews.length + acts.length + proposed.length;

  test('answers its role and those above, and does nothing for any other', async () => {
    const desk = await apiWith();
    for (const [token, code] of [
      [null, 401],
      ['wrong-token-0123456789abcdef-0123456', 401],
      [VIEWER, role === 'viewer' ? 200 : 403],
      [OPERATOR, 200],
    ] as const) {
      const before = done(desk);
      const answer = await askAs(desk, token);
      expect([token, answer.status]).toEqual([token, code]);
      // The role of a token is answered without a read.
      expect(done(desk) - before).toBe(code === 200 && name !== 'session' ? 1 : 0);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      if (code !== 200) expect(json(answer)).toEqual({ problem: expect.any(String) as string });
    }
  });

  test('does nothing without tokens but read, and nothing through a proxy without TLS', async () => {
    const open = await apiWith(null);
    const answer = await askAs(open, null);
    expect(answer.status).toBe(method === 'POST' ? 405 : needsToken ? 401 : 200);
    expect((await askAs(open, OPERATOR)).status).toBe(method === 'POST' ? 405 : 403);
    await server!.close();
    const desk = await apiWith();
    const headers = { 'x-forwarded-for': '10.0.0.1', authorization: `Bearer ${OPERATOR}` };
    const passed =
      method === 'GET' ? await desk.get(path, null, headers) : await desk.post(path, null, bodyFor(name), headers);
    expect(passed.status).toBe(403);
    expect(done(desk)).toBe(0);
  });

  test('is read openly without a viewer token, and acts with the operator token alone', async () => {
    const desk = await apiWith({ viewerToken: null });
    expect((await askAs(desk, null)).status).toBe(role === 'viewer' && !needsToken ? 200 : 401);
    expect((await askAs(desk, OPERATOR)).status).toBe(200);
    await server!.close();
    const readOnly = await apiWith({ operatorToken: null });
    expect((await askAs(readOnly, VIEWER)).status).toBe(role === 'viewer' ? 200 : 403);
  });
});

describe('an action', () => {
  test.each(API_ACTIONS)('%s is handed over with its key, reason and operator', async action => {
    const { post, acts } = await apiWith();
    const answer = await post(`/api/v1/actions/${action}`, OPERATOR, bodyFor(action));
    expect(json(answer)).toEqual({
      id: 'a-key-of-the-test',
      end: 'done',
      lines: ['4 orders canceled'],
      isRepeated: false,
    });
    const change = action === 'set' ? { change: CHANGE } : {};
    expect(acts).toEqual([[{ action, ...SAID, minutes: null, costMax: null, ...change }, 'a-key-of-the-test']]);
  });

  test.each<[string, unknown, Record<string, string>]>([
    ['no key', SAID, { 'idempotency-key': '' }],
    ['a short key', SAID, { 'idempotency-key': 'short' }],
    ['a key with a slash', SAID, { 'idempotency-key': '../../../etc/x' }],
    ['no reason', { by: 'Ana' }, {}],
    ['no operator', { reason: 'the feed looks wrong' }, {}],
    ['another field', { ...SAID, costMax: '5' }, {}],
    ['minutes of a halt', { ...SAID, minutes: 5 }, {}],
    ['a number as its reason', { ...SAID, reason: 12345 }, {}],
    ['a list', [SAID], {}],
    ['null', 'null', {}],
  ])('with %s is refused', async (_, body, headers) => {
    const { post, acts } = await apiWith();
    expect((await post('/api/v1/actions/halt', OPERATOR, body, headers)).status).toBe(422);
    expect(acts).toEqual([]);
  });

  test.each([0, -1, 1.5, '5', 10_081, null])('that pauses for %j minutes is refused', async minutes => {
    const { post, acts } = await apiWith();
    expect((await post('/api/v1/actions/pause', OPERATOR, { ...SAID, minutes })).status).toBe(422);
    expect((await post('/api/v1/actions/pause', OPERATOR, { ...SAID, minutes: 30 })).status).toBe(200);
    expect(acts).toHaveLength(1);
  });

  test.each([
    { key: undefined },
    { key: 'a b' },
    { value: undefined },
    { value: 13 },
    { value: '' },
    { value: 'two\nlines' },
    { digest: undefined },
    { digest: 'ab' },
    { costMax: '5' },
  ])('that changes a parameter is refused with %j', async change => {
    const { post, acts } = await apiWith();
    expect((await post('/api/v1/actions/set', OPERATOR, { ...bodyFor('set'), ...change })).status).toBe(422);
    expect(acts).toEqual([]);
  });
  test.each(API_ACTIONS)(
    '%s is previewed as it is asked for: with its reason, operator and minutes, if it has them',
    async action => {
      const { post, previews } = await apiWith();
      const more = action === 'pause' ? { minutes: 30 } : {};
      const changed = action === 'set' ? CHANGE : {};
      await post('/api/v1/preview', OPERATOR, { action, ...SAID, ...more, ...changed });
      await post('/api/v1/preview', OPERATOR, { action, by: 'Ana', ...changed });
      const whole = { action, minutes: null, costMax: null, ...(action === 'set' ? { change: CHANGE } : {}) };
      expect(previews).toEqual([
        { ...whole, ...SAID, ...more },
        { ...whole, reason: 'a preview', by: 'Ana' },
      ]);
    },
  );

  const SAMPLES: Readonly<Record<string, unknown>> = { ...SAID, ...CHANGE, book: 'eth_mxn', minutes: 30 };
  /** Fields of an action's route, each with a value of its own. */
  const fieldsOf = (action: (typeof API_ACTIONS)[number]): Readonly<Record<string, unknown>> => {
    const { properties } = routes.find(([name]) => name === action)![1].body as { properties: object };
    return Object.fromEntries(Object.keys(properties).map(key => [key, SAMPLES[key] ?? `no sample of ${key}`]));
  };
  const flat = ({ change, ...request }: ActionRequest) => ({ ...request, ...change });

  test.each(API_ACTIONS)(
    '%s is handed over with every field of its route, as it is sent, and so is its preview',
    async action => {
      const { post, acts, previews } = await apiWith();
      const body = fieldsOf(action);
      expect((await post(API_ROUTES[action].path, OPERATOR, body)).status).toBe(200);
      expect(flat(acts[0]![0])).toEqual({ minutes: null, costMax: null, action, ...body });
      expect((await post(API_ROUTES.preview.path, OPERATOR, { action, ...body })).status).toBe(200);
      expect(flat(previews[0]!)).toEqual(flat(acts[0]![0]));
    },
  );

  test('that changes a parameter is none without the digest of what was shown', async () => {
    const { post, acts, previews } = await apiWith();
    const { digest: _, ...body } = fieldsOf('set');
    expect((await post(API_ROUTES.set.path, OPERATOR, body)).status).toBe(422);
    await post(API_ROUTES.preview.path, OPERATOR, { action: 'set', ...body });
    expect([acts, previews.filter(({ change }) => change !== undefined)]).toEqual([[], []]);
  });

  test('that was done before is answered as a repeated one, with what it did then', async () => {
    const { post } = await apiWith();
    const answer = await post('/api/v1/actions/halt', OPERATOR, SAID, { 'idempotency-key': 'repeated-key' });
    const then = { end: 'refused', lines: ['the bot does not run'], isRepeated: true };
    expect(json(answer)).toEqual({ id: 'repeated-key', ...then });
  });

  test('whose key belongs to another request is a conflict', async () => {
    const { post } = await apiWith();
    const answer = await post('/api/v1/actions/halt', OPERATOR, SAID, { 'idempotency-key': 'other-request' });
    expect(answer.status).toBe(409);
  });

  test('is not taken from a page: neither from another site, nor by the cookie of a login', async () => {
    const { post, url, acts, ask } = await apiWith();
    const foreign = await post('/api/v1/actions/halt', OPERATOR, SAID, { origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
    const own = { origin: url, 'content-type': 'application/json' };
    const login = await ask('/login', 'POST', own, JSON.stringify({ token: OPERATOR, name: 'Ana' }));
    const cookie = String((login.headers['set-cookie'] as string[])[0]).split(';')[0]!;
    const { key } = json(login) as { key: string };
    const headers = { ...own, cookie, 'x-puntas-key': key, 'idempotency-key': 'a-key-of-the-test' };
    expect((await ask('/api/v1/actions/halt', 'POST', headers, JSON.stringify(SAID))).status).toBe(401);
    expect((await ask('/api/v1/status', 'GET', { cookie })).status).toBe(200);
    expect(acts).toEqual([]);
  });

  test('is not refused while reads fill the server, and the reads beyond the maximum are', async () => {
    const { get, post, holds, reads } = await apiWith();
    let release = (): void => undefined;
    holds(new Promise(resolve => (release = resolve)));
    const fill = async (count: number, token: string) => {
      const [before, waiting] = [reads.length, Array.from({ length: count }, () => get('/api/v1/status', token))];
      while (reads.length < before + count) await new Promise(resolve => setTimeout(resolve, 2));
      return waiting;
    };
    const isRefused = async (token: string) => {
      const refused = await get('/api/v1/explain', token);
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2']);
    };
    const waiting = await fill(6, VIEWER);
    await isRefused(VIEWER);
    // Reads of operators have places that others cannot take.
    waiting.push(...(await fill(2, OPERATOR)));
    await isRefused(OPERATOR);
    expect((await post('/api/v1/actions/halt', OPERATOR, SAID)).status).toBe(200);
    release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(new Array<number>(8).fill(200));
    expect((await get('/api/v1/explain', VIEWER)).status).toBe(200);
  });
});

describe('a proposal', () => {
  test('is handed over with its action, reason, agent and minutes, and acts by no route of the API', async () => {
    const { get, post, proposed, acts } = await apiWith();
    expect((await post('/api/v1/proposals', VIEWER, BODIES['propose'])).status).toBe(200);
    expect(proposed).toEqual([{ ...PROPOSED, reason: SAID.reason }]);
    for (const path of ['approve', 'confirm', 'p-abcdefgh23', 'p-abcdefgh23/approve'])
      for (const token of [VIEWER, OPERATOR])
        expect((await post(`/api/v1/proposals/${path}`, token, { id: 'p-abcdefgh23' })).status).toBe(405);
    expect(json(await get('/api/v1/session', VIEWER))).toEqual({ role: 'viewer' });
    expect(json(await get('/api/v1/session', OPERATOR))).toEqual({ role: 'operator' });
    expect(acts).toEqual([]);
  });

  test.each<[string, object]>([
    ['a resume', { action: 'resume' }],
    ['a flatten', { action: 'flatten' }],
    ['no agent', { agent: '' }],
    ['another field', { by: 'Ana' }],
    ['minutes of a week and more', { minutes: 10_081 }],
    ['a reason that is a list', { reason: [SAID.reason] }],
  ])('of %s is refused', async (_, change) => {
    const { post, proposed } = await apiWith();
    expect((await post('/api/v1/proposals', VIEWER, { ...BODIES['propose'], ...change })).status).toBe(422);
    expect(proposed).toEqual([]);
  });
});

describe('wrong tokens', () => {
  test('of an address count together with those of its logins; then no token is looked at until the minute is over', async () => {
    const { get, post, ask, url, passes, acts, events } = await apiWith();
    const own = { origin: url, 'content-type': 'application/json' };
    await ask('/login', 'POST', own, JSON.stringify({ token: 'wrong', name: 'Ana' }));
    for (let tries = 1; tries < WRONG_MAX; tries++)
      expect((await get('/api/v1/status', `wrong-token-${tries}`)).status).toBe(401);
    const late = await post('/api/v1/actions/halt', OPERATOR, SAID);
    expect([late.status, late.headers['retry-after']]).toEqual([429, '60']);
    expect((await get('/api/v1/status', VIEWER)).status).toBe(429);
    expect((await ask('/login', 'POST', own, JSON.stringify({ token: OPERATOR, name: 'Ana' }))).status).toBe(429);
    expect(acts).toEqual([]);
    expect(events.filter(({ kind }) => kind === 'wrong token')).toHaveLength(WRONG_MAX);
    passes(60_000);
    expect((await post('/api/v1/actions/halt', OPERATOR, SAID)).status).toBe(200);
  });

  test.each(['Basic b3BlcmF0b3I6eA==', 'Bearer', `Bearer ${OPERATOR} x`, `Bearer ${OPERATOR.slice(0, -1)}`, OPERATOR])(
    '%j is none that fits',
    async authorization => {
      const { ask, reads } = await apiWith();
      const answer = await ask('/api/v1/status', 'GET', { authorization });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      expect(reads).toEqual([]);
    },
  );
});

test('accepts the symbols of books that a configuration accepts', () => {
  expect(BOOK_PATTERN).toEqual(BOOK_NAME);
});

describe('a read', () => {
  test('gets its parameters, and an invalid one is refused', async () => {
    const { get, reads } = await apiWith();
    await get('/api/v1/report?from=2026-11-01&to=2026-11-30', VIEWER);
    await get('/api/v1/explain?at=1764300000000', VIEWER);
    await get('/api/v1/fills?max=1000', VIEWER);
    await get('/api/v1/fills', VIEWER);
    for (const what of ['status', 'report', 'explain', 'fills', 'events', 'summary'])
      await get(`/api/v1/${what}?book=eth_mxn`, VIEWER);
    expect(reads.slice(4).map(read => [read.what, 'book' in read && read.book])).toEqual(
      ['status', 'report', 'explain', 'fills', 'events', 'summary'].map(what => [what, 'eth_mxn']),
    );
    expect(reads.slice(0, 4)).toEqual([
      { what: 'report', from: '2026-11-01', to: '2026-11-30' },
      { what: 'explain', at: 1_764_300_000_000 },
      { what: 'fills', max: 1_000 },
      { what: 'fills', max: 100 },
    ]);
    for (const path of [
      'report?from=today',
      'explain?at=-1',
      'fills?max=0',
      'fills?max=1001',
      'fills?max=1&max=2',
      'status?x=1',
      'status?book=BTC',
      'fills?book=..%2Fetc',
    ])
      expect([path, (await get(`/api/v1/${path}`, VIEWER)).status]).toEqual([path, 422]);
    const failed = await get('/api/v1/explain?at=7', VIEWER);
    expect([failed.status, json(failed)]).toEqual([422, { problem: 'no recording of this time' }]);
  });
});

describe.each(routes.filter(([, { body }]) => body !== undefined))('a body of %s', (name, { path }) => {
  test.each([
    [400, '{"reason": ', {}],
    [400, '', {}],
    [413, JSON.stringify({ reason: 'x'.repeat(API_BODY_MAX) }), {}],
    [415, JSON.stringify(bodyFor(name)), { 'content-type': 'text/plain' }],
    [422, JSON.stringify({ ...bodyFor(name), other: 1 }), {}],
  ] as const)(
    'that is not as the document says is refused with %i and a sentence, and does nothing',
    async (...asked) => {
      const [code, body, headers] = asked;
      const { post, previews, acts, proposed } = await apiWith();
      const answer = await post(path, OPERATOR, body, headers);
      expect([answer.status, json(answer)]).toEqual([
        code,
        { problem: expect.stringMatching(/^(?!failed).{12,}/) as string },
      ]);
      expect([previews, acts, proposed].flat()).toEqual([]);
      const document = openApiDocument()['paths'] as Record<string, { readonly post: { readonly responses: object } }>;
      expect(Object.keys(document[path]!.post.responses)).toContain(String(code));
    },
  );
});

describe('the document', () => {
  test('is served, and has every route with its role, parameters, body, key and answers', async () => {
    const { get } = await apiWith();
    const served = json(await get('/api/openapi.json', null));
    expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
    type Operation = {
      security: Record<string, unknown>[];
      parameters?: { name: string; in: string }[];
      requestBody?: object;
      responses: Record<string, unknown>;
    };
    const paths = served['paths'] as Record<string, Record<string, Operation>>;
    expect(Object.keys(paths)).toEqual([...new Set(routes.map(([, { path }]) => path))]);
    for (const [, { method, path, role, query = {}, body, hasKey }] of routes) {
      const operation = paths[path]![method.toLowerCase()]!;
      expect(operation.security).toEqual([{ [role]: [] }]);
      expect(operation.requestBody !== undefined).toBe(body !== undefined);
      expect((operation.parameters ?? []).map(({ name }) => name)).toEqual([
        ...Object.keys(query),
        ...(hasKey === true ? ['Idempotency-Key'] : []),
      ]);
      expect(Object.keys(operation.responses)).toContain('200');
    }
  });
});
