/** Bodies that no exchange sends, at the real process: it must neither die nor grow, and a good delivery between them is answered. Linux only. */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { startBot } from './bot.ts';

/** Growth of the process over all rounds after the first. */
const GROWTH_MAX = 64 * 1024 * 1024;
const RSS_MAX = 512 * 1024 * 1024;
const ROUNDS = 5;
const EACH = 100;
const CONNECTIONS = 1_000;
const GOOD = JSON.stringify({
  event: 'TRANSACTION',
  payload: {
    id: 'good',
    type: 'CRYPTO_DEPOSIT',
    status: 'PENDING',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:01Z',
    crypto_deposit: { network: 'BITCOIN', amount: '1', asset: 'BTC' },
  },
});

type Kind = {
  readonly name: string;
  readonly body: (n: number) => string | Buffer;
  readonly headers?: Record<string, string>;
};

const KINDS: readonly Kind[] = [
  { name: 'oversized', body: n => `${n}${'x'.repeat(1_000_000)}` },
  { name: 'deep', body: n => `${'['.repeat(60_000)}${n}` },
  { name: 'deep objects', body: n => `${'{"payload":'.repeat(5_000)}${n}` },
  {
    name: '__proto__',
    body: n => `{"__proto__":{"polluted":${n}},"constructor":{"prototype":{"polluted":1}},"event":"TRANSACTION"}`,
  },
  { name: 'not JSON', body: n => Buffer.from([n % 256, (n >> 8) % 256, 0xff, 0xfe, 0x00, 0x80]) },
  { name: 'many keys', body: n => `{${Array.from({ length: 6_000 }, (_, i) => `"k${i}":${n}`).join()}}` },
  { name: 'a long number', body: n => `{"event":"TRANSACTION","payload":{"id":${n}${'9'.repeat(60_000)}}}` },
  { name: 'packed', body: () => gzipSync('0'.repeat(10_000_000)), headers: { 'content-encoding': 'gzip' } },
];

/** Opens connections that send a little and then almost nothing; resolves to how many the bot closed itself. */
async function slow(origin: string, path: string, count: number): Promise<number> {
  const { hostname, port } = new URL(origin);
  let closed = 0;
  const sockets = Array.from({ length: count }, (_, i) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).on('close', () => closed++);
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${i % 2 === 0 ? '' : 'content-length: 1000\r\n\r\n{'}`);
    return socket;
  });
  for (let second = 0; second < 15 && closed < count; second++) {
    for (const socket of sockets) if (!socket.destroyed) socket.write(second % 2 === 0 ? 'a' : 'b');
    await pause(1_000);
  }
  const byItself = closed;
  for (const socket of sockets) socket.destroy();
  return byItself;
}

const bot = startBot({ webhooks: { port: 0, keep: 1_000, sources: ['127.0.0.1'] } });
try {
  const { hooks, metrics } = await bot.addresses();
  const { origin, pathname } = new URL(hooks);
  await pause(5_000);
  const statuses = new Map<string, number>();
  const faults: string[] = [];
  let first = 0;
  const good = async (when: string) => {
    const pool = new Pool(origin, { connections: 1 });
    const status = await pool
      .request({ path: pathname, method: 'POST', body: GOOD })
      .then(async ({ statusCode, body }) => (await body.dump(), statusCode))
      .catch(() => 0);
    await pool.destroy();
    if (status !== 200) faults.push(`a good delivery ${when} was answered with ${status}`);
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, body, headers = {} } of KINDS) {
      const pool = new Pool(origin, { connections: 32 });
      await Promise.all(
        Array.from({ length: EACH }, async (_, i) => {
          const status = await pool
            .request({ path: pathname, method: 'POST', headers, body: body(round * EACH + i) })
            .then(async answer => (await answer.body.dump(), answer.statusCode))
            .catch(() => 0);
          const key = `${name} ${status}`;
          statuses.set(key, (statuses.get(key) ?? 0) + 1);
        }),
      );
      await pool.destroy();
    }
    await good(`in round ${round + 1}`);
    if (round === 0) first = bot.rss();
  }
  const closed = await slow(origin, pathname, CONNECTIONS);
  if (closed < CONNECTIONS) faults.push(`${CONNECTIONS - closed} of ${CONNECTIONS} slow connections were left open`);
  await good('after the slow connections');
  const last = bot.rss();
  const health = await fetch(`${metrics}/healthz`).then(
    answer => answer.status,
    () => 0,
  );
  if (health !== 200) faults.push(`the bot's own page answered with ${health}`);
  if (bot.exitCode() !== null) faults.push(`the bot ended with ${bot.exitCode()}`);
  if (!(last - first <= GROWTH_MAX && last <= RSS_MAX)) faults.push(`it grew from ${first} to ${last} bytes`);
  const accepted = [...statuses].filter(([key]) => /(oversized|packed) 200$/.test(key));
  if (accepted.length > 0) faults.push(`taken: ${accepted.join(', ')}`);
  console.log([...statuses].map(([key, count]) => `${key}: ${count}`).join('\n'));
  console.log(
    JSON.stringify({
      rounds: ROUNDS,
      rssFirstMb: Math.round(first / 1e6),
      rssLastMb: Math.round(last / 1e6),
      closed,
      faults,
    }),
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  bot.end();
}
