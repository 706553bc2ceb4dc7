/** Order routes: place, read, change and cancel orders (rest-api 4.2 and 4.4, public-facts 5 to 8). */
import {
  isDecimalText,
  memberText,
  moneyOf,
  moneyOfValue,
  textOfAmount,
  textOfPrice,
  valueOf,
  type Money,
  type WireReply,
} from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import { currenciesOf } from '../venue/currencies.ts';
import { done, refused, type Verdict } from '../wire/codes.ts';
import { resolved, type Modification } from '../venue/modification.ts';
import {
  finalChecks,
  amountsOf,
  checkedOrder,
  isOriginId,
  outsideBounds,
  priceOf,
  stopOf,
  tradingOff,
  type Fields,
} from '../venue/orderChecks.ts';
import { isActive, isWaiting, unfilled, type Draft, type VenueOrder } from '../venue/order.ts';
import { objectOf } from './parameters.ts';
import { limitOf, readRoute, type Method, type PrivateRequest, type Route } from './route.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from '../venue/venue.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import { failure, failureOf, success, text8, timeMillis } from '../wire/wire.ts';

const writes = (method: Method, pattern: string, handle: (ask: PrivateRequest) => WireReply): Route => ({
  scope: 'private',
  method,
  pattern,
  permission: 'orders',
  ...(method === 'DELETE' && { exempt: true as const }),
  handle,
});
export const orderRoutes: readonly Route[] = [
  writes('POST', '/v3/orders', place),
  writes('DELETE', '/v3/orders/all', cancelAll),
  writes('DELETE', '/v3/orders/:oid', cancel),
  writes('DELETE', '/v3/orders', cancel),
  writes('PATCH', '/v3/orders/:oid', replace),
  writes('PATCH', '/v3/orders', replace),
  writes('PATCH', '/v4/orders/:oid', modify),
  writes('PATCH', '/v4/orders', modify),
  readRoute('/v3/orders/:oid', lookup),
  readRoute('/v3/orders', lookup),
  readRoute('/v3/open_orders', openOrders),
];

/** Default of the parameter `limit` of open_orders (rest-api 4.4). */
const OPEN_ORDERS_LIMIT = 500;

function place({ venue, account, body }: PrivateRequest): WireReply {
  const fields = orderFieldsOf(body, venue.switches);
  if (fields.kind === 'refused') return failure(fields);
  const checked = checkedOrder(venue, account, fields.value);
  if (checked.kind === 'refused') return failure(checked);
  const { book, draft, lock } = checked.value;
  return success({ oid: venue.accept(account, book, draft, lock).oid });
}

function openOrders({ venue, account, query }: PrivateRequest): WireReply {
  const book = query.get('book');
  if (book !== undefined && book !== '' && !venue.books.has(book)) return failureOf('0301', book);
  const currency = query.get('currency');
  if (currency !== undefined && currency !== '' && !currenciesOf(venue).includes(currency))
    return failureOf('0313', currency);
  const limit = limitOf(query, OPEN_ORDERS_LIMIT, venue.switches);
  if (limit === null) return failureOf('0320', 'limit');
  const source = query.get('source') ?? 'all';
  // No order of the embedded exchange is from a retail application, so alpha and all select the same orders.
  if (source !== 'all' && source !== 'alpha') return failureOf('0304', 'source');
  const found = [...account.active.values()].reverse().filter(order => {
    if (book !== undefined && book !== '' && order.book !== book) return false;
    if (currency && order.instrument.major !== currency && order.instrument.minor !== currency) return false;
    if (!staysOpen(order)) return false;
    return !(isWaiting(order) && venue.switches.stopInOpenOrders === 'hidden');
  });
  return success(found.slice(0, limit).map(order => openRow(order, venue.switches)));
}

/**
 * Whether open_orders lists the order: only a limit order that may rest, not a market, IOC or FOK order (rest-api 2.4).
 */
const staysOpen = ({ type, timeInForce }: VenueOrder): boolean =>
  type === 'limit' && (timeInForce === 'goodtillcancelled' || timeInForce === 'postonly');

