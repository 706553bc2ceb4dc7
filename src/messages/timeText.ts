/** Times as text, and days, in UTC. */
import type { Millis } from '../core/index.ts';

/** Returns an ISO 8601 time with milliseconds. */
export const timeText = (at: Millis): string => new Date(at).toISOString();

/** Length of a UTC day, in ms. */
export const UTC_DAY_MS = 86_400_000;
/** Returns the start of the UTC day of a time. */
export const dayStart = (at: Millis): Millis => Math.floor(at / UTC_DAY_MS) * UTC_DAY_MS;
