/**
 * Private endpoints of orders: place, cancel, open orders and look-ups.
 *
 * The exchange can cancel an order by its client order id, but cannot look up one order by this id. A look-up by client
 * order id therefore reads the list of open orders, and then all closed orders with that id. An order moves from the
 * first list to the second, so reading the lists in this sequence misses no order. Sources:
 * docs.kraken.com/api/docs/rest-api/add-order, cancel-order, get-open-orders, get-closed-orders and get-orders-info.
 */
import {
  sleep,
  type Clock,
  type Millis,
  type NewOrder,
  type OrderReport,
  type Outcome,
  type TimeInForce,
  type UnreadableRow,
} from '../../../core/index.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import { allOf, anyOf, chunks, doneWith, positivePart, unlessUnfit, writeNotSent } from '../../wire/requestParts.ts';
import { fault, row } from '../../wire/wire.ts';
import { HISTORY_CALLS, type KrakenAsk, type KrakenRequest } from '../wire/protocol.ts';
import type { ServerClock } from '../wire/serverClock.ts';
import { clientIdIfFits, krakenClientId } from '../wire/clientIds.ts';
import type { KrakenPair } from '../wire/names.ts';
import { acceptedTxid, canceledCount, krakenOrders, page, type KrakenOrder } from '../wire/replies.ts';
import { PAGE_ROWS, readAll, type ReadPage } from './pages.ts';
import type { Listing, Pairs } from './pairs.ts';
import type { PlacedOrders } from './placedOrders.ts';

/**
 * Maximum number of the exchange's order ids per request. Source: docs.kraken.com/api/docs/rest-api/get-orders-info.
 */
const OIDS_PER_REQUEST = 50;
/**
 * Number of sent orders above which one list of closed orders is read for all of them, instead of one list for each.
 * Each request raises the call counter of the key, and the lowest tier allows only 15 calls at once.
 */
const SINGLE_READS_MAX = 2;
/** Time by which a read of closed orders starts before an order was sent, because clocks may differ. */
const EARLIER_MS: Millis = 60_000;
/**
 * Bounds of the time from the sending of an order to its `deadline`. The exchange allows 0.5 to 60 s from its own time,
 * and takes 5 s by default (docs.kraken.com/exchange/api-reference/spot-websocket-v2/batch_add). The bot's estimate of
 * the exchange's time is up to a second early, and a busy exchange may take some seconds for a placement (common
 * knowledge, not checked). So a minimum of 4 s leaves 3 s for the placement.
 */
const VALID_MS = { min: 4_000, max: 60_000 } as const;

/** Returns the maximum time after sending at which the exchange may still execute an order. */
export const validMsOf = (requestTimeoutMs: Millis): Millis =>
  Math.min(VALID_MS.max, Math.max(VALID_MS.min, requestTimeoutMs));

/**
 * Maximum time for which a cancel waits for the look-up of its orders' ids, because a cancel must not wait for request
 * budget.
 */
const NAMED_WITHIN_MS: Millis = 5_000;

type Ids = { readonly oids: readonly string[] } | { readonly originIds: readonly string[] };
type OrderList<T = KrakenOrder> = Outcome<readonly T[]>;

export type OrderDependencies = {
  readonly clock: Clock;
  readonly ask: KrakenAsk;
  readonly pairs: Pairs;
  readonly placed: PlacedOrders;
  readonly serverClock: ServerClock;
  /** Maximum time after sending at which the exchange may still execute an order; bounded by `VALID_MS`. */
  readonly validMs: Millis;
};

