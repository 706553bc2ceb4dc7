/** The order in which requests reach the wire: cancels in a lane of their own, everything else by urgency. */
import PQueue from 'p-queue';

/** Most urgent first. */
export type Lane = 'cancel' | 'place' | 'private read' | 'public read';

/** Higher goes first. */
export const URGENCY: Readonly<Record<Lane, number>> = { cancel: 3, place: 2, 'private read': 1, 'public read': 0 };

export type LaneLimits = {
  /** Requests under way at once, cancels not counted. */
  readonly concurrency?: number;
  readonly cancelConcurrency?: number;
  /** Requests that may wait for their turn in either lane. */
  readonly waitingMax?: number;
};

export type Lanes = {
  /** Runs the task in its turn; null, without running it, when too many wait or `stillWanted` says no. */
  run<T>(lane: Lane, task: () => Promise<T>, stillWanted: () => boolean): Promise<T | null>;
};

/** With `oneByOne` all lanes share one queue of concurrency 1, because the nonces must arrive in order; cancels still go first. */
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
