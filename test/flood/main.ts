/**
 * A flood of webhooks on a bot that quotes, as real processes: how long an answer takes, whether anything that was answered is missing on disk
 * after kill -9, and whether quoting is disturbed. Usage: npm run flood -- --rate 1000 --seconds 60
 * `--answered 1000`: the kill waits until so many are answered, on a machine that is busy with others.
 */
import { randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { Pool, request } from 'undici';
import { startBot } from './bot.ts';
import { openInboxStore } from '../../src/live/inbox/store.ts';

/** `shared`: how many were answered, and whether it is over. */
type Load = { readonly url: string; readonly rate: number; readonly shared: Int32Array };
const ANSWERED = 0;
const OVER = 1;
/** Longer than this nobody waits for answers. */
const PATIENCE_MS = 240_000;
type Answers = {
  readonly answered: readonly string[];
  readonly times: readonly number[];
  readonly refused: number;
  readonly sent: number;
};

const deliveryOf = (n: number): string =>
  JSON.stringify({
    event: 'TRANSACTION',
    payload: {
      id: randomUUID(),
      type: 'CRYPTO_DEPOSIT',
      status: 'COMPLETE',
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:01Z',
      external_ref: String(n),
      crypto_deposit: { network: 'BITCOIN', amount: '1000000', asset: 'BTC', crypto_tx_hash: `0x${n}` },
    },
  });

/** Sends at a fixed rate whatever the answers do, so that a slow answer delays nothing that it should be measured by. */
async function pour({ url, rate, shared }: Load): Promise<Answers> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: 64 });
  const answered: string[] = [];
  const times: number[] = [];
  let refused = 0;
  let sent = 0;
  const under: Promise<void>[] = [];
  const began = performance.now();
  while (Atomics.load(shared, OVER) === 0) {
    const due = Math.floor(((performance.now() - began) / 1_000) * rate);
    for (; sent < due; sent++) {
      const body = deliveryOf(sent);
      // From the moment at which it was due, so that waiting for a connection counts.
      const at = began + (sent * 1_000) / rate;
      under.push(
        pool
          .request({ path: pathname, method: 'POST', headers: { 'content-type': 'application/json' }, body })
          .then(async answer => {
            await answer.body.dump();
            if (answer.statusCode === 200) {
              answered.push(body);
              Atomics.add(shared, ANSWERED, 1);
              times.push(performance.now() - at);
            } else refused++;
          })
          .catch(() => void refused++),
      );
    }
    await pause(2);
  }
  await Promise.all(under);
  await pool.destroy();
  return { answered, times, refused, sent };
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
const round = (ms: number): number => Math.round(ms * 10) / 10;

/** How long the bot's own thread takes to answer anything: what a decision would have to wait. */
async function probe(url: string, until: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!until()) {
    const at = performance.now();
    const { body } = await request(url);
    await body.dump();
    times.push(performance.now() - at);
    await pause(20);
  }
  return times;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rate: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '60' },
      answered: { type: 'string', default: '0' },
    },
  });
  const [rate, seconds, least] = [Number(values.rate), Number(values.seconds), Number(values.answered)];
  if (!(rate > 0 && seconds > 0 && least >= 0))
    throw new Error('--rate and --seconds are numbers above zero, --answered one from zero on');
  const bot = startBot({ webhooks: { port: 0, keep: 1_000_000, keepMb: 200, sources: ['127.0.0.1'] } });
  try {
    const { hooks, metrics } = await bot.addresses();
    await pause(5_000);
    let over = false;
    setTimeout(() => (over = true), 10_000);
    const before = await probe(`${metrics}/healthz`, () => over);
    over = false;
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const load: Load = { url: `${hooks}`, rate, shared };
    const pouring = new Promise<Answers>((resolve, reject) => {
      const thread = new Worker(fileURLToPath(import.meta.url), { workerData: load });
      thread.once('message', resolve).once('error', reject);
    });
    const during = probe(`${metrics}/healthz`, () => over);
    // In the middle of the flood, a second before its end.
    await pause(seconds * 1_000 - 1_000);
    const patience = performance.now() + PATIENCE_MS;
    while (Atomics.load(shared, ANSWERED) < least && performance.now() < patience) await pause(100);
    over = true;
    const jitter = round(quantile(await during, 0.99) - quantile(before, 0.99));
    bot.kill();
    await pause(1_000);
    Atomics.store(shared, OVER, 1);
    const { answered, times, refused, sent } = await pouring;
    const store = openInboxStore(bot.state, { rows: Infinity, bytes: Infinity });
    const kept = new Set([...store.all()].map(({ body }) => body.toString('utf8')));
    store.close();
    const lost = answered.filter(body => !kept.has(body)).length;
    const [p50, p99] = [round(quantile(times, 0.5)), round(quantile(times, 0.99))];
    console.log(
      `${sent} deliveries sent at ${rate}/s from another thread, ${answered.length} answered, ${refused} not (most of them after the kill)`,
    );
    console.log(`answer after ${p50} ms in the median, ${p99} ms at p99, ${round(Math.max(0, ...times))} ms at most`);
    console.log(`answered but not on disk after kill -9: ${lost}`);
    console.log(
      `the quoting thread at p99: ${round(quantile(before, 0.99))} ms before, ${jitter} ms more during the flood`,
    );
    console.log(`Node ${process.version}, ${cpus().length} cores`);
    const isGood = lost === 0 && answered.length >= sent - rate * 1.5 && p99 <= 250 && jitter <= 50;
    console.log(JSON.stringify({ sent, answered: answered.length, lost, p50, p99, jitter, good: isGood }));
    process.exitCode = isGood ? 0 : 1;
  } finally {
    bot.end();
  }
}

if (isMainThread) await main();
else parentPort?.postMessage(await pour(workerData as Load));
