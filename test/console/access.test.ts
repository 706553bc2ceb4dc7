import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  cleaned,
  isSame,
  SESSION_MS,
  Sessions,
  WRONG_MAX,
  type AccessEvent,
  type ConsoleAccess,
} from '../../src/console/access.ts';
import { APPROVAL_MS, type ActionOver, type ActionRequest, type ConsoleActions } from '../../src/console/approvals.ts';
import { serveConsole, type ConsoleServer } from '../../src/console/index.ts';
import { holding } from '../guard/holding.ts';
import { asking, type Answer } from './asking.ts';

const OPERATOR = 'operator-token-0123456789abcdef-0123';
const VIEWER = 'viewer-token-0123456789abcdef-012345';
const REASON = 'the market looks odd';

/** A console with tokens, whose time and ids are the test's, and whose actions are written down. */
async function consoleWith(change: Partial<ConsoleAccess> = {}, host = '127.0.0.1') {
  let time = 0;
  let made = 0;
  const events: AccessEvent[] = [];
  const [prepared, carried]: [ActionRequest[], ActionRequest[]] = [[], []];
  const rejected: string[] = [];
  let end: Promise<ActionOver> = Promise.resolve({ end: 'done', lines: ['4 orders canceled'] });
  const access: ConsoleAccess = {
    ...{ operatorToken: OPERATOR, viewerToken: null, behindTls: false },
    now: () => time,
    newSecret: () => `secret-${++made}-${'x'.repeat(30)}`,
    onEvent: event => void events.push(event),
    ...change,
  };
  const names = ['pause', 'halt', 'resume'];
  const actions: ConsoleActions = {
    names,
    parameters: () => ({ digest: 'ab', parameters: [], changes: [] }),
    cost: async (by, onShare) => {
      if (by === 'Luz') onShare(0.5);
      return ['hedging all inventory through the book would now cost about 12.30 mxn now'];
    },
    prepare: async (request, onShare) => {
      if (request.reason.includes('long')) onShare(0.25);
      if (request.reason.includes('impossible')) throw new Error('nothing is halted there');
      prepared.push(request);
      return {
        lines: ['4 orders would be canceled'],
        execute: () => {
          carried.push(request);
          return end;
        },
      };
    },
    proposals: {
      prepare: async ({ id, digest }, by, onShare) => {
        if (id === 'long') onShare(0.25);
        if (digest !== DIGEST) throw new Error('the digest is not that of the proposal');
        const request = { action: 'pause', reason: REASON, by, minutes: 30, costMax: null };
        prepared.push(request);
        return {
          ...request,
          lines: ['4 orders would be canceled'],
          execute: () => {
            carried.push(request);
            return end;
          },
        };
      },
      reject: ({ id, digest }, by) => {
        if (digest !== DIGEST) throw new Error('the digest is not that of the proposal');
        rejected.push(`${id} ${by}`);
      },
    },
  };
  const source = {
    scripts: {},
    libraryStyle: '',
    history: () => '{"run":1}',
    longHistory: () => '{"run":1}',
    past: async () => 'null',
  };
  server = await serveConsole(source, { host, port: 0, allowedHosts: ['desk.example'], access, actions });
  const { url } = server;
  const ask = asking(() => url);
  const own = { origin: url, 'content-type': 'application/json' };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(path, 'POST', { ...own, ...headers }, typeof body === 'string' ? body : JSON.stringify(body));
  const logIn = async (token = OPERATOR, name = 'Ana', headers: Record<string, string> = {}) => {
    const answer = await post('/login', { token, name }, headers);
    const cookie = String((answer.headers['set-cookie'] as string[] | undefined)?.[0] ?? '');
    const { key = '' } = answer.status === 200 ? (JSON.parse(answer.body) as { key: string }) : {};
    return { answer, cookie, as: { cookie: cookie.split(';')[0]!, 'x-puntas-key': key } };
  };
  return {
    ...{ url, ask, post, logIn, events, prepared, carried, rejected, names },
    passes: (ms: number) => void (time += ms),
    ends: (next: Promise<ActionOver>) => void (end = next),
  };
}

let server: ConsoleServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const DIGEST = 'f'.repeat(64);

const json = ({ body }: Answer) => JSON.parse(body) as Record<string, unknown>;
const idOf = (answer: Answer): string => String(json(answer)['id']);

