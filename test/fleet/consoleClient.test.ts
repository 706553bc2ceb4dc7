/**
 * One clear problem for each way in which a console can fail, over real sockets, and a token that no other address
 * gets.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { ConsoleClient, type ConsoleAccount, type TlsTrust } from '../../src/fleet/consoleClient.ts';
import { AUTHORITY, OTHER_AUTHORITY, SERVER } from './certificates.ts';
import { double, growing, json, summaryWith, type Double, type Handler } from './doubles.ts';

const TOKEN = 'viewer-token-0123456789abcdef-012345';
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function server(handler: Handler, options?: Parameters<typeof double>[1]): Promise<Double> {
  const of = await double(handler, options);
  ends.push(() => of.close());
  return of;
}

function client(url: string, change: Partial<ConsoleAccount> = {}): ConsoleClient {
  const of = new ConsoleClient({ url, token: () => TOKEN, trust: { kind: 'system' }, ...change });
  ends.unshift(() => of.close());
  return of;
}

test('an answer is the summary, and the token went with the request to this path alone', async () => {
  const { url, asked } = await server(json(summaryWith()));
  expect(await client(url).ask()).toEqual({ kind: 'summary', summary: summaryWith() });
  expect(asked).toEqual([{ path: '/api/v1/summary', authorization: `Bearer ${TOKEN}` }]);
});

test('without a token, none is sent; a token that cannot be read is the problem, and nothing is sent', async () => {
  const { url, asked } = await server(json(summaryWith()));
  expect((await client(url, { token: () => null }).ask()).kind).toBe('summary');
  expect(asked[0]?.authorization).toBeUndefined();
  const unreadable = () => {
    throw new Error('no such file');
  };
  expect(await client(url, { token: unreadable }).ask()).toEqual({ kind: 'problem', problem: 'no such file' });
  expect(asked).toHaveLength(1);
});

test('a redirect is not followed: the place that it names gets neither request nor token', async () => {
  const other = await server(json(summaryWith()));
  for (const code of [301, 302, 307, 308]) {
    const { url } = await server((_, reply) => void reply.writeHead(code, { location: `${other.url}/x` }).end());
    expect(await client(url).ask()).toMatchObject({
      problem: expect.stringContaining(`answered ${code}, a redirect`) as string,
    });
  }
  expect(other.asked).toEqual([]);
});

describe('a problem in one clause', () => {
  const many = 'x'.repeat(270_000);
  test.each<[string, Handler, string, object]>([
    ['silence', () => undefined, 'no complete answer within 2 s', {}],
    ['an answer that never ends', (_, reply) => trickle(reply), 'no complete answer within 2 s', {}],
    ['a huge answer', (_, reply) => void reply.end(JSON.stringify({ many })), 'larger than 262144 bytes', {}],
    [
      'huge headers',
      (_, reply) => void reply.writeHead(200, { x: 'y'.repeat(40_000) }).end(),
      'the headers of the answer are too large',
      {},
    ],
    [
      'no JSON',
      (_, reply) => void reply.end('<html>'),
      'the answer is not JSON; check that the address is that of a console',
      {},
    ],
    [
      'another JSON',
      json({ a: 1 }),
      'the answer is not a summary of a bot; check that the address is that of a console',
      {},
    ],
    [
      'a later format',
      json({ ...summaryWith(), format: 2 }),
      'the console sends format 2, but this Puntas reads format 1; run both in the same version',
      {},
    ],
    [
      'a wrong field',
      json(summaryWith({ inventory: '1e5' })),
      'the answer has an invalid value in run.inventory; run console and fleet in the same version',
      {},
    ],
    [
      'an old version',
      json({}, 404),
      'has no summary; its version is too old, or the address is not that of a console',
      {},
    ],
    [
      'a wrong token',
      json({ problem: 'wrong token' }, 401),
      'rejected the token: wrong token; check its viewer token',
      { isDenied: true },
    ],
    ['a refusal', json({ problem: 'use TLS' }, 403), 'answered 403: use TLS', { isDenied: true }],
    [
      'too many wrong tokens',
      json({ problem: 'wait' }, 429, { 'retry-after': '40' }),
      'answered 429: wait',
      { retryAfterMs: 40_000 },
    ],
    ['a wait of a year', json({}, 503, { 'retry-after': '31536000' }), 'answered 503', { retryAfterMs: 300_000 }],
    ['a broken connection', request => request.socket.destroy(), 'the connection broke off', {}],
    [
      'the token of operators',
      json(summaryWith(), 200, { 'x-puntas-role': 'operator' }),
      'the configured token is an operator token; set the viewer token instead',
      { isDenied: true },
    ],
    ['control characters', json({ problem: '\u001b[2Jgone\n' }, 500), 'answered 500', {}],
  ])('%s', async (_, handler, problem, more) => {
    const { url } = await server(handler);
    const answer = await client(url).ask();
    expect(answer).toMatchObject({ kind: 'problem', ...more });
    expect(answer.kind === 'problem' && answer.problem).toContain(problem);
    expect(JSON.stringify(answer)).not.toMatch(/\\u00[01]|\\n/);
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
  });

  test('nothing listens', async () => {
    const of = await double(json({}));
    await of.close();
    expect(await client(of.url).ask()).toEqual({
      kind: 'problem',
      problem: 'nothing listens at this address; the console may be down',
    });
  });
});

/** One byte every 100 ms, forever. */
function trickle(reply: Parameters<Handler>[1]): void {
  reply.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => reply.write(' '), 100);
  reply.on('close', () => clearInterval(timer));
}