/** Looks up orders by oid in the path (several joined with dashes), or by oids or origin_ids in the query. */
function lookup(ask: PrivateRequest): WireReply {
  const { venue, account } = ask;
  const named = orderNameFrom(ask);
  if (named.kind === 'refused') return failure(named);
  venue.forget(account);
  const found = named.value.flatMap(name => [...ordersOf(venue, account, name)]);
  if (found.length === 0 && named.value.length === 1 && venue.switches.lookupUnknown === '0312') {
    return failureOf('oid' in named.value[0]! ? '0312' : '0357');
  }
  return success(found.map(order => lookupRow(order, venue.switches)));
}

function cancel(ask: PrivateRequest): WireReply {
  const { venue, account } = ask;
  const named = orderNameFrom(ask);
  if (named.kind === 'refused') return failure(named);
  const cancelled: string[] = [];
  for (const name of named.value) {
    const order = activeOf(venue, account, name);
    if (order && venue.cancel(order)) cancelled.push(order.oid);
  }
  if (cancelled.length === 0 && named.value.length === 1 && venue.switches.cancelUnknown === '0312') {
    return failureOf('oid' in named.value[0]! ? '0312' : '0357');
  }
  return success(cancelled);
}

/** Cancels every order of the account in every book, including orders of other programs. */
function cancelAll({ venue, account }: PrivateRequest): WireReply {
  return success([...account.active.values()].filter(order => venue.cancel(order)).map(order => order.oid));
}

/** Replaces an order (v3) with a new order. The account needs funds for the new lock in addition to the old lock. */
function replace(ask: PrivateRequest): WireReply {
  const { venue, account } = ask;
  const target = changing(ask);
  if (target.kind === 'refused') return failure(target);
  const { order, book, fields } = target.value;
  const change = changeOf(order, book, fields, venue.switches);
  if (change.kind === 'refused') return failure(change);
  const originId = fields['origin_id'];
  if (originId !== undefined && originId !== null && typeof originId !== 'string')
    return failureOf('0372', 'origin_id');
  const { price, major, minor, stop } = change.value;
  if (minor !== undefined && !isWaiting(order))
    return failureOf('0329', 'minor can be changed only in a stop order that has not triggered');
  const waitsFor = stop ?? (isWaiting(order) ? order.stop : undefined);
  const byValue = order.type === 'market' ? (minor ?? (major === undefined ? order.minor : undefined)) : undefined;
  const draft: Draft = {
    side: order.side,
    type: order.type,
    timeInForce: order.timeInForce,
    price: price ?? order.price,
    amount: byValue !== undefined ? (0 as Draft['amount']) : (major ?? unfilled(order)),
    minor: byValue,
    stop: waitsFor,
    originId: typeof originId === 'string' ? originId : undefined,
    marginOrderType: order.marginOrderType,
    slippage: undefined,
  };
  const outside = outsideBounds(book.instrument, draft);
  if (outside) return failure(outside);
  const checked = finalChecks(venue, account, book, draft);
  if (checked.kind === 'refused') return failure(checked);
  return success({ oid: venue.replace(order, book, draft, checked.value.lock).oid });
}

/** Changes price, amount or stop of an order (v4). The account needs funds only for the increase of the lock. */
function modify(ask: PrivateRequest): WireReply {
  const { venue } = ask;
  const target = changing(ask);
  if (target.kind === 'refused') return failure(target);
  const { order, book, fields } = target.value;
  const change = changeOf(order, book, fields, venue.switches);
  if (change.kind === 'refused') return failure(change);
  const next = resolved(order, change.value, venue.switches);
  if (next === null) return failureOf('0343', 'the new amount must be above the filled amount');
  const outside = outsideBounds(book.instrument, {
    type: order.type,
    price: next.price,
    amount: next.original,
    minor: next.minor,
  });
  if (outside) return failure(outside);
  if (book.queue.full) return failureOf('1002');
  return venue.modify(order, book, change.value) ? success({ oid: order.oid }) : failureOf('0379');
}

