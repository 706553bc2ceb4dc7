/**
 * Client of Binance spot behind the ports. Source: rest-api.md of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import {
  DAY_MS,
  requestBudget,
  type AddressPause,
  type AvailableBook,
  type BookFee,
  type Clock,
  type NewOrder,
  type Observation,
  type ReadBudget,
  type OrderReport,
  type Outcome,
  type OwnTrade,
  type Page,
  type TimeInForce,
  type UnreadableRow,
  type VenueClient,
  type VenueSection,
} from '../../core/index.ts';
import { Budget } from '../transport/budget.ts';
import type { Lane, LaneLimits } from '../transport/lanes.ts';
import { windowMeter, type Meter } from '../transport/meters.ts';
import { buildAndSend, requestSender, type ApiEndpoint, type RequestSender } from '../transport/requestSender.ts';
import {
  allOf,
  anyOf,
  bookPart,
  checked,
  doneWith,
  limitPart,
  notSent,
  positivePart,
  unlessUnfit,
  writeNotSent,
} from '../wire/requestParts.ts';
import { fault } from '../wire/wire.ts';
import {
  binanceProtocol,
  type BinanceBudget,
  type BinanceCredentials,
  type BinanceForm,
  type SpotRequest,
} from './wire/protocol.ts';
import * as replies from './wire/replies.ts';
import type { ListedSymbol } from './wire/replies.ts';
import { ServerTime } from './wire/serverTime.ts';

export type BinanceOptions = {
  readonly clock: Clock;
  readonly rest: ApiEndpoint;
  readonly credentials?: BinanceCredentials | undefined;
  /** Book of the bot; orders, trades and fees are read on this book. */
  readonly book?: string | undefined;
  /** Maximum number of requests in any minute. */
  readonly budgets: { readonly public: number; readonly private?: number };
  /** Deadline of a request. The exchange executes no request later than this time after it was signed. */
  readonly deadlineMs: number;
  readonly lanes?: LaneLimits;
  readonly waitMs?: Partial<Readonly<Record<Lane, number>>>;
  readonly onRequest?: ((seen: Observation) => void) | undefined;
  readonly section?: VenueSection | undefined;
  /** Pause of all requests that other clients at the same address share; absent for a pause of its own. */
  readonly pause?: AddressPause | undefined;
};

/**
 * Limits of the exchange: weight of an address per minute, new orders of an account per 10 s and per day. Source of the
 * order limits: rest-api.md, Query unfilled order count; of the weight: ccxt 4.5.84, js/src/binance.js (rateLimits 6000
 * in its samples), common knowledge.
 */
export const BINANCE_LIMITS = { weightPerMinute: 6_000, ordersPer10s: 50, ordersPerDay: 160_000 } as const;
/**
 * Share of the request weight that is left for cancels, which never wait, and for other programs at the same address.
 */
const SHARE_LEFT_FOR_CANCELS = 0.1;

const WEIGHT_OF_BOT = BINANCE_LIMITS.weightPerMinute * (1 - SHARE_LEFT_FOR_CANCELS);

/** Returns meters of the limits on new orders. */
export const orderMeters = (): readonly Meter[] => [
  windowMeter(BINANCE_LIMITS.ordersPer10s, 10_000),
  windowMeter(BINANCE_LIMITS.ordersPerDay, DAY_MS),
];

/** Longest validity of a request (rest-api.md, Timing security). */
const RECV_WINDOW_MAX_MS = 5_000;

/** Returns how long a request is valid, in ms: `deadlineMs`, at most the exchange's maximum. */
export const recvWindowMs = (deadlineMs: number): number =>
  Math.max(1, Math.floor(Math.min(RECV_WINDOW_MAX_MS, deadlineMs)));

/**
 * Sizes of pages. Lists of open orders have no pages: a symbol has at most some hundred open orders (filter
 * MAX_NUM_ORDERS), so a list never reaches `ordersPage`.
 */
const PAGE_SIZES = { ordersPage: 20_000, tradesPage: 1_000, depth: 100 } as const;
/**
 * Levels per side of a complete book. The next two constants include the weights of the requests (rest-api.md, Order
 * book).
 */
export const WHOLE_LEVELS = 1_000;
const WHOLE_DEPTH = { levels: WHOLE_LEVELS, weight: 50 } as const;
const SHORT_DEPTH = { levels: PAGE_SIZES.depth, weight: 5 } as const;
/** Weights of the private reads that a bot polls (rest-api.md, Account endpoints). */
const POLL_WEIGHTS = { openOrders: 6, trades: 20, balances: 20 } as const;

