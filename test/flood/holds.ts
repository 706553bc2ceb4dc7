/**
 * How long a hostile text holds the event loop, and who is answered while others hold connections. First each reading of outside text, at the
 * largest size that it takes; then a bot that quotes beside a hostile feed; then metrics and console under idle connections and streams.
 * Exits with 1 if a reading holds the loop for more than 50 ms, or a probe or an operator is not answered.
 */
import { createServer, request as httpRequest } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { readYaml } from '../../src/config/text/yamlText.ts';
import { serveConsole } from '../../src/console/index.ts';
import { maskedText, shortDecimal } from '../../src/core/index.ts';
import { delivery } from '../../src/exchange/index.ts';
import { parseExactJson } from '../../src/exchange/wire/json.ts';
import { readRegularFile } from '../../src/guard/index.ts';
import { readingOf } from '../../src/live/market/feed.ts';
import { serveMonitor } from '../../src/monitor/index.ts';
import { matchesStars } from '../../src/tape/import/mapping/mapped.ts';
import { startBot } from './bot.ts';

const HOLD_MAX_MS = 50;
/** The shortest of several: what is longer is the work of others on the machine. */
const TRIES = 5;
const BOT_SECONDS = 20;
const KIB = 1024;

const faults: string[] = [];
const expectThat = (holds: boolean, what: string): void => void (holds || faults.push(what));
const round = (ms: number): number => Math.round(ms * 10) / 10;
const filled = (start: string, unit: string, end: string, length: number): string =>
  start + unit.repeat(Math.max(0, Math.floor((length - start.length - end.length) / unit.length))) + end;

