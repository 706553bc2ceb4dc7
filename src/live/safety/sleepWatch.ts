/** Detection of a suspended process or machine. Data that waited in the sockets during the suspension is outdated. */
import type { Clock, Millis } from '../../core/index.ts';

/** Interval of the checks for a suspension while no other event triggers a check. */
export const LOOK_EVERY_MS: Millis = 500;
/** Duration of a suspension after which the bot must read the book and the account again before it quotes. */
const SLEPT_MS = 10_000;
/**
 * If the wall clock advances by this much more than the monotonic clock, the machine counts as suspended. An adjustment
 * of the machine's clock can have the same effect, and then interrupts the quotes for about a second.
 */
const UNSEEN_MS = 2_000;
/**
 * Minimum length of a suspension that makes data suspect: data that arrives just after it may have waited in the
 * socket.
 */
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
   * Checks for a suspension. Call `look` at every turn of the event loop. Returns the duration of the suspension in ms,
   * or 0 if the suspension was too short to matter.
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

  /** Whether data that is received now may have waited during a suspension. */
  get isWaking(): boolean {
    return this.#clock.elapsed() - this.#pausedAt < WAKING_MS;
  }
}
