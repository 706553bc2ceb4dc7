/** Placing, changing, cancelling and looking up orders, and the trades that came of them. */
import type { DecimalText, NewOrder, Outcome, Page, Side, TimeInForce } from '../../core/index.ts';
import * as replies from '../wire/accountReplies.ts';
import { asked } from '../transport/ask.ts';
import type { Ask, Question } from '../transport/ask.ts';
import {
  bookPart,
  chunks,
  currencyPart,
  IDS_PER_REQUEST,
  limitPart,
  oidPart,
  originIdPart,
  pageQuery,
  positivePart,
  query,
  tidPart,
} from '../wire/path.ts';
import { fault, present } from '../wire/wire.ts';

/** rest-api 4.1. */
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
/** `slippageTolerance` is in percent, 0 to 100; without it the exchange protects from nothing. */
type Sweep = { readonly type: 'market'; readonly slippageTolerance?: DecimalText } & ByOne;
type ByOne =
  { readonly major: DecimalText; readonly minor?: never } | { readonly minor: DecimalText; readonly major?: never };
export type OrderRequest = AnyOrder & (Limit | Sweep);

export type Ids = { readonly oids: readonly string[] } | { readonly originIds: readonly string[] };
type Id = { readonly oid: string } | { readonly originId: string };
export type OpenOrdersQuery = {
  readonly book?: string;
  readonly currency?: string;
  readonly limit?: number;
  /** `alpha` leaves out the orders of the retail app. */
  readonly source?: 'alpha' | 'all';
};
/** `originId` is the id of the order that replaces the old one: it inherits none. */
export type Replacement = {
  readonly price?: DecimalText;
  readonly major?: DecimalText;
  readonly minor?: DecimalText;
  readonly stop?: DecimalText;
  readonly originId?: string;
};
/** `cancel`: when the change cannot be made, cancel the order instead of leaving it as it was. At least one figure is needed. */
export type OrderModification = Omit<Replacement, 'originId'> & { readonly cancel?: boolean };

export type OrderEndpoints = ReturnType<typeof orders>;

/**
 * rest-api 4.1, 4.2, 4.3, 4.4 and public-facts 5, 6, 7. Prices and amounts are decimal text above zero; what breaks the rules is refused as
 * `not-sent`. A placement that may have gone out is `unknown`: it is to be looked up by its origin_id first (public-facts 5.4).
 */
export function orders(ask: Ask) {
  const placing = (order: OrderRequest) => accepting('POST orders', 'POST', '/v3/orders', orderBody(order));
  return {
    place: (order: NewOrder, isWanted: () => boolean = () => true) =>
      asked(ask, () => ({
        ...placing({ ...order, type: 'limit', timeInForce: wireTimeInForce(order.timeInForce) }),
        isWanted,
      })),
    placeOrder: (order: OrderRequest) => asked(ask, () => placing(order)),
    /** v3: a new order takes the old one's place, even when the old one is filled meanwhile. A bot should cancel and place instead. */
    replace: (of: Id, by: Replacement) =>
      asked(ask, () => accepting('PATCH v3 orders', 'PATCH', `/v3/orders${idPath(of)}`, replacementBody(by))),
    /** v4: changes the order in place. By price alone, a buy changes its amount too (public facts 6). */
    modify: (of: Id, by: OrderModification) =>
      asked(ask, () => accepting('PATCH v4 orders', 'PATCH', `/v4/orders${idPath(of)}`, modificationBody(by))),

    /**
     * Cancels in requests of at most 50 ids each. Done when any of them was answered: an id that is missing from the list was not
     * proven to be canceled, whether its request failed or not.
     */
    cancel: async (of: Ids): Promise<Outcome<readonly string[]>> => {
      const some = (ids: readonly string[]) =>
        found(ids, part => asked(ask, () => cancelling(`/v3/orders${idQuery(of, part)}`)), anyOf);
      return anyOf(await Promise.all(chunks(idsOf(of), IDS_PER_REQUEST).map(some)));
    },
    cancelOne: (oid: string) => asked(ask, () => cancelling(`/v3/orders/${oidPart(oid)}`)),
    /** Every open order of the account, also those of other programs. */
    cancelAll: () => asked(ask, () => cancelling('/v3/orders/all')),

    /** In requests of at most 50 ids each; done when all of them were answered. Ids that match nothing are missing. */
    lookUp: async (of: Ids): Promise<Outcome<readonly replies.OrderDetails[]>> => {
      const some = (ids: readonly string[]) =>
        found(ids, part => asked(ask, () => reading('orders', idQuery(of, part), replies.orderList)), allOf);
      return allOf(await Promise.all(chunks(idsOf(of), IDS_PER_REQUEST).map(some)));
    },
    order: (oid: string) => asked(ask, () => reading('orders', `/${oidPart(oid)}`, replies.orderList)),
    openOrders: (of: OpenOrdersQuery = {}) =>
      asked(ask, () => reading('open_orders', openQuery(of), replies.orderList)),

    userTrades: (of: Page & { readonly book?: string } = {}) =>
      asked(ask, () => {
        const book = of.book === undefined ? undefined : bookPart(of.book);
        return reading('user_trades', query({ book, ...pageQuery(of) }), replies.ownTrades);
      }),
    /** By trade id: one, or several joined with dashes. */
    userTradesByTid: (tids: readonly [string, ...string[]]) =>
      asked(ask, () => reading('user_trades', `/${tids.map(tidPart).join('-')}`, replies.ownTrades)),
    /** By origin_id: the trades of all orders that ever had it, in any book. */
    orderTrades: (of: Id) => asked(ask, () => reading('order_trades', idPath(of), replies.ownTrades)),
  };
}

