/** Options of a thread that replays. */
import type { WorkerOptions } from 'node:worker_threads';

/**
 * Young generation with space for both short-lived allocations of decisions and the data of orders, which lives for
 * thousands of orders. The collector then rarely copies the latter. By default it does so every 16 MB, which takes a
 * tenth of the time with sixteen configurations side by side.
 */
export const REPLAY_THREAD: WorkerOptions = { resourceLimits: { maxYoungGenerationSizeMb: 192 } };
