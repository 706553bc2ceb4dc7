/**
 * Readers of Binance's replies. Source of the fields: rest-api.md, filters.md and enums.md of
 * github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import {
  isDecimalText,
  money,
  moneyOf,
  textOfMoney,
  type AvailableBook,
  type Balance,
  type BookEntry,
  type BookFee,
  type BookSnapshot,
  type DecimalText,
  type Millis,
  type OrderReport,
  type OwnTrade,
  type PublicTrade,
  type UnreadableRow,
} from '../../../core/index.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

/** Symbol of the exchange, and the name of its book in this program. */
export type ListedSymbol = { readonly symbol: string; readonly book: string };

/** Assets that a book's name can contain. The exchange also has assets with other characters (rest-api.md). */
const ASSET = /^[A-Z0-9]{1,20}$/;

const asset = (of: Row, field: string): string => {
  const name = wire.filled(of, field);
  if (!/^[\p{L}\p{N}_.-]{1,40}$/u.test(name)) throw wire.fault(field, 'an asset', name);
  return name;
};

/**
 * Reads the symbols. Those that trade (in status TRADING, and with spot trading) include their rules. Symbols whose
 * assets cannot be part of a book's name are omitted.
 */
export const listedSymbols = (
  reply: unknown,
  unreadable?: UnreadableRow[],
): readonly (ListedSymbol & { readonly rules?: AvailableBook })[] =>
  wire
    .rows(
      wire.row(reply)['symbols'],
      element => {
        const of = wire.row(element);
        const [base, quote] = [asset(of, 'baseAsset'), asset(of, 'quoteAsset')];
        if (!ASSET.test(base) || !ASSET.test(quote)) return null;
        const book = bookOfAssets(base, quote);
        const isTraded =
          wire.text(of, 'status') === 'TRADING' && wire.optional(of, 'isSpotTradingAllowed', wire.flag) !== false;
        return { symbol: wire.filled(of, 'symbol'), book, ...(isTraded ? { rules: symbolRules(of, book) } : {}) };
      },
      unreadable,
      'symbols',
      element => {
        const { baseAsset: base, quoteAsset: quote } = (element ?? {}) as Row;
        const isNamed = typeof base === 'string' && typeof quote === 'string';
        return isNamed ? { book: bookOfAssets(base, quote) } : {};
      },
    )
    .filter(row => row !== null);

const bookOfAssets = (base: string, quote: string): string => `${base.toLowerCase()}_${quote.toLowerCase()}`;

/** Maximum that applies if the exchange sets none. */
const UNLIMITED = '100000000000';

/** Reads the rules of a symbol from its filters (filters.md). A maximum or step of zero disables that rule. */
function symbolRules(of: Row, book: string): AvailableBook {
  const filters = new Map(
    wire.list(of['filters'], element => {
      const filter = wire.row(element, 'filter');
      return [wire.text(filter, 'filterType'), filter] as const;
    }),
  );
  const needed = (type: string): Row => {
    const found = filters.get(type);
    if (found === undefined) throw wire.fault('filters', `a filter ${type}`, undefined);
    return found;
  };
  const [price, lot] = [needed('PRICE_FILTER'), needed('LOT_SIZE')];
  const value = filters.get('NOTIONAL') ?? needed('MIN_NOTIONAL');
  const limited = (filter: Row, field: string): DecimalText => {
    const text = wire.optional(filter, field, wire.decimal) ?? UNLIMITED;
    return isZero(text) ? UNLIMITED : shortened(text);
  };
  const step = shortened(wire.decimal(lot, 'stepSize'));
  const tick = shortened(wire.decimal(price, 'tickSize'));
  // Without a step, the base asset's precision is the finest step of amounts; without a tick, the quote asset's
  // precision is the finest step of prices.
  const finest = (field: string): DecimalText => {
    const decimals = wire.count(of, field);
    if (decimals > 18) throw wire.fault(field, 'at most 18 decimals', decimals);
    return textOfMoney(money(10n ** BigInt(18 - decimals)));
  };
  const lotSize = isZero(step) ? finest('baseAssetPrecision') : step;
  const least = shortened(wire.decimal(lot, 'minQty'));
  return {
    book,
    tickSize: isZero(tick) ? finest('quoteAssetPrecision') : tick,
    lotSize,
    minimumPrice: shortened(wire.decimal(price, 'minPrice')),
    maximumPrice: limited(price, 'maxPrice'),
    minimumAmount: isZero(least) ? lotSize : least,
    maximumAmount: limited(lot, 'maxQty'),
    minimumValue: shortened(wire.decimal(value, 'minNotional')),
    maximumValue: limited(value, 'maxNotional'),
    tiers: [],
  };
}

