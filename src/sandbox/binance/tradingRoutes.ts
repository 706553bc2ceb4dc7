/**
 * Order routes of the second exchange: place, test, look up, cancel and list. Source: rest-api.md (trading and account
 * endpoints), filters.md and errors.md of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { moneyOf, type Amount, type Money, type Price, type Side } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import { isActive, payingCurrency, type Draft, type VenueOrder } from '../venue/order.ts';
import { lockOfDraft } from '../venue/orderChecks.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import {
  bookAsked,
  bookMaybe,
  listLimit,
  pageOfRows,
  timeSpan,
  type BinanceRequest,
  type BinanceRoute,
  type BinanceWorld,
} from './binanceRoute.ts';
import { commissionOf } from './commissions.ts';
import { BinanceFailure, REFUSALS } from './failures.ts';
import { canceledAnswer, orderEntry, placedAnswer, shareOf, type ResponseType } from './orderAnswers.ts';
import type { RequestFields } from './requestFields.ts';
import { averageTicks, PERCENT, valueAbout } from './symbols.ts';

type Signed = BinanceRequest & { readonly account: Account };

export const tradingRoutes: readonly BinanceRoute[] = [
  { method: 'POST', path: '/api/v3/order', security: 'orders', weight: 1, order: true, handle: placeOrder },
  {
    method: 'POST',
    path: '/api/v3/order/test',
    security: 'orders',
    weight: fields => (fields.text('computeCommissionRates') === 'true' ? 20 : 1),
    handle: testOrder,
  },
  { method: 'GET', path: '/api/v3/order', security: 'account', weight: 4, handle: lookUpOrder },
  { method: 'DELETE', path: '/api/v3/order', security: 'orders', weight: 1, handle: cancelOrder },
  {
    method: 'GET',
    path: '/api/v3/openOrders',
    security: 'account',
    weight: fields => (fields.text('symbol') === undefined ? 80 : 6),
    handle: listOpen,
  },
  { method: 'DELETE', path: '/api/v3/openOrders', security: 'orders', weight: 1, handle: cancelOpen },
  { method: 'GET', path: '/api/v3/allOrders', security: 'account', weight: 20, handle: listOrders },
];

type Checked = {
  readonly book: VenueBook;
  readonly draft: Draft & { readonly originId: string };
  readonly lock: Money;
  readonly form: ResponseType;
};

function placeOrder({ world, fields, account }: Signed): unknown {
  const { book, draft, lock, form } = checkedDraft(world, fields, account);
  const order = world.venue.accept(account, book, draft, lock);
  return placedAnswer(order, form, account.trades.byOrder(order.oid));
}

function testOrder({ world, fields, account }: Signed): unknown {
  const computes = fields.word('computeCommissionRates', ['true', 'false'], () =>
    REFUSALS.invalid('computeCommissionRates'),
  );
  const { book } = checkedDraft(world, fields, account);
  if (computes !== 'true') return {};
  const { standard, none, discount } = commissionOf(world, account, book);
  const rates = ({ maker, taker }: typeof standard) => ({ maker, taker });
  return {
    standardCommissionForOrder: rates(standard),
    specialCommissionForOrder: rates(none),
    taxCommissionForOrder: rates(none),
    discount,
  };
}

const OTHER_TYPES: Readonly<Record<string, string>> = {
  STOP_LOSS: 'Stop loss',
  STOP_LOSS_LIMIT: 'Stop loss limit',
  TAKE_PROFIT: 'Take profit',
  TAKE_PROFIT_LIMIT: 'Take profit limit',
};
const TYPES = ['LIMIT', 'LIMIT_MAKER', 'MARKET'] as const;
const LIFETIMES = { GTC: 'goodtillcancelled', IOC: 'immediateorcancel', FOK: 'fillorkill' } as const;

/** Checks a new order: parameters, filters, client id, then funds. Throws the failure of the first check. */
function checkedDraft(world: BinanceWorld, fields: RequestFields, account: Account): Checked {
  const book = bookAsked({ world, fields });
  const { instrument: i } = book;
  fields.needed('side');
  const side: Side =
    fields.word('side', ['BUY', 'SELL'], () => new BinanceFailure(-1117, 'Invalid side.')) === 'BUY' ? 'buy' : 'sell';
  const named = fields.needed('type');
  const other = OTHER_TYPES[named];
  if (other !== undefined) throw new BinanceFailure(-1013, `${other} orders are not supported for this symbol.`);
  const type = fields.word('type', TYPES, () => new BinanceFailure(-1116, 'Invalid orderType.'))!;
  if (fields.text('icebergQty') !== undefined)
    throw new BinanceFailure(-1013, 'Iceberg orders are not supported for this symbol.');
  for (const name of ['stopPrice', 'trailingDelta', 'pegPriceType', 'pegOffsetValue', 'pegOffsetType'])
    fields.absent(name);
  for (const name of ['strategyId', 'strategyType']) fields.whole(name);
  fields.word('selfTradePreventionMode', ['NONE'], () => REFUSALS.invalid('selfTradePreventionMode'));
  const market = type === 'MARKET';
  let lifetime: keyof typeof LIFETIMES = 'GTC';
  if (type === 'LIMIT') {
    fields.needed('timeInForce');
    lifetime = fields.word(
      'timeInForce',
      ['GTC', 'IOC', 'FOK'],
      () => new BinanceFailure(-1115, 'Invalid timeInForce.'),
    )!;
  } else fields.absent('timeInForce');
  const quantity = fields.decimal('quantity');
  const spend = fields.decimal('quoteOrderQty');
  if (market) {
    fields.absent('price');
    if (quantity === undefined && spend === undefined)
      throw new BinanceFailure(-1102, "Param 'quantity' or 'quoteOrderQty' must be sent, but both were empty/null!");
    if (quantity !== undefined && spend !== undefined)
      throw new BinanceFailure(-1106, "Parameter 'quoteOrderQty' sent when not required.");
  } else {
    fields.needed('quantity');
    fields.needed('price');
    fields.absent('quoteOrderQty');
  }
  const price = fields.decimal('price');
  const originId = clientIdIn(fields, 'newClientOrderId') ?? world.clientId();
  const form =
    fields.word('newOrderRespType', ['ACK', 'RESULT', 'FULL'], () => REFUSALS.invalid('newOrderRespType')) ??
    (type === 'LIMIT_MAKER' ? 'ACK' : 'FULL');

  fields.end();
  const ticks = price === undefined ? (0 as Price) : orderTicks(book, price, world.clock.now());
  const lots = quantity === undefined ? (0 as Amount) : orderLots(book, quantity);
  if (!market) checkValue(book, BigInt(ticks) * BigInt(lots) * i.tickLotMoney, true);
  else if (spend !== undefined) checkValue(book, spend, false);
  else if (averageTicks(book, world.clock.now()) > 0)
    checkValue(book, valueAbout(i, averageTicks(book, world.clock.now()), lots), false);
  if (world.switches.trading === 'off' || !account.trading) throw REFUSALS.closed();
  if (openIn(account, book).length >= world.switches.openOrdersMax) throw REFUSALS.filter('MAX_NUM_ORDERS');
  if (account.activeOrigins.has(originId)) throw REFUSALS.duplicate();
  if (type === 'LIMIT_MAKER' && book.engine.crosses(side, ticks)) throw REFUSALS.wouldMatch();
  const { iocFillPips } = world.switches;
  const draft = {
    side,
    type: market ? 'market' : 'limit',
    timeInForce: type === 'LIMIT_MAKER' ? 'postonly' : LIFETIMES[lifetime],
    price: ticks,
    amount: lots,
    minor: spend,
    stop: undefined,
    originId,
    marginOrderType: undefined,
    slippage: undefined,
    ...(lifetime === 'IOC' && iocFillPips < 10_000 && { fillMax: shareOf(lots, iocFillPips) }),
  } as const;
  const lock = lockOfDraft(book, draft, world.venue.switches);
  if (lock > account.available(payingCurrency({ side, instrument: i }))) throw REFUSALS.insufficient();
  if (market && book.engine[side === 'buy' ? 'bestAsk' : 'bestBid']() === 0)
    throw new BinanceFailure(-1112, 'No orders on book for symbol.');
  return { book, draft, lock, form };
}

