/**
 * The bot's view of the sentinel. The bot does not quote while a required sentinel sends no heartbeat, or while the
 * sentinel holds its quotes.
 */
import type { RunContext } from '../runContext.ts';
import type { Latch } from './latch.ts';

export class SentinelWatch {
  readonly #run: RunContext;
  readonly #latch: Pick<Latch, 'readHold'>;
  readonly #resumeCommand: string;
  readonly #isAlive: () => boolean;
  #alive = true;
  #isHeld = false;

  /**
   * Creates the watch. `isAlive` returns whether the sentinel sends a heartbeat; if absent, no sentinel is required.
   */
  constructor(
    run: RunContext,
    latch: Pick<Latch, 'readHold'>,
    resumeCommand: string,
    isAlive: () => boolean = () => true,
  ) {
    this.#run = run;
    this.#latch = latch;
    this.#resumeCommand = resumeCommand;
    this.#isAlive = isAlive;
  }

  look(): void {
    const { log, step, time } = this.#run;
    const alive = this.#isAlive();
    const hold = this.#latch.readHold();
    if (hold !== null && !this.#isHeld)
      log.warn(
        { reason: hold.reason },
        `${hold.reason}; quotes are blocked until the sentinel sees that this bot reads the exchange again. Without a sentinel, resume with: ${this.#resumeCommand}`,
      );
    if (alive === this.#alive && (hold !== null) === this.#isHeld) return;
    this.#alive = alive;
    this.#isHeld = hold !== null;
    step({ kind: 'sentinel', alive, holds: this.#isHeld, at: time() });
  }
}
