/** The command line of the simulation: a campaign over many seeds, one seed with its trace, or the planted bugs. */
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { carryOut, classesOf, runTasks, serveTasks, type Task } from './campaign.ts';
import { PLANTED } from './planted.ts';
import { block, lastLine, Tally, type PlantedFind } from './report.ts';
import { commandOf } from './shrink/command.ts';
import { writeCase } from './shrink/fixedCase.ts';
import { causeName, type Explained } from './shrink/groups.ts';
import { shrink, type Shrunk } from './shrink/shrink.ts';
import type { Run } from './simulate.ts';
import { existsSync } from 'node:fs';
import { emptyTable, mergeTable, readTable, writeTable } from './judges/states.ts';
import { slopeOf, soak, type SoakDay } from './soak.ts';
import { keepWords, parseKeep } from './world/keep.ts';

const MAIN = fileURLToPath(import.meta.url);
/** Every so manieth seed is run twice, the second time in another process than the first. */
const TWICE_EVERY = 10;
const PLANTED_SEEDS_MAX = 200;
/** So many failing seeds of a campaign are shrunk; of the others the invariant is known. */
const SHRUNK_MAX = 12;
/** Share of requests and of answers that are lost, and of errors. */
const SOAK_FAULTS = [0, 0.005];
/** Until then the embedded exchange fills what it keeps to a bound: trades, candles, finished orders. */
const SOAK_WARM_UP_DAYS = 7;
const SLOPE_MAX_MB = 0.2;

type Options = {
  readonly seeds: string;
  readonly from: string;
  readonly jobs: string;
  readonly seed?: string;
  readonly only?: string;
  readonly keep?: string;
  readonly plain?: string;
  readonly heal?: string;
  readonly until?: string;
  readonly shrink?: boolean | string;
  readonly trace?: boolean;
  readonly twice?: boolean;
  readonly planted?: boolean | string;
  readonly days?: string;
  readonly reloads?: boolean;
  readonly actions?: boolean;
  readonly elsewhere?: boolean;
  readonly books?: boolean;
  readonly states?: string;
  readonly steer?: string;
};

if (process.argv.includes('--child')) serveTasks();
else if (process.argv.includes('--soak')) await printDays(process.argv.slice(-2).map(Number));
else {
  const options = new Command('sim')
    .option('--seeds <count>', 'how many seeds', '400')
    .option('--from <seed>', 'the first seed', '1')
    .option('--jobs <count>', 'processes', String(Math.min(8, availableParallelism())))
    .option('--seed <seed>', 'one seed only')
    .option('--only <classes>', 'with --seed: the fault classes that are on, by number')
    .option('--keep <strikes>', 'with --seed: the fault classes and single strikes that are on, such as 1:17,34:0,2')
    .option('--plain <settings>', 'with --seed: drawn settings that are put back to their plainest value, by name')
    .option('--heal <ms>', 'with --seed: when the faults end, instead of what the seed draws')
    .option('--until <ms>', 'with --seed: when the run is cut off')
    .option(
      '--shrink [file]',
      'with --seed: shrinks its failure and names the cause; writes it as a fixed case to a file',
    )
    .option('--trace', 'with --seed: prints everything that happens')
    .option('--twice', 'runs every seed twice and compares')
    .option(
      '--days <count>',
      'instead of seeds: a month or so of the shipped bot, once calm and once with lost requests, for its heap',
    )
    .option('--reloads', 'somebody changes the configuration every few seconds, well and badly')
    .option('--actions', 'persons pause, reduce, cancel, halt, flatten and resume every few seconds, at bad moments')
    .option('--elsewhere', 'the bot hedges on a second exchange, which has faults of its own')
    .option('--books', 'the bot quotes two to four books of one account, which operators stop one by one')
    .option('--states <file>', 'adds the pairs of states that the campaign visits to the table in this file')
    .option('--steer <file>', 'draws the fault classes by such a table, towards pairs that were rarely visited')
    .option('--planted [name]', 'runs the planted bugs too, or one of them alone')
    .parse()
    .opts<Options>();
  if (options.days !== undefined) process.exitCode = await month(whole(options.days));
  else process.exitCode = options.seed === undefined ? await campaign(options) : await one(options);
}

async function one(options: Options): Promise<number> {
  const seed = whole(options.seed!);
  const { only, keep, plain, heal, until, planted } = options;
  const task: Task = {
    seed,
    ...modeOf(options),
    ...(only === undefined ? {} : { only: classesOf(only) }),
    ...(keep === undefined ? {} : { keep }),
    ...(plain === undefined ? {} : { plain }),
    ...(heal === undefined ? {} : { safetyMs: whole(heal) }),
    ...(until === undefined ? {} : { untilMs: whole(until) }),
    ...(typeof planted === 'string' ? { planted } : {}),
  };
  if (options.shrink !== undefined && options.shrink !== false) return shrinkOne(task, options.shrink);
  const began = performance.now();
  const { run } = await carryOut(
    task,
    options.trace === true ? { print: line => void process.stdout.write(line) } : {},
  );
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
  if (options.states !== undefined) keepStates(options.states, tally);
  const explained: Explained[] = [];
  for (const [i, run] of tally.failing.entries()) explained.push(await explain(run, i < SHRUNK_MAX, options.steer));
  console.log(block(tally, planted, performance.now() - began, commit(), explained));
  console.log(lastLine(tally, planted, explained));
  const isGood =
    tally.failing.length === 0 && tally.mismatches === 0 && planted.every(({ seeds: found }) => found !== null);
  return isGood ? 0 : 1;
}

function keepStates(file: string, tally: Tally): void {
  const table = existsSync(file) ? readTable(file) : emptyTable();
  mergeTable(table, tally.pairs);
  writeTable(file, table);
}

