/** What is left to do when the state cannot be trusted: place nothing, take every order of this instance out, verify, and say so. */
import { isFatal } from '../../core/index.ts';
import type { Millis } from '../../core/index.ts';
import { cancelAllAndVerify } from './cancelAllAndVerify.ts';
import type { CancelAllOptions } from './cancelAllAndVerify.ts';
import type { Log } from '../log.ts';
import { ConnectivityLog } from '../connectivityLog.ts';

export type RecoverOptions = Omit<CancelAllOptions, 'connectivity'> & {
  readonly log: Log;
  /** How long a request of the run before may be held on its way: reads count as empty only after that. */
  readonly requestDelayMaxMs: Millis;
  /** Bound of everything, beyond `requestDelayMaxMs`. */
  readonly withinMs: Millis;
  /** Ends when asking again will not help: a wrong key stays wrong. */
  readonly givesUp?: boolean;
};

/** So many such refusals in a row, and nothing more is asked: one may be about a nonce. */
const FATAL_IN_A_ROW = 3;

export type Recovered = {
  /** Origin ids that may live; empty only when two whole reads after `requestDelayMaxMs` showed none. Null: nothing could be read. */
  readonly left: readonly string[] | null;
  /** Orders that were seen to live, and are not left. */
  readonly canceled: number;
  /** The last list of open orders was full of others': what it leaves out could not be seen. Known orders were asked for one by one. */
  readonly isCut: boolean;
};

/** Never rejects for what the exchange does. */
export async function recoverAndCancel(options: RecoverOptions): Promise<Recovered> {
  const { clock, log, requestDelayMaxMs, withinMs, instance } = options;
  const began = clock.elapsed();
  const passed = () => clock.elapsed() - began;
  log.error(
    { instance },
    `not quoting: canceling every order of ${instance}, then watching for ${requestDelayMaxMs / 1000} s for requests that may still be in flight`,
  );
  const seen = new Set<string>();
  let isCut = false;
  let refused = 0;
  const { exchange, givesUp = false } = options;
  const openOrders: typeof exchange.openOrders = async query => {
    const outcome = await exchange.openOrders(query);
    refused = givesUp && outcome.kind === 'refused' && isFatal(outcome.meaning) ? refused + 1 : 0;
    return outcome;
  };
  const left = await cancelAllAndVerify(
    {
      ...options,
      exchange: {
        limits: exchange.limits,
        openOrders,
        cancel: by => exchange.cancel(by),
        lookUp: by => exchange.lookUp(by),
      },
      connectivity: new ConnectivityLog(log, clock),
      onSeen: (ids, wasCut) => {
        isCut = wasCut;
        ids.forEach(id => seen.add(id));
      },
    },
    () => passed() < requestDelayMaxMs + withinMs && refused < FATAL_IN_A_ROW,
    () => passed() < requestDelayMaxMs,
  );
  const ids = left === null ? null : left.map(({ id }) => id);
  // Where the list was cut, what had been seen was asked for by itself.
  const notGone = ids?.length ?? (isCut ? 0 : seen.size);
  return { left: ids, canceled: seen.size - notGone, isCut };
}
