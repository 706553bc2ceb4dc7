/**
 * `npm run differential [matching | orders | account]`: compares a part of the program with a slow model on millions of
 * random operations, on all cores. At a difference, prints the shrunk list and the command that repeats the check, and
 * exits with code 1.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Argument, Command } from 'commander';
import { randomOf } from '../../src/core/index.ts';
import { account } from './account.ts';
import { matching } from './matching.ts';
import { orders } from './orders.ts';
import { drawnList, shrunk, type Subject } from './subject.ts';

type Task = { readonly subject: string; readonly seed: number; readonly step: number; readonly lists: number };
type News = { readonly done: number; readonly failed: number | null };

/** Subject as the threads use it, identified by seeds. */
type Check = {
  readonly listLength: number;
  readonly isWrong: (seed: number) => boolean;
  /** Returns the shrunk list of a seed that diverges, and the difference, as lines. */
  readonly explain: (seed: number) => readonly string[];
};

function checkOf<Operation, Setting>(subject: Subject<Operation, Setting>): Check {
  const { listLength, compareEvery, divergence } = subject;
  const listOf = (seed: number) => drawnList(subject, randomOf(seed));
  return {
    listLength,
    isWrong(seed) {
      const { operations, setting } = listOf(seed);
      return divergence(operations, setting, compareEvery) !== null;
    },
    explain(seed) {
      const { operations, setting } = listOf(seed);
      const few = shrunk(subject, { operations, setting });
      return [
        `seed ${seed}, ${JSON.stringify(setting)}, ${few.operations.length} of ${listLength} operations:`,
        ...few.operations.map(operation => `  ${JSON.stringify(operation)}`),
        few.what,
      ];
    },
  };
}

const CHECKS: Readonly<Record<string, Check>> = {
  matching: checkOf(matching),
  orders: checkOf(orders),
  account: checkOf(account),
};

function work({ subject, seed, step, lists }: Task): void {
  const { isWrong, listLength } = CHECKS[subject]!;
  for (let i = 0; i < lists; i++) {
    const at = seed + i * step;
    const failed = isWrong(at) ? at : null;
    parentPort!.postMessage({ done: listLength, failed } satisfies News);
    if (failed !== null) return;
  }
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`);
}

async function main(subject: string, operations: number, seed: number, threads: number): Promise<void> {
  const { listLength, explain } = CHECKS[subject]!;
  const lists = Math.ceil(operations / listLength);
  const began = performance.now();
  let done = 0;
  let failed: number | null = null;
  const workers = Array.from({ length: Math.min(threads, lists) }, (_, i) => {
    const task: Task = { subject, seed: seed + i, step: threads, lists: Math.ceil((lists - i) / threads) };
    return new Worker(fileURLToPath(import.meta.url), { workerData: task });
  });
  await Promise.all(
    workers.map(
      worker =>
        new Promise<void>((resolve, reject) => {
          worker.on('message', (news: News) => {
            done += news.done;
            if (news.failed !== null && (failed === null || news.failed < failed)) failed = news.failed;
            if (done % (200 * listLength) === 0)
              progress(`${(done / 1e6).toFixed(1)} of ${(lists * listLength) / 1e6} million operations`);
            if (news.failed !== null) for (const one of workers) void one.terminate();
          });
          worker.on('error', reject);
          worker.on('exit', () => resolve());
        }),
    ),
  );
  progress('');
  if (failed !== null) {
    for (const line of explain(failed)) console.log(line);
    console.log(`again: npm run differential -- ${subject} --seed ${String(failed)} --operations ${listLength}`);
  }
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    `${subject}: ${done} operations, ${failed === null ? 0 : 1} divergences, seeds from ${seed}, ${seconds.toFixed(0)} s`,
  );
  if (failed !== null) process.exitCode = 1;
}

function whole(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new Error(`expected a whole number above 0, found ${text}`);
  return n;
}

if (isMainThread) {
  const command = new Command()
    .addArgument(new Argument('[subject]', 'part of the program').choices(Object.keys(CHECKS)).default('matching'))
    .option('--operations <n>', 'number of operations', whole, 100_000_000)
    .option('--seed <n>', 'first seed', whole, 1)
    .option('--threads <n>', 'threads', whole, availableParallelism())
    .parse();
  const { operations, seed, threads } = command.opts<{ operations: number; seed: number; threads: number }>();
  await main(command.processedArgs[0] as string, operations, seed, threads);
} else work(workerData as Task);
