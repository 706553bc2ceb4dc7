/** Takes every order of one instance out of the exchange by what the exchange itself lists, and verifies it. Needs no journal and no engine. */
import { CANCEL_CHUNK, sleep } from '../core/index.ts';
import type { Clock, Exchange } from '../core/index.ts';
import type { Reach } from './reach.ts';

export type ClearOutOptions = {
  readonly exchange: Pick<Exchange, 'openOrders' | 'cancel'>;
  readonly clock: Clock;
  /** Told how each request ended: it says what a person must hear, and how often. */
  readonly reach: Reach;
  readonly book: string;
  readonly instance: string;
  /** Told the origin ids that each read shows. */
  readonly onSeen?: (ids: readonly string[]) => void;
};

/** An order of the instance, as the exchange lists it. */
export type Found = { readonly oid: string; readonly id: string };

const READ_EVERY_MS = 500;
/** The exchange's default page: a reply of this many may be cut. */
const PAGE = 500;
const EMPTY_READS = 2;

/** Open orders of the instance; null when they could not be read whole. Of a cut page, those that it shows. */
export async function found({ exchange, book, instance, reach }: ClearOutOptions): Promise<readonly Found[] | null> {
  const outcome = await exchange.openOrders({ book, limit: PAGE });
  if (outcome.kind !== 'done') {
    reach.failed('open_orders', outcome);
    return null;
  }
  reach.answered();
  const ours = outcome.value.flatMap(({ oid, originId }) =>
    originId?.startsWith(`${instance}-`) ? [{ oid, id: originId }] : [],
  );
  return outcome.value.length >= PAGE && ours.length === 0 ? null : ours;
}

/**
 * Cancels and reads until two whole reads in a row show nothing, or until `goesOn` says no. The answer: what was seen last, empty only
 * when verified; null when nothing could be read. `isEarly`: reads that begin while it holds do not count as empty.
 */
export async function clearOut(
  options: ClearOutOptions,
  goesOn: () => boolean,
  isEarly: () => boolean = () => false,
): Promise<readonly Found[] | null> {
  const { clock } = options;
  let last: readonly Found[] | null = null;
  for (let empty = 0; empty < EMPTY_READS;) {
    if (!goesOn()) return last !== null && last.length > 0 ? last : null;
    const early = isEarly();
    const live = await found(options);
    if (live !== null) last = live;
    empty = live?.length === 0 && !early ? empty + 1 : 0;
    if (live !== null) {
      const ids = live.map(({ id }) => id);
      options.onSeen?.(ids);
      await cancelAll(options, ids);
    }
    if (empty < EMPTY_READS) await sleep(clock, READ_EVERY_MS);
  }
  return [];
}

/** Cancels by origin ids, a bounded number at a time. What it proves is for a read to say. */
export async function cancelAll(
  { exchange, reach }: Pick<ClearOutOptions, 'exchange' | 'reach'>,
  ids: readonly string[],
): Promise<void> {
  for (let i = 0; i < ids.length; i += CANCEL_CHUNK) {
    const outcome = await exchange.cancel({ originIds: ids.slice(i, i + CANCEL_CHUNK) });
    if (outcome.kind !== 'done') reach.failed('cancel', outcome);
  }
}
