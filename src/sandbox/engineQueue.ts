/** The way from the door to the matching engine: commands of one book, in order, each after its delay on the clock. */
import type { Clock, Millis, Timer } from '../core/index.ts';

/** Commands of one book that may be under way; beyond it the venue answers 1002. */
export const COMMANDS_MAX = 100_000;

type Command = { readonly due: Millis; readonly run: () => void };

export class EngineQueue {
  readonly #clock: Clock;
  #waiting: Command[] = [];
  #next = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get full(): boolean {
    return this.#waiting.length - this.#next >= COMMANDS_MAX;
  }

  /** Runs after `delay`, and never before an earlier command; at once when the delay is 0 and nothing waits. */
  submit(delay: Millis, run: () => void): void {
    const last = this.#waiting[this.#waiting.length - 1];
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
    this.#waiting = [];
    this.#next = 0;
  }

  #arm(): void {
    const head = this.#waiting[this.#next];
    if (this.#timer || !head) return;
    this.#timer = this.#clock.after(head.due - this.#clock.elapsed(), () => {
      this.#timer = undefined;
      this.#run();
    });
  }

  #run(): void {
    for (
      let head = this.#waiting[this.#next];
      head && head.due <= this.#clock.elapsed();
      head = this.#waiting[this.#next]
    ) {
      this.#next++;
      head.run();
    }
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else if (this.#next > 1000) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    this.#arm();
  }
}
