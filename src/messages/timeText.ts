/** Times as text, and days, in UTC. */
import { DAY_MS, type Millis } from '../core/index.ts';

/** Returns an ISO 8601 time with milliseconds. */
export const timeText = (at: Millis): string => new Date(at).toISOString();

/** Returns the start of the UTC day of a time. */
export const dayStart = (at: Millis): Millis => Math.floor(at / DAY_MS) * DAY_MS;
