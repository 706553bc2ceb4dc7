/** Endpoints to place, change, cancel and look up orders and their trades. */
import type { DecimalText, NewOrder, Outcome, Page, Side, TimeInForce } from '../../../core/index.ts';
import * as replies from '../wire/accountReplies.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';
import { currencyPart, IDS_PER_REQUEST, oidPart, originIdPart, pageQuery, tidPart } from '../wire/path.ts';
import { bookPart, chunks, limitPart, positivePart, query, allOf, anyOf, type Lists } from '../../wire/requestParts.ts';
import { fault, present } from '../../wire/wire.ts';

/** Wire values by time in force (rest-api 4.1). */
const TIME_IN_FORCE = {
  'good till canceled': 'goodtillcancelled',
  'fill or kill': 'fillorkill',
  'immediate or cancel': 'immediateorcancel',
  'post only': 'postonly',
} as const satisfies Record<TimeInForce, string>;
export type WireTimeInForce = (typeof TIME_IN_FORCE)[TimeInForce];

type AnyOrder = {
  readonly book: string;
  readonly side: Side;
  readonly originId?: string;
  /** Trigger price: makes a market order a stop-loss and a limit order a stop-limit. */
  readonly stop?: DecimalText;
  readonly marginOrderType?: 'CROSS_MARGIN';
};
type Limit = {
  readonly type: 'limit';
  readonly price: DecimalText;
  readonly major: DecimalText;
  readonly timeInForce?: WireTimeInForce;
};
/**
 * Market order with an amount of either the base or the quote currency. `slippageTolerance` is in percent, 0 to 100. If
 * omitted, the exchange gives no protection.
 */
type Sweep = { readonly type: 'market'; readonly slippageTolerance?: DecimalText } & OneAmount;
type OneAmount =
  { readonly major: DecimalText; readonly minor?: never } | { readonly minor: DecimalText; readonly major?: never };
export type OrderRequest = AnyOrder & (Limit | Sweep);

export type Ids = { readonly oids: readonly string[] } | { readonly originIds: readonly string[] };
type Id = { readonly oid: string } | { readonly originId: string };
export type OpenOrdersQuery = {
  readonly book?: string;
  readonly currency?: string;
  readonly limit?: number;
  /** Set of orders to list; `alpha` excludes the orders of the retail app. */
  readonly source?: 'alpha' | 'all';
};
/** Replacement of an order. `originId` is the id of the new order, which does not inherit the old id. */
export type Replacement = {
  readonly price?: DecimalText;
  readonly major?: DecimalText;
  readonly minor?: DecimalText;
  readonly stop?: DecimalText;
  readonly originId?: string;
};
/**
 * Change of an order, with at least one new price or amount. `cancel`: whether to cancel the order if the change fails;
 * otherwise the order stays unchanged.
 */
export type OrderModification = Omit<Replacement, 'originId'> & { readonly cancel?: boolean };

export type OrderEndpoints = ReturnType<typeof orders>;

/**
 * Returns the order endpoints (rest-api 4.1, 4.2, 4.3, 4.4, public-facts 5, 6, 7). Prices and amounts are decimal text
 * above zero; invalid requests are rejected as `not-sent`. A placement that may have been sent is `unknown`: look the
 * order up by its origin_id before placing it again (public-facts 5.4).
 */
