/** Detection of a suspended process or machine; data that waited in the sockets meanwhile is outdated. */
import type { Clock, Millis } from '../../core/index.ts';

/** Pause between two checks without other events. */
export const LOOK_EVERY_MS: Millis = 500;
/** Pause after which earlier reads no longer count; the account was not read for too long either. */
const SLEPT_MS = 10_000;
/**
 * Difference between wall and monotonic clock that counts as suspension of the machine. Setting the clock looks the
 * same and costs a second of quotes.
 */
const UNSEEN_MS = 2_000;
/** Suspension after which data that arrives immediately may have waited as long. */
const PAUSED_MS = 2_000;
const WAKING_MS = 500;

export class SleepWatch {
  readonly #clock: Clock;
  #elapsed: Millis;
  #wall: Millis;
  #pausedAt: Millis = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#elapsed = clock.elapsed();
    this.#wall = clock.now();
  }

  /**
   * Must be called at every turn. Returns the ms for which the process was suspended, if too long to continue; else 0.
   */
  look(): Millis {
    const elapsed = this.#clock.elapsed();
    const wall = this.#clock.now();
    const passed = elapsed - this.#elapsed;
    const unseen = wall - this.#wall - passed;
    this.#elapsed = elapsed;
    this.#wall = wall;
    if (passed >= PAUSED_MS || unseen >= UNSEEN_MS) this.#pausedAt = elapsed;
    if (passed >= SLEPT_MS) return passed;
    return unseen >= UNSEEN_MS ? unseen : 0;
  }

  /** Whether received data may have waited since before a suspension. */
  get isWaking(): boolean {
    return this.#clock.elapsed() - this.#pausedAt < WAKING_MS;
  }
}