const CLIENT_ID = /^[.A-Z:/a-z0-9_-]{1,36}$/;

/** Returns a client order id; `undefined` if absent. The accepted format is common knowledge, not verified. */
function clientIdIn(fields: RequestFields, name: string): string | undefined {
  const id = fields.text(name);
  if (id === undefined || CLIENT_ID.test(id)) return id;
  throw REFUSALS.illegal(name, '^[\\.A-Z\\:/a-z0-9_-]{1,36}$');
}

function orderTicks(book: VenueBook, price: Money, now: number): Price {
  const { instrument: i, orderTick, rules } = book;
  if (price === 0n) throw new BinanceFailure(-1013, 'Invalid price.');
  const fits = price % orderTick === 0n && price >= moneyOf(rules.minimumPrice) && price <= moneyOf(rules.maximumPrice);
  if (!fits) throw REFUSALS.filter('PRICE_FILTER');
  const ticks = Number(price / i.tickMoney);
  const average = averageTicks(book, now);
  if (average > 0 && !(ticks <= average * PERCENT.up && ticks >= average * PERCENT.down))
    throw REFUSALS.filter('PERCENT_PRICE_BY_SIDE');
  return ticks as Price;
}

function orderLots({ instrument: i, rules }: VenueBook, quantity: Money): Amount {
  if (quantity === 0n) throw new BinanceFailure(-1013, 'Invalid quantity.');
  const fits =
    quantity % i.lotMoney === 0n &&
    quantity >= moneyOf(rules.minimumAmount) &&
    quantity <= moneyOf(rules.maximumAmount);
  if (!fits) throw REFUSALS.filter('LOT_SIZE');
  return Number(quantity / i.lotMoney) as Amount;
}