const accepting = (
  endpoint: string,
  method: 'POST' | 'PATCH',
  path: string,
  body: Readonly<Record<string, unknown>>,
): Question<{ readonly oid: string }> => ({
  endpoint,
  lane: 'place',
  method,
  path,
  body,
  effect: 'write',
  envelope: 'payload',
  read: replies.acceptedOrder,
});

const cancelling = (path: string): Question<readonly string[]> => ({
  endpoint: 'DELETE orders',
  lane: 'cancel',
  method: 'DELETE',
  path,
  effect: 'write',
  envelope: 'payload',
  read: replies.canceledOids,
});

const reading = <T>(name: string, rest: string, read: Question<T>['read']): Question<T> => ({
  endpoint: `GET ${name}`,
  lane: 'private read',
  method: 'GET',
  path: `/v3/${name}${rest}`,
  effect: 'read',
  envelope: 'payload',
  read,
});

const TIMES_IN_FORCE: readonly WireTimeInForce[] = Object.values(TIME_IN_FORCE);

/** Throws a WireFault on a word that is none: without one the exchange would take the order for good till canceled, which may take liquidity. */
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
  const slippage = order.slippageTolerance === undefined ? undefined : percent(order.slippageTolerance);
  return { ...common, ...figures({ minor: order.minor }), ...present({ slippage_tolerance: slippage }), ...last };
}

/** A JSON number: clients send it so (public facts 5.1). */
function percent(text: DecimalText): number {
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
    throw fault('minor', 'not both major and minor', amounts.minor);
  return { ...someFigures(amounts), ...present({ cancel }) };
}

type Figures = { readonly [name in 'price' | 'major' | 'minor' | 'stop']?: DecimalText | undefined };

/** The figures that are given; each must be above zero. */
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

/** `/{oid}`, or `?origin_id=` for the id of ours. */
const idPath = (of: Id): string =>
  'oid' in of ? `/${oidPart(of.oid)}` : query({ origin_id: originIdPart(of.originId) });

function openQuery({ book, currency, limit, source }: OpenOrdersQuery): string {
  if (source !== undefined && source !== 'alpha' && source !== 'all') throw fault('source', 'alpha or all', source);
  return query({
    book: book === undefined ? undefined : bookPart(book),
    currency: currency === undefined ? undefined : currencyPart(currency),
    // 500 without one; the document has no maximum (4.4).
    limit: limit === undefined ? undefined : limitPart(limit, Number.MAX_SAFE_INTEGER),
    source,
  });
}

const idsOf = (of: Ids): readonly string[] => ('oids' in of ? of.oids : of.originIds);

/** The commas stay commas: all samples of the exchange sign and send them so (public facts 2.2). */
const idQuery = (of: Ids, ids: readonly string[]): string =>
  'oids' in of ? query({ oids: ids.map(oidPart).join(',') }) : query({ origin_ids: ids.map(originIdPart).join(',') });

/** Wrong oid, wrong origin_id. */
const NOT_FOUND: readonly string[] = ['0312', '0357'];

/**
 * An exchange may refuse an id that matches nothing instead of leaving it out (public facts 7 and 8): it says the same, and must not
 * hide what is true of the ids beside it, so that these are asked again in halves.
 */
async function found<T>(
  ids: readonly string[],
  request: (ids: readonly string[]) => Promise<Outcome<readonly T[]>>,
  merge: (outcomes: Lists<T>) => Outcome<readonly T[]>,
): Promise<Outcome<readonly T[]>> {
  const outcome = await request(ids);
  if (outcome.kind !== 'refused' || !NOT_FOUND.includes(outcome.code)) return outcome;
  if (ids.length === 1) return { kind: 'done', value: [] };
  const halves = chunks(ids, Math.ceil(ids.length / 2));
  return merge(await Promise.all(halves.map(half => found(half, request, merge))));
}

type Lists<T> = readonly Outcome<readonly T[]>[];

/** Done with everything that was proven; when nothing was answered, unknown before refused. */
function anyOf<T>(outcomes: Lists<T>): Outcome<readonly T[]> {
  const answered = outcomes.filter(each => each.kind === 'done');
  if (answered.length > 0 || outcomes.length === 0) return together(answered);
  return outcomes.find(each => each.kind === 'unknown') ?? outcomes[0]!;
}

/** Done when all are; else the first that is not. */
function allOf<T>(outcomes: Lists<T>): Outcome<readonly T[]> {
  return outcomes.find(each => each.kind !== 'done') ?? together(outcomes.filter(each => each.kind === 'done'));
}

function together<T>(done: readonly Extract<Outcome<readonly T[]>, { kind: 'done' }>[]): Outcome<readonly T[]> {
  const unreadable = done.flatMap(each => each.unreadable ?? []);
  return { kind: 'done', value: done.flatMap(each => each.value), ...(unreadable.length === 0 ? {} : { unreadable }) };
}
