/** Readers of the public endpoints' replies. */
import {
  isDecimalText,
  moneyOf,
  textOfMoney,
  type AvailableBook,
  type BookEntry,
  type BookSnapshot,
  type DecimalText,
  type FeeTier,
  type Millis,
  type Money,
  type PublicTrade,
  type SideDamage,
  type UnreadableRow,
} from '../../../core/index.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

export type Ticker = {
  readonly book: string;
  readonly createdAt: Millis;
  readonly last?: DecimalText;
  readonly bid?: DecimalText;
  readonly ask?: DecimalText;
  readonly high?: DecimalText;
  readonly low?: DecimalText;
  readonly volume?: DecimalText;
  /** Volume-weighted average price, as signed decimal text of any length. */
  readonly vwap?: string;
  readonly change24?: string;
  /** Price changes in percent, by number of hours. */
  readonly rollingAverageChange: ReadonlyMap<string, string>;
};

export type Candle = {
  readonly from: Millis;
  readonly firstTradeAt?: Millis;
  readonly lastTradeAt?: Millis;
  readonly open: DecimalText;
  readonly close: DecimalText;
  readonly low: DecimalText;
  readonly high: DecimalText;
  readonly trades: number;
  readonly volume: DecimalText;
  readonly vwap?: string;
};

/** Reads the rules and fees of every book (rest-api 2.7). */
export const availableBooks = (payload: unknown, unreadable?: UnreadableRow[]): readonly AvailableBook[] =>
  wire.rows(payload, element => availableBook(wire.row(element)), unreadable);

function availableBook(of: Row): AvailableBook {
  const fees = wire.optional(of, 'fees', (from, field) => wire.row(from[field], field));
  const flat = fees && wire.optional(fees, 'flat_rate', (from, field) => wire.row(from[field], field));
  return {
    book: wire.bookName(of, 'book'),
    tickSize: wire.decimal(of, 'tick_size'),
    minimumAmount: wire.decimal(of, 'minimum_amount'),
    maximumAmount: wire.decimal(of, 'maximum_amount'),
    minimumPrice: wire.decimal(of, 'minimum_price'),
    maximumPrice: wire.decimal(of, 'maximum_price'),
    minimumValue: wire.decimal(of, 'minimum_value'),
    maximumValue: wire.decimal(of, 'maximum_value'),
    tiers: fees ? (wire.optional(fees, 'structure', tiers) ?? []) : [],
    ...wire.present({
      marginEnabled: wire.optional(of, 'margin_enabled', wire.flag),
      defaultChart: wire.optional(of, 'default_chart', wire.text),
      flatRate: flat ? flatRate(flat) : undefined,
    }),
  };
}

function tiers(of: Row, field: string): readonly FeeTier[] {
  const read = wire.list(
    of[field],
    element => {
      const tier = wire.row(element, field);
      return {
        volume: wire.decimal(tier, 'volume'),
        maker: wire.decimal(tier, 'maker'),
        taker: wire.decimal(tier, 'taker'),
      };
    },
    field,
  );
  return [...read].sort((a, b) => compare(moneyOf(a.volume), moneyOf(b.volume)));
}

const compare = (a: Money, b: Money): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Flat rate above which the unit must be percent, because no book charges 5% (public facts 4.1). The maker rate and the
 * taker rate of a book have the same unit.
 */
const PERCENT_ABOVE = moneyOf('0.05');

function flatRate(of: Row): { readonly maker: DecimalText; readonly taker: DecimalText } {
  const [maker, taker] = [wire.decimal(of, 'maker'), wire.decimal(of, 'taker')];
  const percent = moneyOf(maker) > PERCENT_ABOVE || moneyOf(taker) > PERCENT_ABOVE;
  return percent ? { maker: hundredth('maker', maker), taker: hundredth('taker', taker) } : { maker, taker };
}

/**
 * Converts percent to an exact fraction. Throws a WireFault about `field` if the percent value has more than 16
 * decimals.
 */
export function hundredth(field: string, percent: DecimalText): DecimalText {
  const atto = moneyOf(percent);
  if (atto % 100n !== 0n) throw wire.fault(field, 'at most 16 decimals', percent);
  return textOfMoney((atto / 100n) as Money);
}

/**
 * Reads a book row by row. An unreadable amount is `null`. The damage of a side is its first row that has an unreadable
 * price, belongs to another book or is out of order. Throws a WireFault if the shape is wrong or a side has no readable
 * row.
 */
export const orderBook =
  (book: string) =>
  (payload: unknown): BookSnapshot => {
    const of = wire.row(payload);
    const [bids, asks] = [
      bookSide(of, 'bids', book, (better, worse) => better >= worse),
      bookSide(of, 'asks', book, (better, worse) => better <= worse),
    ];
    const damage = wire.present({ bids: bids.damage, asks: asks.damage });
    return {
      book,
      sequence: wire.integer(of, 'sequence'),
      updatedAt: wire.time(of, 'updated_at'),
      bids: bids.entries,
      asks: asks.entries,
      ...(bids.damage || asks.damage ? { damage } : {}),
    };
  };

/**
 * Reads one side, best price first, from an aggregated or a complete book (public facts 4.3). Only the check of the
 * sort order uses floats, because a conversion to float never reverses the order of two decimals.
 */
