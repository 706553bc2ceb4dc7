/** Keeps the request budget of one scope: never more than so many requests in any minute, places served by priority. */
import type { Clock, Millis, Timer } from '../../core/index.ts';

/** A place in the budget. One of the two is called once the request has ended. */
export type Slot = {
  /** The exchange may have counted the request. */
  readonly end: () => void;
  /** No byte of it was sent: the place is free again at once. */
  readonly giveBack: () => void;
};

export type BudgetLimits = {
  readonly perMinute: number;
  /** Requests that may wait for a place; one more is turned away at once. */
  readonly waitersMax?: number;
};

type Waiter = { readonly priority: number; readonly serve: (slot: Slot | null) => void };

const WINDOW: Millis = 60_000;
/** The exchange locks out for a minute whoever goes over its limit (public facts 11). */
const LOCK_OUT: Millis = 60_000;

/**
 * A place is held from before the request is sent until a minute after it ended. The exchange received it somewhere in between, so that
 * at its own door too no minute holds more than the limit, however the network delays requests and whether its window slides or not.
 */
export class Budget {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #waitersMax: number;
  #underWay = 0;
  /** When requests of the last minute ended, oldest first. */
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

  /** Resolves to a place, or to null when none came free within `waitMs` of the clock. The higher priority is served first, then the older. */
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

  /** Requests that may be sent now. */
  left(): number {
    if (this.#clock.elapsed() < this.#pausedUntil) return 0;
    this.#forget();
    return this.#perMinute - this.#underWay - this.#ended.length;
  }

  /** The exchange said that we ask too often: nothing more for a minute. */
  lockOut(): void {
    this.#lockOuts++;
    this.#pausedUntil = this.#clock.elapsed() + LOCK_OUT;
  }

  /** How often the exchange has said so. */
  lockOuts(): number {
    return this.#lockOuts;
  }

  /** Turns away everybody who waits. */
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
    return { end: () => release(true), giveBack: () => release(false) };
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
    // With every place under way there is nothing to wait for but their end, and that serves.
    if (due === Infinity) return;
    // A place is free a hair after its time, when the sum of two readings was rounded: then a pause of nothing would come round for ever.
    this.#wake = this.#clock.after(Math.max(1, due - this.#clock.elapsed()), () => this.#serve());
  }

  #forget(): void {
    // The same sum as the one that the wake-up is set by: a difference that rounds the other way would wake for nothing, for ever.
    const now = this.#clock.elapsed();
    let gone = 0;
    while (gone < this.#ended.length && this.#ended[gone]! + WINDOW <= now) gone++;
    if (gone > 0) this.#ended.splice(0, gone);
  }
}
