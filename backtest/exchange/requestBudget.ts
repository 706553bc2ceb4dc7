/** Request limit of the exchange inside a replay: a number of requests in any 60 seconds. */

const WINDOW_MS = 60_000;

export class RequestBudget {
  readonly #times: Float64Array;
  #next = 0;
  /** Number of requests since the start. */
  #taken = 0;
  /** Number of requests that were older than the window at the last call of `usedAt`. */
  #gone = 0;
  /** Time `at` of the last call of `usedAt`. */
  #askedAt = -Infinity;

  constructor(perMinute: number) {
    if (!(Number.isSafeInteger(perMinute) && perMinute > 0 && perMinute <= 1_000_000)) {
      throw new RangeError(`a request budget must be a whole number from 1 to 1000000, found ${perMinute}`);
    }
    this.#times = new Float64Array(perMinute).fill(-Infinity);
  }

  get perMinute(): number {
    return this.#times.length;
  }

  /** Returns the number of requests in the 60 s before `at`. */
  usedAt(at: number): number {
    const times = this.#times;
    const kept = Math.max(0, this.#taken - times.length);
    // Expired requests remain expired, unless `at` is earlier than in the last call.
    let gone = at >= this.#askedAt ? Math.max(this.#gone, kept) : kept;
    while (gone < this.#taken && !(at - times[gone % times.length]! < WINDOW_MS)) gone++;
    this.#gone = gone;
    this.#askedAt = at;
    return this.#taken - gone;
  }

  /** Reserves `count` requests at `at`. If they exceed the limit, reserves none and returns false. */
  take(at: number, count: number): boolean {
    const times = this.#times;
    // `count` requests fit if the `count` oldest entries are outside the window.
    const last = times[(this.#next + count - 1) % times.length]!;
    if (!(count <= times.length && at - last >= WINDOW_MS)) return false;
    for (let n = 0; n < count; n++) {
      times[this.#next] = at;
      this.#next = (this.#next + 1) % times.length;
      this.#taken++;
    }
    return true;
  }
}
