/**
 * Recovery without a trusted state: cancels and verifies every order of this instance, reports the result, and places
 * nothing.
 */
import { isFatal, textInSeconds, type Millis } from '../../core/index.ts';
import { cancelAllAndVerify, type CancelAllOptions } from './cancelAllAndVerify.ts';
import type { Log } from '../log.ts';
import { ConnectivityLog } from '../connectivityLog.ts';

export type RecoverOptions = Omit<CancelAllOptions, 'connectivity'> & {
  readonly log: Log;
  /** Maximum delay of a request of the previous run. Only a read after this delay can prove that no order is open. */
  readonly requestDelayMaxMs: Millis;
  /** Time limit of the recovery, counted from the end of `requestDelayMaxMs`. */
  readonly withinMs: Millis;
  /** Whether to stop early if retries cannot succeed, such as with a wrong key. */
  readonly givesUp?: boolean;
};

/**
 * Number of consecutive rejections after which `givesUp` stops the recovery. A single rejection may be due to a nonce.
 */
const FATAL_IN_A_ROW = 3;

export type Recovered = {
  /**
   * Origin ids of orders that may be live. Empty only if two complete reads of the open orders after
   * `requestDelayMaxMs` showed no order. `null` if the end of the orders is not verified, and the last answered read
   * showed no order or no read was answered.
   */
  readonly left: readonly string[] | null;
  /** Number of orders that were seen live and have ended, or that the answers to cancels name, whichever is larger. */
  readonly canceled: number;
  /**
   * Whether the last list of open orders was truncated, because it was full of other programs' orders. Known orders
   * were then looked up individually.
   */
  readonly isCut: boolean;
};

/** Cancels all orders of the instance and verifies that none is open. Never rejects because of the exchange. */
export async function recoverAndCancel(options: RecoverOptions): Promise<Recovered> {
  const { clock, log, requestDelayMaxMs, withinMs, instance } = options;
  const began = clock.elapsed();
  const passed = () => clock.elapsed() - began;
  log.error(
    { instance },
    `not quoting: canceling every order of ${instance}, then watching for ${textInSeconds(requestDelayMaxMs)} for requests that may still be in flight`,
  );
  const seen = new Set<string>();
  /** Oids in the answers to cancels. A known order can end before a list shows it. */
  const ended = new Set<string>();
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
        cancel: async by => {
          const outcome = await exchange.cancel(by);
          if (outcome.kind === 'done') outcome.value.forEach(oid => ended.add(oid));
          return outcome;
        },
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
  // If the list was truncated, each order seen before was looked up individually. None of these orders was open, so all
  // have ended.
  const notGone = ids?.length ?? (isCut ? 0 : seen.size);
  return { left: ids, canceled: Math.max(seen.size - notGone, ended.size), isCut };
}
