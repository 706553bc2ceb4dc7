/** The command line of mutation testing: folders or files, what has changed, or a draw; the nearest tests first, then further ones. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import ts from 'typescript';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { standardMutants, type MutatedFile, type Mutant } from './mutants.ts';
import { ownMutations } from './ownMutators.ts';
import { PAGE, pageOf, scoreText } from './page.ts';
import { KeptResults, resultsFolder } from './results.ts';
import { hashOfTests, roomOf, WHOLE, type Room } from './rooms.ts';
import { changedLines, drawn, grouped, pathNamed, sourcesBelow } from './selection.ts';
import { CopiedTree, UnusableTests } from './strykerRun.ts';
import {
  countsOf,
  FIGURES,
  gainedOf,
  interval,
  isSurvivor,
  listedSurvivors,
  openOf,
  readFigures,
  sumOf,
  totalOf,
  type Figures,
  type FileFigures,
  type Outcome,
} from './survivors.ts';
import { withSwitches } from './switches.ts';

const ROOT = process.cwd();
/** A drawn sample fails only if chance does not explain a score below this. */
const SCORE_MIN = 0.8;

type Options = {
  readonly changed?: string;
  readonly random?: number;
  readonly seed: string;
  readonly minutes?: number;
  readonly jobs: number;
  readonly page?: true;
  readonly fresh?: true;
};
/** One mutant that a run takes. */
type Taken = { readonly mutant: Mutant; readonly file: Variant; readonly room: Room };
/** A file with Stryker's mutants, or with our own. */
type Variant = MutatedFile & { readonly isOwn: boolean; readonly original: string };

const whole = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1.');
  return Number(text);
};
const command = new Command('mutation')
  .argument('[path...]', `folders or files (default: ${WHOLE.join(', ')})`)
  .option('--changed <base>', 'files that differ from a commit; of folders with slow tests their changed lines')
  .option('--random <count>', 'so many mutants, drawn at random', whole)
  .option('--seed <seed>', 'seed of the draw', '1')
  .option('--minutes <count>', 'end after this time; the same command continues', whole)
  .option('--jobs <count>', 'processes', whole, availableParallelism())
  .option('--fresh', 'forget the results that are kept in .git/mutation')
  .option('--page', `write ${FIGURES} and ${PAGE}`)
  .parse();
const options = command.opts<Options>();
const progress = progressBar();
const say = (text: string): void => {
  progress.end();
  console.log(text);
};

const tree = new CopiedTree(ROOT, options.jobs);
process.once('exit', () => tree.remove());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    tree.stop();
    process.exit(130);
  });
const clock = options.minutes === undefined ? undefined : setTimeout(() => tree.stop(), options.minutes * 60_000);
/** Folders whose tests cannot be used, and why: the others are run all the same. */
const unusable: string[] = [];
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UnusableTests)) throw error;
  console.error(`mutation: ${error.message}`);
  process.exitCode = 1;
} finally {
  progress.end();
  clearTimeout(clock);
}

async function main(): Promise<number> {
  const began = performance.now();
  if (options.page === true && (options.changed ?? options.random) !== undefined)
    throw new UnusableTests('--page: expected whole files, without --changed and --random');
  const changed = options.changed === undefined ? null : changedLines(options.changed);
  const named = sourcesBelow(command.args.length === 0 ? WHOLE : command.args.map(pathNamed));
  const files = changed === null ? named : named.filter(file => changed.has(file));
  if (files.length === 0) {
    say('nothing to mutate');
    return 0;
  }
  const variants = await variantsOf(files);
  const all = variants.flatMap(file => {
    const room = roomOf(file.path);
    const lines = room.isSlow ? changed?.get(file.path) : undefined;
    return file.mutants
      .filter(({ line }) => lines === undefined || lines.has(line))
      .map((mutant): Taken => ({ mutant, file, room }));
  });
  const taken = options.random === undefined ? all : drawn(all, options.random, options.seed);
  const isSample = taken.length < all.length;
  say(`${taken.length}${isSample ? ` of ${all.length}` : ''} mutants, files: ${files.length}`);
  const outcomes = await outcomesOf(taken);
  if (options.page === true) {
    const counts = grouped(all, ({ mutant }) => mutant.file);
    const ran = grouped(outcomes, ({ mutant }) => mutant.file);
    const complete = files.filter(file => counts.has(file) && ran.get(file)?.length === counts.get(file)?.length);
    writePage(complete, outcomes);
  }
  return report(outcomes, taken.length, isSample, changed !== null, performance.now() - began);
}

