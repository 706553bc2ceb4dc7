/** Readers of Kraken's replies: book, trades, balances, fees, orders and own trades. */
import {
  moneyOf,
  textOfMoney,
  type Balance,
  type BookEntry,
  type BookFee,
  type BookSnapshot,
  type Millis,
  type Money,
  type OrderReport,
  type OwnTrade,
  type PublicTrade,
  type Side,
  type SideDamage,
  type UnreadableRow,
} from '../../../core/index.ts';
import {
  fault,
  filled,
  flag,
  integer,
  list,
  oneOf,
  optional,
  present,
  row,
  text,
  WireFault,
  type Row,
} from '../../wire/wire.ts';
import {
  currencyOfAltname,
  percentRate,
  type Assets,
  type KrakenPair,
  type NamedPair,
  type PairNames,
} from './names.ts';
import { originIdOf } from './clientIds.ts';
import { keyedRows } from './keyedRows.ts';
import { krakenDecimal, krakenTime, unfoldedDecimal } from './numbers.ts';

/**
 * Reads a book by levels, best price first. An unreadable amount is `null`. `damage` reports the first row of a side
 * whose price is unreadable or out of order. The reply has no sequence number and no time of the book.
 */
export const depth =
  (pair: KrakenPair, sequence: bigint, updatedAt: Millis) =>
  (result: unknown): BookSnapshot => {
    const of = row(soleEntry(result, pair), pair.id);
    const [bids, asks] = [bookSide(of, 'bids'), bookSide(of, 'asks')];
    const damage = present({ bids: bids.damage, asks: asks.damage });
    const isDamaged = bids.damage !== undefined || asks.damage !== undefined;
    const book = pair.rules.book;
    return { book, sequence, updatedAt, bids: bids.entries, asks: asks.entries, ...(isDamaged ? { damage } : {}) };
  };

/** Returns the content of a reply about one pair. Its key in the reply is one of the pair's names. */
function soleEntry(result: unknown, pair: KrakenPair): unknown {
  const of = row(result, 'result');
  const name = [pair.id, pair.altname, pair.wsname ?? pair.id].find(each => of[each] !== undefined);
  if (name === undefined) throw fault('result', `an entry ${pair.id}`, Object.keys(of).join(', '));
  return of[name];
}

function bookSide(
  of: Row,
  field: 'bids' | 'asks',
): { readonly entries: readonly BookEntry[]; readonly damage: SideDamage | undefined } {
  const entries: BookEntry[] = [];
  let damage: SideDamage | undefined;
  for (const [n, element] of list(of[field], each => each, field).entries()) {
    const [price, amount] = levelNumbersOf(element);
    const before = entries.at(-1);
    if (price === undefined) {
      damage ??= { after: entries.length, why: `row ${n + 1} of ${field}: the price is missing or not a number` };
    } else if (before !== undefined && !isBetter(field, before.price, price)) {
      // Either this row or the previous one is wrong, so the order of both and of all later rows is unproven.
      entries.pop();
      const why = `row ${n + 1} of ${field}: expected levels with the best price first, found ${price} after ${before.price}`;
      damage = { ...(damage ?? { why }), after: Math.min(damage?.after ?? Infinity, entries.length) };
      break;
    } else {
      entries.push({ price, amount: amount ?? null });
    }
  }
  if (entries.length === 0 && damage !== undefined) throw new WireFault(damage.why);
  return { entries, damage };
}

/** Returns the elements of a level; `undefined` for each that is not a number. */
function levelNumbersOf(element: unknown): readonly (string | undefined)[] {
  try {
    return list(element, unfoldedDecimal, 'level');
  } catch (error) {
    if (error instanceof WireFault) return [];
    throw error;
  }
}

const isBetter = (field: 'bids' | 'asks', better: string, worse: string): boolean =>
  field === 'bids' ? moneyOf(better) > moneyOf(worse) : moneyOf(better) < moneyOf(worse);

/** Public trade with its time in nanoseconds, with which later trades are requested. */
export type TimedTrade = PublicTrade & { readonly atNanos: bigint };

/**
 * Reads public trades in the order of the reply: price, amount, seconds, side of the aggressor (`b` or `s`), order type,
 * miscellaneous, trade id. Trade ids count up by one within a book. Source:
 * docs.kraken.com/api/docs/rest-api/get-recent-trades.
 */
export const krakenTrades =
  (pair: KrakenPair) =>
  (result: unknown): readonly TimedTrade[] =>
    list(soleEntry(result, pair), element => {
      const [price, amount, at, side, , , tid] = list(element, each => each, 'trade');
      const of = { price, amount, at, side, tid };
      const taker = oneOf(of, 'side', ['b', 's']);
      return {
        book: pair.rules.book,
        tid: integer(of, 'tid').toString(),
        createdAt: krakenTime(of, 'at'),
        atNanos: nanosOf(at),
        price: krakenDecimal(of, 'price'),
        amount: krakenDecimal(of, 'amount'),
        makerSide: taker === 'b' ? 'sell' : 'buy',
      } as const;
    });