export function orders(ask: BitsoAsk) {
  const placing = (order: OrderRequest) => accepting('POST orders', 'POST', '/v3/orders', orderBody(order));
  return {
    place: (order: NewOrder, isWanted: () => boolean = () => true) =>
      buildAndSend(ask, () => ({
        ...placing({ ...order, type: 'limit', timeInForce: wireTimeInForce(order.timeInForce) }),
        isWanted,
      })),
    placeOrder: (order: OrderRequest) => buildAndSend(ask, () => placing(order)),
    /**
     * Replaces an order by a new one (v3). The new order is placed even if the old order fills meanwhile, so a bot
     * should cancel and place instead.
     */
    replace: (of: Id, by: Replacement) =>
      buildAndSend(ask, () => accepting('PATCH v3 orders', 'PATCH', `/v3/orders${idPath(of)}`, replacementBody(by))),
    /**
     * Changes the order in place (v4). If a request changes only the price of a buy, the exchange changes its amount
     * too (public facts 6).
     */
    modify: (of: Id, by: OrderModification) =>
      buildAndSend(ask, () => accepting('PATCH v4 orders', 'PATCH', `/v4/orders${idPath(of)}`, modificationBody(by))),

    /**
     * Cancels orders in requests of at most 50 ids. Succeeds if any request was answered. If an id is missing from the
     * result, its order may still be open.
     */
    cancel: async (of: Ids): Promise<Outcome<readonly string[]>> => {
      const some = (ids: readonly string[]) =>
        requestByIds(ids, part => buildAndSend(ask, () => cancelling(`/v3/orders${idQuery(of, part)}`)), anyOf);
      return anyOf(await Promise.all(chunks(idsOf(of), IDS_PER_REQUEST).map(some)));
    },
    cancelOne: (oid: string) => buildAndSend(ask, () => cancelling(`/v3/orders/${oidPart(oid)}`)),
    /** Cancels every open order of the account, including those of other programs. */
    cancelAll: () => buildAndSend(ask, () => cancelling('/v3/orders/all')),

    /**
     * Looks up orders in requests of at most 50 ids. Succeeds if all requests were answered. Ids without an order are
     * missing from the result.
     */
    lookUp: async (of: Ids): Promise<Outcome<readonly replies.OrderDetails[]>> => {
      const some = (ids: readonly string[]) =>
        requestByIds(
          ids,
          part => buildAndSend(ask, () => reading('orders', idQuery(of, part), replies.orderList)),
          allOf,
        );
      return allOf(await Promise.all(chunks(idsOf(of), IDS_PER_REQUEST).map(some)));
    },
    order: (oid: string) => buildAndSend(ask, () => reading('orders', `/${oidPart(oid)}`, replies.orderList)),
    openOrders: (of: OpenOrdersQuery = {}) =>
      buildAndSend(ask, () => reading('open_orders', openQuery(of), replies.orderList)),

    userTrades: (of: Page & { readonly book?: string } = {}) =>
      buildAndSend(ask, () => {
        const book = of.book === undefined ? undefined : bookPart(of.book);
        return reading('user_trades', query({ book, ...pageQuery(of) }), replies.ownTrades);
      }),
    /** Requests trades by trade id: one id, or several joined with dashes. */
    userTradesByTid: (tids: readonly [string, ...string[]]) =>
      buildAndSend(ask, () => reading('user_trades', `/${tids.map(tidPart).join('-')}`, replies.ownTrades)),
    /** Requests the trades of an order, or of all orders in any book that ever had this origin_id. */
    orderTrades: (of: Id) => buildAndSend(ask, () => reading('order_trades', idPath(of), replies.ownTrades)),
  };
}

const accepting = (
  endpoint: string,
  method: 'POST' | 'PATCH',
  path: string,
  body: Readonly<Record<string, unknown>>,
): BitsoRequest<{ readonly oid: string }> => ({
  endpoint,
  lane: 'place',
  method,
  path,
  body,
  effect: 'write',
  envelope: 'payload',
  read: replies.acceptedOrder,
});

const cancelling = (path: string): BitsoRequest<readonly string[]> => ({
  endpoint: 'DELETE orders',
  lane: 'cancel',
  method: 'DELETE',
  path,
  effect: 'write',
  envelope: 'payload',
  read: replies.canceledOids,
});

const reading = <T>(name: string, rest: string, read: BitsoRequest<T>['read']): BitsoRequest<T> => ({
  endpoint: `GET ${name}`,
  lane: 'private read',
  method: 'GET',
  path: `/v3/${name}${rest}`,
  effect: 'read',
  envelope: 'payload',
  read,
});

const TIMES_IN_FORCE: readonly WireTimeInForce[] = Object.values(TIME_IN_FORCE);

/**
 * Returns the wire value of a time in force. Throws a WireFault on an unknown value, because the exchange would treat
 * the order as good till canceled, which may take liquidity.
 */
function wireTimeInForce(word: TimeInForce): WireTimeInForce {
  if (!Object.hasOwn(TIME_IN_FORCE, word)) throw fault('timeInForce', Object.keys(TIME_IN_FORCE).join(', '), word);
  return TIME_IN_FORCE[word];
}

