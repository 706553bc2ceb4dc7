/** Detection of a suspended process or machine. Data that waited in the sockets meanwhile is outdated. */
import type { Clock, Millis } from '../../core/index.ts';

/** Interval of checks if there are no other events. */
export const LOOK_EVERY_MS: Millis = 500;
/** Suspension after which earlier reads, also of the account, no longer count. */
const SLEPT_MS = 10_000;
/**
 * Difference between wall and monotonic clock that counts as suspension of the machine. A change of the machine's clock
 * looks like one, and costs a second of quotes.
 */
const UNSEEN_MS = 2_000;
/** Suspension after which data may have waited for an equal time, even if it arrives immediately. */
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

  /** Checks for a suspension; call at every turn. Returns its duration in ms; 0 if that was too short to matter. */
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
