/** The command line of the simulation: a campaign over many seeds, one seed with its trace, or the planted bugs. */
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { carryOut, classesOf, numbersOf, runTasks, serveTasks, shrunk } from './campaign.ts';
import type { Task } from './campaign.ts';
import { PLANTED } from './planted.ts';
import { block, lastLine, Tally } from './report.ts';
import type { PlantedFind } from './report.ts';
import { simulate } from './simulate.ts';
import type { Run } from './simulate.ts';

const MAIN = fileURLToPath(import.meta.url);
/** Every so manieth seed is run twice, the second time in another process than the first where there are several. */
const TWICE_EVERY = 10;
const PLANTED_SEEDS_MAX = 200;
const SHRUNK_MAX = 3;

type Options = {
  readonly seeds: string;
  readonly from: string;
  readonly jobs: string;
  readonly seed?: string;
  readonly only?: string;
  readonly trace?: boolean;
  readonly twice?: boolean;
  readonly planted?: boolean | string;
};

if (process.argv.includes('--child')) serveTasks();
else {
  const options = new Command('sim')
    .option('--seeds <count>', 'how many seeds', '400')
    .option('--from <seed>', 'the first seed', '1')
    .option('--jobs <count>', 'processes', String(Math.min(8, availableParallelism())))
    .option('--seed <seed>', 'one seed only')
    .option('--only <classes>', 'with --seed: the fault classes that are on, by number')
    .option('--trace', 'with --seed: prints everything that happens')
    .option('--twice', 'runs every seed twice and compares')
    .option('--planted [name]', 'runs the planted bugs too, or one of them alone')
    .parse()
    .opts<Options>();
  process.exitCode = options.seed === undefined ? await campaign(options) : await one(options);
}

async function one(options: Options): Promise<number> {
  const seed = whole(options.seed!);
  const only = options.only === undefined ? {} : { only: classesOf(options.only) };
  const began = performance.now();
  let run: Run;
  if (typeof options.planted === 'string') run = (await carryOut({ seed, planted: options.planted, ...only })).run;
  else
    run = await simulate(seed, {
      ...only,
      ...(options.trace === true ? { print: line => void process.stdout.write(line) } : {}),
    });
  const { violations, ...rest } = run;
  console.log(JSON.stringify({ ...rest, speedup: Math.round(run.simMs / (performance.now() - began)) }, null, 2));
  for (const { at, law, what } of violations) console.log(`${(at / 1000).toFixed(3)} s  ${law}  ${what}`);
  console.log(violations.length === 0 ? 'no violation' : `${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}

async function campaign(options: Options): Promise<number> {
  const jobs = whole(options.jobs);
  const began = performance.now();
  const tally = new Tally();
  const planted: PlantedFind[] = [];
  if (typeof options.planted !== 'string') await seeds(options, jobs, tally);
  if (options.planted !== undefined && options.planted !== false) {
    const names = typeof options.planted === 'string' ? [options.planted] : PLANTED.map(({ name }) => name);
    planted.push(...(await findPlanted(names, jobs)));
  }
  for (const run of tally.failing.slice(0, SHRUNK_MAX)) await explain(run);
  console.log(block(tally, planted, performance.now() - began, commit()));
  console.log(lastLine(tally, planted));
  const isGood =
    tally.failing.length === 0 && tally.mismatches === 0 && planted.every(({ seeds: found }) => found !== null);
  return isGood ? 0 : 1;
}

async function seeds(options: Options, jobs: number, tally: Tally): Promise<void> {
  const from = whole(options.from);
  const count = whole(options.seeds);
  const tasks: Task[] = [];
  for (let seed = from; seed < from + count; seed++) tasks.push({ seed });
  // The second runs come last: another process than the first has every chance to get them.
  for (let seed = from; seed < from + count; seed++) {
    if (options.twice === true || seed % TWICE_EVERY === 1) tasks.push({ seed });
  }
  const hashes = new Map<number, string>();
  let next = 0;
  await runTasks(
    MAIN,
    jobs,
    () => tasks[next++] ?? null,
    ({ task, run, ms }) => {
      const before = hashes.get(task.seed);
      if (before === undefined) {
        hashes.set(task.seed, run.hash);
        tally.add(run, ms);
        if (run.violations.length > 0) tell(run);
      } else {
        tally.compared++;
        if (before !== run.hash) {
          tally.mismatches++;
          say(`seed ${task.seed}: the second run was different`);
        }
      }
      progress(
        `${tally.runs.length} of ${count} seeds, ${tally.failing.length} failing, ${tally.speedup.toFixed(0)} x`,
      );
    },
  );
  progress('');
}

function tell(run: Run): void {
  const { at, law, what } = run.violations[0]!;
  say(`seed ${run.seed}: ${law} at ${(at / 1000).toFixed(1)} s: ${what}`);
}

/** Says which faults a failing seed needs, and how to see it again. */
async function explain(run: Run): Promise<void> {
  const classes = await shrunk(run, async task => (await carryOut(task)).run);
  say(`seed ${run.seed} needs ${classes.length === 0 ? 'no fault' : classes.join(', ')}`);
  say(`  npm run sim -- --seed ${run.seed} --only ${JSON.stringify(numbersOf(classes))} --trace`);
}

async function findPlanted(names: readonly string[], jobs: number): Promise<readonly PlantedFind[]> {
  const open = new Map(
    names.map(name => [name, { next: 1, found: null as number | null, law: null as string | null, under: 0 }]),
  );
  await runTasks(
    MAIN,
    jobs,
    () => {
      for (const [planted, state] of open) {
        if (state.found !== null || state.next > PLANTED_SEEDS_MAX) continue;
        return { seed: state.next++, planted };
      }
      return null;
    },
    ({ task, run }) => {
      const state = open.get(task.planted!)!;
      if (run.violations.length === 0) return;
      if (state.found === null || task.seed < state.found) {
        state.found = task.seed;
        state.law = run.violations[0]!.law;
      }
      progress(`planted: ${task.planted} found with seed ${task.seed}`);
    },
  );
  progress('');
  return [...open].map(([name, { found, law }]) => ({ name, seeds: found, law }));
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

function whole(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new Error(`expected a whole number, found ${text}`);
  return n;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`);
}

function say(text: string): void {
  progress('');
  console.log(text);
}
