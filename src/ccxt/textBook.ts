/** Books and trades of ccxt as decimal text. */
import { plainDecimal, mayLackDigits } from './plainDecimal.ts';
import type { TextBook, TextLevel, TextTrade, TradesRead } from './messages.ts';

/** Order book of ccxt: levels of price and amount, best price first. */
export type CcxtBook = {
  readonly bids: readonly (readonly unknown[])[];
  readonly asks: readonly (readonly unknown[])[];
  readonly timestamp?: unknown;
};

/** Levels as the exchange sent them. The key is the book that ccxt made from these levels. */
const RAW = new WeakMap<CcxtBook, CcxtBook>();

/**
 * Makes a ccxt class remember the levels of each REST answer as the exchange sent them. ccxt itself converts levels to
 * doubles, whatever its option `number` is.
 */
export function withRawLevels(exchange: { parseOrderBook(...of: unknown[]): CcxtBook }): void {
  const parse = exchange.parseOrderBook.bind(exchange);
  exchange.parseOrderBook = (...of) => {
    const book = parse(...of);
    // The parameters and their defaults are those of js/src/base/Exchange.js, parseOrderBook.
    const [raw, , , bidsKey = 'bids', asksKey = 'asks', priceKey = 0, amountKey = 1] = of;
    const side = (key: unknown, parsed: readonly unknown[], order: 1 | -1) => {
      const rows = fieldOf(raw, key);
      if (!Array.isArray(rows) || rows.length !== parsed.length) return null;
      return rows
        .map((row: unknown) => [fieldOf(row, priceKey), fieldOf(row, amountKey)])
        .sort((a, b) => order * (Number(a[0]) - Number(b[0])));
    };
    const [bids, asks] = [side(bidsKey, book.bids, -1), side(asksKey, book.asks, 1)];
    if (bids !== null && asks !== null) RAW.set(book, { bids, asks, timestamp: book.timestamp });
    return book;
  };
}

const fieldOf = (of: unknown, key: unknown): unknown =>
  typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[String(key)] : undefined;

/**
 * Returns the best levels of a book as text. Skips levels whose price or amount is zero.
 * @throws Error of one line for a level that is not a price and an amount, because the levels after it are then
 * unreliable.
 */
export function textBook(found: CcxtBook, levels: number): TextBook {
  const { bids, asks } = RAW.get(found) ?? found;
  let inexact = 0;
  const read = (rows: CcxtBook['bids']): readonly TextLevel[] => {
    const side: TextLevel[] = [];
    for (const row of rows) {
      if (side.length === levels) break;
      const [price, amount] = [plainDecimal(row[0]), plainDecimal(row[1])];
      if (price === null || amount === null)
        throw new Error(`a level of the book: expected a price and an amount, found ${shown(row)}`);
      if (isZero(price) || isZero(amount)) continue;
      if (lacks(row[0]) || lacks(row[1])) inexact++;
      side.push([price, amount]);
    }
    return side;
  };
  return { bids: read(bids), asks: read(asks), sentAt: epochMsOf(found.timestamp), inexact };
}

const shown = (row: unknown): string => (JSON.stringify(row) ?? 'nothing').slice(0, 80);
const lacks = (value: unknown): boolean => typeof value === 'number' && mayLackDigits(value);
const isZero = (text: string): boolean => !/[1-9]/.test(text);

/** Returns epoch ms; `null` for anything else. */
const epochMsOf = (value: unknown): number | null => {
  const ms = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? ms : null;
};

/** Whether two books have the same levels. */
export const isSameBook = (a: TextBook, b: TextBook): boolean =>
  isSameSide(a.bids, b.bids) && isSameSide(a.asks, b.asks);

const isSameSide = (a: readonly TextLevel[], b: readonly TextLevel[]): boolean =>
  a.length === b.length && a.every(([price, amount], n) => b[n]![0] === price && b[n]![1] === amount);

/** Returns trades, oldest first. A trade without a usable field is described in `unreadable`. */
export function readTrades(found: readonly unknown[]): TradesRead {
  const trades: TextTrade[] = [];
  const unreadable: string[] = [];
  for (const row of found) {
    const id = fieldOf(row, 'id');
    const [at, price, amount] = [
      epochMsOf(fieldOf(row, 'timestamp')),
      plainDecimal(fieldOf(row, 'price')),
      plainDecimal(fieldOf(row, 'amount')),
    ];
    const takerSide = fieldOf(row, 'side');
    if (at === null || price === null || amount === null || (takerSide !== 'buy' && takerSide !== 'sell'))
      unreadable.push(
        `trade ${shown(id)}: expected a time, price, amount and side, found ${shown([fieldOf(row, 'timestamp'), fieldOf(row, 'price'), fieldOf(row, 'amount'), takerSide])}`,
      );
    else
      trades.push({
        id: typeof id === 'string' || typeof id === 'number' ? String(id) : null,
        at,
        price,
        amount,
        takerSide,
      });
  }
  return { trades: trades.sort((a, b) => a.at - b.at), unreadable };
}