function orderBody(order: OrderRequest): Record<string, unknown> {
  const { book, side, type, major, originId, stop, marginOrderType } = order;
  if (side !== 'buy' && side !== 'sell') throw fault('side', 'buy or sell', side);
  const common = { book: bookPart(book), side, type, ...figures({ major, stop }) };
  const last = present({
    origin_id: originId === undefined ? undefined : originIdPart(originId),
    margin_order_type: marginOrderType,
  });
  if (type === 'limit') {
    const timeInForce = order.timeInForce ?? 'goodtillcancelled';
    if (!TIMES_IN_FORCE.includes(timeInForce)) throw fault('timeInForce', TIMES_IN_FORCE.join(', '), timeInForce);
    if (major === undefined) throw fault('major', 'an amount', major);
    return { ...common, price: positivePart(order.price), time_in_force: timeInForce, ...last };
  }
  if ((major === undefined) === (order.minor === undefined))
    throw fault('major', 'exactly one of major and minor', major);
  const slippage = order.slippageTolerance === undefined ? undefined : tolerancePercent(order.slippageTolerance);
  return { ...common, ...figures({ minor: order.minor }), ...present({ slippage_tolerance: slippage }), ...last };
}

/** Returns the tolerance as a JSON number, as clients send it (public facts 5.1). */
function tolerancePercent(text: DecimalText): number {
  const value = Number(text);
  if (!/^\d{1,3}(?:\.\d{1,6})?$/.test(text) || !(value <= 100))
    throw fault('slippageTolerance', 'percent, 0 to 100', text);
  return value;
}

function replacementBody({ originId, ...amounts }: Replacement): Record<string, unknown> {
  return {
    ...someFigures(amounts),
    ...present({ origin_id: originId === undefined ? undefined : originIdPart(originId) }),
  };
}

function modificationBody({ cancel, ...amounts }: OrderModification): Record<string, unknown> {
  if (amounts.major !== undefined && amounts.minor !== undefined)
    throw fault('minor', 'only one of major and minor', amounts.minor);
  return { ...someFigures(amounts), ...present({ cancel }) };
}

type Figures = { readonly [name in 'price' | 'major' | 'minor' | 'stop']?: DecimalText | undefined };

/** Returns the prices and amounts that are present. Throws a WireFault if a value is not above zero. */
function figures({ price, major, minor, stop }: Figures): Record<string, DecimalText> {
  const given = Object.entries({ price, major, minor, stop }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(given.map(([name, value]) => [name, positivePart(value)]));
}

function someFigures(of: Figures): Record<string, DecimalText> {
  const given = figures(of);
  if (Object.keys(given).length === 0) throw fault('change', 'at least one of price, major, minor and stop', undefined);
  return given;
}

/** Returns `/{oid}`, or `?origin_id=` for an id of the bot. */
const idPath = (of: Id): string =>
  'oid' in of ? `/${oidPart(of.oid)}` : query({ origin_id: originIdPart(of.originId) });

function openQuery({ book, currency, limit, source }: OpenOrdersQuery): string {
  if (source !== undefined && source !== 'alpha' && source !== 'all') throw fault('source', 'alpha or all', source);
  return query({
    book: book === undefined ? undefined : bookPart(book),
    currency: currency === undefined ? undefined : currencyPart(currency),
    // The default limit is 500; the document has no maximum (4.4).
    limit: limit === undefined ? undefined : limitPart(limit, Number.MAX_SAFE_INTEGER),
    source,
  });
}

const idsOf = (of: Ids): readonly string[] => ('oids' in of ? of.oids : of.originIds);

/**
 * Returns the query for several ids. Commas are not encoded: all samples of the exchange sign and send them unencoded
 * (public facts 2.2).
 */
const idQuery = (of: Ids, ids: readonly string[]): string =>
  'oids' in of ? query({ oids: ids.map(oidPart).join(',') }) : query({ origin_ids: ids.map(originIdPart).join(',') });

/** Error codes for an unknown oid and an unknown origin_id. */
const NOT_FOUND: readonly string[] = ['0312', '0357'];

/**
 * Requests orders by id. The exchange may reject the request because of an id without an order, instead of omitting
 * that id (public facts 7 and 8). The ids are then requested again in halves, so that one id does not hide the state of
 * the other orders.
 */
async function requestByIds<T>(
  ids: readonly string[],
  request: (ids: readonly string[]) => Promise<Outcome<readonly T[]>>,
  merge: (outcomes: Lists<T>) => Outcome<readonly T[]>,
): Promise<Outcome<readonly T[]>> {
  const outcome = await request(ids);
  if (outcome.kind !== 'refused' || !NOT_FOUND.includes(outcome.code)) return outcome;
  if (ids.length === 1) return { kind: 'done', value: [] };
  const halves = chunks(ids, Math.ceil(ids.length / 2));
  return merge(await Promise.all(halves.map(half => requestByIds(half, request, merge))));
}
