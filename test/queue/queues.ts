/** Studies over real queues: Redis and PostgreSQL of Debian, workers and tuning processes as they ship, some of them killed. Nothing here waits for a time. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Queue, UnrecoverableError, Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { recordFlow, type Tuning } from '../../backtest/index.ts';
import { connectQueues } from '../../backtest/app/queue/bullQueues.ts';
import { HELLO_QUEUE, PresenceBoard } from '../../backtest/app/queue/presence.ts';
import { programCode } from '../../backtest/app/queue/programCode.ts';
import { queueAddress } from '../../backtest/app/queue/queueAddress.ts';
import { plainLatencies, trialQueueName, type TrialJob } from '../../backtest/app/queue/trialJob.ts';
import type { TrialThreads } from '../../backtest/app/queue/trialThreads.ts';
import { digestOfTape, spanOf } from '../../backtest/app/backtest/market.ts';
import { configOf } from '../../backtest/app/tune/parameters.ts';
import { digestOfData } from '../../backtest/app/tune/study.ts';
import { digestOfRecording } from '../../backtest/app/tune/tuneTapes.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { openTape, TapeWriter } from '../../src/tape/index.ts';
import { keysOfStudy } from '../backtest/app/tune/studies.ts';
import { folderWith, OWN_STRATEGY } from '../strategies/ownFile.ts';
import { Bench, complaints, printed, puntas, ran, ROOT, type Program } from '../cli/program.ts';
import { objectStore, type ObjectStore } from './objectStore.ts';
import { missingServers, postgresServer, redisServer, type Server } from '../scripts/queueServers.ts';

const missing = missingServers();
if (missing.length > 0) {
  if (process.env.CI === 'true') throw new Error(`not here: ${missing.join(', ')}`);
  console.warn(`skipped: ${missing.join(' and ')} not here (apt-get install redis-server postgresql)`);
}

const PASSWORD = 'not:guessed@all';
const bench = new Bench();
const programs: Program[] = [];
let redis: Server;
let postgres: Server;
let s3: ObjectStore;

/** A program that does not outlive its test. */
const begun = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): Program => {
  const program = puntas(args, environment);
  programs.push(program);
  return program;
};
const worker = (queue: string, flags: readonly string[], environment?: Readonly<Record<string, string>>): Program =>
  begun(['worker', '--queue', queue, ...flags], environment);

afterEach(async () => {
  for (const program of programs) program.signal('SIGKILL');
  await Promise.all([...programs.splice(0).map(({ ended }) => ended), ...boards.splice(0).map(board => board.close())]);
});
afterAll(() => bench.clear());

const linesOf = (registry: string): readonly string[] => {
  const file = join(registry, 'trials.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
};
/** What a registry holds but for when it was written; workers end in any order. */
const recordsIn = (registry: string): readonly string[] =>
  linesOf(registry)
    .filter(line => /"kind":"(trial|neighbour)"/.test(line))
    .map(line => line.replace(/"at":"[^"]*",/, ''))
    .sort();
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const boards: Queue[] = [];
/** Who is at a queue. */
function boardAt(url: string): PresenceBoard {
  const hello = new Queue(HELLO_QUEUE, { connection: { url }, prefix: 'puntas' });
  boards.push(hello);
  return new PresenceBoard(hello);
}

/** Somebody else who takes jobs of the built program, and answers as they like. */
async function answersWith(url: string, answer: () => unknown, whileThere: () => Promise<void>): Promise<void> {
  const other = new Worker(trialQueueName(builtCode()), () => Promise.resolve(answer()), {
    ...{ connection: { url }, prefix: 'puntas' },
  });
  try {
    await whileThere();
  } finally {
    await other.close();
  }
}

/** Which configurations a worker began, in order. */
const begunBy = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/trial \d+ \((\w+)\) of study \w+ starts/g)].map(([, config]) => config!);

/** A tape of the built-in market. */
function tapeOf(book: string): string {
  const dir = bench.path(`tape-${book}`);
  if (existsSync(dir)) return dir;
  const flow = recordFlow(book, 5, 900);
  const writer = new TapeWriter({ dir, rules: flow.rules, source: 'flow' });
  writer.append(flow.columns);
  writer.close();
  return dir;
}

