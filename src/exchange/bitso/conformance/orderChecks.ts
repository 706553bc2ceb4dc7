/** Checks of the calls that place, change, look up and cancel orders, with small orders far from the market. */
import {
  counted,
  CANCEL_CHUNK,
  money,
  moneyOf,
  moneyOfAmount,
  moneyOfValue,
  sleep,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  valueOf,
  type Amount,
  type Balance,
  type Clock,
  type ConformanceOptions,
  type DecimalText,
  type Instrument,
  type Millis,
  type Money,
  type NewOrder,
  type OrderReport,
  type Outcome,
  type Price,
  type Side,
} from '../../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import { judged, outcomeText, rejectedWith, skipped, valueIn, type CheckAnswer, type Checks } from './checks.ts';
import { NO_BOOK, type CheckedMarket } from './publicChecks.ts';

/** Divisor of the best price. The quotient is the distance of the orders from the best price. */
const FAR_SHARE = 10n;
/**
 * Divisor of the minimum order value. The quotient is a margin above this value, because some checks change the price.
 */
const ROOM_SHARE = 20n;
const ID_MAX = 40;

const DUPLICATE = ['0356'];
const BAD_PRECISION = ['0407'];
const UNMATCHED = ['0378'];

/** Orders of the checks, and their ids. */
export class CheckOrders {
  readonly #client: Endpoints;
  readonly #market: CheckedMarket;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #requestDelayMaxMs: Millis;
  #count = 0;
  #arrivedBy: Millis = -Infinity;
  readonly #ids = new Set<string>();

  constructor(
    client: Endpoints,
    market: CheckedMarket,
    { prefix, connection, requestDelayMaxMs }: Pick<ConformanceOptions, 'prefix' | 'connection' | 'requestDelayMaxMs'>,
  ) {
    this.#client = client;
    this.#market = market;
    this.#prefix = prefix;
    this.#clock = connection.clock;
    this.#requestDelayMaxMs = requestDelayMaxMs;
  }

  /** Time from which no placement with an unknown outcome can still arrive. */
  get arrivedBy(): Millis {
    return this.#arrivedBy;
  }

  /** Returns a new id, of `length` characters if given. */
  nextId(length?: number): string {
    const id = `${this.#prefix}${++this.#count}`;
    return length === undefined ? id : id.padEnd(length, '_');
  }

