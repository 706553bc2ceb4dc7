/**
 * Whoever knows the path floods the real process and holds its connections, on a disk of 330 MB: real deliveries come in, the disk keeps room
 * for the journal, quoting goes on, and what was answered is there after kill -9. Linux, as root (it mounts a small disk).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { openInboxStore } from '../../src/live/inbox/store.ts';
import { startBot } from './bot.ts';

const DISK_MB = 330;
const FLOOD_SECONDS = 15;
/** Addresses of this machine, as if they were others. */
const [FLOODER, HOLDER, REAL] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
const IDLE = 300;
const KEEP_MB = 20;
/** Below which nothing is stored. */
const RESERVE = 256_000_000;

const faults: string[] = [];
const expectThat = (holds: boolean, what: string): void => void (holds || faults.push(what));

const deliveryOf = (n: number): string =>
  JSON.stringify({
    event: 'TRANSACTION',
    payload: {
      id: `real-${n}`,
      type: 'CRYPTO_DEPOSIT',
      status: 'PENDING',
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:01Z',
      crypto_deposit: { network: 'BITCOIN', amount: '1', asset: 'BTC' },
    },
  });

/** Waits for what the bot comes to by itself, however slow the machine is; false when it never does. */
async function until(holds: () => Promise<boolean>): Promise<boolean> {
  for (let n = 0; n < 300; n++) {
    if (await holds()) return true;
    await pause(200);
  }
  return false;
}

const poolFrom = (origin: string, localAddress: string, connections: number): Pool =>
  new Pool(origin, { connections, connect: { localAddress } });

async function post(pool: Pool, path: string, body: string): Promise<number> {
  return pool.request({ path, method: 'POST', body }).then(
    async answer => (await answer.body.dump(), answer.statusCode),
    () => 0,
  );
}

const disk = mkdtempSync(join(tmpdir(), 'puntas-small-disk-'));
execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0700`, 'tmpfs', disk]);
process.env['TMPDIR'] = disk;
const bot = startBot({ webhooks: { port: 0, keepMb: KEEP_MB } });
try {
  const { hooks, metrics } = await bot.addresses();
  const { origin, pathname } = new URL(hooks);
  const free = () => (({ bavail, bsize }) => bavail * bsize)(statfsSync(disk));
  const ready = async () =>
    (await (await fetch(`${metrics}/readyz`)).json()) as { ready: boolean; reasons: string[]; warnings: string[] };
  const placed = async () =>
    [...(await (await fetch(`${metrics}/metrics`)).text()).matchAll(/puntas_orders_total\{.*event="placed".*\} (\d+)/g)]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0);
  expectThat(await until(async () => (await ready()).ready), 'the bot never quoted');
  const placedBefore = await placed();

  // Connections that say nothing, opened again as soon as they are closed.
  let attacking = true;
  const idle = new Set<Socket>();
  const hold = (): void => {
    if (!attacking) return;
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port), localAddress: HOLDER });
    idle.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        idle.delete(socket);
        setTimeout(hold, 50);
      });
  };
  for (let n = 0; n < IDLE; n++) hold();

  const flooders = poolFrom(origin, FLOODER, 32);
  let [floods, poured, kept] = [0, 0, 0];
  const flooding = Array.from({ length: 32 }, async () => {
    while (attacking) {
      const body = `${floods++} `.padEnd(16_000, 'x');
      poured += body.length;
      if ((await post(flooders, pathname, body)) === 200) kept += body.length;
    }
  });

  const began = performance.now();
  const real = poolFrom(origin, REAL, 2);
  const answered: string[] = [];
  let tries = 0;
  for (let n = 0; n < FLOOD_SECONDS * 2; n++) {
    const body = deliveryOf(n);
    for (let again = 0; again < 10; again++) {
      tries++;
      if ((await post(real, pathname, body)) === 200) {
        answered.push(body);
        break;
      }
      await pause(500);
    }
    await pause(450);
  }
  attacking = false;
  await Promise.all(flooding);
  for (const socket of idle) socket.destroy();
  await flooders.destroy();
  const seconds = (performance.now() - began) / 1_000;
  const sizes = ['inbox.db', 'inbox.db-wal'].map(name => statSync(join(bot.state, name)).size);
  expectThat(
    answered.length === FLOOD_SECONDS * 2,
    `${answered.length} of ${FLOOD_SECONDS * 2} real deliveries came in`,
  );
  expectThat(kept <= 4_000_000 + (seconds + 1) * 128_000, `the flood stored ${kept} bytes`);
  expectThat(sizes[0]! + sizes[1]! < 3 * KEEP_MB * 1e6, `the inbox has ${sizes.join(' + ')} bytes on disk`);
  const placedMeanwhile = (await placed()) - placedBefore;
  expectThat(await until(async () => (await ready()).ready), `not ready after the flood`);
  expectThat(await until(async () => (await placed()) > placedBefore), 'no order was placed');

  // Something else fills the disk up to the reserve of the journal.
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, free() - RESERVE + 8_000_000)));
  const isLow = async () => (await ready()).warnings.some(text => /MB are free/.test(text));
  expectThat(await until(isLow), '/readyz has no warning of the disk');
  expectThat((await post(real, pathname, deliveryOf(1_000))) === 503, 'a delivery was stored out of the reserve');
  // The page is rendered once a second at most.
  const isToldOfIt = async () =>
    /puntas_inbox_storing\{[^}]*\} 0/.test(await (await fetch(`${metrics}/metrics`)).text());
  expectThat(await until(isToldOfIt), 'puntas_inbox_storing is not 0');
  const heartbeat = readFileSync(join(bot.state, 'heartbeat.json'), 'utf8');
  expectThat(/^\{"counter":\d+/.test(heartbeat), `the heartbeat is ${JSON.stringify(heartbeat)}`);
  rmSync(join(disk, 'ballast'));
  const isStored = async () => (await post(real, pathname, deliveryOf(1_000))) === 200;
  expectThat(await until(isStored), 'a delivery is not stored again with room');
  await real.destroy();

  expectThat(!bot.heard().includes('[object Object]'), 'an error was told as [object Object]');
  expectThat(bot.exitCode() === null, `the bot ended with ${bot.exitCode()}`);
  bot.kill();
  await pause(500);
  const from = performance.now();
  const store = openInboxStore(bot.state, { rows: 100_000, bytes: KEEP_MB * 1_000_000 });
  const newest = store.newest({ rows: 2_000, bytes: 4_000_000 }).length;
  const startMs = Math.round(performance.now() - from);
  const there = new Set([...store.all()].map(({ body }) => body.toString('utf8')));
  store.close();
  const lost = answered.filter(body => !there.has(body)).length;
  expectThat(lost === 0, `${lost} deliveries were answered and are not on disk`);
  const mb = (bytes: number) => Math.round(bytes / 1e5) / 10;
  console.log(
    `${mb(poured)} MB poured in ${FLOOD_SECONDS} s beside ${IDLE} idle connections: ${mb(kept)} MB stored; ${answered.length} real deliveries in ${tries} tries`,
  );
  console.log(
    JSON.stringify({
      pouredMb: mb(poured),
      keptMb: mb(kept),
      inboxMb: mb(sizes[0]! + sizes[1]!),
      placedMeanwhile,
      real: answered.length,
      tries,
      lost,
      newest,
      startMs,
      faults,
    }),
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  bot.end();
  await pause(500);
  execFileSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
}