describe('an action', () => {
  test('is previewed, approved by its id, carried out, and what became of it is told', async () => {
    const { post, ask, logIn, prepared, carried } = await consoleWith();
    const { as } = await logIn();
    const preview = await post('/actions/preview', { action: 'pause', reason: ` ${REASON}\n`, minutes: 30 }, as);
    expect(preview.status).toBe(200);
    expect(json(preview)).toMatchObject({
      ...{ lines: ['4 orders would be canceled'], endsInMs: APPROVAL_MS, action: 'pause', reason: REASON, minutes: 30 },
    });
    expect(prepared).toEqual([{ action: 'pause', reason: REASON, by: 'Ana', minutes: 30, costMax: null }]);
    expect(carried).toEqual([]);
    const id = idOf(preview);
    expect((await ask(`/actions/outcome?id=${id}`, 'GET', as)).status).toBe(404);
    expect(await post('/actions/confirm', { id }, as)).toMatchObject({ status: 202 });
    expect(carried).toEqual(prepared);
    expect(json(await ask(`/actions/outcome?id=${id}`, 'GET', as))).toEqual({
      end: 'done',
      lines: ['4 orders canceled'],
    });
  });

  test('that closes everything costs something: that is told first, and how much it may be is part of what is confirmed', async () => {
    const { post, ask, logIn, names, prepared, carried } = await consoleWith();
    const { as } = await logIn();
    expect(await ask('/actions/cost', 'GET', as)).toMatchObject({
      status: 422,
      body: expect.stringContaining('needs a hedger') as string,
    });
    names.push('flatten');
    expect(json(await ask('/session', 'GET', as))['actions']).toContain('flatten');
    expect(json(await ask('/actions/cost', 'GET', as))).toEqual({
      lines: ['hedging all inventory through the book would now cost about 12.30 mxn now'],
    });
    for (const costMax of [undefined, null, '', '0', '0.00', '-5', '1e3', '12.3 ', 12.3, ['12'], '1'.repeat(16)]) {
      const answer = await post('/actions/preview', { action: 'flatten', reason: REASON, costMax }, as);
      expect(json(answer)['problem'], String(costMax)).toMatch(/^enter the maximum total cost/);
    }
    const other = await post('/actions/preview', { action: 'halt', reason: REASON, costMax: '12.30' }, as);
    expect(json(other)['problem']).toBe('a maximum cost is only valid for flatten');
    expect(prepared).toEqual([]);
    const preview = await post('/actions/preview', { action: 'flatten', reason: REASON, costMax: '12.30' }, as);
    expect(json(preview)).toMatchObject({ action: 'flatten', costMax: '12.30' });
    await post('/actions/confirm', { id: idOf(preview) }, as);
    expect(carried).toEqual([{ action: 'flatten', reason: REASON, by: 'Ana', minutes: null, costMax: '12.30' }]);
  });

  test('whose preview takes long says how far it is, in lines, with every header, and what is wrong in the last one', async () => {
    const { post, ask, logIn, names, carried } = await consoleWith();
    names.push('flatten');
    const { as } = await logIn(OPERATOR, 'Luz');
    const linesOf = ({ body }: Answer) =>
      body
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as Record<string, unknown>);
    const long = await post('/actions/preview', { action: 'halt', reason: 'a long one' }, as);
    expect(long).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' },
    });
    expect(long.headers['content-security-policy']).toContain("default-src 'none'");
    expect(linesOf(long)).toEqual([
      { share: 0.25 },
      expect.objectContaining({ lines: ['4 orders would be canceled'] }),
    ]);
    await post('/actions/confirm', { id: linesOf(long)[1]!['id'] }, as);
    expect(carried).toHaveLength(1);
    const failed = await post('/actions/preview', { action: 'halt', reason: 'long and impossible' }, as);
    expect(linesOf(failed)).toEqual([{ share: 0.25 }, { problem: 'nothing is halted there' }]);
    expect(linesOf(await ask('/actions/cost', 'GET', as))).toEqual([{ share: 0.5 }, { lines: [expect.any(String)] }]);
  });

  test('is under way until it is over, and a failure is an end with its reason', async () => {
    const { post, ask, logIn, ends } = await consoleWith();
    const { as } = await logIn();
    let fail: (error: Error) => void = () => undefined;
    ends(new Promise((_, reject) => (fail = reject)));
    const id = idOf(await post('/actions/preview', { action: 'halt', reason: REASON }, as));
    await post('/actions/confirm', { id }, as);
    const outcome = async () => json(await ask(`/actions/outcome?id=${id}`, 'GET', as));
    expect(await outcome()).toEqual({ end: 'under way', lines: [] });
    fail(new Error('the disk is full'));
    expect(await outcome()).toEqual({ end: 'refused', lines: ['the disk is full'] });
  });

  test('is confirmed once, however often and at once that is asked', async () => {
    const { post, logIn, carried } = await consoleWith();
    const { as } = await logIn();
    const id = idOf(await post('/actions/preview', { action: 'halt', reason: REASON }, as));
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/actions/confirm', { id }, as)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array<number>(19).fill(409)]);
    expect(carried).toHaveLength(1);
  });

  test('cannot be confirmed after its minute, nor after the login has ended, nor by another login', async () => {
    const { post, logIn, carried, passes } = await consoleWith();
    const [first, other] = [await logIn(), await logIn(OPERATOR, 'Bea')];
    const opened = async (as: Record<string, string>) =>
      idOf(await post('/actions/preview', { action: 'halt', reason: REASON }, as));
    const late = await opened(first.as);
    passes(APPROVAL_MS - 1);
    const theirs = await opened(first.as);
    passes(1);
    expect((await post('/actions/confirm', { id: late }, first.as)).status).toBe(409);
    expect((await post('/actions/confirm', { id: theirs }, other.as)).status).toBe(409);
    expect((await post('/logout', {}, first.as)).status).toBe(200);
    expect((await post('/actions/confirm', { id: theirs }, first.as)).status).toBe(401);
    const again = await logIn();
    expect((await post('/actions/confirm', { id: theirs }, again.as)).status).toBe(409);
    expect(carried).toEqual([]);
  });

  test('has minutes only if it is a pause, and a cost exactly if it is a flatten', async () => {
    const { post, logIn, names, prepared } = await consoleWith();
    names.push('flatten', 'reduce');
    const { as } = await logIn();
    for (const action of names)
      for (const minutes of [null, 5])
        for (const costMax of [null, '12.30']) {
          const isRight = (minutes === null || action === 'pause') && (costMax !== null) === (action === 'flatten');
          const { status } = await post('/actions/preview', { action, reason: REASON, minutes, costMax }, as);
          expect([action, minutes, costMax, status]).toEqual([action, minutes, costMax, isRight ? 200 : 422]);
          if (isRight) expect(prepared.at(-1)).toMatchObject({ action, minutes, costMax });
        }
  });

  test.each([
    [{ action: 'flatten', reason: REASON }, /expected one of pause, halt, resume/],
    [{ action: 'constructor', reason: REASON }, /expected one of/],
    [{ action: 'halt' }, /enter the reason in a few words/],
    [{ action: 'halt', reason: ' a\u200b\u202e \n b ' }, /enter the reason in a few words/],
    [{ action: 'halt', reason: ['four', 'words'] }, /enter the reason in a few words/],
    [{ action: 'halt', reason: REASON, minutes: 5 }, /only valid for a pause/],
    ...[0, -1, 1.5, 10_081, '5', 1e99].map(
      minutes => [{ action: 'pause', reason: REASON, minutes }, /expected a whole number from 1 to 10080/] as const,
    ),
    [{ action: 'resume', reason: 'this is impossible' }, /^nothing is halted there$/],
    [[], /expected one of/],
    ['null', /expected one of/],
  ] as const)('%j is refused with a line, and nothing can be confirmed', async (body, problem) => {
    const { post, logIn, prepared } = await consoleWith();
    const { as } = await logIn();
    const answer = await post('/actions/preview', body, as);
    expect(answer.status).toBe(422);
    expect(json(answer)['problem']).toMatch(problem);
    expect(prepared).toEqual([]);
  });

  test('is confirmed by no id that was not given out', async () => {
    const { post, logIn, carried } = await consoleWith();
    const { as } = await logIn();
    await post('/actions/preview', { action: 'halt', reason: REASON }, as);
    for (const id of ['', 'x', '__proto__', 'secret-1', null, 1, {}, ['secret-3']])
      expect((await post('/actions/confirm', { id }, as)).status).toBe(409);
    expect(carried).toEqual([]);
  });
});