/** JSON that is slow to parse or to walk, of about so many characters. */
const jsonTexts = (length: number): readonly string[] => [
  filled('[', '[],', '[]]', length),
  filled('[', '{},', '{}]', length),
  filled('[', '{"a":0},', '{}]', length),
  '['.repeat(length / 2) + ']'.repeat(length / 2),
  filled('', '{"a":', '0', length),
  filled('', '9', '', length),
  filled('[', '123456789012345678,', '1]', length),
  filled('[', '1e999999999999999,', '1]', length),
  filled('"', '\\u0041', '"', length),
  filled('', '"', '', length),
  filled('', ' ', '1', length),
  `{${Array.from({ length: Math.floor(length / 12) }, (_, i) => `"k${i}":0`).join()}}`,
  filled('{"p":1,"t":"', '1T', 'Z"}', length),
  filled('{"p":1,"t":"', '2026-01-01T', '"}', length),
  filled('{"p":"', '0', '"}', length),
  filled('{"p":"1.', '0', 'x"}', length),
];
/** Texts that stay just below the bounds of what is parsed. */
const LARGEST_JSON: readonly string[] = [
  filled('[', '{},', '{}]', 140 * KIB),
  filled('[', '[],', '[]]', 140 * KIB),
  filled('[', `${'['.repeat(30)}${']'.repeat(30)},`, '1]', 180 * KIB),
  filled('[', '1e99999999999999,', '1]', 160 * KIB),
  `[${Array.from({ length: 12 }, () => `{${Array.from({ length: 4_000 }, (_, i) => `"k${i}":0`).join()}}`).join()}]`,
];
const LARGEST_YAML: readonly string[] = [
  `${'\n'.repeat(1_400)}a: [${`${'['.repeat(30)}${']'.repeat(30)},`.repeat(62)}1]`,
  `a: ${'{a: '.repeat(31)}1${'}'.repeat(31)}`,
  `a: [${'{a: 1},'.repeat(1_300)}1]`,
  `a: [${'1,'.repeat(3_900)}1]`,
  `a: ${'&a '.repeat(390)}`,
  `a: ${'!a '.repeat(390)}`,
  `a: &a [1]\nb: [${'*a,'.repeat(380)}]`,
  '- '.repeat(390),
  '? '.repeat(390),
  Array.from({ length: 1_490 }, (_, i) => `k${i}: 0`).join('\n'),
  `a:\n${'  - { b: 1 }\n'.repeat(1_300)}`,
  Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
  `a: ${'b\n '.repeat(1_300)}`,
];
const yamlTexts = (length: number): readonly string[] => [
  `a: ${'['.repeat(length)}`,
  `a: ${'{a: '.repeat(length / 4)}`,
  `a: ${'&a '.repeat(length / 3)}`,
  `a: ${'!a '.repeat(length / 3)}`,
  `a: &a [1]\nb: [${'*a,'.repeat(length / 3)}]`,
  '- '.repeat(length / 2),
  '? '.repeat(length / 2),
  'k: 0\n'.repeat(length / 5),
  Array.from({ length: length / 10 }, (_, i) => `k${i}: 0`).join('\n'),
  `a: ${'b\n '.repeat(length / 3)}`,
  `a: "${'\\'.repeat(length)}`,
  Array.from({ length: Math.floor(Math.sqrt(length * 2)) }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
];
const logTexts = (length: number): readonly string[] =>
  ['a+', 'a a:', ':1234567890:', 'a b:1234567890:', 'a%20', '0', 'f', 'Bitso+a%3A1%3A', ' '].map(unit =>
    filled('', unit, ':1234567890123:x', length),
  );

type Reading = { readonly name: string; readonly texts: readonly string[]; readonly read: (text: string) => unknown };
const FEED = { price: ['/p'], time: '/t' };
const READINGS: readonly Reading[] = [
  { name: 'a feed, 64 kB', texts: jsonTexts(64 * KIB), read: text => readingOf(text, FEED, 1_000, 0) },
  {
    name: 'a feed of one number, 64 kB',
    texts: jsonTexts(64 * KIB),
    read: text => readingOf(text, { price: [] }, 1, 0),
  },
  { name: 'an answer of the exchange, 1 MiB', texts: [...jsonTexts(KIB * KIB), ...LARGEST_JSON], read: parseExactJson },
  { name: 'a whole book, 2 MiB', texts: jsonTexts(2 * KIB * KIB), read: parseExactJson },
  { name: 'a webhook, 64 kB', texts: jsonTexts(64 * KIB), read: delivery },
  {
    name: 'YAML, 64 kB',
    texts: [...yamlTexts(64 * KIB), ...LARGEST_YAML],
    read: text => readYaml(text, 'x.yaml', 'a: 1'),
  },
  { name: 'YAML, 256 kB', texts: yamlTexts(256 * KIB), read: text => readYaml(text, 'x.yaml', 'a: 1') },
  { name: 'an error text, 64 kB', texts: logTexts(64 * KIB), read: text => maskedText(text, ['secret-key']) },
  { name: 'a decimal, 64 kB', texts: [`1.${'0'.repeat(64 * KIB)}1`], read: shortDecimal },
  {
    name: 'a pattern of file names',
    texts: ['a'.repeat(4 * KIB)],
    read: text => matchesStars('*a'.repeat(60) + 'b', text),
  },
];

function holdOf(read: () => unknown): number {
  let shortest = Infinity;
  for (let n = 0; n < TRIES; n++) {
    const [from, spent] = [performance.now(), process.cpuUsage()];
    try {
      read();
    } catch {
      // Refused is as good as read.
    }
    // Processor time where others had the processor meanwhile.
    const { user, system } = process.cpuUsage(spent);
    shortest = Math.min(shortest, performance.now() - from, (user + system) / 1_000);
  }
  return shortest;
}

function longestHolds(): Record<string, number> {
  const holds: Record<string, number> = {};
  for (const { name, texts, read } of READINGS) {
    const longest = Math.max(...texts.map(text => holdOf(() => read(text))));
    holds[name] = round(longest);
    expectThat(longest <= HOLD_MAX_MS, `${name} held the loop for ${round(longest)} ms`);
  }
  const dir = mkdtempSync(join(tmpdir(), 'puntas-holds-'));
  const [pipe, device] = [join(dir, 'pipe'), join(dir, 'device')];
  execFileSync('mkfifo', [pipe]);
  execFileSync('ln', ['-s', '/dev/zero', device]);
  writeFileSync(join(dir, 'large'), Buffer.alloc(64 * KIB * KIB));
  const files = [pipe, device, dir, join(dir, 'large')].map(path => holdOf(() => readRegularFile(path, 64 * KIB)));
  rmSync(dir, { recursive: true });
  holds['a pipe, a device, a folder and 64 MiB as a file'] = round(Math.max(...files));
  expectThat(Math.max(...files) <= HOLD_MAX_MS, 'a strange file held the loop');
  return holds;
}

/** The times of answers to GETs, one after the other, while `until` runs. */
async function probed(
  url: string,
  until: Promise<unknown>,
): Promise<{ readonly answered: number; readonly times: number[] }> {
  let isOver = false;
  void until.finally(() => (isOver = true));
  const times: number[] = [];
  let answered = 0;
  while (!isOver) {
    const from = performance.now();
    const status = await request(url, { headersTimeout: 5_000 }).then(
      async ({ statusCode, body }) => (await body.dump(), statusCode),
      () => 0,
    );
    times.push(performance.now() - from);
    if (status === 200) answered++;
    await pause(10);
  }
  return { answered, times };
}

/** A bot that quotes beside a feed whose every answer is another hostile text. */
async function besideHostileFeed(): Promise<Record<string, number>> {
  const texts = jsonTexts(64 * KIB);
  let asked = 0;
  const feed = createServer((_, answer) => answer.end(texts[asked++ % texts.length]));
  await new Promise<void>(resolve => feed.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(feed.address() as AddressInfo).port}/`;
  const reference = { everyMs: 500, feeds: [{ url, price: ['/p'], time: '/t' }] };
  const bot = startBot({ webhooks: { port: 0 }, reference });
  try {
    const { metrics } = await bot.addresses();
    await pause(3_000);
    const { answered, times } = await probed(`${metrics}/healthz`, pause(BOT_SECONDS * 1_000));
    expectThat(asked >= BOT_SECONDS, `the feed was asked ${asked} times`);
    expectThat(answered === times.length, `${times.length - answered} of ${times.length} probes were not answered`);
    expectThat(bot.exitCode() === null, `the bot ended with ${bot.exitCode()}`);
    const sorted = times.toSorted((a, b) => a - b);
    return {
      readings: asked,
      probes: times.length,
      p99: round(sorted[Math.floor(times.length * 0.99)]!),
      longest: round(sorted.at(-1)!),
    };
  } finally {
    bot.end();
    feed.close();
    feed.closeAllConnections();
  }
}

/** Opens connections on which nothing is said. */
async function idleAt(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>(resolve => {
          const socket = connect(Number(port), hostname);
          socket.on('error', () => undefined).once('connect', () => resolve(socket));
        }),
    ),
  );
}

type Asked = { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: string };
const ask = (url: string, method: string, headers: Record<string, string>, body?: string): Promise<Asked> =>
  new Promise(resolve => {
    const asked = httpRequest(url, { method, headers, agent: false }, answer => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    asked.on('error', () => resolve({ status: 0, headers: {}, body: '' })).end(body);
  });

/** How many of 20 requests are answered while connections are idle and streams are open. */
async function besideHolders(): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  const twenty = async (what: string, request: () => Promise<number>): Promise<void> => {
    let [answered, longest] = [0, 0];
    for (let n = 0; n < 20; n++) {
      const from = performance.now();
      if ((await request()) === 200) answered++;
      longest = Math.max(longest, performance.now() - from);
    }
    told[what] = `${answered} of 20, ${round(longest)} ms at most`;
    expectThat(answered === 20, `${what}: ${answered} of 20 were answered`);
  };
  const page = { text: () => Promise.resolve('') };
  const monitor = await serveMonitor({ page, host: '127.0.0.1', port: 0, notReady: () => [] });
  const [operatorToken, viewerToken] = ['operator', 'viewer'].map(role => `${role}-token-0123456789-0123456789`) as [
    string,
    string,
  ];
  let made = 0;
  const console_ = await serveConsole(
    {
      scripts: {},
      libraryStyle: '',
      history: () => '{}',
      longHistory: () => '{}',
      past: () => Promise.resolve('null'),
    },
    {
      ...{ host: '127.0.0.1', port: 0, allowedHosts: [] },
      access: {
        operatorToken,
        viewerToken,
        behindTls: false,
        now: () => performance.now(),
        newSecret: () => `secret-${made++}`,
        onEvent: () => undefined,
      },
    },
  );
  const logIn = async (token: string): Promise<string> => {
    const headers = { origin: console_.url, 'content-type': 'application/json' };
    const { headers: sent } = await ask(
      `${console_.url}/login`,
      'POST',
      headers,
      JSON.stringify({ token, name: 'Ana' }),
    );
    return String((sent['set-cookie'] as string[])[0]).split(';')[0]!;
  };
  const cookie = await logIn(operatorToken);
  const asOperator = async () => (await ask(`${console_.url}/history`, 'GET', { cookie })).status;
  const health = (url: string) => async () => (await ask(`${url}/healthz`, 'GET', {})).status;
  for (const count of [64, 400]) {
    const idle = [...(await idleAt(monitor.url, count)), ...(await idleAt(console_.url, count))];
    await twenty(`/healthz of metrics beside ${count} idle connections`, health(monitor.url));
    await twenty(`/healthz of the console beside ${count} idle connections`, health(console_.url));
    await twenty(`an operator's page beside ${count} idle connections`, asOperator);
    for (const socket of idle) socket.destroy();
  }
  const viewer = await logIn(viewerToken);
  const streams = await Promise.all(
    Array.from(
      { length: 200 },
      () =>
        new Promise<() => void>(resolve => {
          const asked = httpRequest(`${console_.url}/live`, { headers: { cookie: viewer }, agent: false }, answer => {
            answer.on('error', () => undefined).resume();
            resolve(() => asked.destroy());
          });
          asked.on('error', () => resolve(() => undefined)).end();
        }),
    ),
  );
  await twenty("an operator's page beside 200 streams of a viewer", asOperator);
  for (let n = 0; n < 64; n++) await logIn(viewerToken);
  await twenty("an operator's page after 64 logins of a viewer", asOperator);
  for (const end of streams) end();
  await monitor.close();
  await console_.close();
  return told;
}

const holds = longestHolds();
for (const [name, ms] of Object.entries(holds)) console.log(`${name}: ${ms} ms`);
const answered = await besideHolders();
for (const [what, text] of Object.entries(answered)) console.log(`${what}: ${text}`);
const bot = await besideHostileFeed();
console.log(
  `a bot beside a hostile feed: ${bot['readings']} readings, ${bot['probes']} probes, p99 ${bot['p99']} ms, ${bot['longest']} ms at most`,
);
console.log(`Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model}`);
console.log(JSON.stringify({ holds, answered, bot, faults }));
process.exit(faults.length === 0 ? 0 : 1);
