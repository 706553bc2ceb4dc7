/** A latch that nothing sets and that keeps nothing: for runs in which nobody halts, pauses or holds anything. */
import type { Latch } from '../../src/live/safety/latch.ts';

const nothing = (): null => null;
const quiet = (): void => undefined;

export const OPEN_LATCH: Latch = {
  ...{ read: nothing, set: quiet, lift: quiet, takeLifted: () => false, isLifting: () => false, reserve: quiet },
  ...{ readReduce: nothing, setReduce: quiet, liftReduce: () => true },
  ...{ readPause: nothing, setPause: quiet, endPause: () => true },
  ...{ readHold: nothing, setHold: quiet, liftHold: quiet },
};
