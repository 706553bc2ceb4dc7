/** Number from which updates are requested from Telegram. */
import type { Clock, Millis } from '../../core/index.ts';

/**
 * Time without updates after which all updates are requested again, in ms. After a week without updates, Telegram
 * continues with a random number, which may be smaller.
 */
const NUMBERS_FOR_MS = 6 * 86_400_000;

export class UpdateOffset {
  readonly #clock: Pick<Clock, 'elapsed'>;
  #next = 0;
  #heardAt: Millis;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
    this.#heardAt = clock.elapsed();
  }

  /** Returns the number after the last update; 0 if there was no update for so long that numbers may start again. */
  next(): number {
    if (this.#clock.elapsed() - this.#heardAt > NUMBERS_FOR_MS) this.#next = 0;
    return this.#next;
  }

  /** Records an update. A smaller number follows a larger one only after a random restart of the numbers. */
  heard(id: number): void {
    this.#heardAt = this.#clock.elapsed();
    this.#next = id + 1;
  }
}
