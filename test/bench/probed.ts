/** A built program with the probe in it: what it prints, and samples of its memory, handles and event loop on demand. */
import { fork, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Decisions } from './decisionProbe.ts';
import { pause } from './pause.ts';
import type { Sample } from './probe.ts';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
/** Loaded before the program, by what they tell of it. */
const PROBES = { sample: 'probe.js', decisions: 'decisionProbe.js' } as const;
type What = keyof typeof PROBES;
type Answers = { readonly sample: Sample; readonly decisions: Decisions };
const HEARD_MAX = 1_000_000;
const ANSWER_WITHIN_MS = 60_000;

/** What the system says of the process beside what it says of itself. */
export type ProbedSample = Sample & {
  /** Open files and sockets. */
  readonly fds: number;
  readonly threads: number;
  /** How long its main thread waited for a processor since it began, ms: what others on the machine took. */
  readonly queuedMs: number;
};

export class Probed {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  heard = '';
  #asked = 0;

  /** Of the built program (`npm run build:all`), or another module beside it, with that environment on top of ours. */
  constructor(
    args: readonly string[],
    { probe = 'sample', module = MAIN, env = {} }: { probe?: What; module?: string; env?: NodeJS.ProcessEnv } = {},
  ) {
    this.#child = fork(module, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: ['--expose-gc', '--import', new URL(PROBES[probe], import.meta.url).href],
    });
    const hear = (text: string) => (this.heard = (this.heard + text).slice(-HEARD_MAX));
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.setEncoding('utf8').on('data', hear);
    this.ended = new Promise(resolve => this.#child.on('exit', resolve));
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until it has said so. Rejects with the end of what it said when it does not, or ends. */
  async says(pattern: RegExp, withinMs = 120_000): Promise<RegExpExecArray> {
    for (const until = Date.now() + withinMs; ;) {
      const found = pattern.exec(this.heard);
      if (found !== null) return found;
      if (this.isOver || Date.now() > until) throw new Error(`not heard: ${pattern}\n${this.heard.slice(-3_000)}`);
      await pause(100);
    }
  }

  /** Rejects when it does not answer within a minute. */
  async sample(): Promise<ProbedSample> {
    const { pid } = this.#child;
    const sample = await this.#ask('sample');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return {
      ...sample,
      fds: readdirSync(`/proc/${pid}/fd`).length,
      threads: Number(/^Threads:\s*(\d+)/m.exec(status)?.[1]),
      queuedMs: Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6,
    };
  }

  /** How long each decision since the last question took. */
  decisions(): Promise<Decisions> {
    return this.#ask('decisions');
  }

  #ask<W extends What>(what: W): Promise<Answers[W]> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      const hear = (told: { readonly id: number; readonly answer: Answers[W] }) => {
        if (told.id !== id) return;
        clearTimeout(late);
        this.#child.off('message', hear);
        resolve(told.answer);
      };
      const late = setTimeout(() => {
        this.#child.off('message', hear);
        reject(
          new Error(`process ${this.#child.pid} told nothing of itself for a minute\n${this.heard.slice(-3_000)}`),
        );
      }, ANSWER_WITHIN_MS);
      this.#child.on('message', hear);
      this.#child.send({ id, what });
    });
  }

  /** To end it; it is asked for nothing any more. */
  signal(name: NodeJS.Signals): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill(name);
  }
}
