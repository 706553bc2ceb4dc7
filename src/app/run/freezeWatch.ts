/**
 * Watch over a process that runs a strategy file: a thread ends the process if a loop in a timer or promise of the file
 * freezes it. Calls into the file have their own time limit.
 */
import { Worker } from 'node:worker_threads';
import { textOfError } from '../../core/index.ts';
import { limitedCall, type OwnCall } from '../../../strategies/index.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import type { FrozenBot } from './frozenProcess.ts';
import { SuspectFiles } from './suspectFiles.ts';

/** Data of the thread. `turns` changes at each turn of the event loop. */
export type FreezeWatched = {
  readonly turns: SharedArrayBuffer;
  readonly bot: FrozenBot;
  /** Words with which the user starts this program: `puntas` or `npx puntas`. */
  readonly command: string;
};

/** Interval in which the main thread shows that its event loop turns, in ms. */
const TURN_MS = 200;

export class FreezeWatch {
  readonly #warn: (line: string) => void;
  readonly #command: string;
  readonly #turns = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #view = new Int32Array(this.#turns);
  #thread: Worker | null = null;
  readonly #files = new SuspectFiles();
  #which: WhichBot | null = null;

  /**
   * Creates a watch that does nothing until `start`. `warn` receives why the process is not watched any more; `command`:
   * words with which the user starts this program.
   */
  constructor(warn: (line: string) => void, command: string) {
    this.#warn = warn;
    this.#command = command;
  }

  /**
   * Watches a bot from now on. Call it before code of a strategy file runs, for each file, and at a reload again.
   * `strategy`: name of the file with its hash.
   */
  start(which: WhichBot, strategy: string): void {
    this.#which = which;
    this.#files.add(strategy);
    this.#show();
  }

  /** Says which strategy files are in force after a reload, applied or refused. */
  settle(inForce: readonly string[]): void {
    this.#files.settle(inForce);
    setImmediate(() => {
      if (this.#files.turn()) this.#show();
    });
  }

  #show(): void {
    if (this.#which === null) return;
    const bot: FrozenBot = { ...this.#which, strategies: this.#files.names };
    if (this.#thread === null) this.#thread = this.#threadOf(bot);
    else this.#thread.postMessage(bot);
  }

  #threadOf(bot: FrozenBot): Worker {
    const thread = new Worker(new URL('./freezeWatchThread.js', import.meta.url), {
      workerData: { turns: this.#turns, bot, command: this.#command } satisfies FreezeWatched,
      env: {},
    });
    thread.on('error', error =>
      this.#warn(
        `the watch over the strategy file ended (${textOfError(error)}): a loop in a timer or promise of the file would freeze the bot`,
      ),
    );
    thread.unref();
    setInterval(() => this.#turn(), TURN_MS).unref();
    return thread;
  }

  /** Makes a call with the time limit of a running bot. A series of calls is no freeze, because each of them ends. */
  readonly call: OwnCall = (name, call) => {
    try {
      return limitedCall(name, call);
    } finally {
      this.#turn();
    }
  };

  #turn(): void {
    Atomics.add(this.#view, 0, 1);
  }
}
