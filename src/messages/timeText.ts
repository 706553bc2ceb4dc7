/** Times as text, in UTC. */
import type { Millis } from '../core/index.ts';

/** Returns an ISO 8601 time with milliseconds. */
export const timeText = (at: Millis): string => new Date(at).toISOString();
