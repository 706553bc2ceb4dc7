/** Request budget of one scope: at most a fixed number of requests in any minute, granted by priority. */
import type { Clock, Millis, Timer } from '../../core/index.ts';

/** Slot in the budget. The user of the slot calls one of its two functions when the request has ended. */
export type Slot = {
  /** Frees the slot after a minute, because the exchange may have counted the request. */
  readonly end: () => void;
  /** Frees the slot immediately, because no byte of the request was sent. */
  readonly release: () => void;
};

export type BudgetLimits = {
  readonly perMinute: number;
  /** Maximum number of requests that wait for a slot. Above this number, a request is rejected immediately. */
  readonly waitersMax?: number;
};

type Waiter = { readonly priority: number; readonly serve: (slot: Slot | null) => void };

const WINDOW: Millis = 60_000;
/** Duration of a lockout after too many requests (public facts 11). */
const LOCK_OUT: Millis = 60_000;

/**
 * Rate budget. A slot is in use from before the request is sent until a minute after the request ended. The exchange
 * receives the request in between. So no minute at the exchange exceeds the limit, for any network delay, and for a
 * fixed or a sliding window.
 */
export class Budget {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #waitersMax: number;
  #underWay = 0;
  /** End times of requests in the last minute, oldest first. */
  readonly #ended: Millis[] = [];
  readonly #waiters: Waiter[] = [];
  #pausedUntil: Millis = -Infinity;
  #lockOuts = 0;
  #wake: Timer | undefined;

  constructor(clock: Clock, { perMinute, waitersMax = 1_000 }: BudgetLimits) {
    if (!(Number.isSafeInteger(perMinute) && perMinute > 0)) {
      throw new RangeError(`perMinute must be a whole number above 0, found ${perMinute}`);
    }
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#waitersMax = waitersMax;
  }

  /**
   * Resolves to a slot; to `null` if none becomes free within `waitMs`. The highest priority is served first, then the
   * oldest request.
   */
  take(priority: number, waitMs: Millis): Promise<Slot | null> {
    if (this.#waiters.length === 0 && this.left() > 0) return Promise.resolve(this.#slot());
    if (!(waitMs > 0) || this.#waiters.length >= this.#waitersMax) return Promise.resolve(null);
    return new Promise(resolve => {
      const waiter: Waiter = {
        priority,
        serve: slot => {
          patience.stop();
          resolve(slot);
        },
      };
      const patience = this.#clock.after(waitMs, () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        waiter.serve(null);
      });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** Returns the number of requests that may be sent now. */
  left(): number {
    if (this.#clock.elapsed() < this.#pausedUntil) return 0;
    this.#forget();
    return this.#perMinute - this.#underWay - this.#ended.length;
  }

  /** Stops all requests for a minute, after the exchange reported too many requests. */
  lockOut(): void {
    this.#lockOuts++;
    this.#pausedUntil = this.#clock.elapsed() + LOCK_OUT;
  }

  /** Returns how often the exchange has reported too many requests. */
  lockOuts(): number {
    return this.#lockOuts;
  }

  /** Rejects all waiting requests. */
  close(): void {
    this.#wake?.stop();
    for (const waiter of this.#waiters.splice(0)) waiter.serve(null);
  }

  #slot(): Slot {
    this.#underWay++;
    let held = true;
    const release = (counted: boolean) => {
      if (!held) return;
      held = false;
      this.#underWay--;
      if (counted) this.#ended.push(this.#clock.elapsed());
      this.#serve();
    };
    return { end: () => release(true), release: () => release(false) };
  }

  #serve(): void {
    while (this.#waiters.length > 0 && this.left() > 0) {
      let first = 0;
      this.#waiters.forEach((waiter, i) => {
        if (waiter.priority > this.#waiters[first]!.priority) first = i;
      });
      this.#waiters.splice(first, 1)[0]!.serve(this.#slot());
    }
    this.#wake?.stop();
    this.#wake = undefined;
    if (this.#waiters.length === 0) return;
    const oldest = this.#ended[0] === undefined ? Infinity : this.#ended[0] + WINDOW;
    const due = this.#clock.elapsed() < this.#pausedUntil ? this.#pausedUntil : oldest;
    // If pending requests use all slots, a waiting request gets its slot when a pending request ends.
    if (due === Infinity) return;
    // Because of rounding, the timer may fire slightly before the slot is free. The minimum of 1 ms prevents an endless
    // loop of timers without delay.
    this.#wake = this.#clock.after(Math.max(1, due - this.#clock.elapsed()), () => this.#serve());
  }

  #forget(): void {
    // The comparison must use the sum that the timer uses. With a subtraction, rounding could differ, and the timer
    // would fire forever without effect.
    const now = this.#clock.elapsed();
    let gone = 0;
    while (this.#ended[gone]! + WINDOW <= now) gone++;
    this.#ended.splice(0, gone);
  }
}
