/**
 * Detection of a stalled live stream, for the console and the fleet page. A connection can stall without an error, and
 * the page would then show an old view as the newest one.
 */

/**
 * Time without a message after which a stream counts as lost, in ms. Both servers send a view at least once per second.
 */
export const STALLED_MS = 5_000;

export class StreamWatch {
  readonly #now: () => number;
  #heardAt: number;

  /** `now`: monotonic time, in ms. */
  constructor(now: () => number) {
    this.#now = now;
    this.#heardAt = now();
  }

  /** Time since the last message, or since the stream was opened, in ms. */
  get silentMs(): number {
    return this.#now() - this.#heardAt;
  }

  get isStalled(): boolean {
    return this.silentMs > STALLED_MS;
  }

  /** Restarts the timer of `silentMs`. Call it at each message and at each new stream. */
  heard(): void {
    this.#heardAt = this.#now();
  }
}