/** Returns the budgets from which polls take: the configured requests, and the request weight of the address. */
export const binanceReadBudgets = (privatePerMinute: number): readonly ReadBudget[] => [
  requestBudget(privatePerMinute),
  { unit: 'units of request weight', perMinute: WEIGHT_OF_BOT, ...POLL_WEIGHTS, book: SHORT_DEPTH.weight },
];

/** Maximum number of JSON parts in the list of all symbols: some 150 parts for each of a few thousand symbols. */
const SYMBOL_PARTS_MAX = 1_000_000;

/** Maximum number of orders whose client ids are remembered. */
const KNOWN_MAX = 20_000;

const oidPart = checked(/^\d{1,19}$/, 'an order id of 1 to 19 digits');
const clientIdPart = checked(/^[A-Za-z0-9_-]{1,36}$/, 'a client order id of 1 to 36 letters, digits, _ and -');
const tidPart = checked(/^\d{1,19}$/, 'a trade id');

/** Order type and time in force of each order (rest-api.md, New order). */
const ORDER_KINDS = {
  'good till canceled': { type: 'LIMIT', timeInForce: 'GTC' },
  'immediate or cancel': { type: 'LIMIT', timeInForce: 'IOC' },
  'fill or kill': { type: 'LIMIT', timeInForce: 'FOK' },
  'post only': { type: 'LIMIT_MAKER', timeInForce: undefined },
} as const satisfies Record<TimeInForce, object>;

/**
 * Number of ids above which a look-up reads the open orders first (weight 6), and then looks up, one by one (weight 4
 * each), only the orders missing there. The list of all orders would have the missing orders too. But it comes from a
 * database that may be late (rest-api.md, Data Sources), so it does not prove that an order ended.
 */
const SINGLE_LOOKUPS_MAX = 2;

type OrderIds = { readonly oids: readonly string[] } | { readonly originIds: readonly string[] };

/** Codes for an order that does not exist (errors.md). */
const NO_ORDER: readonly string[] = ['-2013', '-2026'];
/** Code for the cancel of an order that is not open (errors.md, "Unknown order sent."). */
const NOT_OPEN = '-2011:unknown';