/** Each file with Stryker's mutants and with our own, which need the types of the whole program. */
async function variantsOf(files: readonly string[]): Promise<readonly Variant[]> {
  progress.begin(files.length, 'mutants');
  const program = programOf();
  const variants: Variant[] = [];
  for (const [at, path] of files.entries()) {
    progress.at(at);
    const original = readFileSync(path, 'utf8');
    const own = withSwitches(path, original, ownMutations(program, join(ROOT, path)));
    variants.push({ ...(await standardMutants(path, original)), isOwn: false, original });
    variants.push({ ...own, isOwn: true, original });
  }
  progress.end();
  return variants.filter(({ mutants }) => mutants.length > 0);
}

function programOf(): ts.Program {
  const { config } = ts.readConfigFile('tsconfig.build.json', path => ts.sys.readFile(path)) as { config: unknown };
  const { fileNames, options: compilerOptions } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return ts.createProgram(fileNames, compilerOptions);
}

/** Runs what has no kept result, room by room. */
async function outcomesOf(taken: readonly Taken[]): Promise<readonly Outcome[]> {
  const folder = resultsFolder(options.fresh === true);
  const outcomes: Outcome[] = [];
  const rooms = grouped(taken, ({ room }) => room.sources);
  for (const [sources, ofRoom] of rooms)
    for (const isOwn of [false, true]) {
      const ofVariant = ofRoom.filter(({ file }) => file.isOwn === isOwn);
      if (ofVariant.length === 0) continue;
      const { room } = ofVariant[0]!;
      const what = `${sources}${isOwn ? ', own mutators' : ''}`;
      const first = await statusesOf(what, room, room.nearest, ofVariant, folder);
      const alive = ofVariant.filter(({ mutant }) => isSurvivor({ status: first.get(mutant) ?? '' }));
      const isTriedAgain = alive.length > 0 && room.further.length > 0;
      const second = isTriedAgain
        ? await statusesOf(`${what}, further tests`, room, room.further, alive, folder)
        : new Map<Mutant, string>();
      for (const { mutant } of ofVariant) {
        const status = finalStatus(first.get(mutant), second.get(mutant));
        // Without the second result it is not known whether it survives.
        const isKnown = !isTriedAgain || second.has(mutant) || !alive.some(one => one.mutant === mutant);
        if (status !== undefined && isKnown) outcomes.push({ mutant, isOwn, status });
      }
    }
  return outcomes;
}

/** The further tests decide, unless none of them reaches the mutant. */
function finalStatus(first: string | undefined, second: string | undefined): string | undefined {
  return second === undefined || second === 'NoCoverage' || second === 'Ignored' ? first : second;
}

async function statusesOf(
  what: string,
  room: Room,
  tests: readonly string[],
  taken: readonly Taken[],
  folder: string,
): Promise<ReadonlyMap<Mutant, string>> {
  const hash = hashOfTests(tests);
  const statuses = new Map<Mutant, string>();
  const files: MutatedFile[] = [];
  const kept = new Map<Mutant, KeptResults>();
  for (const [file, ofFile] of grouped(taken, one => one.file)) {
    const results = new KeptResults(folder, file.path, file.original, hash);
    const missing = ofFile.map(({ mutant }) => mutant).filter(mutant => results.statusOf(mutant) === undefined);
    for (const { mutant } of ofFile) {
      const status = results.statusOf(mutant);
      if (status !== undefined) statuses.set(mutant, status);
      kept.set(mutant, results);
    }
    if (missing.length > 0) files.push({ ...file, mutants: missing });
  }
  const count = files.reduce((sum, { mutants }) => sum + mutants.length, 0);
  if (count === 0 || tree.isStopped) return statuses;
  say(
    `${what}: ${count} mutants, ${tests.length > 3 ? `${tests.length} folders and files of tests` : tests.join(', ')}`,
  );
  progress.begin(count, what);
  let done = 0;
  try {
    await tree.run({ files, tests, withStatic: !room.isSlow }, (mutant, status) => {
      statuses.set(mutant, status);
      kept.get(mutant)!.keep(mutant, status);
      progress.at(++done);
    });
  } catch (error) {
    if (!(error instanceof UnusableTests)) throw error;
    unusable.push(`${what}: ${error.message}`);
    return statuses;
  } finally {
    progress.end();
  }
  // One whose outcome Stryker did not report would be missing from every count.
  if (done < count && !tree.isStopped) unusable.push(`${what}: ${count - done} of ${count} mutants were not run`);
  return statuses;
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const counts = countsOf(outcomes);
  const cells = [totalOf(counts), counts.survived, counts.uncovered].map(n => String(n).padStart(8));
  return `${name.padEnd(42)}${cells.join('')}${scoreText(counts).padStart(9)}`;
}

