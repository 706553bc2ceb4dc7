/** Options of a thread that replays. */
import type { WorkerOptions } from 'node:worker_threads';

/**
 * Size of the garbage collector's young generation, sufficient for short-lived allocations of decisions and for the
 * data of orders, which stays in use while thousands of later orders are placed. The garbage collector then rarely
 * copies that data. By default it copies every 16 MB, which takes a tenth of the run time with sixteen parallel
 * configurations.
 */
export const REPLAY_THREAD: WorkerOptions = { resourceLimits: { maxYoungGenerationSizeMb: 192 } };
