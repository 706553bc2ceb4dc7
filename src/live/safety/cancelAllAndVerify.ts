/**
 * Cancellation of every order of one instance, verified by the exchange's list of open orders. Needs no journal and no
 * engine.
 */
import {
  counted,
  CANCEL_CHUNK,
  describeRow,
  sleep,
  type Clock,
  type Exchange,
  type OrderReport,
  type UnreadableRow,
} from '../../core/index.ts';
import { isOwnOrder, unreadableOf } from '../unreadableRows.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';

export type CancelAllOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'openOrders' | 'cancel' | 'lookUp'>;
  readonly clock: Clock;
  /** Log that receives the outcome of each request and limits repeated lines. */
  readonly connectivity: ConnectivityLog;
  readonly book: string;
  /** Further books of the bot. If there are any, the open orders of the whole account are read. Default: none. */
  readonly others?: readonly string[];
  /** Whether the open orders of the whole account are read, because further books may be unknown. Default: no. */
  readonly mayHaveOthers?: boolean;
  readonly instance: string;
  /**
   * Origin ids from a journal, looked up individually if the list of open orders is truncated, and canceled if no answer
   * shows their state.
   */
  readonly known?: readonly string[];
  /**
   * Called after each read of the list of open orders with the origin ids in it, and whether the list was truncated.
   */
  readonly onSeen?: (ids: readonly string[], isCut: boolean) => void;
};

/** Order of the instance, as the exchange lists it. */
export type ListedOrder = {
  readonly oid: string;
  readonly id: string;
  /** Symbol of the order's book; absent if the row of the order has no readable book. */
  readonly book?: string;
};

const READ_EVERY_MS = 500;
/**
 * Page size of a second request, sent if the first answer fills its page. If the second answer has more rows than the
 * first page and fewer than this number, the list is complete.
 */
const LARGE_PAGE = 50_000;
const EMPTY_READS = 2;

/** Orders of the instance on the exchange's list of open orders. */
type Page = {
  readonly live: readonly ListedOrder[];
  readonly isCut: boolean;
  /** Origin ids of orders of which neither the list nor a look-up showed the state. */
  readonly unproven: readonly string[];
};

/**
 * Returns the open orders of the instance. If the list is truncated, returns the listed orders and the known orders
 * that are live. Returns `null` if the exchange did not answer, or if the list is truncated and no live order is known.
 */
export async function found(options: CancelAllOptions): Promise<readonly ListedOrder[] | null> {
  const page = await pageOf(options, options.known ?? []);
  return page === null || (page.isCut && page.live.length === 0) ? null : page.live;
}

/**
 * Reads the list of open orders once. If the list may be incomplete, also looks up the orders with the origin ids in
 * `asked`. Returns `null` if the exchange did not answer the read, or if the look-up failed and the list shows no order
 * of the instance.
 */
async function pageOf(options: CancelAllOptions, asked: readonly string[]): Promise<Page | null> {
  const { instance } = options;
  const page = options.exchange.limits.ordersPage;
  const first = await listed(options, page);
  if (first === null) return null;
  const more = first.rows < page ? null : await listed(options, LARGE_PAGE);
  const list = more ?? first;
  // An unreadable row with an id of the instance counts as a live order, because it may be one.
  const live: ListedOrder[] = [...list.orders, ...list.unreadable].flatMap(({ oid, originId, book }) =>
    originId?.startsWith(`${instance}-`) === true
      ? [{ oid: oid ?? '', id: originId, ...(book === undefined ? {} : { book }) }]
      : [],
  );
  const isFull = first.rows >= page && !(list.rows > page && list.rows < LARGE_PAGE);
  const doubtful = list.unreadable.find(row => isOwnOrder(row, options) === 'possibly');
  const isCut = isFull || doubtful !== undefined;
  if (!isCut) return { live, isCut, unproven: [] };
  if (doubtful !== undefined) {
    options.connectivity.say(
      'unreadable',
      {},
      `open_orders: ${describeRow(doubtful)}. The row may be an order of ${instance}, so no order is considered ended; check the orders on ${booksText(options)} at the exchange`,
    );
  } else
    options.connectivity.say(
      'cut',
      { orders: list.rows },
      `open_orders shows ${counted(list.rows, 'order')} and may omit others, so no order of ${instance} is considered ended until the list is shorter; cancel some orders of other programs on ${booksText(options)}, or check manually at the exchange`,
    );
  if (asked.length === 0) return { live, isCut, unproven: [] };
  const outcome = await options.exchange.lookUp({ originIds: asked });
  if (outcome.kind !== 'done') {
    options.connectivity.failed('lookup', outcome);
    return live.length > 0 ? { live, isCut, unproven: asked } : null;
  }
  for (const { oid, originId } of unreadableOf(outcome)) {
    // An unreadable row does not prove that the order has ended, so the order counts as live.
    if (typeof originId === 'string' && !live.some(one => one.id === originId))
      live.push({ oid: oid ?? '', id: originId });
  }
  for (const { oid, originId: id, status, book } of outcome.value) {
    const isOver = status === 'completed' || status === 'cancelled';
    if (!isOver && id !== undefined && !live.some(one => one.id === id)) live.push({ oid, id, book });
  }
  return { live, isCut, unproven: [] };
}