const isZero = (text: DecimalText): boolean => !/[1-9]/.test(text);
/** Removes the zeros at the end of the decimals. */
const shortened = (text: DecimalText): DecimalText => textOfMoney(moneyOf(text));

/** Reads the time of the exchange. */
export const serverTimeOf = (reply: unknown): Millis => wire.count(wire.row(reply), 'serverTime');

/** Returns a reader of a book by levels. The reply has no time, so the book has the time at which it is read. */
export const depthOf =
  (book: string, now: () => Millis) =>
  (reply: unknown): BookSnapshot => {
    const of = wire.row(reply);
    return {
      book,
      sequence: wire.integer(of, 'lastUpdateId'),
      updatedAt: now(),
      bids: wire.list(of['bids'], depthLevel, 'bids'),
      asks: wire.list(of['asks'], depthLevel, 'asks'),
    };
  };

/** Reads a level: price and amount as a pair of texts. */
export function depthLevel(element: unknown): BookEntry {
  const [price, amount] = wire.list(element, part => part, 'level');
  if (!isDecimalText(price)) throw wire.fault('price', 'decimal digits', price);
  return { price, amount: isDecimalText(amount) ? amount : null };
}

/** Returns a reader of public trades. The maker is on the side that `isBuyerMaker` tells. */
export const publicTradesOf = (book: string) => (reply: unknown, unreadable?: UnreadableRow[]) =>
  wire.rows(
    reply,
    (element): PublicTrade => {
      const of = wire.row(element);
      return {
        book,
        tid: wire.integer(of, 'id').toString(),
        createdAt: wire.count(of, 'time'),
        price: wire.decimal(of, 'price'),
        amount: wire.decimal(of, 'qty'),
        makerSide: wire.flag(of, 'isBuyerMaker') ? 'buy' : 'sell',
      };
    },
    unreadable,
    'trades',
    element => identityOfRow(element, book),
  );

/**
 * Returns the readable identity of a row of the account: an order or a trade of a book. Numbers beyond 2^53 are text
 * after parsing.
 */
function identityOfRow(element: unknown, book: string): Omit<UnreadableRow, 'why'> {
  const of = (typeof element === 'object' && element !== null ? element : {}) as Row;
  const idOf = (field: string): string | undefined => {
    const found = of[field];
    if (typeof found === 'number' && Number.isSafeInteger(found)) return String(found);
    return typeof found === 'string' && /^\d{1,19}$/.test(found) ? found : undefined;
  };
  const client = of['clientOrderId'];
  const fee = of['commissionAsset'];
  const currencies = [...book.split('_'), ...(typeof fee === 'string' ? [fee.toLowerCase()] : [])];
  return wire.present({
    book,
    currencies: fee === undefined ? undefined : currencies,
    oid: idOf('orderId'),
    originId: client === null || client === '' ? null : clientIdText(client),
    id: idOf('id'),
  });
}

const clientIdText = (value: unknown): string | undefined =>
  typeof value === 'string' && CLIENT_ID.test(value) ? value : undefined;

/** Form of client order ids (errors.md, -1100; the range is common knowledge, not checked). */
const CLIENT_ID = /^[.A-Z:/a-z0-9_-]{1,36}$/;

const STATUSES = {
  NEW: 'open',
  PENDING_NEW: 'queued',
  PARTIALLY_FILLED: 'partially filled',
  FILLED: 'completed',
  CANCELED: 'cancelled',
  // Not used at present (enums.md): the order may still be live.
  PENDING_CANCEL: 'open',
  REJECTED: 'cancelled',
  EXPIRED: 'cancelled',
  EXPIRED_IN_MATCH: 'cancelled',
} as const satisfies Record<string, OrderReport['status']>;