/** Returns the endpoints of orders. A call that needs the books reads them first. */
export function orderEndpoints({ clock, ask, pairs, placed, serverClock, validMs }: OrderDependencies) {
  const valid = validMsOf(validMs);

  async function place(
    order: NewOrder,
    isWanted: () => boolean = () => true,
  ): Promise<Outcome<{ readonly oid: string }>> {
    const found = await pairs.of(order.book);
    if (found.kind !== 'done') return writeNotSent(found, 'the books');
    const { pair } = found.value;
    const outcome = await buildAndSend(ask, () => {
      const fields = orderFields(order, pair);
      return {
        ...write('AddOrder', fields, acceptedTxid),
        lane: 'place' as const,
        orderCount: { pair: pair.altname, weight: 1 },
        validMs: valid,
        isWanted: () => {
          const still = isWanted();
          if (still) placed.sending(order.originId, pair.altname, serverClock.now());
          return still;
        },
      };
    });
    if (outcome.kind === 'done') placed.seen(outcome.value.oid, { originId: order.originId, feeSide: 'quote' });
    return outcome;
  }

  /** Cancels orders, one request for each. Succeeds if any request was answered. */
  async function cancel(of: Ids): Promise<OrderList<string>> {
    if ('oids' in of) return anyOf(await Promise.all(of.oids.map(oid => cancelByOid(oid))));
    const counts = await Promise.all(of.originIds.map(id => cancelByOriginId(id)));
    // The replies do not contain the exchange's ids, so the ids are looked up. Without them, an empty list would seem
    // to prove that the orders did not exist.
    const isEnded = (n: number): boolean => counts[n]?.kind === 'done' && counts[n].value > 0;
    const unnamed = of.originIds.filter((id, n) => isEnded(n) && placed.oidOf(id) === undefined);
    if (unnamed.length > 0) await withinTime(byOriginIds(unnamed));
    return anyOf(
      counts.map((outcome, n): OrderList<string> => {
        if (outcome.kind !== 'done') return outcome;
        if (outcome.value === 0) return NONE;
        const oid = placed.oidOf(of.originIds[n]!);
        if (oid !== undefined) return { kind: 'done', value: [oid] };
        return {
          kind: 'unknown',
          reason: `an order with the client id ${of.originIds[n]} was canceled, but a look-up after the cancel did not find the order`,
        };
      }),
    );
  }

  /** Waits until a read has ended, at most `NAMED_WITHIN_MS`. */
  async function withinTime(read: Promise<unknown>): Promise<void> {
    const isOver = new AbortController();
    await Promise.race([read, sleep(clock, NAMED_WITHIN_MS, isOver.signal)]);
    isOver.abort();
  }

  async function cancelByOid(oid: string): Promise<OrderList<string>> {
    const outcome = await unlessUnfit(() => canceled({ txid: oidText(oid) }, placed.factsOf(oid)?.originId));
    if (outcome.kind !== 'done') return outcome;
    return { kind: 'done', value: outcome.value > 0 ? [oid] : [] };
  }

  /** Cancels an order. An id that does not fit the exchange's format was never sent, so no order has it. */
  function cancelByOriginId(originId: string): Promise<Outcome<number>> {
    const clientId = clientIdIfFits(originId);
    if (clientId === undefined) return Promise.resolve({ kind: 'done', value: 0 });
    return canceled({ cl_ord_id: clientId }, originId);
  }

  /** Sends one cancel. Returns the number of canceled orders; 0 if the order is not open. */
  async function canceled(
    fields: Readonly<Record<string, string>>,
    originId: string | undefined,
  ): Promise<Outcome<number>> {
    const orderCount = placed.cancelCount(originId);
    const outcome = await ask({
      ...write('CancelOrder', fields, canceledCount),
      lane: 'cancel',
      ...(orderCount === undefined ? {} : { orderCount }),
    });
    return outcome.kind === 'refused' && isUnknownOrder(outcome.code) ? { kind: 'done', value: 0 } : outcome;
  }

  async function openOrders({ book }: { readonly book?: string }): Promise<OrderList<OrderReport>> {
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    const all = await openList(listing.value);
    if (all.kind !== 'done' || book === undefined) return all;
    const unreadable = (all.unreadable ?? []).filter(each => each.book === undefined || each.book === book);
    return doneWith(
      all.value.filter(order => order.book === book),
      unreadable,
    );
  }

  const openList = async (listing: Listing): Promise<OrderList> =>
    remembered(
      await ask(
        query('OpenOrders', {}, (result, unreadable) =>
          krakenOrders(row(row(result, 'result')['open'], 'open'), listing.names, unreadable),
        ),
      ),
    );

  async function lookUp(of: Ids): Promise<OrderList<OrderReport>> {
    return 'oids' in of ? byOids(of.oids) : byOriginIds(of.originIds);
  }

  /** Looks up orders by the exchange's ids. `trades`: whether the reply includes the ids of their trades. */
  async function byOids(oids: readonly string[], trades = false): Promise<OrderList> {
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    const outcomes: OrderList[] = [];
    for (const some of chunks(oids, OIDS_PER_REQUEST)) outcomes.push(await someOids(some, trades, listing.value));
    return allOf(outcomes);
  }

  /**
   * Looks up orders in one request. One unknown id may make the exchange reject all ids, so they are then requested in
   * halves.
   */
  async function someOids(oids: readonly string[], trades: boolean, listing: Listing): Promise<OrderList> {
    const outcome = await unlessUnfit(() => {
      const fields = { txid: oids.map(oidText).join(','), trades: String(trades), consolidate_taker: 'false' };
      return ask(query('QueryOrders', fields, (result, unreadable) => krakenOrders(result, listing.names, unreadable)));
    });
    if (outcome.kind !== 'refused' || !isUnknownOrder(outcome.code)) return remembered(outcome);
    if (oids.length === 1) return doneWith([], []);
    const outcomes: OrderList[] = [];
    for (const half of chunks(oids, Math.ceil(oids.length / 2))) outcomes.push(await someOids(half, trades, listing));
    return allOf(outcomes);
  }

  /**
   * Looks up orders by origin id: first in the open orders, and then those not found there in the closed orders. An id
   * that does not fit the exchange's format was never sent, so no order has it.
   */
  async function byOriginIds(originIds: readonly string[]): Promise<OrderList> {
    const sendable = originIds.flatMap(originId => {
      const clientId = clientIdIfFits(originId);
      return clientId === undefined ? [] : [[originId, clientId] as const];
    });
    return listedByClientIds(new Map(sendable));
  }

  async function listedByClientIds(clientIds: ReadonlyMap<string, string>): Promise<OrderList> {
    const found = new Map<string, KrakenOrder>();
    const unreadable: UnreadableRow[] = [];
    const take = ({ value, unreadable: rows = [] }: Extract<OrderList, { kind: 'done' }>): void => {
      for (const order of value)
        if (order.originId !== undefined && clientIds.has(order.originId)) found.set(order.oid, order);
      unreadable.push(...rows);
    };
    /** Whether an unreadable row in the list of open or of closed orders may be one of the wanted orders. */
    const isAsked = (id: UnreadableRow['originId']): boolean => id === undefined || (id !== null && clientIds.has(id));
    /** Returns the ids for which no list has contained an order so far. */
    const missing = (): readonly string[] => {
      const listed = new Set([...found.values()].map(({ originId }) => originId));
      return [...clientIds.keys()].filter(id => !listed.has(id));
    };
    // Orders whose exchange id is known are read directly by this id. All others, and those not found, are searched in
    // the lists.
    const oids = missing().flatMap(id => placed.oidOf(id) ?? []);
    if (oids.length > 0) {
      const known = await byOids(oids);
      if (known.kind !== 'done') return known;
      take(known);
    }
    if (missing().length === 0) return doneWith([...found.values()], unreadable);
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    const open = await openList(listing.value);
    if (open.kind !== 'done') return open;
    take({ ...open, unreadable: (open.unreadable ?? []).filter(({ originId: id }) => isAsked(id)) });
    let single = missing();
    const sent = single.flatMap(id => placed.sent(id)?.sentAt ?? []);
    if (sent.length > SINGLE_READS_MAX) {
      const pages = closedPages(closedSince(Math.min(...sent)), listing.value);
      const first = await pages(0);
      if (first.kind !== 'done') return first;
      // If the list has more pages than there are orders, one list per order costs fewer requests.
      const isShort = first.value.count <= sent.length * PAGE_ROWS;
      const closed = remembered(isShort ? await readAll(pages, first) : { ...first, value: first.value.rows });
      if (closed.kind !== 'done') return closed;
      take({ ...closed, unreadable: (closed.unreadable ?? []).filter(({ originId: id }) => isAsked(id)) });
      single = missing().filter(id => !isShort || placed.sent(id) === undefined);
    }
    for (const id of single) {
      const fields = { ...closedSince(placed.sent(id)?.sentAt), cl_ord_id: clientIds.get(id)! };
      const closed = remembered(await readAll(closedPages(fields, listing.value)));
      if (closed.kind !== 'done') return closed;
      take(closed);
    }
    return doneWith([...found.values()], unreadable);
  }

  const closedPages =
    (fields: Readonly<Record<string, string>>, listing: Listing): ReadPage<KrakenOrder> =>
    offset =>
      ask(
        query(
          'ClosedOrders',
          { ...fields, ofs: String(offset), closetime: 'close', consolidate_taker: 'false' },
          (result, unreadable) =>
            page('closed', (value, rows) => krakenOrders(value, listing.names, rows))(result, unreadable),
        ),
      );

  /** Stores the facts that later requests need about the orders of a reply. */
  function remembered(outcome: OrderList): OrderList {
    if (outcome.kind === 'done')
      for (const { oid, originId, feeSide } of outcome.value) placed.seen(oid, { originId, feeSide });
    return outcome;
  }

  return { place, cancel, openOrders, lookUp, byOids, byOriginIds };
}