describe('a viewer', () => {
  test('reads, and can neither preview nor confirm nor see what became of an action', async () => {
    const { post, ask, logIn, prepared, carried } = await consoleWith({ viewerToken: VIEWER });
    const { as } = await logIn(VIEWER, '');
    expect((await ask('/history', 'GET', as)).status).toBe(200);
    const operator = await logIn();
    const id = idOf(await post('/actions/preview', { action: 'halt', reason: REASON }, operator.as));
    for (const answer of [
      await post('/actions/preview', { action: 'halt', reason: REASON }, as),
      await post('/actions/confirm', { id }, as),
      await post('/proposals/preview', { id: 'p-1', digest: DIGEST }, as),
      await post('/proposals/reject', { id: 'p-1', digest: DIGEST }, as),
      await ask(`/actions/outcome?id=${id}`, 'GET', as),
      await ask('/actions/cost', 'GET', as),
    ])
      expect(answer).toMatchObject({ status: 403, body: '{"problem":"log in as operator for this request"}' });
    expect([prepared.length, carried.length]).toEqual([1, 0]);
    expect(json(await ask('/session', 'GET', as))).toMatchObject({ role: 'viewer', actions: [] });
  });

  test('has nothing to do where there is no operator token', async () => {
    const { post, logIn } = await consoleWith({ viewerToken: VIEWER, operatorToken: null });
    expect((await logIn(OPERATOR)).answer.status).toBe(401);
    const { as } = await logIn(VIEWER);
    expect((await post('/actions/preview', { action: 'halt', reason: REASON }, as)).status).toBe(403);
  });
});

