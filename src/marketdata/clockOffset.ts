/**
 * Offset of the exchange's clock, computed from the fastest message of a connection, and the extra delay of every other
 * message.
 */
import type { Millis } from '../core/index.ts';

export class ClockOffset {
  #minimum = Infinity;
  /** Offset of the previous connection in ms, used until a message of the current connection arrives. */
  #before = Infinity;

  /**
   * Records a message with exchange time `sentAt`, received at local time `now`. Returns the delay of the message
   * beyond the delay of the fastest message so far.
   */
  recordMessage(now: Millis, sentAt: Millis): Millis {
    this.#minimum = Math.min(this.#minimum, now - sentAt);
    return now - sentAt - this.#minimum;
  }

  /**
   * Starts a new connection. The offset is measured again, because the delay of the new connection may differ and
   * clocks drift.
   */
  reset(): void {
    if (this.#minimum < Infinity) this.#before = this.#minimum;
    this.#minimum = Infinity;
  }

  /** Converts exchange time to the latest possible local send time; Infinity before the first message. */
  toLocalTime(theirs: Millis): Millis {
    return theirs + this.#known;
  }

  /**
   * Converts local time to exchange time. The result is too early by the delay of the fastest message; `null` before
   * the first message.
   */
  theirs(ours: Millis): Millis | null {
    return this.#known < Infinity ? ours - this.#known : null;
  }

  get #known(): Millis {
    return this.#minimum < Infinity ? this.#minimum : this.#before;
  }
}
