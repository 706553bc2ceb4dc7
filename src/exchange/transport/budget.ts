/**
 * Request budget of one scope, such as an API key: limits the weight of requests in any window, and grants by priority.
 */
import { MINUTE_MS, type AddressPause, type Clock, type Millis, type Timer } from '../../core/index.ts';
import { windowMeter, type Meter } from './meters.ts';

/** Slot in the budget. The user of the slot calls one of its two functions when the request has ended. */
export type Slot = {
  /** Frees the slot after the window, because the exchange may have counted the request. */
  readonly end: () => void;
  /** Frees the slot immediately, because no byte of the request was sent. */
  readonly release: () => void;
};

export type BudgetLimits = {
  /** Maximum number of waiting requests. Above this number, a request is rejected immediately. */
  readonly waitersMax?: number;
  /** Pause that budgets of other clients share; absent for a pause of its own. */
  readonly pause?: AddressPause | undefined;
} & (
  | { readonly perMinute: number }
  /** Limits that apply at the same time: a request is granted if every meter has room for its weight. */
  | { readonly meters: readonly Meter[] }
);

type Waiter = { readonly priority: number; readonly weight: number; readonly serve: (slot: Slot | null) => void };

/** Duration of a lockout after too many requests, if the exchange names none (public facts 11). */
const LOCK_OUT: Millis = 60_000;
/** Maximum duration of a lockout. Binance bans addresses for at most three days (its page "Limits", common knowledge). */
const LOCK_OUT_MAX: Millis = 3 * 24 * 60 * 60_000;

/**
 * Rate budget. The exchange may count a request at any time from its start to its end; the meters allow for every case.
 */
export class Budget {
  readonly #clock: Clock;
  readonly #meters: readonly Meter[];
  readonly #waitersMax: number;
  readonly #waiters: Waiter[] = [];
  readonly #pause: AddressPause;
  #lockOuts = 0;
  #wake: Timer | undefined;

  constructor(clock: Clock, limits: BudgetLimits) {
    if ('perMinute' in limits && !(Number.isSafeInteger(limits.perMinute) && limits.perMinute > 0)) {
      throw new RangeError(`perMinute must be a whole number above 0, found ${limits.perMinute}`);
    }
    this.#clock = clock;
    this.#meters = 'perMinute' in limits ? [windowMeter(limits.perMinute, MINUTE_MS)] : limits.meters;
    this.#waitersMax = limits.waitersMax ?? 1_000;
    this.#pause = limits.pause ?? { until: -Infinity };
  }

  /**
   * Resolves to a slot; to `null` if none becomes free within `waitMs`. The highest priority is served first, then the
   * oldest request.
   */
  take(priority: number, waitMs: Millis, weight = 1): Promise<Slot | null> {
    if (this.#waiters.length === 0 && this.#hasRoom(weight)) return Promise.resolve(this.#slot(weight));
    const fits = this.#meters.every(meter => weight <= meter.limit);
    if (!(waitMs > 0) || !fits || this.#waiters.length >= this.#waitersMax) return Promise.resolve(null);
    return new Promise(resolve => {
      const waiter: Waiter = {
        priority,
        weight,
        serve: slot => {
          patience.stop();
          resolve(slot);
        },
      };
      const patience = this.#clock.after(waitMs, () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        waiter.serve(null);
        // The removed request may have been heavy and have kept lighter ones waiting.
        this.#serve();
      });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** Returns a slot immediately, even above the limit, for a request that must not wait; `null` during a lockout. */
  takeNow(weight: number): Slot | null {
    return this.#isPaused() ? null : this.#slot(weight);
  }

  /** Returns the weight that may be sent now. */
  left(): number {
    if (this.#isPaused()) return 0;
    return Math.max(0, Math.floor(this.#room()));
  }

  /** Stops all requests, for a minute by default, after the exchange reported too many requests. */
  lockOut(ms: Millis = LOCK_OUT): void {
    this.#lockOuts++;
    const longest = Math.min(ms > 0 ? ms : LOCK_OUT, LOCK_OUT_MAX);
    this.#pause.until = Math.max(this.#pause.until, this.#clock.elapsed() + longest);
  }

  /** Returns how often the exchange has reported too many requests. */
  lockOuts(): number {
    return this.#lockOuts;
  }

  /** Raises the first meter to the weight that the exchange reports as used. Never lowers it. */
  raiseTo(used: number): void {
    if (Number.isFinite(used)) this.#meters[0]?.raiseTo(used, this.#clock.elapsed());
  }

  /** Rejects all waiting requests. */
  close(): void {
    this.#wake?.stop();
    for (const waiter of this.#waiters.splice(0)) waiter.serve(null);
  }

  #isPaused(): boolean {
    return this.#clock.elapsed() < this.#pause.until;
  }

  #room(): number {
    const now = this.#clock.elapsed();
    return Math.min(...this.#meters.map(meter => meter.room(now)));
  }

  #hasRoom(weight: number): boolean {
    return !this.#isPaused() && this.#room() >= weight;
  }

  #slot(weight: number): Slot {
    for (const meter of this.#meters) meter.start(weight, this.#clock.elapsed());
    let held = true;
    const release = (counted: boolean) => {
      if (!held) return;
      held = false;
      for (const meter of this.#meters) meter.end(counted, weight, this.#clock.elapsed());
      this.#serve();
    };
    return { end: () => release(true), release: () => release(false) };
  }

  #serve(): void {
    while (this.#waiters.length > 0) {
      let first = 0;
      this.#waiters.forEach((waiter, i) => {
        if (waiter.priority > this.#waiters[first]!.priority) first = i;
      });
      const { weight } = this.#waiters[first]!;
      if (!this.#hasRoom(weight)) break;
      this.#waiters.splice(first, 1)[0]!.serve(this.#slot(weight));
    }
    this.#wake?.stop();
    this.#wake = undefined;
    if (this.#waiters.length === 0) return;
    const now = this.#clock.elapsed();
    const due = this.#isPaused() ? this.#pause.until : Math.min(...this.#meters.map(meter => meter.moreRoomAt(now)));
    // If pending requests use all slots, a waiting request gets its slot when a pending request ends, so no timer is
    // needed.
    if (due === Infinity) return;
    // Because of rounding, the timer may fire slightly before the slot is free. The minimum of 1 ms prevents an endless
    // loop of timers without delay.
    this.#wake = this.#clock.after(Math.max(1, due - now), () => this.#serve());
  }
}