/** Creates a client, which sends nothing until a method is called. */
export function binanceClient(options: BinanceOptions): VenueClient {
  const { clock, rest, credentials, book: own, budgets, deadlineMs, pause } = options;
  const time: ServerTime = new ServerTime(clock, () => ask(publicRead('time', 1, {}, replies.serverTimeOf)));
  const { weightPerMinute } = BINANCE_LIMITS;
  const sender: RequestSender<BinanceForm, BinanceBudget> = requestSender({
    clock,
    apis: { rest },
    protocol: binanceProtocol({
      credentials,
      timestamp: () => time.now(),
      onTimestampRejected: () => time.distrust(),
      recvWindowMs: recvWindowMs(deadlineMs),
    }),
    budgets: {
      public: new Budget(clock, { perMinute: budgets.public }),
      private: new Budget(clock, { perMinute: budgets.private ?? weightPerMinute }),
      weight: new Budget(clock, { meters: [windowMeter(WEIGHT_OF_BOT, 60_000)], pause }),
      orders: new Budget(clock, { meters: orderMeters() }),
    },
    ...(options.lanes ? { lanes: options.lanes } : {}),
    ...(options.waitMs ? { waitMs: options.waitMs } : {}),
    section: options.section,
    ...(options.onRequest ? { onRequest: options.onRequest } : {}),
  });
  const { ask } = sender;
  const symbols = new Map<string, ListedSymbol>();
  /** Pending reads of symbols, by book, so that simultaneous calls share one read. */
  const readings = new Map<string, Promise<Outcome<unknown>>>();
  const clientIds = new ClientIds();
  /**
   * Currencies whose balance is reported even if it is zero: those of the book, those that once had a balance, and
   * those that a caller asked for.
   */
  const heldCurrencies = new Set(own?.split('_'));

  /** Sends a signed request, after the time of the exchange is known. */
  async function signed<T>(build: () => SpotRequest<T>): Promise<Outcome<T>> {
    if (credentials) await time.ready();
    return buildAndSend(ask, build);
  }

  /** Sends a signed cancel without waiting for the exchange's time. */
  function signedCancel<T>(build: () => SpotRequest<T>): Promise<Outcome<T>> {
    if (credentials) time.refresh();
    return buildAndSend(ask, build);
  }

  /**
   * Reads the symbols that trade; with `query`, only some of them. The names of symbols that do not trade are
   * remembered too, because their orders can still be read.
   */
  const readSymbols = async (query: Readonly<Record<string, string>>): Promise<Outcome<readonly AvailableBook[]>> => {
    const outcome = await ask({
      ...publicRead('exchangeInfo', 20, { ...query, showPermissionSets: 'false' }, replies.listedSymbols),
      partsMax: SYMBOL_PARTS_MAX,
    });
    if (outcome.kind !== 'done') return outcome;
    for (const { book, symbol } of outcome.value) symbols.set(book, { book, symbol });
    const rules = outcome.value.flatMap(each => each.rules ?? []);
    return doneWith(rules, outcome.unreadable ?? []);
  };

  /**
   * Returns the symbol of a book. Requests the symbol made of base and quote, and uses it only if the exchange lists it
   * with exactly this base and quote.
   */
  async function listed(book: string | undefined): Promise<Outcome<ListedSymbol>> {
    if (book === undefined) return notSent('the request needs a book, like btc_usdt');
    const known = symbols.get(book);
    if (known) return { kind: 'done', value: known };
    if (!/^[a-z0-9]{1,20}_[a-z0-9]{1,20}$/.test(book)) return notSent(`expected a book like btc_usdt, found ${book}`);
    const reading =
      readings.get(book) ?? readSymbols({ symbol: expectedSymbol(book) }).finally(() => readings.delete(book));
    readings.set(book, reading);
    const outcome = await reading;
    if (outcome.kind !== 'done') return outcome;
    const found = symbols.get(book);
    return found ? { kind: 'done', value: found } : notSent(`book ${book} is not listed on this exchange`);
  }

  /** Runs a request on the symbol of a book. */
  async function on<T>(
    book: string | undefined,
    run: (listed: ListedSymbol) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const symbol = await listed(book);
    return symbol.kind === 'done' ? unlessUnfit(() => run(symbol.value)) : symbol;
  }

  async function availableBooks(): Promise<Outcome<readonly AvailableBook[]>> {
    const symbol = own === undefined ? undefined : expectedSymbol(own);
    // One symbol is read in a few kilobytes, all of them in several megabytes.
    if (symbol !== undefined) {
      const one = await readSymbols({ symbol });
      if (one.kind === 'unknown' || (one.kind === 'refused' && one.code !== '-1121')) return one;
      if (one.kind === 'done' && one.value.some(({ book }) => book === own)) return one;
    }
    return readSymbols({ permissions: 'SPOT', symbolStatus: 'TRADING' });
  }

  const lookUpOne = (symbol: ListedSymbol, id: { readonly oid: string } | { readonly originId: string }) =>
    signed<readonly OrderReport[]>(() => ({
      ...privateRead('order', 4),
      params: { symbol: symbol.symbol, ...idParams(id) },
      read: reply => {
        const order = replies.orderOf(symbol, reply);
        // The documents do not say whether a canceled order keeps its client id or shows the id of its cancel request.
        const isOther = 'originId' in id && order.originId !== id.originId;
        if (isOther && order.status !== 'cancelled') throw fault('clientOrderId', id.originId, order.originId);
        if ('oid' in id && order.oid !== id.oid) throw fault('orderId', id.oid, order.oid);
        return [isOther ? { ...order, originId: id.originId } : order];
      },
    }));

  const readOpenOrders = (symbol: ListedSymbol) =>
    signed<readonly OrderReport[]>(() => ({
      ...privateRead('openOrders', POLL_WEIGHTS.openOrders),
      params: { symbol: symbol.symbol },
      read: replies.symbolOrders(symbol),
    }));

  /** Looks up orders; those that do not exist are missing from the result. */
  async function lookUp(of: OrderIds): Promise<Outcome<readonly OrderReport[]>> {
    return on(own, async symbol => {
      const ids = 'oids' in of ? of.oids.map(oid => ({ oid })) : of.originIds.map(originId => ({ originId }));
      // Open orders are in this list, if the list could be read. All other orders are looked up one by one.
      const listed = ids.length > SINGLE_LOOKUPS_MAX ? await readOpenOrders(symbol) : NONE;
      const open = listed.kind === 'done' ? listed.value : [];
      const found = await Promise.all(
        ids.map(async id => {
          const order = open.find(each => ('oid' in id ? each.oid === id.oid : each.originId === id.originId));
          if (order !== undefined) return { kind: 'done', value: [order] } as const;
          const outcome = await lookUpOne(symbol, id);
          return outcome.kind === 'refused' && NO_ORDER.includes(outcome.code) ? NONE : outcome;
        }),
      );
      const all = allOf(found);
      if (all.kind === 'done') for (const order of all.value) clientIds.learn(order);
      return all;
    });
  }

  /** Reads and remembers the client id of an order. The value is `null`, or the reason why the id cannot be read. */
  async function readClientId(symbol: ListedSymbol, oid: string): Promise<Outcome<string | null>> {
    const outcome = await signed(() => ({
      ...privateRead('order', 4),
      params: { symbol: symbol.symbol, ...idParams({ oid }) },
      read: replies.clientIdOf(oid),
    }));
    if (outcome.kind !== 'done') return outcome;
    if ('unreadable' in outcome.value) return { kind: 'done', value: outcome.value.unreadable };
    clientIds.learn({ oid, ...outcome.value });
    return { kind: 'done', value: null };
  }

  /**
   * Adds to trades the client id of their order, which the exchange does not report with them. A trade of an order
   * whose id cannot be read is unreadable.
   */
  async function withClientIds(
    symbol: ListedSymbol,
    outcome: Outcome<readonly OwnTrade[]>,
  ): Promise<Outcome<readonly OwnTrade[]>> {
    if (outcome.kind !== 'done') return outcome;
    const unknown = [...new Set(outcome.value.map(({ oid }) => oid))].filter(oid => !clientIds.has(oid));
    // Without the client ids of their orders, the trades are useless. If the request for one id fails, the trades are
    // read again later.
    const read = await Promise.all(unknown.map(oid => readClientId(symbol, oid)));
    const failed = read.find(each => each.kind !== 'done');
    if (failed)
      return {
        kind: 'unknown',
        reason: `cannot read the order that a trade filled: ${failed.kind === 'unknown' ? failed.reason : failed.message}`,
      };
    const reasons = new Map(read.flatMap((each, n) => (each.kind === 'done' ? [[unknown[n]!, each.value]] : [])));
    const unreadable: UnreadableRow[] = [...(outcome.unreadable ?? [])];
    const value = outcome.value.flatMap(trade => {
      const why = reasons.get(trade.oid);
      const { oid, tid: id, book, feeCurrency } = trade;
      if (typeof why === 'string') {
        const currencies = [...new Set([...book.split('_'), feeCurrency])];
        unreadable.push({ why: `cannot read the order that this trade filled: ${why}`, book, currencies, oid, id });
        return [];
      }
      const originId = clientIds.of(oid);
      return [originId === undefined ? trade : { ...trade, originId }];
    });
    return doneWith(value, unreadable);
  }

  const tradesOf = (symbol: ListedSymbol, weight: number, params: Readonly<Record<string, string | undefined>>) =>
    signed<readonly OwnTrade[]>(() => ({
      ...privateRead('myTrades', weight),
      params: { symbol: symbol.symbol, ...params },
      read: replies.ownTradesOf(symbol),
    }));

  async function userTrades({ book = own, marker, limit = 500, sort = 'desc' }: Page & { readonly book?: string }) {
    return on(book, async symbol => {
      const size = limitPart(limit, PAGE_SIZES.tradesPage);
      if (sort === 'desc') {
        // The exchange cannot list the trades before an id.
        if (marker !== undefined)
          return notSent(
            'the exchange cannot list the trades before a given trade id; use sort asc to list the trades after this id',
          );
        const newest = await tradesOf(symbol, POLL_WEIGHTS.trades, { limit: size });
        return withClientIds(symbol, newest.kind === 'done' ? { ...newest, value: newest.value.toReversed() } : newest);
      }
      const fromId = marker === undefined ? '0' : String(BigInt(tidPart(marker)) + 1n);
      return withClientIds(symbol, await tradesOf(symbol, POLL_WEIGHTS.trades, { fromId, limit: size }));
    });
  }

  /** Reads every trade of an order, page by page. */
  async function tradesOfOrder(symbol: ListedSymbol, oid: string): Promise<Outcome<readonly OwnTrade[]>> {
    const found: OwnTrade[] = [];
    const unreadable: UnreadableRow[] = [];
    // Without an id to start from, the exchange lists the newest trades of an order that has more than a page.
    let fromId = '0';
    for (let page = 0; page < ORDER_PAGES_MAX; page++) {
      const outcome = await tradesOf(symbol, 5, {
        orderId: oidPart(oid),
        fromId,
        limit: String(PAGE_SIZES.tradesPage),
      });
      if (outcome.kind !== 'done') return outcome;
      found.push(...outcome.value);
      unreadable.push(...(outcome.unreadable ?? []));
      const last = outcome.value.at(-1);
      if (outcome.value.length + (outcome.unreadable?.length ?? 0) < PAGE_SIZES.tradesPage || last === undefined)
        return withClientIds(symbol, doneWith(found, unreadable));
      fromId = String(BigInt(last.tid) + 1n);
    }
    return { kind: 'unknown', reason: `myTrades: order ${oid} has more than ${ORDER_PAGES_MAX} pages of trades` };
  }

  return {
    limits: PAGE_SIZES,
    availableBooks: () => unlessUnfit(availableBooks),
    orderBook: (book, aggregate = true) =>
      on(book, symbol => {
        const { levels, weight } = aggregate ? SHORT_DEPTH : WHOLE_DEPTH;
        const params = { symbol: symbol.symbol, limit: String(levels) };
        return ask(
          publicRead(
            'depth',
            weight,
            params,
            replies.depthOf(book, () => clock.now()),
          ),
        );
      }),
    trades: (book, { marker, limit = 500, sort = 'desc' } = {}) =>
      on(book, async ({ symbol }) => {
        const read = replies.publicTradesOf(book);
        const of = { symbol, limit: limitPart(limit, PAGE_SIZES.tradesPage) };
        if (sort === 'asc') {
          const fromId = marker === undefined ? '0' : String(BigInt(tidPart(marker)) + 1n);
          return buildAndSend(ask, () => publicRead('historicalTrades', 25, { ...of, fromId }, read));
        }
        if (marker !== undefined)
          return notSent(
            'the exchange cannot list the trades before a given trade id; use sort asc to list the trades after this id',
          );
        const newest = await ask(publicRead('trades', 25, of, read));
        return newest.kind === 'done' ? { ...newest, value: newest.value.toReversed() } : newest;
      }),
    balances: query => {
      for (const currency of query?.also ?? []) heldCurrencies.add(currency);
      return signed(() => ({
        ...privateRead('account', POLL_WEIGHTS.balances),
        read: replies.balancesOf(heldCurrencies),
      }));
    },
    fees: () =>
      on(own, symbol =>
        signed<readonly BookFee[]>(() => ({
          ...privateRead('account/commission', 20),
          params: { symbol: symbol.symbol },
          read: replies.bookFeesOf(symbol),
        })),
      ),
    openOrders: async ({ book = own }) => {
      const outcome = await on(book, readOpenOrders);
      if (outcome.kind === 'done') for (const order of outcome.value) clientIds.learn(order);
      return outcome;
    },
    userTrades,
    orderTrades: async of =>
      on(own, async symbol => {
        if ('oid' in of) return tradesOfOrder(symbol, of.oid);
        const orders = await lookUp({ originIds: [of.originId] });
        if (orders.kind !== 'done') return orders;
        const lists = await Promise.all(orders.value.map(({ oid }) => tradesOfOrder(symbol, oid)));
        return allOf(lists);
      }),
    lookUp,
    place: async (order, isWanted = () => true) => {
      const symbol = await listed(order.book);
      if (symbol.kind !== 'done') return writeNotSent(symbol, 'the symbol of the book');
      const outcome = await signed(() => ({ ...placing(symbol.value, order), isWanted }));
      if (outcome.kind === 'done') clientIds.learn({ oid: outcome.value.oid, originId: order.originId });
      return outcome;
    },
    /**
     * Cancels orders with one request each, several at once. Succeeds if any cancel was answered. Does not check the
     * symbol in the exchange's list: if the symbol belonged to another book, the exchange would have no order with
     * these ids there.
     */
    cancel: of =>
      unlessUnfit(async () => {
        if (own === undefined) return notSent('the request needs a book, like btc_usdt');
        const symbol = symbols.get(own) ?? { book: own, symbol: expectedSymbol(own) };
        const ids = 'oids' in of ? of.oids.map(oid => ({ oid })) : of.originIds.map(originId => ({ originId }));
        const outcomes = await Promise.all(
          ids.map(async id => {
            const outcome = await signedCancel(() => canceling(symbol, id));
            return outcome.kind === 'refused' && outcome.code === NOT_OPEN ? NONE_CANCELED : outcome;
          }),
        );
        return anyOf(outcomes);
      }),
    budget: () => {
      const { weight } = sender.budgets;
      const within = (requests: number, weightOfOne: number): number =>
        Math.min(requests, Math.floor(weight.left() / weightOfOne));
      return {
        public: within(sender.budgets.public.left(), SHORT_DEPTH.weight),
        private: within(sender.budgets.private.left(), 1),
      };
    },
    account: {
      id: () => signed(() => ({ ...privateRead('account', 20), read: replies.accountNumberOf })),
      hasTrade: async tid => {
        const outcome = await on(own, symbol =>
          tradesOf(symbol, POLL_WEIGHTS.trades, { fromId: tidPart(tid), limit: '1' }),
        );
        if (outcome.kind !== 'done') return outcome;
        return { kind: 'done', value: outcome.value.some(trade => trade.tid === tid) };
      },
    },
    close: sender.close,
  };
}

