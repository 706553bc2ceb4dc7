/**
 * `npm run differential`: the matching engine beside a naive book on millions of drawn operations, on all cores. Ends
 * with 1 at the first difference, shrunk to the fewest operations and printed as a test would have it.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Command } from 'commander';
import { randomOf } from '../../src/core/index.ts';
import { divergence, drawOperation, drawShape, SELF_TRADES, shrunk, type Operation } from './matching.ts';

/** Operations of one list: long enough for the book to grow, short enough to shrink. */
const LIST = 2_000;
/** Operations between two comparisons of the whole book. */
const EVERY = 50;

type Task = { readonly seed: number; readonly step: number; readonly lists: number };
type News = { readonly done: number; readonly failed: number | null };

function drawn(seed: number): {
  readonly operations: readonly Operation[];
  readonly selfTrade: (typeof SELF_TRADES)[number];
} {
  const random = randomOf(seed);
  const shape = drawShape(random);
  const selfTrade = SELF_TRADES[random.integer(0, SELF_TRADES.length - 1)]!;
  return { operations: Array.from({ length: LIST }, () => drawOperation(random, shape)), selfTrade };
}

function work({ seed, step, lists }: Task): void {
  for (let i = 0; i < lists; i++) {
    const at = seed + i * step;
    const { operations, selfTrade } = drawn(at);
    const isWrong = divergence(operations, selfTrade, EVERY) !== null;
    parentPort!.postMessage({ done: LIST, failed: isWrong ? at : null } satisfies News);
    if (isWrong) return;
  }
}

function explain(seed: number): void {
  const { operations, selfTrade } = drawn(seed);
  const few = shrunk(operations, selfTrade);
  console.log(`seed ${seed}, self-trades ${selfTrade}, ${few.length} of ${LIST} operations:`);
  for (const operation of few) console.log(`  ${JSON.stringify(operation)}`);
  console.log(divergence(few, selfTrade)!.what);
  console.log(`again: npm run differential -- --seed ${seed} --operations ${LIST}`);
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`);
}

async function main(operations: number, seed: number, threads: number): Promise<void> {
  const lists = Math.ceil(operations / LIST);
  const began = performance.now();
  let done = 0;
  let failed: number | null = null;
  const workers = Array.from({ length: Math.min(threads, lists) }, (_, i) => {
    const task: Task = { seed: seed + i, step: threads, lists: Math.ceil((lists - i) / threads) };
    return new Worker(fileURLToPath(import.meta.url), { workerData: task });
  });
  await Promise.all(
    workers.map(
      worker =>
        new Promise<void>((resolve, reject) => {
          worker.on('message', (news: News) => {
            done += news.done;
            if (news.failed !== null && (failed === null || news.failed < failed)) failed = news.failed;
            if (done % (200 * LIST) === 0)
              progress(`${(done / 1e6).toFixed(1)} of ${(lists * LIST) / 1e6} million operations`);
            if (news.failed !== null) for (const one of workers) void one.terminate();
          });
          worker.on('error', reject);
          worker.on('exit', () => resolve());
        }),
    ),
  );
  progress('');
  if (failed !== null) explain(failed);
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    `${done} operations, ${failed === null ? 0 : 1} divergences, seeds from ${seed}, ${seconds.toFixed(0)} s`,
  );
  if (failed !== null) process.exitCode = 1;
}

function whole(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new Error(`expected a whole number above 0, found ${text}`);
  return n;
}

if (isMainThread) {
  const { operations, seed, threads } = new Command()
    .option('--operations <n>', 'number of operations', whole, 100_000_000)
    .option('--seed <n>', 'first seed', whole, 1)
    .option('--threads <n>', 'threads', whole, availableParallelism())
    .parse()
    .opts<{ operations: number; seed: number; threads: number }>();
  await main(operations, seed, threads);
} else work(workerData as Task);