function bookSide(
  of: Row,
  field: string,
  book: string,
  isOrdered: (better: number, worse: number) => boolean,
): { readonly entries: readonly BookEntry[]; readonly damage: SideDamage | undefined } {
  const entries: BookEntry[] = [];
  let damage: SideDamage | undefined;
  const rows = wire.list(of[field], element => element, field);
  for (const [n, element] of rows.entries()) {
    const why = (problem: string): string => `row ${n + 1} of ${field}: ${problem}`;
    let entry: BookEntry;
    try {
      entry = bookEntry(element, field, book);
    } catch (error) {
      if (!(error instanceof wire.WireFault)) throw error;
      damage ??= { after: entries.length, why: why(error.message) };
      continue;
    }
    const before = entries.at(-1);
    if (before !== undefined && !isOrdered(Number(before.price), Number(entry.price))) {
      // Either this row or the previous row is wrong. The order of both, and of all later rows, is therefore unproven.
      entries.pop();
      damage ??= {
        after: entries.length,
        why: why(`expected levels with the best price first, found ${entry.price} after ${before.price}`),
      };
      damage = { ...damage, after: Math.min(damage.after, entries.length) };
      break;
    }
    entries.push(entry);
  }
  // Without a readable row, nothing shows that the reply describes this book.
  if (entries.length === 0 && damage !== undefined) throw new wire.WireFault(damage.why);
  return { entries, damage };
}

function bookEntry(element: unknown, field: string, book: string): BookEntry {
  const of = wire.row(element, field);
  if (of['book'] !== undefined && of['book'] !== book) throw wire.fault('book', book, of['book']);
  const price = wire.decimal(of, 'price');
  const { amount, oid } = of;
  return {
    price,
    amount: isDecimalText(amount) ? amount : null,
    ...(typeof oid === 'string' && oid !== '' ? { oid } : {}),
  };
}

/**
 * Reads trades (rest-api 2.3) in the order of the reply; the list is empty for an unknown book (public-facts 4.4).
 * Throws a WireFault if the shape is wrong.
 */
export const publicTrades = (payload: unknown, unreadable?: UnreadableRow[]): readonly PublicTrade[] =>
  wire.rows(payload, publicTrade, unreadable);

function publicTrade(element: unknown): PublicTrade {
  const of = wire.row(element);
  return {
    book: wire.bookName(of, 'book'),
    tid: wire.integer(of, 'tid').toString(),
    createdAt: wire.time(of, 'created_at'),
    price: wire.decimal(of, 'price'),
    amount: wire.decimal(of, 'amount'),
    makerSide: wire.side(of, 'maker_side'),
  };
}

/**
 * Reads the ticker of one book (public-facts 4.2). Omits a price of zero, like a missing price. Throws a WireFault if
 * the shape is wrong.
 */
export function ticker(payload: unknown): Ticker {
  const of = wire.row(payload);
  const changes = wire.optional(of, 'rolling_average_change', (from, field) => wire.row(from[field], field)) ?? {};
  return {
    book: wire.bookName(of, 'book'),
    createdAt: wire.time(of, 'created_at'),
    rollingAverageChange: new Map(Object.keys(changes).map(hours => [hours, wire.figure(changes, hours)])),
    ...wire.present({
      last: priceIn(of, 'last'),
      bid: priceIn(of, 'bid'),
      ask: priceIn(of, 'ask'),
      high: priceIn(of, 'high'),
      low: priceIn(of, 'low'),
      volume: wire.optional(of, 'volume', wire.decimal),
      vwap: someOf(wire.optional(of, 'vwap', wire.figure)),
      change24: wire.optional(of, 'change_24', wire.figure),
    }),
  };
}

/** Reads a price; undefined for zero, which means no price, as in a book without a market. */
const priceIn = (of: Row, field: string): DecimalText | undefined => someOf(wire.optional(of, field, wire.decimal));
const someOf = (figure: string | undefined): string | undefined =>
  figure !== undefined && /[1-9]/.test(figure) ? figure : undefined;

/** Reads the tickers of every book (public-facts 4.2). */
export const tickers = (payload: unknown, unreadable?: UnreadableRow[]): readonly Ticker[] =>
  wire.rows(payload, ticker, unreadable);

/**
 * Reads candles, which are undocumented: fields as clients read them (public facts 4.5), times in epoch ms. Throws a
 * WireFault if the shape is wrong.
 */
export const candles = (payload: unknown, unreadable?: UnreadableRow[]): readonly Candle[] =>
  wire.rows(payload, candle, unreadable);

function candle(element: unknown): Candle {
  const of = wire.row(element);
  return {
    from: wire.count(of, 'bucket_start_time'),
    open: wire.decimal(of, 'first_rate'),
    close: wire.decimal(of, 'last_rate'),
    low: wire.decimal(of, 'min_rate'),
    high: wire.decimal(of, 'max_rate'),
    trades: wire.count(of, 'trade_count'),
    volume: wire.decimal(of, 'volume'),
    ...wire.present({
      firstTradeAt: wire.optional(of, 'first_trade_time', wire.count),
      lastTradeAt: wire.optional(of, 'last_trade_time', wire.count),
      vwap: wire.optional(of, 'vwap', wire.figure),
    }),
  };
}