/**
 * Returns the filter for orders that were closed after an order was sent; no filter if the time of sending is unknown.
 */
const closedSince = (sentAt: Millis | undefined): Readonly<Record<string, string>> =>
  sentAt === undefined ? {} : { start: String(Math.floor((sentAt - EARLIER_MS) / 1_000)) };

const NONE = { kind: 'done', value: [] } as const;
const isUnknownOrder = (code: string): boolean => code === 'EOrder:Unknown order';

const OID = /^[A-Z0-9]{1,12}(?:-[A-Z0-9]{1,12}){0,4}$/;
/** Checks an order id of the exchange, such as `OQCLML-BW3P3-BUCMWZ`. */
function oidText(oid: string): string {
  if (!OID.test(oid)) throw fault('oid', 'an order id like OQCLML-BW3P3-BUCMWZ', oid);
  return oid;
}

/**
 * Returns the fields of a new order. `fciq` makes the order pay its fees in the quote currency; without this flag,
 * sells pay in the base currency.
 */
function orderFields(order: NewOrder, pair: KrakenPair): Readonly<Record<string, string>> {
  const { side, price, major, originId, timeInForce } = order;
  if (side !== 'buy' && side !== 'sell') throw fault('side', 'buy or sell', side);
  return {
    pair: pair.id,
    type: side,
    ordertype: 'limit',
    volume: positivePart(major),
    price: positivePart(price),
    cl_ord_id: krakenClientId(originId),
    ...orderTerms(timeInForce),
  };
}

