/** Notices that this process did not run for a while: it was frozen, or its machine was; what waited in its sockets then is old news. */
import type { Clock, Millis } from '../../core/index.ts';

/** Between two looks when nothing else happens. */
export const LOOK_EVERY_MS: Millis = 500;
/** Nothing that was read before counts after a longer pause: by then the account has not been read for too long either. */
const SLEPT_MS = 10_000;
/** A machine that stood still shows the pause on its wall clock alone; so does a clock that was set, and that costs a second of quotes. */
const UNSEEN_MS = 2_000;
/** After a pause of this length, what comes at once may have waited as long. */
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

  /** To be called at every turn. Milliseconds for which the process did not run, when they are too many to go on as before; else 0. */
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

  /** What is heard now may have waited since before a pause. */
  get isWaking(): boolean {
    return this.#clock.elapsed() - this.#pausedAt < WAKING_MS;
  }
}
