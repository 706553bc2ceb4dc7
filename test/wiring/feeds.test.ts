import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { feedOf } from '../../src/wiring/feeds.ts';
import type { FeedConfig } from '../../src/config.ts';
import type { Feed } from '../../src/live/market/feed.ts';

const PLAIN = { price: [], timeoutMs: 60_000 };
const open: Feed[] = [];
/** The time by the clock of every feed: a busy machine does not make a price older. */
const NOW = 1_800_000_000_000;
let now = NOW;

const feed = (config: Partial<FeedConfig>): Feed => {
  const made = feedOf({ ...PLAIN, ...config }, () => now);
  open.push(made);
  return made;
};
afterEach(async () => {
  now = NOW;
  for (const one of open.splice(0)) await one.close();
});

describe('a feed on the web', () => {
  let server: Server;
  let answer: RequestListener;
  let asked: string[];
  let url: string;
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      answer(request, response);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/price`;
    return () => {
      server.closeAllConnections();
      server.close();
    };
  });

  test('is asked anew at each reading, with its query, and is as old as the request', async () => {
    let price = 10;
    answer = (_, response) => {
      now += 500;
      response.end(`{"last": ${price++}}`);
    };
    const web = feed({ url: `${url}?symbol=BTCMXN&key=hidden`, price: ['/last'] });
    expect(await web.read()).toMatchObject({ kind: 'price', price: 10 });
    const second = await web.read();
    expect(second).toMatchObject({ kind: 'price', price: 11, ageMs: 500 });
    expect(asked).toEqual(Array(2).fill('GET /price?symbol=BTCMXN&key=hidden'));
    expect(web.name).toBe(url);
  });

  test.each<[string, RequestListener, string | RegExp]>([
    ['a page', (_, r) => r.end('<html>welcome</html>'), 'expected one plain number, found "<html>welcome</html>"'],
    ['an error', (_, r) => r.writeHead(503).end('18.5'), 'expected status 200, found 503'],
    [
      'a redirect',
      (_, r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'expected status 200, found 302',
    ],
    ['a body without end', (_, r) => void r.write('1'.repeat(100_000)), 'larger than 65536 bytes'],
    [
      'a packed body',
      (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'the body has the encoding gzip, which was not requested',
    ],
    ['a lost connection', (_, r) => void r.socket?.destroy(), /UND_ERR_SOCKET|ECONNRESET/],
    [
      'half a body',
      (_, r) => r.writeHead(200, { 'content-length': '10' }).write('18', () => r.socket?.destroy()),
      /terminated|UND_ERR|ECONNRESET|other side closed|aborted/,
    ],
  ])('that answers with %s tells no price, and why; the next reading is one again', async (_, hostile, why) => {
    answer = hostile;
    const web = feed({ url });
    const reading = await web.read();
    expect(reading).toMatchObject({ kind: 'failed', why: expect.stringMatching(why) as string });
    answer = (_request, response) => response.end('18.5');
    expect(await web.read()).toMatchObject({ kind: 'price', price: 18.5 });
  });

  test.each<[string, RequestListener]>([
    ['nothing', () => undefined],
    ['a body that drips', (_, r) => void r.write('1')],
  ])('that answers with %s is given up after its time', async (_, silent) => {
    answer = silent;
    expect(await feed({ url, timeoutMs: 120 }).read()).toEqual({
      kind: 'failed',
      why: 'no complete answer within 120 ms',
    });
  });

  test('that is not there tells no price', async () => {
    const gone = feed({ url });
    await new Promise(resolve => server.close(resolve));
    expect(await gone.read()).toMatchObject({ kind: 'failed', why: expect.stringContaining('ECONNREFUSED') as string });
  });
});

describe('a feed in a file', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'puntas-feed-'));
    file = join(dir, 'price');
    return () => rmSync(dir, { recursive: true });
  });
  const write = (text: string | Buffer, secondsAgo: number) => {
    writeFileSync(`${file}.new`, text);
    const at = NOW / 1_000 - secondsAgo;
    utimesSync(`${file}.new`, at, at);
    renameSync(`${file}.new`, file);
  };

  test('is read again when it has changed, and is as old as its last change', async () => {
    write('18.5\n', 30);
    const kept = feed({ file });
    const ages = async () => {
      const reading = await kept.read();
      return reading.kind === 'price' ? [reading.price, Math.round(reading.ageMs / 1_000)] : reading.why;
    };
    expect(await ages()).toEqual([18.5, 30]);
    expect(await ages()).toEqual([18.5, 30]);
    write('18.7', 2);
    expect(await ages()).toEqual([18.7, 2]);
    rmSync(file);
    expect(await ages()).toBe('no such file');
  });

  test('that says its own time is as old as that', async () => {
    write(JSON.stringify({ p: '3', t: new Date(NOW - 60_000).toISOString() }), 0);
    const reading = await feed({ file, price: ['/p'], time: '/t' }).read();
    expect(reading.kind === 'price' && Math.round(reading.ageMs / 1_000)).toBe(60);
  });

  test.each<[string, string | Buffer, string]>([
    ['nothing', '', 'expected one plain number, found nothing'],
    ['a page', '<html></html>', 'expected one plain number, found "<html></html>"'],
    ['bytes that are no text', Buffer.from([0, 255, 254, 49]), 'expected one plain number, found " \uFFFD\uFFFD1"'],
    ['too much', '1'.repeat(70_000), 'larger than 65536 bytes'],
    ['NaN', 'NaN', 'expected one plain number, found "NaN"'],
    ['a price below zero', '-18.5', 'expected one plain number, found "-18.5"'],
  ])('with %s tells no price, and why', async (_, text, why) => {
    write(text, 0);
    expect(await feed({ file }).read()).toEqual({ kind: 'failed', why });
  });

  test('from the future tells no price, and a folder is no file', async () => {
    write('18.5', -60);
    expect(await feed({ file }).read()).toEqual({ kind: 'failed', why: 'the time of the price is 60 s in the future' });
    mkdirSync(join(dir, 'folder'));
    expect(await feed({ file: join(dir, 'folder') }).read()).toEqual({
      kind: 'failed',
      why: 'a folder, expected a file',
    });
  });
});