/** A study of flow and of a recording, with the recordings of the two books of its reference price, so that workers fetch three. */
function tapedStudy(name: string): string {
  const sandbox = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as { readonly timing?: object };
  const config = bench.file(
    `${name}-bot.yaml`,
    stringify({
      ...sandbox,
      timing: { ...sandbox.timing, bookPollMs: 2_500 },
      reference: { books: ['btc_usd', 'usd_mxn'], everyMs: 4_000 },
      fairValue: { mid: { weight: 1 }, reference: { weight: 1 } },
    }),
  );
  const keys = {
    config,
    tapes: [{ name: 'flow', flow: { seconds: 900, seed: 11 } }, { path: tapeOf('btc_mxn') }],
    reference: { btc_usd: tapeOf('btc_usd'), usd_mxn: tapeOf('usd_mxn') },
    search: { algorithm: 'tpe', seed: 3, trials: 6, batch: 3 },
    pruning: { startAfterTrials: 3 },
    models: ['pessimistic', 'expected'],
    latenciesMs: ['lognormal:40,0.5'],
  };
  return bench.file(`${name}.yaml`, stringify(keysOfStudy(keys)));
}

/** A trial of the configuration that ships, on some minutes of the built-in market. */
function jobOfFlow(): TrialJob {
  const text = readFileSync(shippedConfig('sandbox'), 'utf8');
  const spec = { kind: 'constant', ms: 25 } as const;
  const latencies = { orders: spec, cancels: spec, answers: spec, feed: { kind: 'constant', ms: 0 } } as const;
  const flow = { seed: 11, seconds: 600, driftBpsPerHour: 0 };
  const tape = recordFlow('btc_mxn', flow.seed, flow.seconds, 0);
  const digest = digestOfRecording(tape, latencies, 1);
  const { from, to } = spanOf(tape);
  const hash = 'c'.repeat(64);
  return {
    ...{ form: 1, version: 'test', code: hash, study: hash, run: hash, number: 0, text, bounds: [] },
    config: digestOfData(configOf(text)),
    setting: {
      ...{ book: 'btc_mxn', seed: 1, models: ['expected'], objective: 'net60s', segments: 1, startsAfterSeconds: [0] },
      latencies: [plainLatencies(latencies)],
      tapes: [{ name: 'flow', recorded: { flow }, tuned: { market: 'btc_mxn', digest, from, to } }],
      references: {},
    },
  };
}

