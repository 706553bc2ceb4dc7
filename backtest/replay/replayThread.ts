/** How a thread that replays is begun. */
import type { WorkerOptions } from 'node:worker_threads';

/**
 * What decisions allocate is over at once, and what orders leave behind is needed for thousands of orders more: with room for both, the collector rarely copies the
 * latter about. By default it does so every 16 MB, and sixteen configurations side by side spend a tenth of their time on it.
 */
export const REPLAY_THREAD: WorkerOptions = { resourceLimits: { maxYoungGenerationSizeMb: 192 } };