function report(
  outcomes: readonly Outcome[],
  taken: number,
  isSample: boolean,
  isChanged: boolean,
  ms: number,
): number {
  const open = openOf(outcomes, listedSurvivors());
  for (const { file, line, mutator, mutation } of [...open].sort(
    (a, b) => a.file.localeCompare(b.file) || a.line - b.line,
  )) {
    const isNamed = mutation.startsWith(`${mutator}: `);
    console.log(`${file}:${line} ${mutator}\n  ${isNamed ? mutation.slice(mutator.length + 2) : mutation}`);
  }
  console.log(`${'file'.padEnd(42)}${['mutants', 'alive', 'no test'].map(text => text.padStart(8)).join('')}    score`);
  for (const [file, ofFile] of grouped(outcomes, ({ mutant }) => mutant.file))
    console.log(row(file.replace(/^src\//, ''), ofFile));
  console.log(row('all', outcomes));
  const counts = countsOf(outcomes);
  const [low, high] = interval(counts.killed + counts.timeouts, totalOf(counts));
  if (isSample)
    console.log(`95 % interval: ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} %, seed ${options.seed}`);
  if (counts.static > 0) console.log(`${counts.static} not run: only loading a module reaches them`);
  if (outcomes.length < taken) console.log(`${taken - outcomes.length} not run: the same command continues`);
  // A run that tried nothing has proven nothing.
  if (outcomes.length === 0 && taken > 0) unusable.push(`none of ${taken} mutants was run`);
  for (const why of unusable) console.log(`not ok: ${why}`);
  const gained = gainedOf(open, readFigures(), isChanged);
  const isBad = isSample && high < SCORE_MIN;
  if (isBad)
    console.log(`not ok: expected a score of ${100 * SCORE_MIN} %, found at most ${(100 * high).toFixed(1)} %`);
  if (gained.length > 0 && options.page !== true)
    console.log(
      `not ok: ${gained.length} survivors are new: ${[...new Set(gained.map(({ file, line }) => `${file}:${line}`))].join(', ')}\n` +
        'write a test, delete the code, or add each with its reason to test/mutation/survivors.json',
    );
  console.log(
    JSON.stringify({ ...sumOf([counts]), open: open.length, gained: gained.length, seconds: Math.round(ms / 1_000) }),
  );
  return (gained.length > 0 && options.page !== true) || isBad || unusable.length > 0 ? 1 : 0;
}

function writePage(files: readonly string[], outcomes: readonly Outcome[]): void {
  const listed = listedSurvivors();
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const fresh = files.map((file): FileFigures => {
    const ofFile = outcomes.filter(({ mutant }) => mutant.file === file);
    return {
      file,
      commit,
      standard: countsOf(ofFile.filter(({ isOwn }) => !isOwn)),
      own: countsOf(ofFile.filter(({ isOwn }) => isOwn)),
      open: openOf(ofFile, listed).map(({ context, text, mutation }) => ({ context, text, mutation })),
    };
  });
  const others = (readFigures()?.files ?? []).filter(
    ({ file }) => !files.includes(file) && sourcesBelow([file]).length > 0,
  );
  const figures: Figures = {
    commit,
    machine: `${cpus().length} x ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    files: [...others, ...fresh]
      .filter(({ standard, own }) => totalOf(sumOf([standard, own])) > 0)
      .sort((a, b) => (a.file < b.file ? -1 : 1)),
  };
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 1)}\n`);
  writeFileSync(PAGE, pageOf(figures, listed));
  say(`written: ${FIGURES}, ${PAGE}`);
}
