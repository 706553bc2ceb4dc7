/** The way from the door to the matching engine: commands of one book, in order, each after its delay on the clock. */
import type { Clock, Millis, Timer } from '../../core/index.ts';
import { Fifo } from './fifo.ts';

/** Commands of one book that may be under way; beyond it the venue answers 1002. */
export const COMMANDS_MAX = 100_000;

type Command = { readonly due: Millis; readonly run: () => void };

export class EngineQueue {
  readonly #clock: Clock;
  readonly #waiting = new Fifo<Command>();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get full(): boolean {
    return this.#waiting.size >= COMMANDS_MAX;
  }

  /** Runs after `delay`, and never before an earlier command; at once when the delay is 0 and nothing waits. */
  submit(delay: Millis, run: () => void): void {
    const last = this.#waiting.newest();
    if (!(delay > 0) && last === undefined) {
      run();
      return;
    }
    const due = Math.max(this.#clock.elapsed() + delay, last?.due ?? 0);
    this.#waiting.push({ due, run });
    this.#arm();
  }

  /** Drops what waits. */
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
      head.run();
    }
    this.#arm();
  }
}
