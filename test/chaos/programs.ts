/** The built program as processes that can be killed, frozen and asked what they said. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The built program, beside the built test and from the source of one. */
const MAIN = fileURLToPath(
  new URL(import.meta.url.includes('/dist/') ? '../../src/main.js' : '../../dist/src/main.js', import.meta.url),
);

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };
export type Running = {
  readonly ended: Promise<Ended>;
  readonly isOver: () => boolean;
  readonly stdout: () => string;
  readonly stderr: () => string;
  signal(name: NodeJS.Signals): void;
  /** How long its main thread has waited for a processor since it was started, in ms; 0 where the system does not tell. */
  queuedMs(): number;
  /** How long its main thread has had one, in ms. */
  ranMs(): number;
  /** Whether its main thread has one or waits for one. */
  isRunnable(): boolean;
};

/** Characters of the output and of the log that are kept, the last ones. A list of hedges has several million. */
const STDOUT_MAX = 100_000_000;
const STDERR_MAX = 2_000_000;
const running = new Set<Running>();

/** Starts the built program, or another built module. */
export function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  module = MAIN,
): Running {
  const child = spawn(process.execPath, [module, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout = (stdout + text).slice(-STDOUT_MAX)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-STDERR_MAX)));
  let over = false;
  const ended = new Promise<Ended>(resolve =>
    child.on('close', (code, signal) => {
      over = true;
      running.delete(program);
      resolve({ code, signal });
    }),
  );
  const program: Running = {
    ended,
    isOver: () => over,
    stdout: () => stdout,
    stderr: () => stderr,
    signal: name => void child.kill(name),
    queuedMs: () => scheduled(child.pid, 1),
    ranMs: () => scheduled(child.pid, 0),
    isRunnable: () => / R /.test(readProc(child.pid, 'stat')),
  };
  running.add(program);
  return program;
}

/** /proc/PID/schedstat: ns on a processor, ns in the queue for one, turns. */
const scheduled = (pid: number | undefined, field: 0 | 1): number =>
  Number(readProc(pid, 'schedstat').split(' ')[field] ?? 0) / 1e6;

function readProc(pid: number | undefined, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Nothing that was started outlives the campaign. */
export function killAll(): void {
  for (const program of running) {
    program.signal('SIGCONT');
    program.signal('SIGKILL');
  }
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Polls until it holds; false when it did not within `ms`. */
export async function within(ms: number, holds: () => boolean | Promise<boolean>, everyMs = 100): Promise<boolean> {
  for (const until = Date.now() + ms; ;) {
    if (await holds()) return true;
    if (Date.now() > until) return false;
    await pause(everyMs);
  }
}
