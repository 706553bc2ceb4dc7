/** The exchange's clock against ours, from the quickest message of a connection; and how late every other one came. */
import type { Millis } from '../core/index.ts';

export class ClockOffset {
  #least = Infinity;
  /** Of the connection before. */
  #before = Infinity;

  /** A message of the exchange's time `sentAt` came at `now` of ours. Returns how much longer it took than the quickest so far. */
  saw(now: Millis, sentAt: Millis): Millis {
    this.#least = Math.min(this.#least, now - sentAt);
    return now - sentAt - this.#least;
  }

  /** Another connection may take another way, and clocks drift: its own messages tell. */
  reset(): void {
    if (this.#least < Infinity) this.#before = this.#least;
    this.#least = Infinity;
  }

  /** On our clock, the latest time at which a message of this time of theirs was sent; Infinity before the first message. */
  ours(theirs: Millis): Millis {
    return theirs + this.#known;
  }

  /** A time of ours on the exchange's clock, the quickest message's way early; null before the first message. */
  theirs(ours: Millis): Millis | null {
    return this.#known < Infinity ? ours - this.#known : null;
  }

  get #known(): Millis {
    return this.#least < Infinity ? this.#least : this.#before;
  }
}