/** Maximum number of pages of one order's trades. */
const ORDER_PAGES_MAX = 50;

const NONE: Outcome<readonly OrderReport[]> = { kind: 'done', value: [] };
const NONE_CANCELED: Outcome<readonly string[]> = { kind: 'done', value: [] };

/** Returns the probable symbol of a book. The exchange's list of symbols must confirm it. */
export const expectedSymbol = (book: string): string => bookPart(book).split('_').join('').toUpperCase();

const publicRead = <T>(
  name: string,
  weight: number,
  params: SpotRequest<T>['params'],
  read: SpotRequest<T>['read'],
): SpotRequest<T> => ({
  ...{ endpoint: `GET ${name}`, lane: 'public read', method: 'GET', path: `/v3/${name}`, effect: 'read' },
  weight,
  params,
  read,
});

const privateRead = (name: string, weight: number): Omit<SpotRequest<never>, 'read'> => ({
  ...{ endpoint: `GET ${name}`, lane: 'private read', method: 'GET', path: `/v3/${name}`, effect: 'read' },
  params: {},
  weight,
});

const idParams = (id: { readonly oid: string } | { readonly originId: string }) =>
  'oid' in id ? { orderId: oidPart(id.oid) } : { origClientOrderId: clientIdPart(id.originId) };

