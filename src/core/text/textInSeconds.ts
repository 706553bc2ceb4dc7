/** Durations in messages. */
import type { Millis } from '../model/units.ts';

/** Returns a duration in seconds: to a tenth from 10 s on, otherwise to a millisecond. */
export const textInSeconds = (ms: Millis): string => `${Number((ms / 1_000).toFixed(ms < 10_000 ? 3 : 1))} s`;
