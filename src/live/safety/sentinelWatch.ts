/** The bot's side of the sentinel: quotes wait while one that is asked for shows no life, and while one holds them back. */
import type { EngineEvent } from '../../core/index.ts';
import type { LoopOptions } from '../loop/loopOptions.ts';

export class SentinelWatch {
  readonly #options: Pick<LoopOptions, 'latch' | 'log' | 'sentinelAlive' | 'resumeCommand'>;
  readonly #step: (event: Omit<Extract<EngineEvent, { kind: 'sentinel' }>, 'at'>) => void;
  #alive = true;
  #isHeld = false;

  constructor(
    options: Pick<LoopOptions, 'latch' | 'log' | 'sentinelAlive' | 'resumeCommand'>,
    step: (event: Omit<Extract<EngineEvent, { kind: 'sentinel' }>, 'at'>) => void,
  ) {
    this.#options = options;
    this.#step = step;
  }

  look(): void {
    const { latch, log, sentinelAlive, resumeCommand } = this.#options;
    const alive = sentinelAlive?.() ?? true;
    const hold = latch.readHold();
    if (hold !== null && !this.#isHeld)
      log.warn(
        { reason: hold.reason },
        `${hold.reason}: quotes are held back; the sentinel lifts that when this bot reads the exchange again, and without a sentinel ${resumeCommand} does`,
      );
    if (alive === this.#alive && (hold !== null) === this.#isHeld) return;
    this.#alive = alive;
    this.#isHeld = hold !== null;
    this.#step({ kind: 'sentinel', alive, holds: this.#isHeld });
  }
}
