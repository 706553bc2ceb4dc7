/** Limits that halt trading until the operator resumes it: losses, and more events than a healthy bot has. */
import { DAY_MS, MINUTE_MS } from '../model/durations.ts';
import { enlarged } from '../model/enlarged.ts';
import type { CountedHalt, HaltReason } from '../model/halts.ts';
import { money, textOfMoney, type Millis, type Money } from '../model/units.ts';

export type HaltLimits = {
  /** Maximum fall of the profit from its peak since the last resume, in the quote currency. */
  readonly drawdownMax: Money;
  /** Maximum loss since the start of the UTC day or, if later, the last resume, in the quote currency. */
  readonly dayLossMax: Money;
  /** Maximum number of executions in ten minutes, against repeated automated execution (RTS 6 Art. 15(3)). */
  readonly fillsPer10Min: number;
  /** Maximum number of placements rejected by the exchange, per minute. */
  readonly refusalsPerMinute: number;
  /** Maximum number of placements per minute without a usable answer. */
  readonly unknownsPerMinute: number;
  /** Maximum number of placements and cancels per minute. */
  readonly messagesPerMinute: number;
};

/**
 * State that the bot stores for the next run. The profit of a new run starts at zero, so losses are stored relative to
 * the profit peak and to the start of the day.
 */
export type KillSwitchState = {
  /** Amount by which the profit is below its peak. */
  readonly drawdown: Money;
  /** Number of the UTC day since 1970. `dayLoss` is the loss since the start of that day; negative for a gain. */
  readonly day: number;
  readonly dayLoss: Money;
};

/** Names of the limits on the number of events within a time window. */
type Counted = Exclude<keyof HaltLimits, 'drawdownMax' | 'dayLossMax'>;