function orderTerms(timeInForce: TimeInForce): Readonly<Record<string, string>> {
  switch (timeInForce) {
    case 'good till canceled':
      return { oflags: 'fciq', timeinforce: 'GTC' };
    case 'immediate or cancel':
      return { oflags: 'fciq', timeinforce: 'IOC' };
    case 'post only':
      return { oflags: 'post,fciq', timeinforce: 'GTC' };
    case 'fill or kill':
    default:
      // The exchange documents no fill-or-kill orders, and would treat an unknown word as good till canceled.
      throw fault('timeInForce', 'good till canceled, immediate or cancel, or post only', timeInForce);
  }
}

const write = <T>(name: string, fields: Readonly<Record<string, string>>, read: (result: unknown) => T) =>
  ({ endpoint: `POST ${name}`, method: 'POST', path: `/private/${name}`, fields, effect: 'write', read }) as const;

/** Returns a private read, which raises the call counter of the key by one. */
const query = <T>(
  name: string,
  fields: Readonly<Record<string, string>>,
  read: KrakenRequest<T>['read'],
): KrakenRequest<T> => ({
  endpoint: `POST ${name}`,
  lane: 'private read',
  method: 'POST',
  path: `/private/${name}`,
  fields,
  effect: 'read',
  read,
});

/** Returns a read of the ledger or of trades, which raises the call counter by two. */
export const historyQuery = <T>(
  name: string,
  fields: Readonly<Record<string, string>>,
  read: KrakenRequest<T>['read'],
): KrakenRequest<T> => ({ ...query(name, fields, read), calls: HISTORY_CALLS });

export { query as privateQuery };
