/**
 * Time limit of calls into the user's own files: a loop without an end becomes an error of its call. A call with the
 * limit costs about 0.1 ms, because a thread measures its time, so replays and backtests call without it.
 */
import { Script } from 'node:vm';

/** Makes a call into a file and returns its result. `name`: the called function, for the error of a limit. */
export type OwnCall = <T>(name: string, call: () => T) => T;

/** Makes a call without a time limit, so that a result never depends on the speed of the machine. */
export const unlimitedCall: OwnCall = (_, call) => call();

/** Maximum time of a call, in ms. A call takes well below a millisecond, also of a slow strategy. */
const CALL_MAX_MS = 2_000;

/** Name of the global variable through which a script with a time limit finds its call. */
const NAME = 'puntasLimitedCall';
const script = new Script(`${NAME}()`, { filename: 'call with a time limit' });
const globals = globalThis as { [NAME]?: (() => void) | undefined };

/**
 * Returns a function that makes calls with a time limit, in ms. A call within another one shares the limit of that one.
 * The call throws if it does not end in time, and no code of the file can catch this error.
 */
export const callWithin =
  (maxMs: number): OwnCall =>
  <T>(name: string, call: () => T): T => {
    if (globals[NAME] !== undefined) return call();
    let end: Ended<T> | null = null;
    globals[NAME] = () => {
      end = endedCall(call);
    };
    try {
      script.runInThisContext({ timeout: maxMs });
    } catch (error) {
      // A call that ended at the last moment counts.
      if (end === null) throw isTimeout(error) ? new Error(lateText(name, maxMs)) : error;
    } finally {
      globals[NAME] = undefined;
    }
    const ended = end as unknown as Ended<T>;
    if ('error' in ended) throw ended.error;
    return ended.value;
  };

/** Makes a call with the time limit of a running bot. */
export const limitedCall = callWithin(CALL_MAX_MS);

type Ended<T> = { readonly value: T } | { readonly error: unknown };

function endedCall<T>(call: () => T): Ended<T> {
  try {
    return { value: call() };
  } catch (error) {
    return { error };
  }
}

const isTimeout = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

const lateText = (name: string, maxMs: number): string =>
  `${name}: expected an end within ${maxMs / 1_000} s, found none; look for a loop without an end`;