/** Types of orders (enums.md) with whether they have a limit price. */
const HAS_PRICE = {
  LIMIT: true,
  LIMIT_MAKER: true,
  STOP_LOSS_LIMIT: true,
  TAKE_PROFIT_LIMIT: true,
  MARKET: false,
  STOP_LOSS: false,
  TAKE_PROFIT: false,
} as const;

const wordsOf = <T extends string>(table: Readonly<Record<T, unknown>>): readonly T[] => Object.keys(table) as T[];

/**
 * Reads an order of a symbol. An order that is partly filled and then canceled is `cancelled` with its unfilled amount.
 */
export function orderOf({ symbol, book }: ListedSymbol, element: unknown): OrderReport {
  const of = wire.row(element);
  if (of['symbol'] !== symbol) throw wire.fault('symbol', symbol, of['symbol']);
  const type = wire.oneOf(of, 'type', wordsOf(HAS_PRICE));
  const [original, executed] = [wire.decimal(of, 'origQty'), wire.decimal(of, 'executedQty')];
  const unfilled = moneyOf(original) - moneyOf(executed);
  if (unfilled < 0n) throw wire.fault('executedQty', `at most ${original}`, executed);
  const stop = wire.optional(of, 'stopPrice', wire.decimal);
  const clientId = wire.optional(of, 'clientOrderId', wire.text) ?? '';
  return {
    book,
    oid: wire.integer(of, 'orderId').toString(),
    ...(clientId === '' ? {} : { originId: clientId }),
    side: sideOfWord(of),
    type: HAS_PRICE[type] ? 'limit' : 'market',
    status: STATUSES[wire.oneOf(of, 'status', wordsOf(STATUSES))],
    ...(HAS_PRICE[type] ? { price: wire.decimal(of, 'price') } : {}),
    originalAmount: original,
    unfilledAmount: textOfMoney(money(unfilled)),
    createdAt: wire.count(of, 'time'),
    ...(stop === undefined || isZero(stop) ? {} : { stop }),
  };
}

/**
 * Reads only the client id of an order, so that unreadable other fields of a foreign order do no harm. An order without
 * a client id is not the bot's. `unreadable` is the reason why the id cannot be read; a repeated request is not
 * expected to help.
 */
export const clientIdOf =
  (oid: string) =>
  (reply: unknown): { readonly originId: string | undefined } | { readonly unreadable: string } => {
    const of = wire.row(reply);
    if (wire.integer(of, 'orderId').toString() !== oid) throw wire.fault('orderId', oid, of['orderId']);
    const found = of['clientOrderId'] ?? '';
    if (typeof found !== 'string') return { unreadable: wire.fault('clientOrderId', 'text', found).message };
    return { originId: found === '' ? undefined : found };
  };

const sideOfWord = (of: Row) => (wire.oneOf(of, 'side', ['BUY', 'SELL']) === 'BUY' ? 'buy' : 'sell');

/** Returns a reader of a list of orders of one symbol. */
export const symbolOrders = (listed: ListedSymbol) => (reply: unknown, unreadable?: UnreadableRow[]) =>
  wire.rows(
    reply,
    element => orderOf(listed, element),
    unreadable,
    'orders',
    element => identityOfRow(element, listed.book),
  );

/** Returns a reader of the account's own trades on one symbol. They have no client order id. */
export const ownTradesOf = (listed: ListedSymbol) => (reply: unknown, unreadable?: UnreadableRow[]) =>
  wire.rows(
    reply,
    (element): OwnTrade => {
      const of = wire.row(element);
      if (of['symbol'] !== listed.symbol) throw wire.fault('symbol', listed.symbol, of['symbol']);
      return {
        book: listed.book,
        tid: wire.integer(of, 'id').toString(),
        oid: wire.integer(of, 'orderId').toString(),
        createdAt: wire.count(of, 'time'),
        side: wire.flag(of, 'isBuyer') ? 'buy' : 'sell',
        price: wire.decimal(of, 'price'),
        major: wire.decimal(of, 'qty'),
        minor: wire.decimal(of, 'quoteQty'),
        feeAmount: wire.decimal(of, 'commission'),
        feeCurrency: asset(of, 'commissionAsset').toLowerCase(),
        maker: wire.flag(of, 'isMaker'),
      };
    },
    unreadable,
    'myTrades',
    element => identityOfRow(element, listed.book),
  );