/** Converts seconds with a fraction to nanoseconds, rounded down. */
function nanosOf(value: unknown): bigint {
  const [whole = '', fraction = ''] = (unfoldedDecimal(value) ?? '').split('.');
  if (whole === '') throw fault('at', 'a time in seconds', value);
  return BigInt(whole + fraction.slice(0, 9).padEnd(9, '0'));
}

/**
 * Reads extended balances. The exchange rounds their changes to the `decimals` of their currency. It omits balances of
 * zero, so each of the `known` currencies that has no row gets a row of zero. A currency of `also` gets one only if the
 * assets contain it, or if they contain the ids of all rows.
 * Source: docs.kraken.com/api/docs/rest-api/get-extended-balance.
 */
export const krakenBalances =
  (
    { assets, decimals }: { readonly assets: Assets; readonly decimals: ReadonlyMap<string, number> },
    known: Iterable<string>,
    also: readonly string[] = [],
  ) =>
  (result: unknown, unreadable: UnreadableRow[]): readonly Balance[] => {
    // Assets on hold have suffixed names, such as USD.F, which the list of assets may lack.
    const nameOf = (id: string): string => assets.get(id) ?? currencyOfAltname(id);
    const listed = keyedRows(
      result,
      'result',
      (id, of) => balance(nameOf(id), of),
      unreadable,
      id => ({
        currencies: [nameOf(id)],
      }),
    );
    const told = new Set([
      ...listed.map(({ currency }) => currency),
      ...unreadable.flatMap(each => each.currencies ?? []),
    ]);
    // A balance may have the id of a delisted asset. The list of assets no longer has this id, so its currency is
    // unknown.
    const [isComplete, named] = [
      Object.keys(row(result, 'result')).every(id => assets.has(id)),
      new Set(assets.values()),
    ];
    const certain = also.filter(currency => isComplete || named.has(currency));
    const absent = [...new Set([...known, ...certain])].filter(currency => !told.has(currency));
    const zero = absent.map(currency => ({ currency, total: '0', locked: '0', available: '0' }));
    return [...listed, ...zero].map(each => {
      const count = decimals.get(each.currency);
      return count === undefined ? each : { ...each, decimals: count };
    });
  };

function balance(currency: string, of: Row): Balance {
  const [total, locked] = [krakenDecimal(of, 'balance'), optional(of, 'hold_trade', krakenDecimal) ?? '0'];
  const available = moneyOf(total) - moneyOf(locked);
  if (available < 0n) throw fault('hold_trade', `at most the balance of ${total}`, locked);
  return { currency, total, locked, available: textOfMoney(available as Money) };
}

/** Form of the public id of an account. Each subaccount has an id of its own. */
const ACCOUNT_ID = /^AA[\dA-Z]{2}(?: [\dA-Z]{4}){3}$/;

/** Reads the public id of the key's account. Source: docs.kraken.com/api-reference/account-data/get-api-key-info. */
export function accountIdOf(result: unknown): string {
  const id = text(row(result, 'result'), 'iban');
  if (!ACCOUNT_ID.test(id)) throw fault('iban', 'a public account id', id);
  return id;
}

/** Reads the account's fee rates and its 30-day volume. Source: docs.kraken.com/api/docs/rest-api/get-trade-volume. */
export const krakenFees =
  (pairs: readonly KrakenPair[]) =>
  (result: unknown, unreadable: UnreadableRow[]): readonly BookFee[] => {
    const of = row(result, 'result');
    const [takers, makers] = [
      row(of['fees'], 'fees'),
      optional(of, 'fees_maker', (from, field) => row(from[field], field)),
    ];
    const volume = optional(of, 'volume', krakenDecimal);
    return pairs.flatMap(pair => {
      try {
        const taker = row(takers[pair.id] ?? takers[pair.altname], 'fees');
        const maker = row(makers?.[pair.id] ?? makers?.[pair.altname] ?? taker, 'fees_maker');
        const nextMaker = optional(maker, 'nextfee', krakenDecimal);
        return [
          {
            book: pair.rules.book,
            maker: percentRate('fee', krakenDecimal(maker, 'fee')),
            taker: percentRate('fee', krakenDecimal(taker, 'fee')),
            ...present({
              currentVolume: volume,
              nextVolume: optional(maker, 'nextvolume', krakenDecimal),
              nextMaker: nextMaker === undefined ? undefined : percentRate('nextfee', nextMaker),
            }),
          },
        ];
      } catch (error) {
        if (!(error instanceof WireFault)) throw error;
        unreadable.push({ why: error.message, book: pair.rules.book });
        return [];
      }
    });
  };

