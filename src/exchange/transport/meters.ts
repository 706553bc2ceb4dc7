/** Meters of a budget: how much weight an exchange may have counted, in a window or by a decaying counter. */
import type { Millis } from '../../core/index.ts';

/** Counter of weight, with times on the monotonic clock. */
export interface Meter {
  readonly limit: number;
  /** Returns the weight that fits now; may be negative. */
  room(now: Millis): number;
  /** Counts a request that is about to be sent. */
  start(weight: number, now: Millis): void;
  /** Ends a started request; `counted` is false if no byte of it was sent. */
  end(counted: boolean, weight: number, now: Millis): void;
  /**
   * Returns the earliest time at which room grows even if no pending request ends; Infinity if there is no such time.
   */
  moreRoomAt(now: Millis): Millis;
  /** Counts at least `used`, the weight that the exchange reports. */
  raiseTo(used: number, now: Millis): void;
}

/**
 * Returns the meter of a window of `windowMs`. A slot is in use from before the request is sent until one window after
 * the end of the request. The exchange receives the request in between. So no window at the exchange exceeds the limit,
 * whatever the network delay, and whether that window is fixed or sliding.
 */
export function windowMeter(limit: number, windowMs: Millis): Meter {
  let underWay = 0;
  let ended = 0;
  /** Weights and end times of requests in the last window, oldest first. */
  const ends: { readonly at: Millis; readonly weight: number }[] = [];
  const forget = (now: Millis): void => {
    // The loop compares `at + windowMs`, because the timer is set to this sum. With a subtraction, rounding could
    // differ, and the timer would fire forever without effect.
    let gone = 0;
    while (gone < ends.length && ends[gone]!.at + windowMs <= now) ended -= ends[gone++]!.weight;
    ends.splice(0, gone);
  };
  const count = (weight: number, at: Millis): void => {
    ended += weight;
    ends.push({ at, weight });
  };
  return {
    limit,
    room: now => {
      forget(now);
      return limit - underWay - ended;
    },
    start: weight => {
      underWay += weight;
    },
    end: (counted, weight, now) => {
      underWay -= weight;
      if (counted) count(weight, now);
    },
    moreRoomAt: () => (ends[0] === undefined ? Infinity : ends[0].at + windowMs),
    raiseTo: (used, now) => {
      forget(now);
      const missing = used - underWay - ended;
      if (missing > 0) count(missing, now);
    },
  };
}

/**
 * Returns a counter that each request increases by its weight, and that falls by `perSecond` down to zero. The weight
 * of a request starts to fall only at the end of the request, because the exchange may count the request as late as its
 * end.
 */
export function decayingMeter(limit: number, perSecond: number): Meter {
  let underWay = 0;
  let level = 0;
  let at: Millis = -Infinity;
  const decay = (now: Millis): void => {
    if (at !== -Infinity) level = Math.max(0, level - (Math.max(0, now - at) * perSecond) / 1_000);
    at = now;
  };
  return {
    limit,
    room: now => {
      decay(now);
      return limit - underWay - level;
    },
    start: weight => {
      underWay += weight;
    },
    end: (counted, weight, now) => {
      decay(now);
      underWay -= weight;
      if (counted) level += weight;
    },
    moreRoomAt: now => {
      decay(now);
      // Time at which the level has fallen by one unit of weight, or to zero if it is below one unit.
      return level > 0 ? now + (Math.min(1, level) / perSecond) * 1_000 : Infinity;
    },
    raiseTo: (used, now) => {
      decay(now);
      level = Math.max(level, used - underWay);
    },
  };
}