/** Reads the answer to a placement: the order's id. Its client id must be the one that was sent. */
export const acceptedOrderOf = (symbol: string, clientId: string) => (reply: unknown) => {
  const of = wire.row(reply);
  if (of['symbol'] !== symbol) throw wire.fault('symbol', symbol, of['symbol']);
  if (of['clientOrderId'] !== clientId) throw wire.fault('clientOrderId', clientId, of['clientOrderId']);
  return { oid: wire.integer(of, 'orderId').toString() };
};

/** Reads the answer to a cancel: the id of the canceled order. */
export const canceledOrderOf = (symbol: string) => (reply: unknown) => {
  const of = wire.row(reply);
  if (of['symbol'] !== symbol) throw wire.fault('symbol', symbol, of['symbol']);
  return [wire.integer(of, 'orderId').toString()];
};

/**
 * Returns a reader of the balances. Currencies with a total of zero are omitted, because the exchange lists several
 * hundred, unless they are in `kept`. Currencies with a balance are added to `kept`, so that their fall to zero is
 * reported.
 */
export const balancesOf =
  (kept: Set<string>) =>
  (reply: unknown, unreadable?: UnreadableRow[]): readonly Balance[] => {
    const all = wire.rows(
      wire.row(reply)['balances'],
      (element): Balance => {
        const of = wire.row(element);
        const [available, locked] = [wire.decimal(of, 'free'), wire.decimal(of, 'locked')];
        const total = textOfMoney(money(moneyOf(available) + moneyOf(locked)));
        return { currency: asset(of, 'asset').toLowerCase(), total, locked, available };
      },
      unreadable,
      'balances',
      element => {
        const name = ((element ?? {}) as Row)['asset'];
        return typeof name === 'string' ? { currencies: [name.toLowerCase()] } : {};
      },
    );
    for (const { currency, total } of all) if (!isZero(total)) kept.add(currency);
    return all.filter(({ currency }) => kept.has(currency));
  };

/** Reads the number of the account. */
export const accountNumberOf = (reply: unknown): string => wire.integer(wire.row(reply), 'uid').toString();

/**
 * Returns a reader of the fee rates: the standard, special and tax commissions of the maker or taker, plus those of the
 * buyer or the seller, whichever sum is higher (faqs/commission_faq.md). The discount for fees in BNB is not
 * subtracted, because it depends on the BNB balance.
 */
export const bookFeesOf =
  ({ symbol, book }: ListedSymbol) =>
  (reply: unknown): readonly BookFee[] => {
    const of = wire.row(reply);
    if (of['symbol'] !== symbol) throw wire.fault('symbol', symbol, of['symbol']);
    const kinds = ['standardCommission', 'specialCommission', 'taxCommission'];
    const parts = kinds.map(kind => wire.optional(of, kind, (row, field) => wire.row(row[field], field)) ?? {});
    if (parts[0]!['maker'] === undefined) throw wire.fault('standardCommission', 'rates', of['standardCommission']);
    const rate = (part: Row, field: string): bigint => moneyOf(wire.optional(part, field, wire.decimal) ?? '0');
    const sumOf = (role: 'maker' | 'taker'): DecimalText => {
      const own = parts.reduce((sum, part) => sum + rate(part, role), 0n);
      const bySide = ['buyer', 'seller'].map(side => parts.reduce((sum, part) => sum + rate(part, side), 0n));
      return textOfMoney(money(own + bySide.reduce((a, b) => (a > b ? a : b))));
    };
    return [{ book, maker: sumOf('maker'), taker: sumOf('taker') }];
  };
