/**
 * What a queue costs, and what a second core brings: the same study on threads and over Redis or PostgreSQL, in turns, in processor time and in time. One batch after the other:
 * what the busiest worker needs for each is what the study would take on a machine that has nothing else to do. [--rounds N] [--trials N] [--seconds of flow, N] [--postgres].
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { postgresServer, redisServer } from './queueServers.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    trials: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '18000' },
    postgres: { type: 'boolean', default: false },
  },
});
const [rounds, trials] = [Number(values.rounds), Number(values.trials)];
const BATCH = 8;
if (!(Number.isSafeInteger(rounds) && rounds >= 1))
  throw new Error(`--rounds: expected at least 1, found ${values.rounds}`);
// The first batch is not measured.
if (!(Number.isSafeInteger(trials / BATCH) && trials >= 2 * BATCH))
  throw new Error(`--trials: expected a multiple of ${BATCH}, at least ${2 * BATCH}, found ${values.trials}`);
const LOOK_MS = 20;
const PASSWORD = 'bench';
const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'puntas-overhead-'));

/** Seconds of a hundred ticks that a process or one of its threads had of a processor. */
function processorSeconds(stat: string): number {
  const fields = readFileSync(stat, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Of each thread that may run trials, and of everything else. */
type Spent = { readonly runners: readonly number[]; readonly rest: number };

/** In a process with one thread for trials these are of all its threads; where there are several, each thread but the first. */
function spentBy(runners: readonly number[], others: readonly number[], isOneProcess: boolean): Spent {
  const rest = others.reduce((sum, pid) => sum + processorSeconds(`/proc/${pid}/stat`), 0);
  if (!isOneProcess) return { runners: runners.map(pid => processorSeconds(`/proc/${pid}/stat`)), rest };
  const pid = runners[0]!;
  const tasks = readdirSync(`/proc/${pid}/task`).map(Number);
  const spent = tasks.map(task => processorSeconds(`/proc/${pid}/task/${task}/stat`));
  return { runners: spent.slice(1), rest: rest + spent[0]! };
}

type Moment = Spent & { readonly at: number };
type Measured = { readonly processor: number; readonly busiest: number; readonly time: number };

const study = join(dir, 'study.yaml');
writeFileSync(
  study,
  stringify({
    config: shippedConfig('sandbox'),
    tapes: [{ flow: { seconds: Number(values.seconds), seed: 11 } }],
    parameters: { 'strategy.halfSpreadBps': { linear: [20, 22] }, 'strategy.amount': { linear: [0.002, 0.0021] } },
    search: { algorithm: 'sobol', seed: 1, trials, batch: BATCH },
    pruning: false,
  }),
);

let count = 0;

/** After the first batch, in which everything is read and compiled, to the last of the trials. */
async function measured(
  flags: readonly string[],
  workers: readonly number[],
  others: () => readonly number[],
): Promise<Measured> {
  const registry = join(dir, `registry-${++count}`);
  const child = begun(['tune', '-c', study, '--registry', registry, ...flags]);
  const file = join(registry, 'trials.jsonl');
  const done = (): number => (existsSync(file) ? readFileSync(file, 'utf8').split('"kind":"trial"').length - 1 : 0);
  const here = workers.length === 0;
  const moments: Moment[] = [];
  for (let batch = 1; batch <= trials / BATCH; batch++) {
    while (done() < batch * BATCH) {
      if (child.exitCode !== null) throw new Error(`puntas tune ended with code ${child.exitCode}`);
      await new Promise(resolve => setTimeout(resolve, LOOK_MS));
    }
    const spent = here ? spentBy([child.pid!], others(), true) : spentBy(workers, [child.pid!, ...others()], false);
    moments.push({ ...spent, at: performance.now() });
  }
  child.kill('SIGKILL');
  await ended(child);
  let [processor, busiest] = [0, 0];
  for (const [i, now] of moments.entries()) {
    const before = moments[i - 1];
    if (before === undefined) continue;
    const runners = now.runners.map((spent, runner) => spent - (before.runners[runner] ?? 0));
    processor += runners.reduce((sum, spent) => sum + spent, now.rest - before.rest);
    busiest += Math.max(0, ...runners) + (here ? now.rest - before.rest : 0);
  }
  const each = trials - BATCH;
  const time = (moments.at(-1)!.at - moments[0]!.at) / 1_000;
  return { processor: processor / each, busiest: busiest / each, time: time / each };
}

const begun = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { ...process.env, PUNTAS_QUEUE_PASSWORD: values.postgres ? PASSWORD : undefined },
  });

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise(resolve => child.once('exit', () => resolve()));

/** Of all processes below one, as a server has them. */
function familyOf(pid: number): readonly number[] {
  const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...below.split(' ').filter(Boolean).map(Number)];
}

async function overQueue(workers: number): Promise<Measured> {
  const server = values.postgres ? await postgresServer(PASSWORD) : await redisServer();
  const children = Array.from({ length: workers }, () => begun(['worker', '--queue', server.url, '--threads', '1']));
  const measure = await measured(
    ['--queue', server.url],
    children.map(({ pid }) => pid!),
    () => familyOf(server.pid),
  );
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map(ended));
  await server.stop();
  return measure;
}

const WAYS: Readonly<Record<string, () => Promise<Measured>>> = {
  'one thread': () => measured(['--threads', '1'], [], () => []),
  'one worker': () => overQueue(1),
  'two threads': () => measured(['--threads', '2'], [], () => []),
  'two workers': () => overQueue(2),
};

const median = (of: readonly number[]): number =>
  [...of].sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? Number.NaN;
const found = new Map<string, Measured[]>();
try {
  for (let round = 0; round < rounds; round++)
    for (const [name, way] of Object.entries(WAYS)) {
      const measure = await way();
      found.set(name, [...(found.get(name) ?? []), measure]);
      console.error(name, JSON.stringify(measure));
    }
  const of = (name: string, key: keyof Measured): number => median(found.get(name)!.map(measure => measure[key]));
  const ratios = (name: string, beside: string, key: keyof Measured): string => {
    const each = found.get(name)!.map((measure, i) => measure[key] / found.get(beside)![i]![key]);
    return `${median(each).toFixed(3)} (${Math.min(...each).toFixed(3)} to ${Math.max(...each).toFixed(3)})`;
  };
  for (const name of Object.keys(WAYS))
    console.log(
      `${name}: a trial takes ${of(name, 'processor').toFixed(3)} s of processors, ${of(name, 'busiest').toFixed(3)} s of the busiest, ${of(name, 'time').toFixed(3)} s`,
    );
  console.log(
    `queue beside threads, processor time: ${ratios('one worker', 'one thread', 'processor')}; time: ${ratios('one worker', 'one thread', 'time')}`,
  );
  console.log(
    `one thread to two, busiest thread: ${ratios('one thread', 'two threads', 'busiest')}; time: ${ratios('one thread', 'two threads', 'time')}`,
  );
  console.log(
    `one worker to two, busiest worker: ${ratios('one worker', 'two workers', 'busiest')}; time: ${ratios('one worker', 'two workers', 'time')}`,
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