type Name = { readonly oid: string } | { readonly originId: string };

/** Returns the orders that a lookup or cancel names. */
function orderNameFrom({ venue, path, query }: PrivateRequest): Verdict<Name[]> {
  const list = (text: string | undefined, separator: RegExp) => (text ?? '').split(separator).filter(id => id !== '');
  const lists: readonly (readonly Name[])[] = [
    list(path['oid'], /[-,]/).map(oid => ({ oid })),
    ...['oid', 'oids'].map(name => list(query.get(name), /,/).map(oid => ({ oid }))),
    ...['origin_id', 'origin_ids'].map(name => list(query.get(name), /,/).map(originId => ({ originId }))),
  ];
  if (lists.filter(each => each.length > 0).length > 1)
    return refused('0361', 'give only one of these: IDs in the path, oid, oids, origin_id, origin_ids');
  const names = lists.flat();
  if (names.length === 0) return refused('0360', 'IDs in the path, oid, oids, origin_id or origin_ids');
  const wrong = names.find(name => 'originId' in name && !isOriginId(name.originId));
  if (wrong !== undefined) return refused('0357', 'origin_id');
  return names.length > venue.switches.idsPerCallMax ? refused('0304', 'too many ids') : done(names);
}

function ordersOf(venue: Venue, account: Account, name: Name): readonly VenueOrder[] {
  if ('oid' in name) {
    const order = venue.find(name.oid);
    return order?.account === account ? [order] : [];
  }
  const live = account.activeOrigins.get(name.originId);
  return [...(live ? [live] : []), ...[...(account.finishedOrigins.get(name.originId) ?? [])].reverse()];
}

function activeOf(venue: Venue, account: Account, name: Name): VenueOrder | undefined {
  return 'oid' in name ? ordersOf(venue, account, name).find(isActive) : account.activeOrigins.get(name.originId);
}

type Changing = { readonly order: VenueOrder; readonly book: VenueBook; readonly fields: Fields };

/** Returns the order that a PATCH changes, and the fields of the request body. */
function changing(ask: PrivateRequest): Verdict<Changing> {
  const { venue, account, body } = ask;
  if (venue.switches.api === 'off') return refused('1000');
  const named = orderNameFrom(ask);
  if (named.kind === 'refused') return named;
  if (named.value.length > 1) return refused('0361', 'only one order per call can be changed');
  const fields = orderFieldsOf(body, venue.switches);
  if (fields.kind === 'refused') return fields;
  const order = activeOf(venue, account, named.value[0]!);
  if (!order) return refused('oid' in named.value[0]! ? '0312' : '0357');
  const book = venue.books.get(order.book);
  if (!book || (order.type === 'market' && !isWaiting(order)))
    return refused('1005', 'only limit orders and untriggered stop orders in a listed book can be changed');
  const off = tradingOff(account, order.type, venue.switches);
  return off ?? done({ order, book, fields: fields.value });
}

const CHANGES = ['price', 'major', 'minor', 'stop'] as const;

/**
 * Parses the body of an order. If the switch `orderNumbers` accepts JSON numbers, a number becomes its literal text; a
 * number with an exponent stays a number.
 */
function orderFieldsOf(body: string, { orderNumbers }: Switches): Verdict<Fields> {
  const fields = objectOf(body);
  if (fields.kind === 'refused' || orderNumbers === '0372') return fields;
  const texts = CHANGES.flatMap(name => {
    const text = typeof fields.value[name] === 'number' ? memberText(body, name) : null;
    return isDecimalText(text) ? [[name, text] as const] : [];
  });
  return done({ ...fields.value, ...Object.fromEntries(texts) });
}