describe('a proposal of an agent', () => {
  test('is previewed by its digest and confirmed as an action: by its own login, once, within a minute', async () => {
    const { post, ask, logIn, prepared, carried, passes } = await consoleWith();
    const { as } = await logIn();
    const other = await logIn(OPERATOR, 'Bea');
    for (const body of [{ id: 'p-1' }, { id: 'p-1', digest: 'x' }, { id: ['p-1'], digest: [DIGEST] }, {}, []])
      expect(json(await post('/proposals/preview', body, as))).toEqual({
        problem: 'the digest is not that of the proposal',
      });
    const preview = await post('/proposals/preview', { id: 'p-1', digest: DIGEST }, as);
    expect(json(preview)).toMatchObject({
      ...{ lines: ['4 orders would be canceled'], endsInMs: APPROVAL_MS, action: 'pause', reason: REASON, minutes: 30 },
    });
    expect([prepared.length, carried.length]).toEqual([1, 0]);
    const id = idOf(preview);
    expect((await post('/actions/confirm', { id }, other.as)).status).toBe(409);
    expect((await post('/actions/confirm', { id }, as)).status).toBe(202);
    expect((await post('/actions/confirm', { id }, as)).status).toBe(409);
    expect(carried).toMatchObject([{ by: 'Ana', reason: REASON }]);
    expect(json(await ask(`/actions/outcome?id=${id}`, 'GET', as))).toMatchObject({ end: 'done' });
    const late = idOf(await post('/proposals/preview', { id: 'p-2', digest: DIGEST }, as));
    passes(APPROVAL_MS);
    expect((await post('/actions/confirm', { id: late }, as)).status).toBe(409);
  });

  test('is rejected by its digest under the name of the login', async () => {
    const { post, logIn, rejected } = await consoleWith();
    const { as } = await logIn();
    expect((await post('/proposals/reject', { id: 'p-1', digest: 'x' }, as)).status).toBe(422);
    expect((await post('/proposals/reject', { id: 'p-1', digest: DIGEST }, as)).status).toBe(200);
    expect(rejected).toEqual(['p-1 Ana']);
  });
});

describe('without a login', () => {
  test('nothing is read where a viewer token is set, but for the page, and nothing is done', async () => {
    const { post, ask } = await consoleWith({ viewerToken: VIEWER });
    for (const path of ['/history', '/long-history', '/live', '/past?at=1', '/past'])
      expect(await ask(path), path).toMatchObject({ status: 401, body: 'log in first\n' });
    for (const path of ['/', '/style.css', '/healthz']) expect((await ask(path)).status).toBe(200);
    expect(json(await ask('/session'))).toMatchObject({ mustLogIn: true, role: null, actions: [] });
    for (const path of ['/logout', '/actions/preview', '/actions/confirm'])
      expect((await post(path, {})).status).toBe(401);
  });

  test('everybody reads where only an operator token is set', async () => {
    const { ask } = await consoleWith();
    expect((await ask('/history')).status).toBe(200);
    expect(json(await ask('/session'))).toMatchObject({ mustLogIn: false, hasLogin: true, role: null, actions: [] });
  });
});