/** Jobs that are left in it, of the built program. */
async function jobsLeft(url: string): Promise<number> {
  const queue = new Queue(trialQueueName(builtCode()), { connection: { url }, prefix: 'puntas' });
  const counts = await queue.getJobCounts('wait', 'active', 'completed', 'failed', 'delayed');
  await queue.close();
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** As a worker says it, in full. */
let builtCodeText = '';
const builtCode = (): string => builtCodeText;

describe.skipIf(missing.length > 0)('a study', () => {
  beforeAll(async () => {
    [redis, postgres, s3] = await Promise.all([redisServer(), postgresServer(PASSWORD), objectStore()]);
    const { programCode: ofBuilt } = (await import(join(ROOT, 'dist/backtest/app/queue/programCode.js'))) as {
      programCode: typeof programCode;
    };
    builtCodeText = ofBuilt();
  });
  afterAll(async () => {
    await Promise.all([redis.stop(), postgres.stop(), s3.stop()]);
  });

  test('has the same result to the byte on one thread, on two, on Redis with two workers of which one is killed with -9, and on PostgreSQL', async () => {
    const file = tapedStudy('same');
    const tuned = (registry: string, flags: readonly string[], env?: Readonly<Record<string, string>>) =>
      ran(['tune', '-c', file, '--registry', bench.path(registry), '--json', ...flags], env);
    const one = await tuned('one', ['--threads', '1']);
    const two = await tuned('two', ['--threads', '2']);
    expect(one.code).toBe(0);

    const flags = (name: string) => ['--threads', '1', '--tapes', 's3://tapes/study', '--cache', bench.path(name)];
    const dies = worker(redis.url, flags('cache-a'), s3.env);
    const onRedis = tuned('redis', ['--queue', redis.url, '--tapes', 's3://tapes/study'], s3.env);
    // Its second trial: one is in the registry, the next it has taken and will not end.
    await dies.sees(/starts[^]*: done after[^]*starts/);
    dies.signal('SIGKILL');
    const lives = worker(redis.url, flags('cache-b'), s3.env);
    const killed = await onRedis;
    lives.signal('SIGTERM');
    const livesEnded = await lives.ended;
    expect(livesEnded.code).toBe(0);
    expect(livesEnded.stderr).toMatch(/starts again, because its worker died/);
    expect(await jobsLeft(redis.url)).toBe(0);

    const secret = { PUNTAS_QUEUE_PASSWORD: PASSWORD };
    const shared = ['--tapes', bench.path('shared')];
    worker(postgres.url, ['--threads', '2', '--cache', bench.path('cache-c'), ...shared], secret);
    const onPostgres = await tuned('postgres', ['--queue', postgres.url, ...shared], secret);

    for (const [name, ended] of Object.entries({ two, redis: killed, postgres: onPostgres })) {
      expect([name, ended.code, hashOf(ended.stdout)], ended.stderr).toEqual([name, 0, hashOf(one.stdout)]);
      expect([name, recordsIn(bench.path(name))]).toEqual([name, recordsIn(bench.path('one'))]);
    }
    const { counts, ranking } = printed(one) as Tuning;
    expect(counts.done + counts.pruned).toBe(6);
    expect(ranking.length).toBeGreaterThan(1);
  });

  test('goes on after its tuning process was killed with -9, and asks for nothing that is done', async () => {
    const search = { algorithm: 'sobol', seed: 2, trials: 6, batch: 6 };
    const file = bench.file('resumed.yaml', stringify(keysOfStudy({ search })));
    const registry = bench.path('resumed');
    const args = ['tune', '-c', file, '--registry', registry, '--queue', redis.url, '--json'];
    const works = worker(redis.url, ['--threads', '1']);
    const killed = begun(args);
    await works.sees(/: (done|pruned) after/);
    killed.signal('SIGKILL');
    await killed.ended;
    // What was asked for is run all the same; it is there for whoever goes on.
    await works.sees(new RegExp(`(?:[^]*: (done|pruned) after){${search.trials}}`));
    const again = await ran(args);
    works.signal('SIGTERM');
    const ended = await works.ended;
    expect(again.code, again.stderr).toBe(0);
    const configs = begunBy(ended.stderr);
    expect(configs.length).toBeGreaterThan(search.trials);
    expect(new Set(configs).size).toBe(configs.length);
    expect(recordsIn(registry).filter(line => line.includes('"kind":"trial"'))).toHaveLength(search.trials);
    expect(await jobsLeft(redis.url)).toBe(0);
  });

  test('of which the queue forgets everything is asked for again; a lost connection is told once, and when it is back', async () => {
    const own = await redisServer();
    const search = { algorithm: 'sobol', seed: 4, trials: 4, batch: 4 };
    const file = bench.file('forgotten.yaml', stringify(keysOfStudy({ search })));
    const tunes = begun(['tune', '-c', file, '--registry', bench.path('forgotten'), '--queue', own.url, '--json']);
    await tunes.sees(/no worker at redis/);
    while ((await jobsLeft(own.url)) < search.trials) await new Promise(resolve => setTimeout(resolve, 100));
    await own.kill();
    await tunes.sees(/the connection to redis:\S+ is lost/);
    const next = await redisServer(own.port);
    await tunes.sees(/was restored after \d+ s/);
    const works = worker(own.url, ['--threads', '2']);
    const ended = await tunes.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr.match(/ is lost/g)).toHaveLength(1);
    expect(ended.stderr).toMatch(/lost 4 trials.*; adding the trials to the queue again/);
    works.signal('SIGTERM');
    expect((await works.ended).code).toBe(0);
    await next.stop();
    const alone = await ran(['tune', '-c', file, '--registry', bench.path('alone'), '--json']);
    expect(ended.stdout).toBe(alone.stdout);
  });

  test('run twice at once, each into a registry of its own, takes nothing from the other; into one registry each is told of the other, and a trial counts once', async () => {
    const own = await redisServer();
    const search = { algorithm: 'sobol', seed: 8, trials: 4, batch: 4 };
    const file = bench.file('twice.yaml', stringify(keysOfStudy({ search })));
    const tuned = (registry: string): Program =>
      begun(['tune', '-c', file, '--registry', bench.path(registry), '--queue', own.url, '--json']);
    const waits = async (program: Program): Promise<Program> => {
      await program.sees(/no worker at redis/);
      return program;
    };
    const apart = [await waits(tuned('twice-a')), await waits(tuned('twice-b'))];
    while ((await jobsLeft(own.url)) < 2 * search.trials) await new Promise(resolve => setTimeout(resolve, 100));
    const works = worker(own.url, ['--threads', '2']);
    const [a, b] = await Promise.all(apart.map(({ ended }) => ended));
    for (const { code, stderr } of [a!, b!]) expect([code, /has lost|from the queue/.exec(stderr)]).toEqual([0, null]);
    expect(b!.stdout).toBe(a!.stdout);
    expect(recordsIn(bench.path('twice-b'))).toEqual(recordsIn(bench.path('twice-a')));
    works.signal('SIGTERM');
    await works.ended;

    // The first of two of one registry to collect a trial takes it away from the other.
    const together = [await waits(tuned('twice-c')), await waits(tuned('twice-c'))];
    while ((await jobsLeft(own.url)) < search.trials) await new Promise(resolve => setTimeout(resolve, 100));
    const board = boardAt(own.url);
    // Each says so and then looks: after the second time all of them have seen each other.
    for (let round = 0; round < 2; round++) {
      const since = Date.now();
      while (!(await board.seen(Date.now())).here.every(({ at }) => at > since))
        await new Promise(resolve => setTimeout(resolve, 100));
    }
    worker(own.url, ['--threads', '1']);
    const both = await Promise.all(together.map(({ ended }) => ended));
    for (const { code, stdout, stderr } of both) {
      expect([code, stdout], stderr).toEqual([0, a!.stdout]);
      expect(stderr).not.toMatch(/has lost/);
    }
    expect(both.some(({ stderr }) => /also runs this study with this registry, and removed \d/.test(stderr))).toBe(
      true,
    );
    await own.stop();
  });

  test('whose trials wait for longer than a day has them run as long as it is seen; those of no study are thrown away', async () => {
    const own = await redisServer();
    const search = { algorithm: 'sobol', seed: 9, trials: 3, batch: 3 };
    const file = bench.file('waits.yaml', stringify(keysOfStudy({ search })));
    const tunes = begun(['tune', '-c', file, '--registry', bench.path('waits'), '--queue', own.url, '--json']);
    while ((await jobsLeft(own.url)) < search.trials) await new Promise(resolve => setTimeout(resolve, 100));
    const queue = new Queue(trialQueueName(builtCode()), { connection: { url: own.url }, prefix: 'puntas' });
    const jobs = await queue.getJobs(['waiting']);
    await queue.add('trial', { ...(jobs[0]!.data as TrialJob), run: 'f'.repeat(64) }, { jobId: 't-nobody' });
    const twoDaysAgo = String(Date.now() - 2 * 86_400_000);
    for (const id of [...jobs.map(job => job.id!), 't-nobody'])
      execFileSync('redis-cli', ['-p', String(own.port), 'hset', queue.toKey(id), 'timestamp', twoDaysAgo]);
    const works = worker(own.url, ['--threads', '1']);
    const ended = await tunes.ended;
    expect(ended.code, ended.stderr).toBe(0);
    while ((await queue.getJobState('t-nobody')) === 'waiting') await new Promise(resolve => setTimeout(resolve, 100));
    expect((await queue.getJob('t-nobody'))?.failedReason).toMatch(
      /^the trial expired, because it waited for more than a day and its study is no longer running/,
    );
    works.signal('SIGTERM');
    const configs = begunBy((await works.ended).stderr);
    expect(new Set(configs).size).toBe(configs.length);
    await queue.close();
    await own.stop();
  });

  test('to which somebody gives what is no result ends with what was expected and found, and asks anew when it is begun again', async () => {
    const own = await redisServer();
    const search = { algorithm: 'sobol', seed: 6, trials: 1, batch: 1 };
    const file = bench.file('odd.yaml', stringify(keysOfStudy({ search })));
    const args = ['tune', '-c', file, '--registry', bench.path('odd'), '--queue', own.url];
    await answersWith(
      own.url,
      () => ({ state: 'done' }),
      async () => {
        const ended = await begun(args).ended;
        expect([ended.code, complaints(ended).at(-1)]).toEqual([
          1,
          expect.stringMatching(
            /^trial 0: an invalid result from the queue at redis:\S+ was dropped \(why: .*run the same command again$/,
          ),
        ]);
      },
    );
    worker(own.url, ['--threads', '1']);
    const again = await begun(args).ended;
    expect(again.code, again.stderr).toBe(0);
    await own.stop();
  });

  test('of which a trial fails because its worker cannot reach something ends with that, and does not wait for the queue', async () => {
    const own = await redisServer();
    const search = { algorithm: 'sobol', seed: 7, trials: 1, batch: 1 };
    const file = bench.file('fails.yaml', stringify(keysOfStudy({ search })));
    await answersWith(
      own.url,
      () => {
        throw new UnrecoverableError('tapes in s3://tapes: connect ECONNREFUSED 10.0.0.9:443');
      },
      async () => {
        const ended = await ran(['tune', '-c', file, '--registry', bench.path('fails'), '--queue', own.url]);
        expect([ended.code, complaints(ended).at(-1)]).toEqual([
          1,
          'trial 0 failed on a worker: tapes in s3://tapes: connect ECONNREFUSED 10.0.0.9:443',
        ]);
        expect(ended.stderr).not.toContain('is lost');
      },
    );
    await own.stop();
  });

  test('and a worker of another version refuse each other, each in one line', async () => {
    const other = bench.path('other');
    mkdirSync(other);
    for (const name of ['dist', 'config', 'package.json'])
      cpSync(join(ROOT, name), join(other, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(other, 'node_modules'));
    const changed = join(other, 'dist/src/core/model/units.js');
    writeFileSync(changed, `${readFileSync(changed, 'utf8')}\n// another version\n`);
    const file = bench.file('refused.yaml', stringify(keysOfStudy()));
    const own = await redisServer();
    const args = ['tune', '-c', file, '--registry', bench.path('refused'), '--queue', own.url];
    const main = join(other, 'dist/src/main.js');
    const ofOther = (flags: readonly string[]): Program => {
      const program = puntas(flags, {}, { main });
      programs.push(program);
      return program;
    };
    const refusal = expect.stringMatching(
      /^redis:\S+: the worker \S+ runs puntas \S+, code \w{12}, but this process runs puntas \S+, code \w{12}; run the same build on both machines$/,
    ) as unknown;
    const waits = ofOther(args);
    await waits.sees(/no worker at/);
    const alien = worker(own.url, ['--threads', '1']);
    await alien.sees(/does not run the study of \S+, because the study needs puntas/);
    const waited = await waits.ended;
    expect([waited.code, complaints(waited).at(-1)]).toEqual([2, refusal]);
    const atOnce = await ofOther(args).ended;
    expect([atOnce.code, complaints(atOnce)]).toEqual([2, [refusal]]);
    expect(linesOf(bench.path('refused')).filter(line => line.includes('"kind":"trial"'))).toEqual([]);
    // With a worker of its own it is run, by that one alone.
    const same = ofOther(['worker', '--queue', own.url, '--threads', '1']);
    await same.sees(/the worker runs trials from/);
    const whole = await ofOther(args).ended;
    expect(whole.code, whole.stderr).toBe(0);
    alien.signal('SIGTERM');
    expect(begunBy((await alien.ended).stderr)).toEqual([]);
    await own.stop();
  });
});

describe.skipIf(missing.length > 0)('a worker', () => {
  let queue: Server;
  beforeAll(async () => void (queue = await redisServer()));
  afterAll(() => queue.stop());

  test('of which the queue holds what is no trial runs nothing of it, and goes on', async () => {
    const works = worker(queue.url, ['--threads', '1']);
    await works.sees(/the worker runs trials from/);
    const hostile = new Queue(trialQueueName(builtCode()), { connection: { url: queue.url }, prefix: 'puntas' });
    const job = await hostile.add(
      'trial',
      { text: 'strategy: !!js/function x', command: 'touch /tmp/x' },
      { jobId: 'h-1' },
    );
    while ((await job.getState()) !== 'failed') await new Promise(resolve => setTimeout(resolve, 100));
    expect((await hostile.getJob('h-1'))?.failedReason).toMatch(/^invalid trial in the queue: /);
    await hostile.close();
    works.signal('SIGTERM');
    expect((await works.ended).code).toBe(0);
  });

  test('is another one than that of the same process number on a host of the same name', async () => {
    const asOne = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process, 'pid', { value: 1 })")}`;
    const both = [1, 2].map(() => worker(queue.url, ['--threads', '1'], { NODE_OPTIONS: `--import ${asOne}` }));
    await Promise.all(both.map(works => works.sees(/the worker runs trials from/)));
    const board = boardAt(queue.url);
    const here = async (): Promise<readonly string[]> => (await board.seen(Date.now())).here.map(({ who }) => who);
    const two = await here();
    expect(new Set(two).size).toBe(2);
    for (const who of two) expect(who).toMatch(new RegExp(`^${hostname()}-1-[0-9a-f]{6}$`));
    both[0]!.signal('SIGTERM');
    await both[0]!.ended;
    expect(await here()).toHaveLength(1);
  });

  test('that is stopped gives back what it cannot end in time, and the study goes on elsewhere', async () => {
    const search = { algorithm: 'sobol', seed: 5, trials: 2, batch: 2 };
    const file = bench.file('stopped.yaml', stringify(keysOfStudy({ search })));
    const stops = worker(queue.url, ['--threads', '1', '--grace', '0.001s']);
    await stops.sees(/the worker runs trials from/);
    const tunes = begun(['tune', '-c', file, '--registry', bench.path('stopped'), '--queue', queue.url]);
    await stops.sees(/starts/);
    stops.signal('SIGTERM');
    const ended = await stops.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(/is returned to the queue/);
    expect(ended.stderr).toMatch(/the worker ended; 0 trials completed, 1 returned to the queue/);
    worker(queue.url, ['--threads', '1']);
    expect((await tunes.ended).code).toBe(0);
  });

  test('runs the strategy file of a study only with --strategy-files, and says so to the study without it', async () => {
    const ranBy = (pid: number): string => bench.path(`ran-by-${pid}`);
    const mark = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(ranBy(0))}.replace(/0$/, String(process.pid)), '');\n`;
    const { yaml } = folderWith(`${OWN_STRATEGY}${mark}`);
    const search = { algorithm: 'sobol', seed: 8, trials: 2, batch: 2 };
    const file = bench.file('own-file.yaml', stringify(keysOfStudy({ config: yaml, search })));
    const args = ['tune', '-c', file, '--registry', bench.path('own-file'), '--queue', queue.url];
    const without = worker(queue.url, ['--threads', '1']);
    await without.sees(/the worker runs trials from/);
    const refused = await begun(args).ended;
    expect([refused.code, complaints(refused).at(-1)]).toEqual([
      1,
      'trial 0 failed on a worker: the study has a strategy file, and a worker runs the code of a study only with --strategy-files; start the worker with this flag',
    ]);
    without.signal('SIGTERM');
    expect((await without.ended).stderr).toContain('the worker ended; 0 trials completed');
    expect(existsSync(ranBy(without.pid))).toBe(false);
    const allowed = worker(queue.url, ['--threads', '1', '--strategy-files']);
    await allowed.sees(/the worker runs trials from/);
    const tuned = await begun(args).ended;
    expect(tuned.code, tuned.stderr).toBe(0);
    allowed.signal('SIGTERM');
    expect((await allowed.ended).stderr).toMatch(/the worker ended; [1-9]\d* trials completed/);
    expect(existsSync(ranBy(allowed.pid))).toBe(true);
  });

  test('without --tapes ends with what it lacks, and gives the trial back', async () => {
    const file = tapedStudy('lacking');
    const flags = ['--queue', queue.url, '--tapes', bench.path('lacking')];
    begun(['tune', '-c', file, '--registry', bench.path('lacking-registry'), ...flags]);
    const lacks = await worker(queue.url, ['--threads', '1']).ended;
    expect(lacks.code).toBe(2);
    expect(complaints(lacks)).toEqual([expect.stringMatching(/^the study uses recordings; pass --tapes/)]);
    expect(lacks.stderr).toMatch(/is returned to the queue/);
    expect(readdirSync(bench.path('lacking')).length).toBeGreaterThan(1);
  });
});

test('a thread that could not take a study has none: the study before is taken anew, with the same outcome', async () => {
  const { TrialThreads: Threads } = (await import(join(ROOT, 'dist/backtest/app/queue/trialThreads.js'))) as {
    TrialThreads: typeof TrialThreads;
  };
  const job = jobOfFlow();
  const lacking = {
    ...job,
    setting: { ...job.setting, references: { btc_usd: { files: 'a'.repeat(64), digest: 'a'.repeat(64) } } },
  };
  const threads = new Threads(1);
  try {
    const run = (asked: TrialJob) =>
      threads.run(asked, { ['a'.repeat(64)]: bench.path('nowhere') }, new Float64Array(new SharedArrayBuffer(8)));
    const first = await run(job);
    expect(first).toMatchObject({ state: 'done', soFar: [expect.any(Number)] });
    await expect(run(lacking)).rejects.toThrow(/nowhere/);
    expect(await run(job)).toEqual(first);
  } finally {
    await threads.end();
  }
});

test('a thread takes a recording of another book only with the content that the study has of it', async () => {
  const { TrialThreads: Threads } = (await import(join(ROOT, 'dist/backtest/app/queue/trialThreads.js'))) as {
    TrialThreads: typeof TrialThreads;
  };
  const book = 'eth_mxn';
  const [path, job, files] = [tapeOf(book), jobOfFlow(), 'a'.repeat(64)];
  const threads = new Threads(1);
  try {
    const run = (digest: string) => {
      const setting = { ...job.setting, references: { [book]: { files, digest } } };
      return threads.run({ ...job, setting }, { [files]: path }, new Float64Array(new SharedArrayBuffer(8)));
    };
    await expect(run('b'.repeat(64))).rejects.toThrow(
      /^eth_mxn: expected the recording of the study, with hash bbbbbbbbbbbb; this worker has a recording with hash \w{12}$/,
    );
    expect(await run(digestOfTape(await openTape(path, { book })))).toMatchObject({ state: 'done' });
  } finally {
    await threads.end();
  }
});

describe.skipIf(missing.length > 0)('a queue', () => {
  const refused = async (url: string): Promise<string> => {
    const address = queueAddress(url, {}, () => '');
    return connectQueues(address, () => undefined).then(
      () => 'was taken',
      (error: unknown) => (error as Error).message,
    );
  };

  test('that is not there, lets nobody in or throws jobs away is told in one line', async () => {
    const [open, closed, small] = await Promise.all([
      redisServer(),
      redisServer(undefined, ['--requirepass', PASSWORD]),
      redisServer(undefined, ['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru']),
    ]);
    const db = await postgresServer(PASSWORD);
    const lines: Readonly<Record<string, string>> = {
      nobody: await refused('redis://127.0.0.1:1'),
      nobodySql: await refused('postgres://127.0.0.1:1/trials'),
      none: await refused(closed.url),
      wrong: await refused(closed.url.replace('//', '//:wrong@')),
      evicts: await refused(small.url),
      wrongSql: await refused(db.url.replace('puntas@', 'puntas:wrong@')),
      noDatabase: await refused(
        db.url.replace('puntas@', `puntas:${encodeURIComponent(PASSWORD)}@`).replace('/trials', '/none'),
      ),
    };
    const told: Readonly<Record<string, RegExp>> = {
      nobody: /^redis:\/\/127\.0\.0\.1:1: connection refused; check that Redis is running/,
      nobodySql: /^postgres:\S+: connection refused; check that PostgreSQL is running/,
      none: /^redis:\S+: Redis requires a password; set PUNTAS_QUEUE_PASSWORD/,
      wrong: /^redis:\S+: Redis rejects this user and password/,
      evicts: /^redis:\S+: Redis with maxmemory-policy allkeys-lru.*set maxmemory-policy to noeviction/,
      wrongSql: /^postgres:\S+: PostgreSQL rejects this user and password/,
      noDatabase: /^postgres:\S+: the database in --queue does not exist/,
    };
    for (const [name, line] of Object.entries(told)) expect(lines[name]).toMatch(line);
    for (const line of Object.values(lines)) expect(line).not.toMatch(/\n|wrong@|not(:|%3A)guessed/);
    await Promise.all([open, closed, small, db].map(server => server.stop()));
  });
});