describe('over TLS', () => {
  const ask = async (trust: TlsTrust) => {
    const of = await server(json(summaryWith()), { tls: true });
    return { answer: await client(of.url, { trust }).ask(), asked: of.asked };
  };

  test.each<[string, TlsTrust]>([
    ['its authority', { kind: 'authority', pem: AUTHORITY }],
    ['its pinned certificate', { kind: 'fingerprint', sha256: SERVER.sha256 }],
    ['its pinned certificate in small letters', { kind: 'fingerprint', sha256: SERVER.sha256.toLowerCase() }],
  ])('a console with %s is heard', async (_, trust) => {
    expect((await ask(trust)).answer.kind).toBe('summary');
  });

  test.each<[string, TlsTrust, string]>([
    [
      'an unknown authority',
      { kind: 'system' },
      'its certificate is not signed by a trusted authority; set caFile or fingerprint',
    ],
    [
      'another authority',
      { kind: 'authority', pem: OTHER_AUTHORITY },
      'its certificate is not signed by a trusted authority',
    ],
    [
      'another certificate',
      { kind: 'fingerprint', sha256: SERVER.sha256.replace(/^../, '00') },
      `its certificate has another fingerprint (${SERVER.sha256})`,
    ],
  ])('a console with %s gets no request, so no token', async (_, trust, problem) => {
    const { answer, asked } = await ask(trust);
    expect(answer).toMatchObject({ kind: 'problem', problem: expect.stringContaining(problem) as string });
    expect(asked).toEqual([]);
  });

  test('the environment cannot turn the check off', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect((await ask({ kind: 'system' })).answer.kind).toBe('problem');
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  test('a certificate for another name is refused', async () => {
    const { url, asked } = await server(json(summaryWith()), { tls: true, host: '127.0.0.2' });
    const answer = await client(url, { trust: { kind: 'authority', pem: AUTHORITY } }).ask();
    expect(answer).toEqual({ kind: 'problem', problem: 'its certificate is for another host name' });
    expect(asked).toEqual([]);
  });
});

test('a console that restarts is heard again with the next request', async () => {
  const first = await double(growing());
  const of = client(first.url);
  expect((await of.ask()).kind).toBe('summary');
  await first.close();
  expect((await of.ask()).kind).toBe('problem');
  await server(growing(), { port: first.port });
  expect((await of.ask()).kind).toBe('summary');
});