/** Order with the ids of its trades and the currency of its fees. */
export type KrakenOrder = OrderReport & {
  readonly feeSide: 'base' | 'quote';
  readonly tradeIds: readonly string[];
};

const STATUS = {
  pending: 'queued',
  open: 'open',
  closed: 'completed',
  canceled: 'cancelled',
  expired: 'cancelled',
} as const;
const STATUSES = Object.keys(STATUS) as (keyof typeof STATUS)[];

/**
 * Reads the orders of a reply, by oid. Source: docs.kraken.com/api/docs/rest-api/get-open-orders.
 */
export const krakenOrders = (value: unknown, pairs: PairNames, unreadable: UnreadableRow[]): readonly KrakenOrder[] =>
  keyedRows(
    value,
    'orders',
    (oid, of) => order(oid, of, pairs),
    unreadable,
    (oid, content) => ({
      oid,
      ...identityOf(content, pairs),
    }),
  );

function identityOf(value: unknown, pairs: PairNames): Pick<UnreadableRow, 'book' | 'currencies' | 'originId'> {
  if (typeof value !== 'object' || value === null) return {};
  const { descr, cl_ord_id: clientId, pair } = value as Row;
  const name = typeof descr === 'object' && descr !== null ? (descr as Row)['pair'] : pair;
  const known = typeof name === 'string' ? pairs.named(name) : undefined;
  const originId = clientId === undefined || clientId === null ? null : undefined;
  return present({
    book: known?.book,
    currencies: typeof name === 'string' && known === undefined ? pairs.currenciesOf(name) : undefined,
    originId: typeof clientId === 'string' ? originIdOf(clientId) : originId,
  });
}

/** Returns the listed pair of a row. */
function pairIn(of: Row, pairs: PairNames): NamedPair {
  const pair = pairs.named(filled(of, 'pair'));
  if (pair === undefined) throw fault('pair', "a pair from the exchange's list of pairs", of['pair']);
  return pair;
}

function order(oid: string, of: Row, pairs: PairNames): KrakenOrder {
  const descr = row(of['descr'], 'descr');
  const pair = pairIn(descr, pairs);
  const kind = filled(descr, 'ordertype');
  const side = oneOf(descr, 'type', ['buy', 'sell']);
  const [originalAmount, executed] = [krakenDecimal(of, 'vol'), krakenDecimal(of, 'vol_exec')];
  const left = moneyOf(originalAmount) - moneyOf(executed);
  if (left < 0n) throw fault('vol_exec', `at most the order amount of ${originalAmount}`, executed);
  const state = oneOf(of, 'status', STATUSES);
  const isPartial = state === 'open' && /[1-9]/.test(executed);
  const flags = flagsOf(of);
  const clientId = optional(of, 'cl_ord_id', text);
  return {
    book: pair.book,
    oid,
    side,
    ...limitOrMarket(kind, descr),
    status: isPartial ? 'partially filled' : STATUS[state],
    originalAmount,
    unfilledAmount: textOfMoney(left as Money),
    createdAt: krakenTime(of, 'opentm'),
    feeSide: feeSideOf(flags, side),
    tradeIds: optional(of, 'trades', (from, field) => list(from[field], idText, field)) ?? [],
    ...(clientId === undefined || clientId === '' ? {} : { originId: originIdOf(clientId) }),
  };
}

const flagsOf = (of: Row): readonly string[] => (optional(of, 'oflags', text) ?? '').split(',');

/** Returns the currency of an order's fees: by its flags, or by default the currency that the order gives away. */
const feeSideOf = (flags: readonly string[], side: Side): 'base' | 'quote' =>
  flags.includes('fciq') ? 'quote' : flags.includes('fcib') || side === 'sell' ? 'base' : 'quote';

function idText(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw fault('trades', 'ids', value);
  return value;
}

/** Returns the type of an order and its prices. Orders with a trigger have their limit price in `price2`. */
function limitOrMarket(kind: string, descr: Row): Pick<OrderReport, 'type' | 'price' | 'stop'> {
  if (kind === 'limit' || kind === 'iceberg') return { type: 'limit', price: krakenDecimal(descr, 'price') };
  if (kind === 'market' || kind === 'settle-position') return { type: 'market' };
  // The price of a trailing stop is a distance such as +50.0000%, so it is not reported as a stop price.
  const stop = unfoldedDecimal(descr['price']);
  const trigger = stop === undefined ? {} : { stop };
  if (kind.endsWith('-limit')) return { type: 'limit', price: krakenDecimal(descr, 'price2'), ...trigger };
  if (/^(?:stop-loss|take-profit|trailing-stop)$/.test(kind)) return { type: 'market', ...trigger };
  throw fault('ordertype', 'an order type that Kraken documents', kind);
}