  /** Ids of all orders that were sent. */
  get sent(): readonly string[] {
    return [...this.#ids];
  }

  /** Whether an order belongs to the checks. */
  isOwn({ originId }: Pick<OrderReport, 'originId'>): boolean {
    return originId?.startsWith(this.#prefix) ?? false;
  }

  /** Sends a request that gives the id to an order, and records the id. */
  async sending<T>(id: string, send: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    this.#ids.add(id);
    const outcome = await send();
    if (outcome.kind === 'unknown') this.#arrivedBy = this.#clock.now() + this.#requestDelayMaxMs;
    return outcome;
  }

  /** Places the order that `smallest` returns, with a new id and with `changes`. */
  place(side: Side, changes: Partial<NewOrder> = {}): Promise<Outcome<{ readonly oid: string }>> {
    const { book, price, major, timeInForce, originId } = {
      ...this.smallest(side),
      originId: this.nextId(),
      ...changes,
    };
    return this.sending(originId, () => this.#client.place({ book, side, price, major, originId, timeInForce }));
  }

  /** Returns a post-only order of the smallest amount, so far from the market that it does not trade. */
  smallest(side: Side): Omit<NewOrder, 'originId'> & { readonly ticks: Price; readonly lots: Amount } {
    const { instrument, bid, ask } = this.#market;
    const best = moneyOf(side === 'buy' ? bid : ask);
    const wanted = (side === 'buy' ? best - best / FAR_SHARE : best + best / FAR_SHARE) / instrument.tickMoney;
    const ticks = Math.min(instrument.priceMax, Math.max(instrument.priceMin + 1, Number(wanted))) as Price;
    const lots = lotsFor(instrument, ticks);
    return {
      ...{ book: instrument.symbol, side, ticks, lots, timeInForce: 'post only' },
      ...{ price: textOfPrice(instrument, ticks), major: textOfAmount(instrument, lots) },
    };
  }
}

/** Returns the smallest amount at a price, in lots, with a margin for a small price change. */
export function lotsFor({ valueMin, amountMin }: Instrument, ticks: Price): Amount {
  const byValue = (valueMin + valueMin / ROOM_SHARE) / BigInt(ticks) + 1n;
  return Math.max(amountMin, Number(byValue)) as Amount;
}

/** Total and locked balance of one currency. */
type Held = { readonly total: Money; readonly locked: Money };

/** Returns the balance of a currency; zero if the exchange lists none. */
export function heldOf(balances: readonly Balance[], name: string): Held {
  const row = balances.find(({ currency }) => currency.toLowerCase() === name);
  return { total: moneyOf(row?.total ?? '0'), locked: moneyOf(row?.locked ?? '0') };
}

/** Number of test bids of the minimum size that can lock funds at the same time. */
const BIDS_MAX = 4n;

/** Returns which funds a check lacks, as the reason to skip it; `null` if the balances are enough. */
export function missingFunds(balances: readonly Balance[], name: string, needed: bigint): string | null {
  const { total, locked } = heldOf(balances, name);
  const available = money(total - locked);
  // An empty list means that the read failed: the exchange then decides whether the funds are enough.
  return balances.length === 0 || available >= needed
    ? null
    : `needs ${textOfMoney(money(needed))} ${name}, but only ${textOfMoney(available)} is available`;
}

const heldText = ({ total, locked }: Held): string => `total ${textOfMoney(total)}, locked ${textOfMoney(locked)}`;

/**
 * Checks orders from placement to cancel. Orders are canceled by the caller. `others` is the reason to skip checks of
 * exact balances; `null` if no other program has orders.
 */
export async function orderChecks(
  client: Endpoints,
  market: CheckedMarket,
  own: CheckOrders,
  checks: Checks,
  others: string | null,
): Promise<void> {
  const { instrument } = market;
  const { symbol: book, major, minor } = instrument;
  const ofBalances = async (answer: () => Promise<CheckAnswer>): Promise<CheckAnswer> =>
    others === null ? answer() : skipped(others);
  const before = await client.balances();
  const start = before.kind === 'done' ? before.value : [];
  const bid = own.smallest('buy');
  const firstId = own.nextId();
  let oid = '';
  const isPlaced = await checks.check(
    ['place a post-only order', 'public-facts 5', 'accepted with an order id'],
    async () => {
      // Three bids are open at a time, and a replacement may lock both of its orders.
      const missing = missingFunds(start, minor, BIDS_MAX * moneyOfValue(instrument, valueOf(bid.ticks, bid.lots)));
      if (missing !== null) return skipped(missing);
      oid = valueIn(await own.place('buy', { originId: firstId })).oid;
      return judged(`order id of ${counted(oid.length, 'character')}`, oid.length > 0);
    },
  );
  if (!isPlaced) return;
  const found = finderIn(client, checks);
  await checks.check(['look up by client id', 'public-facts 7', `the order as placed: ${orderText(bid)}`], async () => {
    const [order] = await found({ originIds: [firstId] });
    return judged(reportText(order), order?.oid === oid && isAsPlaced(order, bid) && order.timeInForce === 'postonly');
  });
  await checks.check(
    [
      'look up by order id',
      'public-facts 7',
      'the placed order, both with the id in the query and with the id in the path',
    ],
    async () => {
      const [order] = await found({ oids: [oid] });
      const [other] = valueIn(await client.order(oid));
      return judged(reportText(order), order?.originId === firstId && other?.originId === firstId);
    },
  );
  await checks.check(
    ['open orders', 'rest-api 4.4', 'the placed order is in the list of the book and in the list of the currency'],
    async () => {
      const all = valueIn(await client.openOrders({ book }));
      const ofMinor = valueIn(await client.openOrders({ currency: minor }));
      const has = (orders: readonly OrderReport[]): boolean =>
        orders.some(order => order.oid === oid && isAsPlaced(order, bid));
      return judged(
        `${counted(all.length, 'order')} in the book, ${counted(ofMinor.length, 'order')} in ${minor}`,
        has(all) && has(ofMinor),
      );
    },
  );
  await checks.check(['balance locked by a bid', 'public-facts 9.3', `locked ${minor}: price times amount`], () =>
    ofBalances(() => lockedAnswer(client, start, minor, moneyOfValue(instrument, valueOf(bid.ticks, bid.lots)))),
  );
  await checks.check(
    ['trades of an unfilled order', 'public-facts 9.2', `none, or rejected: ${UNMATCHED[0]}`],
    async () => {
      const outcome = await client.orderTrades({ oid });
      return outcome.kind === 'done'
        ? judged(counted(outcome.value.length, 'trade'), outcome.value.length === 0)
        : rejectedWith(UNMATCHED, outcome);
    },
  );
  await checks.rejections([
    [
      ...(['new order with the client id of a live order', 'public-facts 5.3', 'rejected'] as const),
      DUPLICATE,
      () => own.place('buy', { originId: firstId }),
    ],
  ]);
  const lower = textOfPrice(instrument, (bid.ticks - 1) as Price);
  await checks.check(
    ['change an order in place', 'public-facts 6', `the order keeps its id and has the price ${lower}`],
    async () => {
      const changed = valueIn(await client.modify({ oid }, { price: lower, major: bid.major }));
      const [order] = await found(
        { oids: [oid] },
        report => report?.price !== undefined && isEqualDecimal(report.price, lower),
      );
      const isRight = changed.oid === oid && order !== undefined && isAsPlaced(order, { ...bid, price: lower });
      return judged(reportText(order), isRight);
    },
  );
  const secondId = own.nextId();
  let second = '';
  await checks.check(
    ['replace an order', 'public-facts 6', 'a new order with its own id; the old order ends'],
    async () => {
      const by = { price: bid.price, major: bid.major, originId: secondId };
      second = valueIn(await own.sending(secondId, () => client.replace({ oid }, by))).oid;
      const [made] = await found({ oids: [second] });
      const old = await endAnswer({ client, checks, oid });
      const isRight = second !== oid && old.isRight === true && made?.originId === secondId && isAsPlaced(made, bid);
      return judged(`old ${old.found}; new ${reportText(made)}`, isRight);
    },
  );
  await checks.check(
    ['cancel by client id', 'rest-api 4.2', 'the answer lists the order id, and the order ends'],
    async () => {
      const canceled = valueIn(await client.cancel({ originIds: [secondId] }));
      const order = await endAnswer({ client, checks, oid: second });
      return judged(
        `${canceled.length} listed, order ${order.found}`,
        canceled[0] === second && order.isRight === true,
      );
    },
  );
  await checks.check(['cancel again', 'rest-api 4.2', 'the answer does not list the ended order'], async () => {
    const canceled = valueIn(await client.cancel({ originIds: [secondId] }));
    return judged(`${canceled.length} listed`, canceled.length === 0);
  });
  await checks.check(['cancel an unknown order', 'public-facts 8', 'the answer lists no order'], async () => {
    const canceled = valueIn(await client.cancel({ originIds: [own.nextId()] }));
    return judged(`${canceled.length} listed`, canceled.length === 0);
  });
  await checks.check(
    [
      'new order with the client id of an ended order',
      'rest-api 9',
      'the new order is accepted; the answer to a cancel with its order id in the path lists this id',
    ],
    async () => {
      const again = valueIn(await own.place('buy', { originId: secondId }));
      const canceled = valueIn(await client.cancelOne(again.oid));
      return judged(`${canceled.length} listed`, again.oid !== second && canceled[0] === again.oid);
    },
  );
  await askChecks({ client, market, own, checks, start, ofBalances });
  await checks.check(
    ['pages of open orders', 'rest-api 4.4', 'two orders with limit 2, and all three without a limit'],
    async () => {
      const ids = [own.nextId(), own.nextId(), own.nextId()];
      let canceled: Awaited<ReturnType<Endpoints['cancel']>>;
      let all: readonly OrderReport[];
      let page: readonly OrderReport[];
      const isListed = (orders: readonly OrderReport[]): boolean =>
        orders.filter(({ originId }) => ids.includes(originId ?? '')).length === ids.length;
      try {
        for (const originId of ids) valueIn(await own.place('buy', { originId }));
        all = await checks.readUntil(() => client.openOrders({ book }), isListed);
        page = valueIn(await client.openOrders({ book, limit: 2 }));
      } finally {
        canceled = await client.cancel({ originIds: ids });
      }
      const count = valueIn(canceled).length;
      return judged(
        `${counted(page.length, 'order')} with limit 2, ${all.length} without a limit; ${count} canceled`,
        page.length === 2 && isListed(all) && count === ids.length,
      );
    },
  );
  await checks.check(
    ['balances after all cancels', 'rest-api 2.9, 3', `as before the orders, in ${major} and ${minor}`],
    () =>
      ofBalances(async () => {
        const isAsBefore = (now: readonly Balance[]): boolean =>
          [major, minor].every(name => heldText(heldOf(now, name)) === heldText(heldOf(start, name)));
        const now = await checks.readUntil(() => client.balances(), isAsBefore);
        return judged(
          [major, minor].map(name => `${name}: ${heldText(heldOf(now, name))}`).join('; '),
          isAsBefore(now),
        );
      }),
  );
  await crossingCheck(client, market, own, checks);
  await rejectionChecks({ client, market, own, checks, start, ofBalances });
}

type OrderStage = {
  readonly client: Endpoints;
  readonly market: CheckedMarket;
  readonly own: CheckOrders;
  readonly checks: Checks;
  readonly start: readonly Balance[];
  /** Runs a check of exact balances, or skips the check if another program has orders. */
  readonly ofBalances: (answer: () => Promise<CheckAnswer>) => Promise<CheckAnswer>;
};

/** Checks an ask with the longest id, canceled by its order id. */
async function askChecks({ client, market, own, checks, start, ofBalances }: OrderStage): Promise<void> {
  const { major } = market.instrument;
  const ask = own.smallest('sell');
  const originId = own.nextId(ID_MAX);
  const missing = missingFunds(start, major, moneyOfAmount(market.instrument, ask.lots));
  const withFunds = async (answer: () => Promise<CheckAnswer>): Promise<CheckAnswer> =>
    missing === null ? answer() : skipped(missing);
  await checks.check(
    ['ask with a client id of 40 characters', 'rest-api 8', `the order as placed: ${orderText(ask)}`],
    () =>
      withFunds(async () => {
        const { oid } = valueIn(await own.place('sell', { originId }));
        const [order] = await finderIn(client, checks)({ originIds: [originId] });
        return judged(reportText(order), order?.oid === oid && isAsPlaced(order, ask));
      }),
  );
  await checks.check(['balance locked by an ask', 'public-facts 9.3', `locked ${major}: the amount`], () =>
    withFunds(() => ofBalances(() => lockedAnswer(client, start, major, moneyOfAmount(market.instrument, ask.lots)))),
  );
  await checks.check(['cancel by order id', 'rest-api 4.2', 'the answer lists the order id'], () =>
    withFunds(async () => {
      const [order] = valueIn(await client.lookUp({ originIds: [originId] }));
      if (order === undefined) return judged('no such order', false);
      const canceled = valueIn(await client.cancel({ oids: [order.oid] }));
      return judged(`${canceled.length} listed`, canceled[0] === order.oid);
    }),
  );
}

/**
 * Checks that, since `start`, the locked balance of a currency has risen by `value`, rounded up to 8 decimals, and its
 * total balance is unchanged.
 */
async function lockedAnswer(client: Endpoints, start: readonly Balance[], name: string, value: Money) {
  const [now, then] = [heldOf(valueIn(await client.balances()), name), heldOf(start, name)];
  const more = money(now.locked - then.locked);
  const isRight = now.total === then.total && more >= value && more - value < EIGHTH;
  return judged(
    `locked ${textOfMoney(more)} more, total ${now.total === then.total ? 'unchanged' : 'changed'}`,
    isRight,
  );
}

/** One unit of the eighth decimal. */
export const EIGHTH = moneyOf('0.00000001');

/** Order that was accepted by the exchange, and must be canceled unfilled. */
type EndingOrder = { readonly client: Endpoints; readonly checks: Checks; readonly oid: string };

/**
 * Passes if the exchange reports the order as canceled and unfilled. Also passes if the last read still does not list
 * the order, and the exchange has no trade of it. The first read proves nothing, because an order may be listed late.
 */
async function endAnswer({ client, checks, oid }: EndingOrder): Promise<CheckAnswer> {
  const [order] = await finderIn(client, checks)({ oids: [oid] }, report => report !== undefined && isEnded(report));
  if (order !== undefined)
    return judged(
      reportText(order),
      order.status === 'cancelled' && isEqualDecimal(order.unfilledAmount, order.originalAmount),
    );
  const trades = await client.orderTrades({ oid });
  const isUntraded =
    trades.kind === 'done' ? trades.value.length === 0 : rejectedWith(UNMATCHED, trades).isRight === true;
  return judged(
    `${reportText(order)}; trades: ${trades.kind === 'done' ? trades.value.length : outcomeText(trades)}`,
    isUntraded,
  );
}

/** Checks that a post-only order at a price that would trade does not trade. */
async function crossingCheck(
  client: Endpoints,
  market: CheckedMarket,
  own: CheckOrders,
  checks: Checks,
): Promise<void> {
  const { instrument, ask } = market;
  await checks.check(
    ['post-only order that would trade', 'public-facts 16.1', 'rejected with 1002, or canceled unfilled'],
    async () => {
      const ticks = Number((moneyOf(ask) + moneyOf(ask) / 100n) / instrument.tickMoney) as Price;
      const major = textOfAmount(instrument, lotsFor(instrument, ticks));
      const originId = own.nextId();
      const outcome = await own.place('buy', { price: textOfPrice(instrument, ticks), major, originId });
      if (outcome.kind === 'refused') return rejectedWith(['1002'], outcome);
      // The client treats code 1002 as an unknown outcome.
      if (outcome.kind === 'unknown') return judged(outcomeText(outcome), /\b1002\b/.test(outcome.reason));
      const { oid } = outcome.value;
      return endAnswer({ client, checks, oid });
    },
  );
}

/** Checks the codes of orders that break a rule of the book. */
async function rejectionChecks({ client, market, own, checks, start, ofBalances }: OrderStage): Promise<void> {
  const { instrument, row } = market;
  const bid = own.smallest('buy');
  await checks.check(
    [
      'price that is not a multiple of the tick',
      'public-facts 5.1',
      `rejected with ${BAD_PRECISION[0]}, or accepted at the price rounded down`,
    ],
    async () => {
      const price = textOfMoney(money(moneyOf(bid.price) + instrument.tickMoney / 2n));
      const outcome = await own.place('buy', { price });
      if (outcome.kind !== 'done') return rejectedWith(BAD_PRECISION, outcome);
      const [order] = await finderIn(client, checks)({ oids: [outcome.value.oid] }, report => report !== undefined);
      return judged(
        `accepted: ${reportText(order)}`,
        order?.price !== undefined && isEqualDecimal(order.price, bid.price),
      );
    },
  );
  const [least, most] = [moneyOf(row.minimumAmount), moneyOf(row.maximumAmount)];
  const less = money(least - instrument.lotMoney);
  const held = heldOf(start, instrument.major);
  const beyond = money(
    held.total - held.locked - ((held.total - held.locked) % instrument.lotMoney) + instrument.lotMoney,
  );
  const sell = own.smallest('sell');
  const orderOf = (side: Side, changes: Partial<NewOrder>) => () => own.place(side, changes);
  await checks.rejections([
    ['order in an unknown book', 'rest-api 7', 'rejected', ['0301'], orderOf('buy', { book: NO_BOOK })],
    [
      ...(['amount above the maximum', 'public-facts 5.3', 'rejected', ['0404', '0406']] as const),
      orderOf('buy', { major: textOfMoney(money(most + instrument.lotMoney)) }),
    ],
  ]);
  await checks.check(['amount of zero', 'rest-api 7', 'not sent, because the client rejects the amount'], async () =>
    rejectedWith(['not-sent'], await own.place('buy', { major: '0' })),
  );
  await checks.check(['amount below the minimum', 'public-facts 5.3', 'rejected: 0403 or 0405'], async () =>
    less > 0n
      ? rejectedWith(['0403', '0405'], await own.place('buy', { major: textOfMoney(less) }))
      : skipped('the minimum amount is one lot, so no smaller amount exists'),
  );
  await checks.check(['price below the minimum', 'public-facts 5.3', 'rejected: 0401 or 0405'], async () => {
    const price = money(moneyOf(row.minimumPrice) - instrument.tickMoney);
    if (price <= 0n) return skipped('the minimum price is one tick, so no lower price exists');
    return rejectedWith(['0401', '0405'], await own.place('buy', { price: textOfMoney(price) }));
  });
  await checks.check(['amount above the balance', 'public-facts 5.3', 'rejected: 0379'], () =>
    ofBalances(async () => {
      const value = (beyond * moneyOf(sell.price)) / 10n ** 18n;
      const isInBounds =
        beyond >= least && beyond <= most && value <= moneyOf(row.maximumValue) && value >= moneyOf(row.minimumValue);
      if (!isInBounds)
        return skipped(`an order of ${textOfMoney(beyond)} ${instrument.major} is outside the bounds of the book`);
      return rejectedWith(['0379'], await own.place('sell', { major: textOfMoney(beyond) }));
    }),
  );
}

/** Returns a function that looks up orders until the first of them passes `isFinal`; by default, until it is live. */
const finderIn =
  (client: Endpoints, checks: Checks) =>
  (of: Parameters<Endpoints['lookUp']>[0], isFinal: (order: OrderReport | undefined) => boolean = isLive) =>
    checks.readUntil(
      () => client.lookUp(of),
      orders => isFinal(orders[0]),
    );

const isLive = (order: OrderReport | undefined): boolean =>
  order?.status === 'open' || order?.status === 'partially filled';

/** Whether a looked-up order has ended. */
const isEnded = ({ status }: OrderReport): boolean => status === 'cancelled' || status === 'completed';

const isEqualDecimal = (a: DecimalText, b: DecimalText): boolean => moneyOf(a) === moneyOf(b);

type Placed = { readonly side: Side; readonly price: DecimalText; readonly major: DecimalText };

const isAsPlaced = (order: OrderReport, { side, price, major }: Placed): boolean =>
  order.side === side &&
  order.price !== undefined &&
  isEqualDecimal(order.price, price) &&
  isEqualDecimal(order.originalAmount, major) &&
  isEqualDecimal(order.unfilledAmount, major);

const orderText = ({ side, price, major }: Placed): string => `${side} ${major} at ${price}`;

const reportText = (order: OrderReport | undefined): string =>
  order === undefined
    ? 'not listed'
    : `${order.status}: ${order.side} ${order.originalAmount} at ${order.price ?? 'any price'}, ${order.unfilledAmount} unfilled`;

const READ_EVERY_MS: Millis = 500;
/** Time within which the end of all orders must be proven, from the last possible arrival of a placement. */
const PROVEN_WITHIN_MS: Millis = 30_000;
/** Number of consecutive empty reads that prove the end of all orders. */
const EMPTY_READS = 2;
/** Page size of the list of open orders. A shorter page is the whole list. */
const PAGE = 500;

/**
 * Cancels the orders of the checks until two consecutive complete reads list none of them. Only reads after the last
 * possible arrival of a placement with an unknown outcome count. Returns the ids of orders that may be live.
 */
export async function leaveNothing(
  client: Endpoints,
  book: string,
  own: CheckOrders,
  clock: Clock,
): Promise<readonly string[]> {
  const { sent } = own;
  if (sent.length === 0) return [];
  const until = Math.max(clock.now(), own.arrivedBy) + PROVEN_WITHIN_MS;
  let last: readonly string[] = [];
  for (let empty = 0; empty < EMPTY_READS;) {
    // Without enough empty reads, any sent order may be live.
    if (clock.now() >= until) return last.length > 0 ? last : sent;
    for (let i = 0; i < sent.length; i += CANCEL_CHUNK)
      await client.cancel({ originIds: sent.slice(i, i + CANCEL_CHUNK) });
    const isEarly = clock.now() < own.arrivedBy;
    const outcome = await client.openOrders({ book, limit: PAGE });
    if (outcome.kind === 'done') last = outcome.value.flatMap(order => (own.isOwn(order) ? [order.originId!] : []));
    // An unreadable row, or an order beyond the page, may be an order of the checks.
    const isWhole = outcome.kind === 'done' && outcome.value.length < PAGE && (outcome.unreadable ?? []).length === 0;
    empty = isWhole && last.length === 0 && !isEarly ? empty + 1 : 0;
    if (empty < EMPTY_READS) await sleep(clock, READ_EVERY_MS);
  }
  return [];
}
