/** Offset of the exchange's clock, from the fastest message of a connection, and the delay of every other message. */
import type { Millis } from '../core/index.ts';

export class ClockOffset {
  #least = Infinity;
  /** Value of the previous connection. */
  #before = Infinity;

  /** Records a message with exchange time `sentAt`, received at local time `now`. Returns its delay beyond the fastest so far. */
  saw(now: Millis, sentAt: Millis): Millis {
    this.#least = Math.min(this.#least, now - sentAt);
    return now - sentAt - this.#least;
  }

  /** Starts a new connection, which may have another delay; clocks also drift. */
  reset(): void {
    if (this.#least < Infinity) this.#before = this.#least;
    this.#least = Infinity;
  }

  /** Converts exchange time to the latest possible local send time; Infinity before the first message. */
  ours(theirs: Millis): Millis {
    return theirs + this.#known;
  }

  /** Converts local time to exchange time, early by the delay of the fastest message; null before the first message. */
  theirs(ours: Millis): Millis | null {
    return this.#known < Infinity ? ours - this.#known : null;
  }

  get #known(): Millis {
    return this.#least < Infinity ? this.#least : this.#before;
  }
}