describe('a login', () => {
  test('sets a cookie that no script reads, that no other site sends, and that ends', async () => {
    const { logIn, url, ask } = await consoleWith();
    const { cookie, as } = await logIn();
    expect(cookie).toBe(
      `puntas-${new URL(url).port}=${as.cookie.split('=')[1]!}; Path=/; HttpOnly; SameSite=Strict; Max-Age=28800`,
    );
    expect(as.cookie).not.toContain(as['x-puntas-key']);
    expect(json(await ask('/session', 'GET', as))).toMatchObject({
      role: 'operator',
      name: 'Ana',
      actions: ['pause', 'halt', 'resume'],
    });
    // Who has the cookie alone, as every server of this host may, cannot act, and is not told what would let him.
    const { body } = await ask('/session', 'GET', { cookie: as.cookie });
    expect(JSON.parse(body)).toMatchObject({ role: 'operator', actions: [] });
    expect(body).not.toContain(as['x-puntas-key']);
  });

  test('is over after eight hours, and when one logs out', async () => {
    const { logIn, ask, post, passes } = await consoleWith({ viewerToken: VIEWER });
    const { as } = await logIn();
    passes(SESSION_MS - 1);
    expect((await ask('/history', 'GET', as)).status).toBe(200);
    passes(1);
    expect((await ask('/history', 'GET', as)).status).toBe(401);
    const next = await logIn();
    const out = await post('/logout', {}, next.as);
    expect(out.headers['set-cookie']).toEqual([expect.stringMatching(/^puntas-\d+=; .*Max-Age=0$/)]);
    expect((await ask('/history', 'GET', next.as)).status).toBe(401);
  });

  test('ends the streams that were opened with it', async () => {
    const { logIn, url, post } = await consoleWith({ viewerToken: VIEWER });
    const { as } = await logIn(VIEWER, '');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let heard = '';
    const closed = new Promise(resolve => socket.on('close', resolve));
    const begun = new Promise<void>(resolve =>
      socket.on('data', part => {
        heard += String(part);
        if (heard.includes('nothing yet')) resolve();
      }),
    );
    socket.write(`GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ${as.cookie}\r\n\r\n`);
    await begun;
    server?.send('{"n":1}');
    await post('/logout', {}, as);
    server?.send('{"n":2}');
    await closed;
    expect(heard).toContain('{"n":1}');
    expect(heard).not.toContain('{"n":2}');
    expect(server?.pages).toBe(0);
  });

  test('of an operator needs a name, which is cleaned, and is in the events', async () => {
    const { logIn, events } = await consoleWith();
    expect((await logIn(OPERATOR, ' \u202e\n ')).answer).toMatchObject({ status: 422 });
    await logIn(OPERATOR, `${'Ana\u202e\nLuz'}${'!'.repeat(60)}`);
    expect(events).toEqual([{ kind: 'in', role: 'operator', name: `Ana Luz${'!'.repeat(33)}` }]);
  });

  test('with two cookies of its name is none', async () => {
    const { logIn, ask } = await consoleWith({ viewerToken: VIEWER });
    const { as } = await logIn();
    const twice = { ...as, cookie: `${as.cookie}; ${as.cookie.split('=')[0]!}=planted` };
    expect((await ask('/history', 'GET', twice)).status).toBe(401);
  });
});

describe('wrong tokens', () => {
  test(`are looked at ${WRONG_MAX} times a minute from one address; then the right one is refused there too, and it is told`, async () => {
    const { logIn, events, passes, ask } = await consoleWith({ viewerToken: VIEWER });
    const early = await logIn();
    for (let i = 0; i < WRONG_MAX; i++) expect((await logIn(`${OPERATOR}${i}`)).answer.status).toBe(401);
    for (const token of ['wrong', OPERATOR, VIEWER]) {
      const { answer } = await logIn(token);
      expect(answer.status).toBe(429);
      expect(answer.headers['retry-after']).toBe('60');
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
    expect(events.slice(1).map(({ kind }) => kind)).toEqual([
      ...Array<string>(WRONG_MAX).fill('wrong token'),
      'too many',
    ]);
    expect(events.at(-1)).toEqual({ kind: 'too many', from: '127.0.0.1' });
    // Who is logged in goes on.
    expect((await ask('/history', 'GET', early.as)).status).toBe(200);
    passes(60_000);
    expect((await logIn()).answer.status).toBe(200);
  });

  test.each(['', 'x', OPERATOR.slice(0, -1), `${OPERATOR}x`, OPERATOR.toUpperCase(), 'null', '\0'.repeat(36)])(
    '%j is none',
    async token => {
      const { logIn } = await consoleWith();
      expect((await logIn(token)).answer).toMatchObject({ status: 401, body: '{"problem":"wrong token"}' });
    },
  );

  test('that are no text are none', async () => {
    const { post } = await consoleWith({ viewerToken: VIEWER });
    for (const token of [null, 1, true, [OPERATOR], { length: 36 }, undefined])
      expect((await post('/login', { token, name: 'Ana' })).status).toBe(422);
  });

  test('however they come: no minute has more than so many looked at', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 80 }), waits => {
        let at = 0;
        const looked: number[] = [];
        const sessions = new Sessions({
          ...{ operatorToken: OPERATOR, viewerToken: null, behindTls: false, now: () => at, newSecret: () => 'x' },
          onEvent: ({ kind }) => void (kind === 'wrong token' && looked.push(at)),
        });
        for (const wait of waits) {
          at += wait;
          sessions.login(`wrong${at}`, '', '127.0.0.1');
        }
        for (const from of looked)
          expect(looked.filter(each => each >= from && each < from + 60_000).length).toBeLessThanOrEqual(WRONG_MAX);
        expect(looked.length).toBeGreaterThan(0);
      }),
    );
  });

  test('that are the same count once a minute, so an old token of a program locks nobody out', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ token: fc.constantFrom('old', 'older', 'oldest'), wait: fc.integer({ min: 0, max: 9_000 }) }),
          {
            minLength: 20,
            maxLength: 80,
          },
        ),
        tries => {
          let at = 0;
          const told: string[] = [];
          const sessions = new Sessions({
            ...{ operatorToken: OPERATOR, viewerToken: VIEWER, behindTls: false, now: () => at, newSecret: () => 'x' },
            onEvent: ({ kind }) => void told.push(kind),
          });
          for (const { token, wait } of tries) {
            at += wait;
            expect(sessions.check(token, '127.0.0.1')).toEqual({ kind: 'wrong' });
            expect(sessions.check(OPERATOR, '127.0.0.1')).toEqual({ kind: 'right', role: 'operator' });
          }
          expect(told).not.toContain('too many');
          expect(told.length).toBeLessThanOrEqual(3 * (Math.floor(at / 60_000) + 1));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('nothing equals a token that is not set', () => {
    for (const given of ['', 'null', 'undefined']) expect(isSame(given, null)).toBe(false);
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => isSame(a, b) === (a === b)));
  });
});