/**
 * Returns the placement of an order. The answer is of type RESULT: it comes from the matching engine with id and state.
 * FULL would add fills, which are read from the list of trades; ACK lacks the state.
 */
function placing({ symbol }: ListedSymbol, order: NewOrder): SpotRequest<{ readonly oid: string }> {
  const { side, price, major, originId, timeInForce } = order;
  if (side !== 'buy' && side !== 'sell') throw fault('side', 'buy or sell', side);
  if (!Object.hasOwn(ORDER_KINDS, timeInForce))
    throw fault('timeInForce', Object.keys(ORDER_KINDS).join(', '), timeInForce);
  const clientId = clientIdPart(originId);
  return {
    ...{ endpoint: 'POST order', lane: 'place', method: 'POST', path: '/v3/order', effect: 'write', weight: 1 },
    params: {
      symbol,
      side: side === 'buy' ? 'BUY' : 'SELL',
      ...ORDER_KINDS[timeInForce],
      quantity: positivePart(major),
      price: positivePart(price),
      newClientOrderId: clientId,
      newOrderRespType: 'RESULT',
    },
    read: replies.acceptedOrderOf(symbol, clientId),
  };
}

const canceling = (
  { symbol }: ListedSymbol,
  id: { readonly oid: string } | { readonly originId: string },
): SpotRequest<readonly string[]> => ({
  ...{ endpoint: 'DELETE order', lane: 'cancel', method: 'DELETE', path: '/v3/order', effect: 'write', weight: 1 },
  params: { symbol, ...idParams(id) },
  read: replies.canceledOrderOf(symbol),
});

/** Client ids of orders by oid, as far as known. */
class ClientIds {
  readonly #ids = new Map<string, string | undefined>();

  /** Remembers the id of an order; undefined if the order has none. */
  learn({ oid, originId }: { readonly oid: string; readonly originId?: string | undefined }): void {
    // The first id that is learned is the one with which the order was placed. Later ids may be those of cancel
    // requests.
    if (this.#ids.has(oid)) return;
    const oldest = this.#ids.size >= KNOWN_MAX ? this.#ids.keys().next().value : undefined;
    if (oldest !== undefined) this.#ids.delete(oldest);
    this.#ids.set(oid, originId);
  }

  has(oid: string): boolean {
    return this.#ids.has(oid);
  }

  of(oid: string): string | undefined {
    return this.#ids.get(oid);
  }
}
