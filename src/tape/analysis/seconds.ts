/** Logarithms of a recorded price at the end of each second, for computing price moves. */
import type { Millis } from '../../core/index.ts';
import type { Gap, Tape } from '../model/tape.ts';
import { walk } from '../model/walk.ts';

/**
 * Logarithms of prices. `values[i]` is the logarithm at the end of the second `from + i` since 1970; NaN before the first
 * price, and from the start of a gap to the first price after the gap.
 */
export type LogSeconds = { readonly from: number; readonly values: Float64Array };

/** Gaps of a recording, in order of time. After a gap, the mid price is unknown until the best prices change. */
export class MissingTimes {
  readonly #gaps: readonly Gap[];
  #next = 0;
  /** Latest end of the gaps that have started; -Infinity if no gap has started. */
  until: Millis = -Infinity;

  constructor(gaps: readonly Gap[]) {
    this.#gaps = gaps;
  }

  /** Returns the start of the first gap that started since the last call and before `at`; `null` if no gap started. */
  startedBefore(at: Millis): Millis | null {
    const first = this.#gaps[this.#next];
    if (first === undefined || first.from >= at) return null;
    for (let gap = this.#gaps[this.#next]; gap !== undefined && gap.from < at; gap = this.#gaps[++this.#next])
      this.until = Math.max(this.until, gap.to);
    return first.from;
  }
}

/** Sampler of a price at the end of each second of a tape. */
export class SecondsSampler {
  /** Latest price; NaN before the first price, and from the start of a gap to the first price after the gap. */
  price = Number.NaN;
  readonly #from: number;
  readonly #values: Float64Array;
  readonly #gaps: readonly Gap[];
  readonly #missing: MissingTimes;
  #second: number;

  constructor({ columns, gaps }: Tape) {
    this.#from = this.#second = Math.floor((columns.at[0] ?? 0) / 1_000);
    const length = Math.floor((columns.at[columns.length - 1] ?? 0) / 1_000) - this.#from + 1;
    this.#values = new Float64Array(length).fill(Number.NaN);
    this.#gaps = gaps;
    this.#missing = new MissingTimes(gaps);
  }

  /** Samples the seconds that end at or before `at`; must be called before a price of the time `at` is set. */
  passTo(at: Millis): void {
    for (; this.#second * 1_000 + 1_000 <= at; this.#second++)
      this.#values[this.#second - this.#from] = Math.log(this.price);
    const since = this.#missing.startedBefore(at);
    if (since === null) return;
    this.#values.fill(Number.NaN, Math.max(0, Math.floor(since / 1_000) - this.#from), this.#second - this.#from);
    this.price = Number.NaN;
  }

  /** Returns the samples so far. */
  end(): LogSeconds {
    for (const gap of this.#gaps) {
      const [a, b] = [Math.floor(gap.from / 1_000) - this.#from, Math.ceil(gap.to / 1_000) - this.#from];
      this.#values.fill(Number.NaN, Math.max(0, a), Math.max(0, b));
    }
    return { from: this.#from, values: this.#values };
  }
}

/**
 * Samples the mid price at the end of each second, or the last trade price if the recording has no book.
 */
export function logSecondsOf(tape: Tape): LogSeconds {
  const { at, length } = tape.columns;
  const sampler = new SecondsSampler(tape);
  let hasBook = false;
  walk(tape, {
    time: at => sampler.passTo(at),
    touch: (_at, { bid, ask }) => {
      hasBook = true;
      sampler.price = (bid + ask) / 2;
    },
    trade: (_at, traded) => {
      if (!hasBook) sampler.price = traded;
    },
  });
  // The second of the last row is complete.
  sampler.passTo(1_000 * Math.floor((at[length - 1] ?? 0) / 1_000) + 1_000);
  return sampler.end();
}