function checkValue({ rules }: VenueBook, value: bigint, alsoMax: boolean): void {
  if (!(value >= moneyOf(rules.minimumValue) && (!alsoMax || value <= moneyOf(rules.maximumValue))))
    throw REFUSALS.filter('NOTIONAL');
}

/** Whether the order is old enough for look-ups and lists to show it. */
const isListed = ({ clock, switches }: BinanceWorld, { createdAt }: VenueOrder): boolean =>
  clock.now() - createdAt >= switches.lookupDelayMs;

const openIn = (account: Account, { rules }: VenueBook): VenueOrder[] =>
  [...account.active.values()].filter(order => order.book === rules.book);

/**
 * Returns the account's order with the order id in the request, or its newest order with the client id in the request;
 * `undefined` if there is none.
 */
function orderAsked({ world, fields, account }: Signed, book: VenueBook): VenueOrder | undefined {
  const oid = fields.whole('orderId');
  const origin = clientIdIn(fields, 'origClientOrderId');
  if (oid === undefined && origin === undefined)
    throw new BinanceFailure(-1102, "Param 'origClientOrderId' or 'orderId' must be sent, but both were empty/null!");
  const found =
    oid === undefined
      ? (account.activeOrigins.get(origin!) ?? account.finishedOrigins.get(origin!)?.at(-1))
      : world.venue.find(String(oid));
  if (found?.account.id !== account.id || found.book !== book.rules.book) return undefined;
  return origin === undefined || found.originId === origin ? found : undefined;
}

function lookUpOrder(ask: Signed): unknown {
  const order = orderAsked(ask, bookAsked(ask));
  if (!order || !isListed(ask.world, order)) throw REFUSALS.noOrder();
  return orderEntry(order);
}

const RESTRICTIONS = ['ONLY_NEW', 'ONLY_PARTIALLY_FILLED'] as const;

function cancelOrder(ask: Signed): unknown {
  const { world, fields } = ask;
  const restriction = fields.word(
    'cancelRestrictions',
    RESTRICTIONS,
    () => new BinanceFailure(-1145, 'Invalid cancelRestrictions'),
  );
  const cancelId = clientIdIn(fields, 'newClientOrderId') ?? world.clientId();
  const order = orderAsked(ask, bookAsked(ask));
  fields.end();
  if (!order || !isActive(order)) throw REFUSALS.unknownOrder();
  if (restriction !== undefined && (restriction === 'ONLY_NEW') !== (order.filled === 0))
    throw new BinanceFailure(-2011, 'Order was not canceled due to cancel restrictions.');
  world.venue.cancel(order);
  return canceledAnswer(order, cancelId, world.clock.now());
}

function cancelOpen(ask: Signed): unknown {
  const { world, account } = ask;
  const open = openIn(account, bookAsked(ask));
  ask.fields.end();
  if (open.length === 0) throw REFUSALS.unknownOrder();
  return open.map(order => {
    world.venue.cancel(order);
    return canceledAnswer(order, world.clientId(), world.clock.now());
  });
}

function listOpen(ask: Signed): unknown {
  const { world, account } = ask;
  const book = bookMaybe(ask);
  const open = book ? openIn(account, book) : [...account.active.values()];
  return open.filter(order => isListed(world, order)).map(orderEntry);
}

function listOrders(ask: Signed): unknown {
  const { world, account, fields } = ask;
  const { book } = bookAsked(ask).rules;
  const fromOid = fields.whole('orderId');
  const orders = [...account.finished.values(), ...account.active.values()]
    .filter(order => order.book === book && isListed(world, order))
    .sort((a, b) => Number(a.oid) - Number(b.oid));
  const isFromId = fromOid === undefined ? null : ({ oid }: VenueOrder) => Number(oid) >= fromOid;
  return pageOfRows(orders, listLimit(fields), timeSpan(fields), order => order.createdAt, isFromId).map(orderEntry);
}