async function seeds(options: Options, jobs: number, tally: Tally): Promise<void> {
  const from = whole(options.from);
  const count = whole(options.seeds);
  const all = Array.from({ length: count }, (_, i): Task => ({
    seed: from + i,
    ...modeOf(options),
  }));
  const hashes = new Map<number, string>();
  await runTasks(MAIN, jobs, oneByOne(all), ({ task, run, ms }) => {
    hashes.set(task.seed, run.hash);
    tally.add(run, ms);
    if (run.violations.length > 0) tell(run);
    progress(`${tally.runs.length} of ${count} seeds, ${tally.failing.length} failing, ${tally.speedup.toFixed(0)} x`);
  });
  // In processes of their own: nothing that the first ones kept can make them alike.
  const again = all.filter(({ seed }) => options.twice === true || seed % TWICE_EVERY === 1);
  await runTasks(MAIN, jobs, oneByOne(again), ({ task, run }) => {
    tally.compared++;
    if (hashes.get(task.seed) === run.hash) return;
    tally.mismatches++;
    say(`seed ${task.seed}: the second run was different`);
  });
  progress('');
}

function oneByOne(tasks: readonly Task[]): () => Task | null {
  let next = 0;
  return () => tasks[next++] ?? null;
}

function tell(run: Run): void {
  const { at, law, what } = run.violations[0]!;
  say(`seed ${run.seed}: ${law} at ${(at / 1000).toFixed(1)} s: ${what}`);
}

/** Says what a failing seed needs and what made it fail, and how to see it again. */
async function explain(run: Run, isShrunk: boolean, steer?: string): Promise<Explained> {
  const { seed } = run;
  if (!isShrunk) return { seed, law: run.violations[0]!.law, cause: 'not looked for' };
  const shrunk = await shrink({ seed, ...ofRun(run), ...(steer === undefined ? {} : { steer }) });
  tellShrunk(shrunk);
  return { seed, law: shrunk.failure.law, cause: causeName(shrunk.cause) };
}

async function shrinkOne(task: Task, file: string | true): Promise<number> {
  const shrunk = await shrink(task);
  tellShrunk(shrunk);
  if (file !== true) writeCase(file, shrunk);
  return 1;
}

function tellShrunk({ failure, cause, tries }: Shrunk): void {
  const { task, law, what, atMs, event } = failure;
  say(`seed ${task.seed} needs ${keepWords(parseKeep(task.keep!))} (${tries} runs)`);
  say(`  ${law} at ${(atMs / 1000).toFixed(3)} s, event ${event}: ${what}`);
  say(`  inevitable since event ${cause.event}, ${causeName(cause)}: ${cause.line.slice(0, 200)}`);
  say(`  ${commandOf(task)}`);
}

/** Other activity in a run: several books, hedges elsewhere, reloads or actions. */
function ofRun({ reloads, actions, elsewhere, books }: Run): Pick<Task, 'reloads' | 'actions' | 'elsewhere' | 'books'> {
  if (books !== null) return { books: true };
  if (elsewhere !== null) return { elsewhere: true };
  return actions !== null ? { actions: true } : reloads !== null ? { reloads: true } : {};
}

async function findPlanted(names: readonly string[], jobs: number): Promise<readonly PlantedFind[]> {
  const open = new Map(
    names.map(name => {
      const next = PLANTED.find(one => one.name === name)?.from ?? 1;
      return [name, { next, found: null as number | null, law: null as string | null, under: 0 }];
    }),
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

/** One process for each: its heap is its own. */
async function month(days: number): Promise<number> {
  const results = [];
  for (const faults of SOAK_FAULTS) {
    const lines = execFileSync(process.execPath, ['--expose-gc', MAIN, '--soak', String(days), String(faults)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 1e8,
    });
    const seen = lines
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as SoakDay);
    console.log(lines.trim());
    const { slope, upper } = slopeOf(seen, SOAK_WARM_UP_DAYS);
    const { heap, rss, requests, orders, fills, runs } = seen.at(-1)!;
    const mb = (bytes: number) => Number((bytes / 1e6).toFixed(1));
    const round = (x: number) => Number(x.toFixed(3));
    results.push({
      ...{ days, faults, slopeMbPerDay: round(slope), upperMbPerDay: round(upper) },
      ...{ heapMb: mb(heap), rssMb: mb(rss), requests, orders, fills, runs },
    });
  }
  for (const result of results) console.log(JSON.stringify(result));
  return results.every(({ slopeMbPerDay }) => slopeMbPerDay <= SLOPE_MAX_MB) ? 0 : 1;
}

async function printDays([days = 30, faults = 0]: readonly number[]): Promise<void> {
  await soak({ days, faults, seed: 1, onDay: day => console.log(JSON.stringify(day)) });
}

function modeOf({
  reloads,
  actions,
  elsewhere,
  books,
  plain,
  states,
  steer,
}: Options): Pick<Task, 'reloads' | 'actions' | 'elsewhere' | 'books' | 'steer'> {
  const [other] = Object.entries({ reloads, actions, elsewhere, plain }).find(([, is]) => is !== undefined) ?? [];
  if (books === true && other !== undefined)
    throw new Error(`--books: cannot be used with --${other}; run them one after the other`);
  if (steer !== undefined && steer === states)
    throw new Error(
      `--states and --steer: expected two files, found ${steer} twice; the table of a seed must not change`,
    );
  return {
    ...(steer === undefined ? {} : { steer }),
    ...(reloads === true ? { reloads: true } : {}),
    ...(actions === true ? { actions: true } : {}),
    ...(elsewhere === true ? { elsewhere: true } : {}),
    ...(books === true ? { books: true } : {}),
  };
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
