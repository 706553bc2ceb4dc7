/** The built program as a process of its own, run as a user runs it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'dist/src/main.js');

/** `stderr` without the lines of progress, which come on a slow machine only. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

const PROGRESS = /^(?:[^\n]*: )?\d+%, (?:[^\n]* left|time left unknown|no progress for [^\n]*)\n/gm;

export type Program = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Resolves with the match; rejects when the program ends, or four minutes pass, without it. */
  sees(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
};

/** Longest life of the program of one test. */
const KILL_AFTER_MS = 280_000;
/** Longest life of a program that serves a whole file of tests, which a busy machine may take ten minutes for. */
const SHARED_MS = 1_700_000;
/** Long enough for any machine: what is awaited comes within seconds on a quiet one. */
const SEE_WITHIN_MS = 240_000;

/** Those that have not ended. */
const running = new Set<ChildProcess>();

/** Ends every program that was started and has not ended, however its test did. For `afterEach`, where no program is kept from one test to the next. */
export async function endPrograms(): Promise<void> {
  await Promise.all(
    [...running].map(child => {
      const ended = new Promise(resolve => child.once('close', resolve));
      child.kill('SIGKILL');
      return ended;
    }),
  );
}

/** Nothing of the test's own environment is a secret of the program's. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PUNTAS_API')));

/** `main`: another build of it; `killAfterMs`: its longest life; `cwd`: its working directory. */
export function puntas(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  {
    main = MAIN,
    killAfterMs = KILL_AFTER_MS,
    cwd = ROOT,
  }: { readonly main?: string; readonly killAfterMs?: number; readonly cwd?: string } = {},
): Program {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { ...ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: killAfterMs,
    killSignal: 'SIGKILL',
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  const heard = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  const hear = (stream: 'stdout' | 'stderr') => (chunk: string) => {
    heard[stream] += chunk;
    for (const look of watchers) look();
  };
  child.stdout.setEncoding('utf8').on('data', hear('stdout'));
  child.stderr.setEncoding('utf8').on('data', hear('stderr'));
  const ended = new Promise<Ended>(resolve =>
    child.on('close', code => resolve({ code, ...heard, stderr: heard.stderr.replace(PROGRESS, '') })),
  );
  return {
    pid: child.pid!,
    ended,
    signal: name => void child.kill(name),
    sees: pattern =>
      new Promise((resolve, reject) => {
        const give = (why: string) => {
          settled();
          reject(new Error(`${why} without ${pattern}:\n${heard.stdout}\n${heard.stderr}`));
        };
        const look = () => {
          const found = pattern.exec(heard.stdout) ?? pattern.exec(heard.stderr);
          if (!found) return;
          settled();
          resolve(found);
        };
        const timer = setTimeout(() => give('four minutes passed'), SEE_WITHIN_MS);
        const settled = () => {
          clearTimeout(timer);
          watchers.delete(look);
        };
        watchers.add(look);
        void ended.then(() => give('it ended'));
        look();
      }),
  };
}

/** A program that all tests of a file share. */
export const sharedPuntas = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): Program =>
  puntas(args, environment, { killAfterMs: SHARED_MS });

export const ran = (args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Ended> =>
  puntas(args, environment).ended;

/** The one JSON object that a program printed; what it said instead is in the error. */
export function printed({ code, stdout, stderr }: Ended): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no JSON on stdout, exit code ${code}:\n${stdout}\n${stderr}`);
  }
}

/** Lines of stderr that are not the program's log. */
export const complaints = ({ stderr }: Ended): string[] =>
  stderr.split('\n').filter(line => line !== '' && !line.startsWith('{"level":30'));

/** A folder for the files and states of one test file. */
export class Bench {
  readonly dir = mkdtempSync(join(tmpdir(), 'puntas-cli-'));
  #count = 0;

  path(name: string): string {
    return join(this.dir, name);
  }

  file(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** The text of a configuration that ships, with its own state folder and metrics on a free port; `change` edits the text. */
  config(shipped = 'sandbox', change: (text: string) => string = text => text): string {
    const tree = parse(readFileSync(join(ROOT, 'config', `${shipped}.yaml`), 'utf8')) as Record<string, unknown>;
    const n = ++this.#count;
    const text = stringify({
      ...tree,
      state: { dir: this.path(`state-${n}`) },
      metrics: { port: 0 },
      timing: { ...(tree['timing'] as object | undefined), shutdownMs: 600_000 },
    });
    return this.file(`${shipped}-${n}.yaml`, change(text));
  }

  clear(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
