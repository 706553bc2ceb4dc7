/** Order in which requests are sent: cancels in their own lane, all others by urgency. */
import PQueue from 'p-queue';

/** Lane of a request, from most to least urgent. */
export type Lane = 'cancel' | 'place' | 'private read' | 'public read';

/** Priority of each lane; higher values go first. */
export const URGENCY: Readonly<Record<Lane, number>> = { cancel: 3, place: 2, 'private read': 1, 'public read': 0 };

export type LaneLimits = {
  /** Maximum number of concurrent requests other than cancels. */
  readonly concurrency?: number;
  /** Maximum number of concurrent cancels. */
  readonly cancelConcurrency?: number;
  /** Maximum number of waiting requests, counted separately for cancels and for all others. */
  readonly waitingMax?: number;
};

export type Lanes = {
  /**
   * Runs the task when its turn comes. Returns `null`, without running it, if too many requests wait or `stillWanted`
   * returns false.
   */
  run<T>(lane: Lane, task: () => Promise<T>, stillWanted: () => boolean): Promise<T | null>;
};

/**
 * Creates the lanes. With `oneByOne`, all lanes share one queue of concurrency 1, because nonces must arrive in order;
 * cancels still go first.
 */
export function lanes(limits: LaneLimits, oneByOne: boolean): Lanes {
  const { concurrency = 8, cancelConcurrency = 8, waitingMax = 1_000 } = limits;
  const ordinary = new PQueue({ concurrency: oneByOne ? 1 : concurrency });
  const cancels = oneByOne ? ordinary : new PQueue({ concurrency: cancelConcurrency });
  return {
    run: async (lane, task, stillWanted) => {
      const queue = lane === 'cancel' ? cancels : ordinary;
      if (queue.size >= waitingMax) return null;
      return queue.add(async () => (stillWanted() ? task() : null), { priority: URGENCY[lane] });
    },
  };
}
