/** The webhook listener over real sockets: nothing is answered before it is on disk, strangers and giants are turned away, everything else is kept. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { request } from 'undici';
import { openInbox, type Inbox, type InboxOptions } from '../../../src/live/inbox/listener.ts';
import { signatureCheck } from '../../../src/exchange/index.ts';
import { openInboxStore, type InboxStore } from '../../../src/live/inbox/store.ts';

const TOKEN = 'a-token-that-nobody-guesses';
const OLD = 'the-token-of-the-last-month';
const GOOD = '{"event":"TRANSACTION","payload":{"id":"1"}}';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(options: Partial<InboxOptions> = {}): Promise<{
  readonly inbox: Inbox;
  readonly store: InboxStore;
  readonly dir: string;
  readonly told: string[];
  readonly problems: string[];
  readonly post: (body: string | Buffer, token?: string, headers?: Record<string, string>) => Promise<number>;
}> {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-inbox-'));
  ends.push(() => rmSync(dir, { recursive: true }));
  const store = openInboxStore(dir, { rows: 1_000, bytes: 8_000_000 });
  ends.push(() => store.close());
  const told: string[] = [];
  const problems: string[] = [];
  const inbox = await openInbox({
    host: '127.0.0.1',
    port: 0,
    tokens: [TOKEN, OLD],
    sources: [],
    proxies: [],
    store,
    now: () => 1_700_000_000_000,
    elapsed: () => performance.now(),
    soon: call => void setImmediate(call),
    onStored: ({ body }) => told.push(body.toString('utf8')),
    onProblem: problem => problems.push(problem),
    room: () => null,
    ...options,
  });
  ends.push(() => inbox.close());
  return {
    inbox,
    store,
    dir,
    told,
    problems,
    post: async (body, token = TOKEN, headers = {}) => {
      const { statusCode, body: answer } = await request(`${inbox.url}/hooks/${token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      await answer.dump();
      return statusCode;
    },
  };
}

const bodies = (store: InboxStore): string[] => [...store.all()].map(({ body }) => body.toString('utf8'));

describe('the webhook listener', () => {
  test('answers 200 once a delivery is on disk, under either of two tokens', async () => {
    const { post, store, told } = await open();
    expect(await post(GOOD)).toBe(200);
    expect(bodies(store)).toEqual([GOOD]);
    expect(await post(`${GOOD} `, OLD)).toBe(200);
    expect(told).toEqual([GOOD, `${GOOD} `]);
  });

  test('keeps one text once, counts how often it came, and tells of it once', async () => {
    const { post, store, told, inbox } = await open();
    for (let n = 0; n < 3; n++) expect(await post(GOOD)).toBe(200);
    expect([...store.all()]).toMatchObject([{ times: 3 }]);
    expect(told).toEqual([GOOD]);
    expect(inbox.counts).toMatchObject({ stored: 1, repeated: 2 });
  });

  test('shows a stranger the same page as any other that is not there', async () => {
    const { inbox, post, store } = await open();
    expect(await post(GOOD, 'another-token-of-the-same-l')).toBe(404);
    for (const [method, path] of [
      ['GET', `/hooks/${TOKEN}`],
      ['POST', '/'],
      ['POST', `/hooks/${TOKEN}/more`],
    ] as const) {
      const { statusCode, body } = await request(inbox.url + path, { method });
      expect([statusCode, await body.text()]).toEqual([404, 'not found']);
    }
    expect(store.count()).toBe(0);
  });

  test('keeps what cannot be read, and still answers 200: a refusal would lose it for good', async () => {
    const { post, store } = await open();
    const hostile = [
      'no json',
      '{"__proto__":{"polluted":true},"event":"TRANSACTION"}',
      '['.repeat(10_000),
      '{"event":"TRANSACTION","event":"OTHER"}',
      Buffer.from([0xff, 0xfe, 0x00, 0x80]),
      '',
    ];
    for (const body of hostile) expect(await post(body, TOKEN, { 'content-type': 'text/strange' })).toBe(200);
    expect(store.count()).toBe(hostile.length);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('turns away more than 64 KB, announced or not, and anything packed; more than 16 KB of who is not known', async () => {
    const stranger = await open();
    expect([await stranger.post('x'.repeat(16 * 1024)), await stranger.post('x'.repeat(16 * 1024 + 1))]).toEqual([
      200, 413,
    ]);
    const { inbox, post, store } = await open({ sources: ['127.0.0.1'] });
    expect(await post('x'.repeat(64 * 1024))).toBe(200);
    expect(await post('x'.repeat(64 * 1024 + 1))).toBe(413);
    const endless = async function* () {
      for (let n = 0; n < 100; n++) yield Buffer.alloc(4_096, 'y');
    };
    const chunked = await request(`${inbox.url}/hooks/${TOKEN}`, {
      method: 'POST',
      body: Readable.from(endless()),
    }).then(
      ({ statusCode }) => statusCode,
      () => 'cut off',
    );
    expect([413, 'cut off']).toContain(chunked);
    expect(await post(GOOD, TOKEN, { 'content-encoding': 'gzip' })).toBe(415);
    expect(store.count()).toBe(1);
  });

  test('lets go of a sender who says nothing to the end', async () => {
    const { inbox, post } = await open();
    const { port } = new URL(inbox.url);
    const slow = Array.from({ length: 50 }, () => connect(Number(port), '127.0.0.1'));
    ends.push(() => slow.forEach(socket => socket.destroy()));
    const closed = slow.map(socket => {
      socket.on('error', () => undefined);
      socket.write(`POST /hooks/${TOKEN} HTTP/1.1\r\nHost: x\r\n`);
      return new Promise(resolve => socket.once('close', resolve));
    });
    expect(await post(GOOD)).toBe(200);
    for (const socket of slow) socket.resume();
    // Without its bound they would stay for as long as the test may take.
    await Promise.all(closed);
  });

  test('is reached by a delivery behind three hundred connections that say nothing', async () => {
    const { inbox, post } = await open();
    const { port } = new URL(inbox.url);
    const silent = Array.from({ length: 300 }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
    ends.push(() => silent.forEach(socket => socket.destroy()));
    await Promise.all(silent.map(socket => new Promise(resolve => socket.once('connect', resolve))));
    expect(await post(GOOD)).toBe(200);
  });

  test('takes of one stranger what a stranger may bring and no more, and of another all the same', async () => {
    // No time passes: what is taken is what may come at once, 4 MB with the 512 bytes that each counts more.
    const { post, store } = await open({ proxies: ['127.0.0.1'], elapsed: () => 0 });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const answers: number[] = [];
    for (let n = 0; n < 300; n++) answers.push(await post(`${n} `.padEnd(16_000, 'x'), TOKEN, from('198.51.100.7')));
    expect(answers.filter(status => status === 200)).toHaveLength(Math.floor(4_000_000 / (16_000 + 512)));
    expect(new Set(answers)).toEqual(new Set([200, 503]));
    const taken = store.count();
    expect(await post(GOOD, TOKEN, from('203.0.113.9'))).toBe(200);
    expect(store.count()).toBe(taken + 1);
  });

  test('asks the sender to come again while the disk takes nothing, says so once, and says when it is over', async () => {
    let broken = true;
    const kept: string[] = [];
    const { post, problems } = await open({
      store: {
        put: batch => {
          if (broken) throw new Error('disk full');
          kept.push(...batch.map(({ body }) => body.toString('utf8')));
          return batch.map(() => true);
        },
      },
    });
    expect([await post('1'), await post('2')]).toEqual([503, 503]);
    broken = false;
    expect(await post('1')).toBe(200);
    expect(kept).toEqual(['1']);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('disk full');
  });

  test('takes from listed sources alone, and believes X-Forwarded-For from its proxies alone', async () => {
    const direct = await open({ sources: ['10.0.0.0/8'] });
    expect(await direct.post(GOOD)).toBe(404);
    expect(await direct.post(GOOD, TOKEN, { 'x-forwarded-for': '10.1.2.3' })).toBe(404);
    const proxied = await open({ sources: ['10.0.0.0/8'], proxies: ['127.0.0.1'] });
    expect(await proxied.post(GOOD, TOKEN, { 'x-forwarded-for': '10.1.2.3' })).toBe(200);
    expect(await proxied.post(GOOD, TOKEN, { 'x-forwarded-for': '11.1.2.3' })).toBe(404);
    expect((await open({ sources: ['127.0.0.1'] })).inbox.url).toMatch(/^http:/);
  });

  test('keeps at most as many as it is told, the newest', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'puntas-inbox-'));
    ends.push(() => rmSync(dir, { recursive: true }));
    const store = openInboxStore(dir, { rows: 1_000, bytes: 8_000_000 });
    ends.push(() => store.close());
    for (let n = 0; n < 25; n++)
      store.put(Array.from({ length: 100 }, (_, i) => ({ at: n, from: '', body: Buffer.from(`${n} ${i}`) })));
    expect(store.count()).toBeLessThanOrEqual(1_100);
    expect(bodies(store).at(-1)).toBe('24 99');
  });
});

describe('the signature of a delivery', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { id: 'k1', key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') };
  const sign = (payload: string) => createSign('sha256').update(payload).sign(privateKey, 'base64');

  const NOW = Date.parse('2026-11-22T12:00:00Z');
  const LATELY = '2026-11-22T11:59:00Z';
  const payloadOf = (of: object) => JSON.stringify({ id: '1', updated_at: LATELY, ...of });
  const signedBy = (payload: string) => ({ 'x-bitso-webhook-event-signature': sign(payload), 'x-bitso-key-id': 'k1' });
  const openSigned = async () => {
    const time = { elapsed: 0 };
    let asked = 0;
    const clocks = { now: () => NOW, elapsed: () => time.elapsed };
    const { check, learn } = signatureCheck(clocks, () => void asked++);
    return { ...(await open({ signed: check })), learn, time, asked: () => asked };
  };

  test('is over the payload as it came, without the white space between its signs', async () => {
    const { post, learn } = await openSigned();
    learn([key]);
    const payload = '{"a":[1.10,"b  \\" }"],"c":{}}';
    const loose = '{ "event" : "X" ,\n "payload" : { "a" : [ 1.10 , "b  \\" }" ] , "c" : { } } }';
    expect(await post(loose, TOKEN, signedBy(payload))).toBe(200);
    expect(await post(loose.replace('1.10', '1.1'), TOKEN, signedBy(payload))).toBe(404);
    expect(await post('{"nested":{"payload":1},"event":"payload"}', TOKEN, signedBy('1'))).toBe(404);
    expect(await post('no json', TOKEN, signedBy('no json'))).toBe(404);
  });

  test('lets in what is signed, and nobody else; a key that is not known is asked for, not refused', async () => {
    const { post, store, learn, time, asked } = await openSigned();
    const payload = payloadOf({ amount: '1.10' });
    const body = `{"event":"TRANSACTION","payload":${payload}}`;
    expect(await post(body, TOKEN, signedBy(payload))).toBe(503);
    expect(asked()).toBe(1);
    learn([key, { id: 'broken', key: 'none' }]);
    expect(await post(body, TOKEN, signedBy(payload))).toBe(200);
    expect(await post(body.replace('1.10', '9.10'), TOKEN, signedBy(payload))).toBe(404);
    expect(await post(body)).toBe(404);
    time.elapsed += 20_000;
    expect(await post(body, TOKEN, { ...signedBy(payload), 'x-bitso-key-id': 'new' })).toBe(503);
    expect(asked()).toBe(2);
    learn([key]);
    expect(await post(body, TOKEN, { ...signedBy(payload), 'x-bitso-key-id': 'new' })).toBe(404);
    expect(store.count()).toBe(1);
  });

  test('does not vouch for a second payload beside the one that was signed, however its key is spelled', async () => {
    const { post, store, learn } = await openSigned();
    learn([key]);
    const payload = payloadOf({});
    const forged = payloadOf({ id: 'forged' });
    for (const body of [
      `{"event":"TRANSACTION","payload":${payload},"payload":${forged}}`,
      `{"event":"TRANSACTION","payload":${forged},"payload":${payload}}`,
      `{"event":"TRANSACTION","payload":${payload},"\\u0070ayload":${forged}}`,
      `{"event":"TRANSACTION","\\u0070ayload":${forged},"payload":${payload}}`,
      `{"event":"TRANSACTION","payload":${payload}}{"payload":${forged}}`,
      `{"event":"TRANSACTION","event":"OTHER","payload":${payload}}`,
    ])
      expect(await post(body, TOKEN, signedBy(payload)), body).toBe(404);
    const twice = payload.replace('"id":"1"', '"id":"1","id":"2"');
    expect(await post(`{"event":"TRANSACTION","payload":${twice}}`, TOKEN, signedBy(twice))).toBe(404);
    expect(store.count()).toBe(0);
  });

  test('of a delivery that came before keeps nothing new, in whatever wrapping it is sent again', async () => {
    const { post, store, learn, told } = await openSigned();
    learn([key]);
    const payload = payloadOf({});
    for (let n = 0; n < 20; n++)
      expect(await post(`{"event":"TRANSACTION","n":${n},"payload":${payload}}`, TOKEN, signedBy(payload))).toBe(200);
    expect([store.count(), told.length]).toEqual([1, 1]);
  });

  test.each([
    ['of now', LATELY, 200],
    ['of sixty days ago, which the exchange can be asked for', '2026-09-24T00:00:00Z', 200],
    ['of more than sixty-one days ago', '2026-09-21T00:00:00Z', 404],
    ['of the day after tomorrow', '2026-11-24T12:00:00Z', 404],
    ['of no time that can be read', 'yesterday', 404],
  ])('with a good signature over an event %s is answered %s', async (_, updatedAt, status) => {
    const { post, learn } = await openSigned();
    learn([key]);
    const payload = payloadOf({ updated_at: updatedAt });
    expect(await post(`{"event":"TRANSACTION","payload":${payload}}`, TOKEN, signedBy(payload))).toBe(status);
  });

  test('is too old or too new by the last change of its object, and by its creation only if it never changed', async () => {
    const { check, learn } = signatureCheck({ now: () => NOW, elapsed: () => 0 }, () => undefined);
    learn([key]);
    const times = [undefined, null, LATELY, '2026-09-24T00:00:00Z', '2026-09-21T00:00:00Z', '2026-11-24T12:00:00Z'];
    // An object without times counts as new.
    const isRecent = (time: string | null | undefined) => times.indexOf(time) < 4;
    for (const updated of times)
      for (const created of times) {
        const payload = JSON.stringify({ created_at: created, updated_at: updated });
        const headers: Readonly<Record<string, string>> = signedBy(payload);
        const { kind } = await check(name => headers[name], Buffer.from(`{"event":"X","payload":${payload}}`));
        expect(kind, payload).toBe(isRecent(updated ?? created) ? 'yes' : 'no');
      }
  });
});