type OrderList = {
  readonly orders: readonly OrderReport[];
  readonly unreadable: readonly UnreadableRow[];
  readonly rows: number;
};

/** Returns the query for the open orders of a bot: of one book, or of the whole account if the bot may have several. */
export const ordersQuery = ({
  book,
  others = [],
  mayHaveOthers = false,
}: Pick<CancelAllOptions, 'book' | 'others' | 'mayHaveOthers'>): { readonly book?: string } =>
  others.length === 0 && !mayHaveOthers ? { book } : {};

const booksText = ({ book, others = [] }: Pick<CancelAllOptions, 'book' | 'others'>): string =>
  [book, ...others].join(', ');

async function listed(options: CancelAllOptions, limit: number): Promise<OrderList | null> {
  const { exchange, connectivity } = options;
  const outcome = await exchange.openOrders({ ...ordersQuery(options), limit });
  if (outcome.kind === 'done') connectivity.answered();
  else connectivity.failed('open_orders', outcome);
  if (outcome.kind !== 'done') return null;
  const unreadable = unreadableOf(outcome);
  return { orders: outcome.value, unreadable, rows: outcome.value.length + unreadable.length };
}

/**
 * Cancels the orders of the instance and reads the list of open orders. After a read without an answer, cancels the
 * known orders and those of the reads before. Repeats this until two consecutive complete reads show no order of the
 * instance, or until `goesOn` returns `false`. Neither of the two reads may start while `isEarly` returns `true`.
 * Returns an empty list if the end of all orders is verified. Otherwise returns the orders that the last answered read
 * showed; `null` if that read showed no order, or if no read was answered.
 */
export async function cancelAllAndVerify(
  options: CancelAllOptions,
  goesOn: () => boolean,
  isEarly: () => boolean = () => false,
): Promise<readonly ListedOrder[] | null> {
  const { clock, known = [] } = options;
  let asked = known;
  let last: readonly ListedOrder[] | null = null;
  for (let empty = 0; empty < EMPTY_READS;) {
    if (!goesOn()) return last !== null && last.length > 0 ? last : null;
    const early = isEarly();
    const page = await pageOf(options, asked);
    if (page !== null) last = page.isCut && page.live.length === 0 ? null : page.live;
    empty = page?.live.length === 0 && !page.isCut && !early ? empty + 1 : 0;
    const ids = (page?.live ?? []).map(({ id }) => id);
    if (page !== null) options.onSeen?.(ids, page.isCut);
    const mayLive = [...new Set([...(page?.unproven ?? asked), ...ids])];
    asked = [...new Set([...known, ...mayLive])];
    await cancelAll(options, mayLive);
    if (empty < EMPTY_READS) await sleep(clock, READ_EVERY_MS);
  }
  return [];
}

/**
 * Cancels by origin ids, in chunks of limited size. The answers do not prove that an order has ended; only a later read
 * of the open orders does.
 */
export async function cancelAll(
  { exchange, connectivity }: Pick<CancelAllOptions, 'exchange' | 'connectivity'>,
  ids: readonly string[],
): Promise<void> {
  for (let i = 0; i < ids.length; i += CANCEL_CHUNK) {
    const outcome = await exchange.cancel({ originIds: ids.slice(i, i + CANCEL_CHUNK) });
    if (outcome.kind !== 'done') connectivity.failed('cancel', outcome);
  }
}

/**
 * Returns the error text for the operator if a truncated list of open orders prevented the verification. `known` is the
 * number of orders in the state directory; each was looked up.
 */
export const cutText = (instance: string, book: string, known: number): string =>
  `the list of open orders on ${book} is full of orders of other programs, and may omit orders of ${instance}${known === 0 ? '' : ` (the ${counted(known, 'known order')} of ${instance} were looked up one by one)`}; cancel some orders of the other programs, then run this command again, or check manually at the exchange`;
