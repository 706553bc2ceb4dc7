/** Remaining delay of what an earlier process started. */
import type { Millis } from '../../core/index.ts';

/**
 * Returns the time from `now` to `due`, at least 0 and at most `delayMax`, the longest delay that is configured. After a
 * clock was set back, a stored due time is further in the future than any delay.
 */
export const remainingDelay = (due: Millis, now: Millis, delayMax: Millis): Millis =>
  Math.min(delayMax, Math.max(0, due - now));
