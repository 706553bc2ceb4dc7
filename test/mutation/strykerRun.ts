/** Runs Stryker on a copy of the tree, so that the tree itself is never touched. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MutatedFile, Mutant } from './mutants.ts';
import { RESULT, TESTS, WANTED, type Result } from './protocol.ts';
import { NOT_IN_THREADS } from './rooms.ts';

const PLUGIN = fileURLToPath(new URL('./plugin.js', import.meta.url));
/** One seed for all properties: a mutant that dies today dies tomorrow. What fails is not shrunk, only found. */
const SEED = 20261125;
/** Loops without end are found by their count, whatever the clock says; a busy machine must not look like one. */
const TIMEOUT_MS = 60_000;
const TIMEOUT_FACTOR = 5;
/** A test that waits for what never comes fails after this, and so many times the longest test without a mutant. */
const TEST_TIMEOUT_MS = 20_000;
const TEST_TIMEOUT_FACTOR = 10;
const UNMUTATED_TIMEOUT_MS = 300_000;
const SHOWN_ON_FAILURE = 40;

export type Batch = {
  /** Each with the mutants that are to run. */
  readonly files: readonly MutatedFile[];
  readonly tests: readonly string[];
  /** Whether mutants that run while a module is loaded are tried too, each with all tests. */
  readonly withStatic: boolean;
};

/** Result of vitest without a mutant. */
type Unmutated = { readonly passed: number; readonly longestMs: number };
type VitestReport = {
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly assertionResults: readonly { readonly duration?: number }[] }[];
};

/** The tests do not pass, or Stryker ran others than vitest does. */
export class UnusableTests extends Error {}

/** In memory where there is room: tests in virtual time write and sync a journal thousands of times a second. */
function temporaryFolder(): string {
  const [memory, roomMin] = ['/dev/shm', 2e9];
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > roomMin ? memory : tmpdir();
}

export class CopiedTree {
  readonly #root: string;
  readonly #work: string;
  readonly #copy: string;
  readonly #jobs: number;
  readonly #unmutated = new Map<string, Unmutated>();
  #child: ChildProcess | null = null;
  #isStopped = false;

