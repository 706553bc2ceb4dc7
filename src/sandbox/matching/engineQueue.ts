/** Queue in front of the matching engine: commands for one book, executed in order, each after its delay. */
import type { Clock, Millis, Timer } from '../../core/index.ts';
import { Fifo } from './fifo.ts';

/** Maximum number of pending commands per book; the venue answers 1002 above this number. */
export const COMMANDS_MAX = 100_000;

/** Pending command and its due time, as elapsed time of the clock. */
export type PendingCommand<T> = { readonly due: Millis; readonly command: T };

export class EngineQueue<T> {
  readonly #clock: Clock;
  readonly #execute: (command: T) => void;
  readonly #waiting = new Fifo<PendingCommand<T>>();
  #timer: Timer | undefined;

  /** Creates a queue. `execute` runs one command. */
  constructor(clock: Clock, execute: (command: T) => void) {
    this.#clock = clock;
    this.#execute = execute;
  }

  get full(): boolean {
    return this.#waiting.size >= COMMANDS_MAX;
  }

  /**
   * Runs a command after `delay`, never before an earlier command. Runs the command immediately if the delay is 0 and
   * the queue is empty.
   */
  submit(delay: Millis, command: T): void {
    const last = this.#waiting.newest();
    if (!(delay > 0) && last === undefined) {
      this.#execute(command);
      return;
    }
    const due = Math.max(this.#clock.elapsed() + delay, last?.due ?? 0);
    this.#waiting.push({ due, command });
    this.#arm();
  }

  /** Returns the pending commands in the order of their execution. */
  pending(): readonly PendingCommand<T>[] {
    return this.#waiting.values();
  }

  /** Drops all pending commands. */
  close(): void {
    this.#timer?.stop();
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #arm(): void {
    const head = this.#waiting.oldest();
    if (this.#timer || !head) return;
    this.#timer = this.#clock.after(head.due - this.#clock.elapsed(), () => {
      this.#timer = undefined;
      this.#run();
    });
  }

  #run(): void {
    const now = this.#clock.elapsed();
    for (let head = this.#waiting.oldest(); head && head.due <= now; head = this.#waiting.oldest()) {
      this.#waiting.shift();
      this.#execute(head.command);
    }
    this.#arm();
  }
}