/** Own trade of a list, without the origin id and the fee flags of its order, which the list does not contain. */
export type ListedTrade = OwnTrade & {
  /** Id at the exchange, such as `THVRQM-33VKH-UCI7BS`. */
  readonly txid: string;
};

/** Number of digits for the exchange's trade number, at the end of an id that `tidOf` returns. */
const TRADE_ID_DIGITS = 12;

/**
 * Returns the id of an own trade: its time in milliseconds, followed by the number of the trade in its book. The
 * exchange numbers trades within a book only, and its own-trade ids do not increase with time.
 */
const tidOf = (at: Millis, number: bigint): string => {
  const digits = number.toString();
  if (digits.length > TRADE_ID_DIGITS) throw fault('trade_id', `at most ${TRADE_ID_DIGITS} digits`, digits);
  return `${at}${digits.padStart(TRADE_ID_DIGITS, '0')}`;
};

/** Returns the time of an own trade from the id that `tidOf` made. Throws a WireFault on another id. */
export function timeOfTid(tid: string): Millis {
  if (!/^\d{13,26}$/.test(tid)) throw fault('marker', 'a trade id of 13 to 26 digits', tid);
  return Number(tid.slice(0, -TRADE_ID_DIGITS));
}

/**
 * Reads own trades by txid. `fee` is in the quote currency (docs.kraken.com/api/docs/rest-api/get-trade-history). For
 * an order that pays its fee in the base currency, the reply does not contain the amount that was paid.
 */
export const listedTrades = (value: unknown, pairs: PairNames, unreadable: UnreadableRow[]): readonly ListedTrade[] =>
  keyedRows(
    value,
    'trades',
    (txid, of) => listedTrade(txid, of, pairs),
    unreadable,
    (_, content) => {
      const { book, currencies } = identityOf(content, pairs);
      return present({ book, currencies });
    },
  );

function listedTrade(txid: string, of: Row, pairs: PairNames): ListedTrade {
  const pair = pairIn(of, pairs);
  const createdAt = krakenTime(of, 'time');
  const [price, major, minor] = [krakenDecimal(of, 'price'), krakenDecimal(of, 'vol'), krakenDecimal(of, 'cost')];
  const [value, stated] = [(moneyOf(price) * moneyOf(major)) / moneyOf('1'), moneyOf(minor)] as [bigint, bigint];
  const apart = value > stated ? value - stated : stated - value;
  if (apart > (value > stated ? value : stated) / 100n + moneyOf('0.01'))
    throw fault('cost', `about ${major} times ${price}`, minor);
  if (moneyOf(krakenDecimalOr0(of, 'margin')) !== 0n) throw fault('margin', 'a trade without margin', of['margin']);
  const feeAmount = krakenDecimal(of, 'fee');
  if (moneyOf(feeAmount) > moneyOf(minor)) throw fault('fee', `at most ${minor}`, feeAmount);
  return {
    txid,
    book: pair.book,
    tid: tidOf(createdAt, integer(of, 'trade_id')),
    oid: filled(of, 'ordertxid'),
    createdAt,
    side: oneOf(of, 'type', ['buy', 'sell']),
    price,
    major,
    minor,
    feeAmount,
    feeCurrency: pair.quote,
    maker: flag(of, 'maker'),
  };
}

const krakenDecimalOr0 = (of: Row, field: string): string => optional(of, field, krakenDecimal) ?? '0';

/** Reads one page of a list, and the total number of rows in the list. `field` is the name of the list in the reply. */
export const page =
  <T>(field: string, read: (value: unknown, unreadable: UnreadableRow[]) => readonly T[]) =>
  (result: unknown, unreadable: UnreadableRow[]) => {
    const of = row(result, 'result');
    const rows = row(of[field], field);
    const count = Number(integer(of, 'count'));
    return { rows: read(rows, unreadable), length: Object.keys(rows).length, count };
  };

/** Reads the id of an accepted order. In an overload, the reply can lack it, and then the outcome is unknown. */
export function acceptedTxid(result: unknown): { readonly oid: string } {
  const ids = list(row(result, 'result')['txid'], idText, 'txid');
  if (ids.length !== 1) throw fault('txid', 'one id', ids.length);
  return { oid: ids[0]! };
}

/**
 * Reads the number of orders that a cancel ended. The reply to a pending cancel counts as unreadable, because the order
 * may still execute.
 */
export function canceledCount(result: unknown): number {
  const of = row(result, 'result');
  if (optional(of, 'pending', flag) === true) throw fault('pending', 'an ended order', true);
  return Number(integer(of, 'count'));
}
