/** Takes every order of one instance out of the exchange by what the exchange itself lists, and verifies it. Needs no journal and no engine. */
import { CANCEL_CHUNK, describeRow, sleep } from '../../core/index.ts';
import type { Clock, Exchange, OrderReport, UnreadableRow } from '../../core/index.ts';
import { isOwnOrder, unreadableOf } from '../unreadableRows.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';

export type CancelAllOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'openOrders' | 'cancel' | 'lookUp'>;
  readonly clock: Clock;
  /** Told how each request ended: it says what a person must hear, and how often. */
  readonly connectivity: ConnectivityLog;
  readonly book: string;
  readonly instance: string;
  /** Origin ids that a journal knows: where the list is cut they are asked for one by one. */
  readonly known?: readonly string[];
  /** Told the origin ids that each read shows, and whether the list was cut. */
  readonly onSeen?: (ids: readonly string[], isCut: boolean) => void;
};

/** An order of the instance, as the exchange lists it. */
export type ListedOrder = { readonly oid: string; readonly id: string };

const READ_EVERY_MS = 500;
/** Asked for where a page is full: what comes is whole where it is more than a page, and less than this. */
const LARGE_PAGE = 50_000;
const EMPTY_READS = 2;

/** What a look at the exchange's list shows of the instance. */
type Page = { readonly live: readonly ListedOrder[]; readonly isCut: boolean };

/** Open orders of the instance; null when they could not be read whole. Of a cut list, those that it shows, and those that are known to live. */
export async function found(options: CancelAllOptions): Promise<readonly ListedOrder[] | null> {
  const page = await pageOf(options, options.known ?? []);
  return page === null || (page.isCut && page.live.length === 0) ? null : page.live;
}

/** `asked`: origin ids that are asked for one by one where the list is cut. Null: the exchange told too little. */
async function pageOf(options: CancelAllOptions, asked: readonly string[]): Promise<Page | null> {
  const { instance } = options;
  const page = options.exchange.limits.ordersPage;
  const first = await listed(options, page);
  if (first === null) return null;
  const more = first.rows < page ? null : await listed(options, LARGE_PAGE);
  const list = more ?? first;
  // An unreadable row with an id of the instance is an order that may live.
  const live = [...list.orders, ...list.unreadable].flatMap(({ oid, originId }) =>
    originId?.startsWith(`${instance}-`) === true ? [{ oid: oid ?? '', id: originId }] : [],
  );
  const isFull = first.rows >= page && !(list.rows > page && list.rows < LARGE_PAGE);
  const doubtful = list.unreadable.find(row => isOwnOrder(row, options) === 'possibly');
  const isCut = isFull || doubtful !== undefined;
  if (!isCut) return { live, isCut };
  if (doubtful !== undefined) {
    options.connectivity.say(
      'unreadable',
      {},
      `open_orders: ${describeRow(doubtful)}: it may be an order of ${instance}, so no order counts as gone; check the orders on ${options.book} at the exchange`,
    );
  } else
    options.connectivity.say(
      'cut',
      { orders: list.rows },
      `open_orders shows ${list.rows} orders which may not be all; no order of ${instance} counts as gone until it shows fewer; cancel some of the other programs' orders on ${options.book}, or check manually at the exchange`,
    );
  if (asked.length === 0) return { live, isCut };
  const outcome = await options.exchange.lookUp({ originIds: asked });
  if (outcome.kind !== 'done') {
    options.connectivity.failed('lookup', outcome);
    return live.length > 0 ? { live, isCut } : null;
  }
  for (const { oid, originId } of unreadableOf(outcome)) {
    // Nothing shows that it is over.
    if (typeof originId === 'string' && !live.some(one => one.id === originId))
      live.push({ oid: oid ?? '', id: originId });
  }
  for (const { oid, originId: id, status } of outcome.value) {
    const isOver = status === 'completed' || status === 'cancelled';
    if (!isOver && id !== undefined && !live.some(one => one.id === id)) live.push({ oid, id });
  }
  return { live, isCut };
}

type OrderList = {
  readonly orders: readonly OrderReport[];
  readonly unreadable: readonly UnreadableRow[];
  readonly rows: number;
};

async function listed({ exchange, book, connectivity }: CancelAllOptions, limit: number): Promise<OrderList | null> {
  const outcome = await exchange.openOrders({ book, limit });
  if (outcome.kind === 'done') connectivity.answered();
  else connectivity.failed('open_orders', outcome);
  if (outcome.kind !== 'done') return null;
  const unreadable = unreadableOf(outcome);
  return { orders: outcome.value, unreadable, rows: outcome.value.length + unreadable.length };
}

/**
 * Cancels and reads until two whole reads in a row show nothing, or until `goesOn` says no. The answer: what was seen last, empty only
 * when verified; null when nothing could be read, or only a list that is cut and shows nothing. `isEarly`: reads that begin while it holds do not count as empty.
 */
export async function cancelAllAndVerify(
  options: CancelAllOptions,
  goesOn: () => boolean,
  isEarly: () => boolean = () => false,
): Promise<readonly ListedOrder[] | null> {
  const { clock } = options;
  let last: readonly ListedOrder[] | null = null;
  for (let empty = 0; empty < EMPTY_READS;) {
    if (!goesOn()) return last !== null && last.length > 0 ? last : null;
    const early = isEarly();
    const page = await pageOf(options, [...new Set([...(options.known ?? []), ...(last ?? []).map(({ id }) => id)])]);
    if (page !== null) last = page.isCut && page.live.length === 0 ? null : page.live;
    empty = page?.live.length === 0 && !page.isCut && !early ? empty + 1 : 0;
    if (page !== null) {
      const ids = page.live.map(({ id }) => id);
      options.onSeen?.(ids, page.isCut);
      await cancelAll(options, ids);
    }
    if (empty < EMPTY_READS) await sleep(clock, READ_EVERY_MS);
  }
  return [];
}

/** Cancels by origin ids, a bounded number at a time. What it proves is for a read to say. */
export async function cancelAll(
  { exchange, connectivity }: Pick<CancelAllOptions, 'exchange' | 'connectivity'>,
  ids: readonly string[],
): Promise<void> {
  for (let i = 0; i < ids.length; i += CANCEL_CHUNK) {
    const outcome = await exchange.cancel({ originIds: ids.slice(i, i + CANCEL_CHUNK) });
    if (outcome.kind !== 'done') connectivity.failed('cancel', outcome);
  }
}

/** What a person reads where nothing could be verified for that; `known`: how many orders the state knows, each asked for by itself. */
export const cutText = (instance: string, book: string, known: number): string =>
  `the list of open orders on ${book} is full of orders of other programs, and may omit some of ${instance}${known === 0 ? '' : ` (the ${known} that the state knows were looked up one by one)`}; cancel some of the others, then run this command again, or check manually at the exchange`;
