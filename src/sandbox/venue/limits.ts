/**
 * Per-minute request budgets for each address and account, and the lockout for clients that exceed them (public-facts
 * 11).
 */
import { MINUTE_MS, type Clock, type Millis } from '../../core/index.ts';
import type { Switches } from '../switches/switches.ts';

/** Maximum number of addresses and accounts tracked; the oldest is dropped first. */
export const WATCHED_MAX = 20_000;

type Counter = { window: number; count: number; lockedUntil: Millis; recent: Millis[] };

export class RequestLimits {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #counters = new Map<string, Counter>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /**
   * Counts a request of `who` ("ip:…" or "account:…"). Returns false if the request exceeds the limit or its sender is
   * locked out.
   */
  admit(who: string, perMinute: number, switches: Switches): boolean {
    const now = this.#clock.elapsed();
    const counter = this.#counterOf(who);
    if (now < counter.lockedUntil) return false;
    if (this.#used(counter, now, switches) < perMinute) {
      counter.count++;
      if (switches.rateWindow === 'sliding') counter.recent.push(now);
      return true;
    }
    counter.lockedUntil = now + switches.lockoutMs;
    return false;
  }

  #used(counter: Counter, now: Millis, switches: Switches): number {
    if (switches.rateWindow === 'sliding') {
      const from = counter.recent.findIndex(at => at > now - MINUTE_MS);
      if (from !== 0) counter.recent.splice(0, from < 0 ? counter.recent.length : from);
      return counter.recent.length;
    }
    const window = Math.floor(now / MINUTE_MS);
    if (counter.window !== window) {
      counter.window = window;
      counter.count = 0;
    }
    return counter.count;
  }

  #counterOf(who: string): Counter {
    let counter = this.#counters.get(who);
    if (counter) return counter;
    if (this.#counters.size >= WATCHED_MAX) {
      for (const oldest of this.#counters.keys()) {
        this.#counters.delete(oldest);
        break;
      }
    }
    counter = { window: -1, count: 0, lockedUntil: -1, recent: [] };
    this.#counters.set(who, counter);
    return counter;
  }
}