describe('another page', () => {
  const EVIL: readonly (readonly [string, Record<string, string>])[] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin', { origin: '' }],
    ['the null origin', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a like name', { origin: 'http://127.0.0.1.evil.example' }],
    ['a frame of another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { 'sec-fetch-site': 'same-site' }],
  ];

  test.each(EVIL)('(%s) cannot log in or act, with cookie and key of an operator', async (_, headers) => {
    const { post, logIn, prepared } = await consoleWith();
    const { as } = await logIn();
    for (const path of ['/login', '/logout', '/actions/preview', '/actions/confirm']) {
      const answer = await post(
        path,
        { token: OPERATOR, name: 'Eve', action: 'halt', reason: REASON },
        { ...as, ...headers },
      );
      expect(answer).toMatchObject({ status: 403, body: 'unexpected Origin\n' });
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
    expect(prepared).toEqual([]);
  });

  test('or program that says no origin at all is not taken for the own page', async () => {
    const { ask, logIn, prepared } = await consoleWith();
    const { as } = await logIn();
    const headers = { ...as, 'content-type': 'application/json' };
    const answer = await ask('/actions/preview', 'POST', headers, JSON.stringify({ action: 'halt', reason: REASON }));
    expect(answer.status).toBe(403);
    expect(prepared).toEqual([]);
  });

  test('with the name of another host is not answered', async () => {
    const { post, logIn } = await consoleWith();
    const { as } = await logIn();
    const evil = { ...as, host: 'evil.example', origin: 'http://evil.example' };
    expect((await post('/actions/preview', { action: 'halt', reason: REASON }, evil)).status).toBe(421);
  });

  test('that has the cookie, and not the key, cannot act', async () => {
    const { post, ask, logIn, prepared } = await consoleWith();
    const { as } = await logIn();
    const other = await logIn(OPERATOR, 'Bea');
    for (const key of [undefined, '', 'x', as.cookie.split('=')[1]!, other.as['x-puntas-key']]) {
      const forged = { cookie: as.cookie, ...(key === undefined ? {} : { 'x-puntas-key': key }) };
      for (const answer of [
        await post('/actions/preview', { action: 'halt', reason: REASON }, forged),
        await post('/proposals/preview', { id: 'p-1', digest: DIGEST }, forged),
        await post('/proposals/reject', { id: 'p-1', digest: DIGEST }, forged),
        await post('/logout', {}, forged),
        await ask('/actions/outcome?id=x', 'GET', forged),
        await ask('/actions/cost', 'GET', forged),
      ])
        expect(answer.status).toBe(403);
    }
    expect(prepared).toEqual([]);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
    'cannot send a form: %j is not taken',
    async type => {
      const { post, logIn, prepared } = await consoleWith();
      const { as } = await logIn();
      const body = { action: 'halt', reason: REASON };
      expect((await post('/actions/preview', body, { ...as, 'content-type': type })).status).toBe(415);
      expect(prepared).toEqual([]);
    },
  );
});

describe('every route of a console with tokens', () => {
  const ROUTES = [
    ...['/', '/style.css', '/icon.svg', '/session', '/live', '/history', '/long-history', '/past'],
    ...['/healthz', '/login', '/logout'],
    ...['/actions/preview', '/actions/confirm', '/actions/outcome', '/actions/cost', '/actions/parameters'],
    ...['/proposals/preview', '/proposals/reject'],
  ];

  test('is tried here: none is in the source that is not', () => {
    const source = ['serve', 'pageServer', 'accessRoutes']
      .map(name => readFileSync(new URL(`../../src/console/${name}.ts`, import.meta.url), 'utf8'))
      .join('\n');
    const routes = [...source.matchAll(/\b(?:server\.(?:get|post|route|all)(?:<.*?>)?|serve)\(\s*'([^']+)'/g)];
    const files = source.matchAll(/'(\/[\w.]*)': \[/g);
    expect([...new Set([...routes, ...files].map(([, path]) => path!))].sort()).toEqual([...ROUTES].sort());
  });

  test.each([...ROUTES, '/past?at=1', '/actions/outcome?id=1', '/actions/', '/main.js', '/nowhere'])(
    '%s sends the security headers, to whoever asks, however',
    async path => {
      const { ask, url } = await consoleWith({ viewerToken: VIEWER });
      const own = { origin: url, 'content-type': 'application/json' };
      for (const [method, headers, body] of [
        ['GET', {}, undefined],
        ['HEAD', {}, undefined],
        ['POST', own, '{}'],
        ['POST', own, '{'],
        ['POST', { ...own, 'content-type': 'text/plain' }, 'x'],
        ['POST', { origin: 'https://evil.example' }, '{}'],
        ['GET', { host: 'evil.example' }, undefined],
        ['PUT', own, '{}'],
        ['DELETE', own, undefined],
        ['OPTIONS', { ...own, 'access-control-request-method': 'POST' }, undefined],
      ] as const) {
        const answer = await ask(path, method, headers, body);
        expect(answer.headers, method).toMatchObject({
          'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'/) as string,
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
          'permissions-policy': expect.stringContaining('camera=()') as string,
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-embedder-policy': 'require-corp',
          'cross-origin-resource-policy': 'same-origin',
          'cache-control': 'no-store',
        });
        expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
        expect(answer.headers).not.toHaveProperty('set-cookie');
      }
    },
  );
});

describe('a body', () => {
  test.each(['', '{', '{"__proto__":{"role":"operator"}}', `{"token":"${'x'.repeat(9_000)}"}`, '{"token":"\ud800"}x'])(
    'that is none is refused, with every header, and nothing happens: %#',
    async body => {
      const { post, events } = await consoleWith();
      const answer = await post('/login', body);
      expect(answer.status).toBeOneOf([400, 413, 422]);
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
      expect(events).toEqual([]);
    },
  );
});

describe('a connection that is not loopback', () => {
  const outside = Object.values(networkInterfaces())
    .flatMap(each => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  test.runIf(outside !== undefined)('can neither log in nor act: the token is not looked at', async () => {
    const { post, logIn, ask, events, prepared, url } = await consoleWith({}, '0.0.0.0');
    const { port } = new URL(url);
    const at = `http://${outside!}:${port}`;
    const remote = async (path: string, body: unknown, more: Record<string, string> = {}) =>
      ask(path, 'POST', { origin: at, 'content-type': 'application/json', ...more }, JSON.stringify(body), at);
    const local = { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` };
    const { as } = await logIn(OPERATOR, 'Ana', local);
    expect(as.cookie).not.toBe('');
    for (const answer of [
      await remote('/login', { token: OPERATOR, name: 'Ana' }),
      await remote('/actions/preview', { action: 'halt', reason: REASON }, as),
      await remote('/logout', {}, as),
    ])
      expect(answer).toMatchObject({
        status: 403,
        body: expect.stringContaining('read-only over this connection') as string,
      });
    expect(events).toHaveLength(1);
    expect(prepared).toEqual([]);
    expect((await post('/actions/preview', { action: 'halt', reason: REASON }, { ...as, ...local })).status).toBe(200);
  });

  test.each([
    ['a name of elsewhere', { host: 'desk.example', origin: 'http://desk.example' }],
    ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip'].map(
      name => [`a proxy (${name})`, { [name]: '127.0.0.1' }] as const,
    ),
  ] as const)('is known by %s too', async (_, headers) => {
    const { logIn, post, events } = await consoleWith();
    const { as } = await logIn();
    expect((await logIn(OPERATOR, 'Ana', headers)).answer.status).toBe(403);
    expect((await post('/actions/preview', { action: 'halt', reason: REASON }, { ...as, ...headers })).status).toBe(
      403,
    );
    expect(events).toHaveLength(1);
  });

  test('behind TLS logs in and acts by https alone, and its cookie goes by https alone', async () => {
    const { logIn, post, prepared } = await consoleWith({ behindTls: true });
    const tls = { host: 'desk.example', origin: 'https://desk.example', 'x-forwarded-for': '10.1.2.3' };
    const { as, cookie } = await logIn(OPERATOR, 'Ana', tls);
    expect(cookie).toMatch(/^__Host-puntas=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800; Secure$/);
    expect((await post('/actions/preview', { action: 'halt', reason: REASON }, { ...as, ...tls })).status).toBe(200);
    const plain = { ...tls, origin: 'http://desk.example' };
    expect((await logIn(OPERATOR, 'Ana', plain)).answer.status).toBe(403);
    expect((await post('/actions/preview', { action: 'halt', reason: REASON }, { ...as, ...plain })).status).toBe(403);
    expect(prepared).toHaveLength(1);
  });
});

describe('a console without tokens', () => {
  test('has no route that takes a POST, and says that nobody can log in', async () => {
    server = await serveConsole(
      { scripts: {}, libraryStyle: '', history: () => null, longHistory: () => null, past: async () => 'null' },
      { host: '127.0.0.1', port: 0 },
    );
    const { url } = server;
    const ask = asking(() => url);
    for (const path of ['/login', '/logout', '/actions/preview', '/actions/confirm', '/actions/outcome'])
      expect((await ask(path, 'POST', { origin: url, 'content-type': 'application/json' }, '{}')).status).toBe(405);
    expect(json(await ask('/session'))).toMatchObject({ hasLogin: false, mustLogIn: false, actions: [] });
  });
});

test('text is cleaned to one line that reads as it is written, and is not cut within a character', () => {
  expect(cleaned('  a\r\nb\u2028c\u202ed\u0007\u00ade\ufeff  ', 40)).toBe('a b c d e');
  expect(cleaned('🙂🙂🙂', 2)).toBe('🙂🙂');
});

describe('room for an operator', () => {
  /** Opens a stream over a connection of its own, from one of this machine's addresses. Resolves once its head is there. */
  const stream = (url: string, headers: Record<string, string> = {}, localAddress = '127.0.0.1') =>
    new Promise<{ readonly status: number; readonly isOpen: () => boolean }>((resolve, reject) => {
      const asked = request(`${url}/live`, { headers, agent: false, localAddress }, answer => {
        let isOpen = true;
        answer.on('close', () => (isOpen = false)).on('error', () => (isOpen = false));
        answer.resume();
        ends.push(() => asked.destroy());
        resolve({ status: answer.statusCode ?? 0, isOpen: () => isOpen });
      });
      asked.on('error', reject).end();
    });
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  test('is kept whatever viewers do: 200 logins of a viewer end no login of an operator', async () => {
    const { ask, logIn } = await consoleWith({ viewerToken: VIEWER });
    const operator = await logIn();
    for (let n = 0; n < 200; n++) expect((await logIn(VIEWER, '')).answer.status).toBe(200);
    expect(json(await ask('/session', 'GET', operator.as))).toMatchObject({ role: 'operator', name: 'Ana' });
  });

  test('is kept while 400 connections say nothing and 300 ask for less than a line', async () => {
    const { url, ask, logIn } = await consoleWith({ viewerToken: VIEWER });
    const { as } = await logIn();
    const holder = holding(() => Number(new URL(url).port));
    ends.push(() => holder.end());
    for (let n = 0; n < 400; n++) await holder.idle();
    for (let n = 0; n < 300; n++) (await holder.idle()).write('GET /live HTTP/1.1\r\nHost:');
    expect(json(await ask('/session', 'GET', as))).toMatchObject({ role: 'operator' });
    expect((await ask('/healthz')).status).toBe(200);
    expect((await logIn(OPERATOR, 'Bea')).answer.status).toBe(200);
  });

  test("is kept while 300 streams of others are open: the oldest of them is closed for a new one, and never an operator's", async () => {
    const { url, logIn, ask } = await consoleWith({ viewerToken: VIEWER });
    const [operator, viewer] = [await logIn(), await logIn(VIEWER, '')];
    const own = await stream(url, operator.as);
    const [first] = [await stream(url, viewer.as)];
    for (let n = 0; n < 300; n++) expect((await stream(url, viewer.as)).status).toBe(200);
    expect([first.isOpen(), own.isOpen()]).toEqual([false, true]);
    expect((await stream(url, operator.as)).status).toBe(200);
    expect(server!.pages).toBe(102);
    expect((await ask('/history', 'GET', viewer.as)).status).toBe(200);
  });

  test('is kept by the address: 250 streams of one of them close none of another', async () => {
    const { url } = await consoleWith({}, '127.0.0.1');
    const other = await stream(url, {}, '127.0.0.2');
    for (let n = 0; n < 250; n++) await stream(url, {}, '127.0.0.3');
    expect(other.isOpen()).toBe(true);
    expect(server!.pages).toBe(200);
  });

  test('is kept at the login: wrong tokens of one address behind the proxy keep no other out', async () => {
    const { url, post, logIn } = await consoleWith({ behindTls: true });
    const from = (address: string) => ({ origin: url.replace('http:', 'https:'), 'x-forwarded-for': address });
    for (let n = 0; n < WRONG_MAX; n++) await post('/login', { token: `wrong${n}`, name: 'M' }, from('203.0.113.9'));
    expect((await logIn(OPERATOR, 'Mal', from('203.0.113.9'))).answer.status).toBe(429);
    // The proxy adds the caller's address as the last one: what the caller says before it counts for nothing.
    expect((await logIn(OPERATOR, 'Mal', from('198.51.100.7, 203.0.113.9'))).answer.status).toBe(429);
    expect((await logIn(OPERATOR, 'Ana', from('198.51.100.7'))).answer.status).toBe(200);
  });
});