  constructor(root: string, jobs: number) {
    this.#root = root;
    this.#jobs = jobs;
    this.#work = mkdtempSync(join(temporaryFolder(), 'puntas-mutation-'));
    this.#copy = join(this.#work, 'puntas');
    mkdirSync(join(this.#work, 'tmp'));
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const path of listed.toString().split('\0'))
      if (path !== '' && existsSync(join(root, path))) cpSync(join(root, path), join(this.#copy, path));
    symlinkSync(join(root, 'node_modules'), join(this.#copy, 'node_modules'));
    if (existsSync(join(root, '../shared'))) symlinkSync(resolve(root, '../shared'), join(this.#work, 'shared'));
    writeFileSync(
      join(this.#copy, 'mutationSetup.ts'),
      `import fc from 'fast-check';\nfc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true, seed: ${SEED} });\n`,
    );
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends what runs; the copy is still there. */
  stop(): void {
    this.#isStopped = true;
    this.#kill();
  }

  remove(): void {
    rmSync(this.#work, { recursive: true, force: true });
  }

  /** @throws UnusableTests if the tests fail without a mutant, or other tests run than without Stryker. */
  async run({ files, tests, withStatic }: Batch, onResult: (mutant: Mutant, status: string) => void): Promise<void> {
    const { passed: expected, longestMs } = this.#unmutated.get(tests.join()) ?? (await this.#runUnmutated(tests));
    if (this.#isStopped) return;
    this.#writeTestConfig(tests, TEST_TIMEOUT_MS + TEST_TIMEOUT_FACTOR * longestMs);
    this.#writeConfig(files, withStatic);
    for (const { path, content } of files) writeFileSync(join(this.#copy, path), content);
    const mutants = new Map(files.map(file => [file.path, new Map(file.mutants.map(mutant => [mutant.id, mutant]))]));
    const wanted = Object.fromEntries(files.map(({ path, mutants: of }) => [path, of.map(({ id }) => id)]));
    writeFileSync(join(this.#work, 'wanted.json'), JSON.stringify(wanted));
    let wrong: string | null = null;
    const { code, log } = await this.#runCommand('@stryker-mutator/core/bin/stryker.js', ['run'], line => {
      if (line.startsWith(TESTS)) {
        const ran = Number(line.slice(TESTS.length));
        if (ran === expected) return;
        wrong = `Stryker ran ${ran} tests where vitest runs ${expected}; a test file that cannot be loaded is left out`;
        this.#kill();
      } else if (line.startsWith(RESULT)) {
        const { file, id, status } = JSON.parse(line.slice(RESULT.length)) as Result;
        const mutant = mutants.get(file)?.get(id);
        if (mutant !== undefined) onResult(mutant, status);
      }
    });
    for (const { path } of files) cpSync(join(this.#root, path), join(this.#copy, path));
    if (this.#isStopped) return;
    if (wrong !== null) throw new UnusableTests(`${tests.join(', ')}: ${String(wrong)}`);
    if (code !== 0) throw new UnusableTests(`${tests.join(', ')}: Stryker ended with ${code}:\n${log.join('\n')}`);
  }

  async #runUnmutated(tests: readonly string[]): Promise<Unmutated> {
    this.#writeTestConfig(tests, UNMUTATED_TIMEOUT_MS);
    const out = join(this.#work, 'tests.json');
    const { code, log } = await this.#runCommand('vitest/vitest.mjs', [
      ...[
        'run',
        '--config',
        'vitest.mutation.config.js',
        '--reporter=default',
        '--reporter=json',
        `--outputFile=${out}`,
      ],
    ]);
    if (this.#isStopped) return { passed: 0, longestMs: 0 };
    if (code !== 0) throw new UnusableTests(`${tests.join(', ')}: fail without a mutant:\n${log.join('\n')}`);
    const { numPassedTests, testResults } = JSON.parse(readFileSync(out, 'utf8')) as VitestReport;
    const durations = testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ duration }) => duration ?? 0),
    );
    const unmutated = { passed: numPassedTests, longestMs: Math.ceil(Math.max(0, ...durations)) };
    this.#unmutated.set(tests.join(), unmutated);
    return unmutated;
  }

  #writeTestConfig(tests: readonly string[], timeoutMs: number): void {
    const include = tests.map(test => (test.endsWith('.ts') ? test : `${test}/**/*.test.ts`));
    writeFileSync(
      join(this.#copy, 'vitest.mutation.config.js'),
      `import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';
const projectOf = name => base.test.projects.find(({ test }) => test.name === name).test;
const excluded = projectOf('rooms').exclude.filter(file => !projectOf('slower').include.includes(file));
export default defineConfig({ cacheDir: '.vite', test: {
  isolate: false, retry: 0, testTimeout: ${timeoutMs}, hookTimeout: ${timeoutMs}, setupFiles: ['./mutationSetup.ts'],
  include: ${JSON.stringify(include)}, exclude: [...excluded, ...${JSON.stringify(NOT_IN_THREADS)}],
} });\n`,
    );
  }

  #writeConfig(files: readonly MutatedFile[], withStatic: boolean): void {
    const options = {
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner', PLUGIN],
      checkers: ['wanted'],
      reporters: ['each-result'],
      vitest: { configFile: 'vitest.mutation.config.js', related: false },
      mutate: files.map(({ path }) => path),
      coverageAnalysis: 'perTest',
      ignoreStatic: !withStatic,
      inPlace: true,
      concurrency: this.#jobs,
      timeoutMS: TIMEOUT_MS,
      timeoutFactor: TIMEOUT_FACTOR,
      disableTypeChecks: false,
      allowEmpty: true,
      fileLogLevel: 'off',
    };
    writeFileSync(join(this.#copy, 'stryker.config.mjs'), `export default ${JSON.stringify(options)};\n`);
  }

  /** Ends the whole group: workers of Stryker and their threads. */
  #kill(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  async #runCommand(
    program: string,
    words: readonly string[],
    onLine: (line: string) => void = () => undefined,
  ): Promise<{ readonly code: number | null; readonly log: readonly string[] }> {
    if (this.#isStopped) return { code: null, log: [] };
    const child = spawn(process.execPath, [join(this.#root, 'node_modules', program), ...words], {
      cwd: this.#copy,
      env: { ...process.env, TMPDIR: join(this.#work, 'tmp'), [WANTED]: join(this.#work, 'wanted.json') },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    const log: string[] = [];
    const read = (line: string): void => {
      onLine(line);
      if (line.startsWith('@')) return;
      log.push(line);
      if (log.length > SHOWN_ON_FAILURE) log.shift();
    };
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', read);
    const code = await new Promise<number | null>(done => child.on('close', done));
    this.#child = null;
    return { code, log };
  }
}
