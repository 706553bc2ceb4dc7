/** The exchange's request limit inside a replay: so many in any 60 seconds. */

const WINDOW_MS = 60_000;

export class RequestBudget {
  /** Requests that found no place. */
  refused = 0;
  readonly #times: Float64Array;
  #next = 0;

  constructor(perMinute: number) {
    if (!(Number.isSafeInteger(perMinute) && perMinute > 0 && perMinute <= 1_000_000)) {
      throw new RangeError(`a request budget is a whole number from 1 to 1000000, found ${perMinute}`);
    }
    this.#times = new Float64Array(perMinute).fill(-Infinity);
  }

  get perMinute(): number {
    return this.#times.length;
  }

  /** Requests taken in the 60 s before `at`. */
  usedAt(at: number): number {
    const times = this.#times;
    let used = 0;
    // From the newest back; none is later than now.
    for (let n = times.length - 1; n >= 0 && at - times[(this.#next + n) % times.length]! < WINDOW_MS; n--) used++;
    return used;
  }

  /** Takes `count` places at `at`, or none and counts the refusal. */
  take(at: number, count: number): boolean {
    const times = this.#times;
    // The oldest of the last so many must have left the window.
    const last = times[(this.#next + count - 1) % times.length]!;
    if (!(count <= times.length && at - last >= WINDOW_MS)) {
      this.refused++;
      return false;
    }
    for (let n = 0; n < count; n++) {
      times[this.#next] = at;
      this.#next = (this.#next + 1) % times.length;
    }
    return true;
  }
}