export class KillSwitch {
  readonly limits: HaltLimits;
  readonly #windows: readonly {
    readonly limit: Counted;
    readonly name: CountedHalt;
    readonly max: number;
    readonly ms: Millis;
    readonly events: Recent;
  }[];
  #peak: Money | null = null;
  #day = Number.NaN;
  #dayStart: Money | null = null;

  constructor(limits: HaltLimits) {
    this.limits = limits;
    const window = (name: CountedHalt, limit: Counted, ms: Millis) => ({
      limit,
      name,
      max: limits[limit],
      ms,
      events: new Recent(limits[limit] + 1),
    });
    this.#windows = [
      window('fills', 'fillsPer10Min', 10 * MINUTE_MS),
      window('refusals', 'refusalsPerMinute', MINUTE_MS),
      window('unknown outcomes', 'unknownsPerMinute', MINUTE_MS),
      window('messages', 'messagesPerMinute', MINUTE_MS),
    ];
  }

  fill(at: Millis): void {
    this.#windows[0]!.events.add(at);
  }

  refusal(at: Millis): void {
    this.#windows[1]!.events.add(at);
  }

  unknown(at: Millis): void {
    this.#windows[2]!.events.add(at);
  }

  message(at: Millis): void {
    this.#windows[3]!.events.add(at);
  }

  /**
   * Returns the halt reason if a limit is exceeded; otherwise `null`. `profit` is the profit so far, also of inventory
   * between the earlier run and this one; `null` if it is not known yet.
   */
  breach(profit: Money | null, at: Millis): HaltReason | null {
    if (profit !== null) {
      [this.#peak, this.#dayStart] = this.#measuredFrom(profit, at);
      this.#day = Math.floor(at / DAY_MS);
      const loss = this.#exceeded(profit, this.#peak, this.#dayStart);
      if (loss !== null) return loss;
    }
    for (const { name, max, ms, events } of this.#windows) {
      if (events.isFull && !(at - events.oldest > ms)) return `${name}: more than ${max} in ${ms / MINUTE_MS} min`;
    }
    return null;
  }

  /** Returns the reason if a loss exceeds its limit; otherwise `null`. Day losses are per UTC day. */
  lossBeyond(profit: Money, at: Millis): HaltReason | null {
    return this.#exceeded(profit, ...this.#measuredFrom(profit, at));
  }

  #exceeded(profit: Money, peak: Money, dayStart: Money): HaltReason | null {
    const { drawdownMax, dayLossMax } = this.limits;
    if (!(peak - profit <= drawdownMax)) {
      return `drawdown: profit fell ${textOfMoney((peak - profit) as Money)} from its highest, the limit is ${textOfMoney(drawdownMax)}`;
    }
    if (!(dayStart - profit <= dayLossMax)) {
      return `loss: ${textOfMoney((dayStart - profit) as Money)} lost since the start of the UTC day, the limit is ${textOfMoney(dayLossMax)}`;
    }
    return null;
  }

  /** Returns the profits from which losses are measured: the highest, and that at the start of the day. */
  #measuredFrom(profit: Money, at: Millis): readonly [peak: Money, dayStart: Money] {
    // A clock that was set back starts no new day: the loss so far counts in the day that it shows now.
    const isNewDay = Math.floor(at / DAY_MS) > this.#day;
    return [
      this.#peak === null || profit > this.#peak ? profit : this.#peak,
      this.#dayStart === null || isNewDay ? profit : this.#dayStart,
    ];
  }

  /** Returns the number of counted events in the window of each limit. */
  counts(at: Millis): readonly { readonly limit: Counted; readonly max: number; readonly used: number }[] {
    return this.#windows.map(({ limit, max, ms, events }) => ({ limit, max, used: events.since(at - ms) }));
  }

  /** Returns the amount by which the profit is below its peak; `null` before the first check. */
  drawdown(profit: Money | null): Money | null {
    return this.#peak === null ? null : money(this.#peak - (profit ?? 0n));
  }

  /** Restarts the measurement of losses and clears the counts, after the operator's resume. */
  reset(): void {
    this.#peak = null;
    this.#dayStart = null;
    for (const { events } of this.#windows) events.clear();
  }

  /** Returns the state for the next run. As long as `profit` is not known, it is that of the earlier run. */
  state(profit: Money | null): KillSwitchState | null {
    if (this.#peak === null || this.#dayStart === null) return null;
    const now = profit ?? 0n;
    return { drawdown: money(this.#peak - now), day: this.#day, dayLoss: money(this.#dayStart - now) };
  }

  /** Restores the state of an earlier run. Call this before the new run has any profit. */
  restore({ drawdown, day, dayLoss }: KillSwitchState): void {
    this.#peak = drawdown;
    this.#day = day;
    this.#dayStart = dayLoss;
  }
}

const RECENT_SIZE_MIN = 64;

/** Ring of the most recent event times. */
class Recent {
  readonly #size: number;
  /** Times of the most recent events. The array grows on demand to at most `#size` entries. */
  #times: Float64Array;
  #count = 0;
  #next = 0;

  constructor(size: number) {
    this.#size = size;
    this.#times = new Float64Array(Math.min(size, RECENT_SIZE_MIN));
  }

  get isFull(): boolean {
    return this.#count === this.#size;
  }

  /** Oldest stored time. Valid only if the ring is full. */
  get oldest(): Millis {
    return this.#times[this.#next]!;
  }

  /** Returns how many of the stored times are at or after `at`. */
  since(at: Millis): number {
    let count = 0;
    for (let i = 0; i < this.#count; i++) if (this.#times[i]! >= at) count++;
    return count;
  }

  add(at: Millis): void {
    if (this.#count === this.#times.length && this.#count < this.#size)
      this.#times = enlarged(this.#times, Math.min(this.#size, 2 * this.#count));
    this.#times[this.#next] = at;
    this.#next = this.#next + 1 === this.#size ? 0 : this.#next + 1;
    this.#count = Math.min(this.#count + 1, this.#size);
  }

  clear(): void {
    this.#count = 0;
    this.#next = 0;
  }
}