/** Parses the changes that a PATCH requests: `price`, `major` or `minor`, `stop`, and `cancel`. */
function changeOf(order: VenueOrder, book: VenueBook, fields: Fields, switches: Switches): Verdict<Modification> {
  const given = CHANGES.filter(name => fields[name] !== undefined && fields[name] !== null);
  if (given.length === 0) return refused('0360', 'change at least one of price, major, minor and stop');
  const mistyped = given.find(name => typeof fields[name] !== 'string');
  if (mistyped !== undefined) return refused('0372', mistyped);
  const text = (name: (typeof CHANGES)[number]) => (given.includes(name) ? (fields[name] as string) : undefined);
  if (order.type === 'market' && text('price') !== undefined) return refused('0304', 'a market order has no price');
  const price = text('price') === undefined ? undefined : priceOf(book, order.side, text('price'), switches);
  if (price?.kind === 'refused') return price;
  if (text('stop') !== undefined && !isWaiting(order))
    return refused('0304', 'stop can be changed only in a stop order that has not triggered');
  const stop = stopOf(book, order.side, text('stop'), switches);
  if (stop.kind === 'refused') return stop;
  const amounts = amountsGiven(book, text('major'), text('minor'));
  if (amounts.kind === 'refused') return amounts;
  const cancelFlag = flagOf(fields['cancel']);
  if (cancelFlag === null) return refused('0372', 'cancel');
  return done({
    ...(price && { price: price.value }),
    ...(stop.value !== undefined && { stop: stop.value }),
    ...amounts.value,
    cancel: cancelFlag,
  });
}

function amountsGiven(
  book: VenueBook,
  major: string | undefined,
  minor: string | undefined,
): Verdict<Pick<Modification, 'major' | 'minor'>> {
  if (major === undefined && minor === undefined) return done({});
  if (minor !== undefined && major === undefined) {
    const sum: Money | null = isDecimalText(minor) ? moneyOf(minor) : null;
    return sum === null || sum === 0n ? refused('0408', minor) : done({ minor: sum });
  }
  const amounts = amountsOf(book.instrument, 'market', major, minor);
  return amounts.kind === 'refused' ? amounts : done({ major: amounts.value.major });
}

/** Parses true, 1 and "1", or false, 0 and "0" (public-facts 6); returns `null` for anything else. */
function flagOf(field: unknown): boolean | null {
  if (field === undefined || field === null || field === false || field === 0 || field === '0' || field === 'false')
    return false;
  return field === true || field === 1 || field === '1' || field === 'true' ? true : null;
}

/** Returns a row of open_orders with the fields of rest-api 2.4. */
function openRow(order: VenueOrder, { orderUpdatedAt }: Switches): Record<string, string | null> {
  const { instrument: i } = order;
  const unchanged = orderUpdatedAt === 'null' ? null : order.createdAt;
  const updatedAt = order.updatedAt ?? unchanged;
  return {
    book: order.book,
    oid: order.oid,
    ...(order.originId !== undefined && { origin_id: order.originId }),
    original_amount: textOfAmount(i, order.original),
    unfilled_amount: textOfAmount(i, unfilled(order)),
    original_value: text8(originalValue(order)),
    ...(order.type === 'limit' && { price: textOfPrice(i, order.price) }),
    side: order.side,
    type: order.type,
    status: order.status,
    time_in_force: order.timeInForce,
    created_at: timeMillis(order.createdAt),
    updated_at: updatedAt === null ? null : timeMillis(updatedAt),
    ...(order.marginOrderType !== undefined && { margin_order_type: order.marginOrderType }),
  };
}

/** Returns a row of a lookup with the fields of public-facts 7. */
function lookupRow(order: VenueOrder, switches: Switches): Record<string, string | null> {
  const stop = order.stop === undefined ? null : textOfPrice(order.instrument, order.stop);
  const triggered = order.triggeredAt === undefined ? null : timeMillis(order.triggeredAt);
  const omit = switches.absentFields === 'omitted';
  return {
    ...openRow(order, switches),
    ...(!(omit && stop === null) && { stop }),
    ...(!(omit && triggered === null) && { triggered_at: triggered }),
  };
}

/**
 * Returns the original value of an order. A market order by amount has no value before it trades, so its traded value
 * is returned.
 */
function originalValue(order: VenueOrder): Money {
  if (order.minor !== undefined) return order.minor;
  if (order.type === 'market') return order.traded;
  return moneyOfValue(order.instrument, valueOf(order.price, order.original));
}
