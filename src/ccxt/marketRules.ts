/** Trading rules of a book, from the description of the market in ccxt. */
import { BOOK_NAME, type AvailableBook, type DecimalText } from '../core/index.ts';
import { plainDecimal } from './plainDecimal.ts';

type Bounds = { readonly min?: unknown; readonly max?: unknown };

/** Fields of a market that this program reads. Numbers are text, because of the option `number: String`. */
export type CcxtMarketRow = {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly spot?: unknown;
  readonly precision: { readonly price?: unknown; readonly amount?: unknown };
  readonly limits: { readonly amount?: Bounds; readonly price?: Bounds; readonly cost?: Bounds };
};

/** Values of `precisionMode` (ccxt 4.5.84 js/src/base/functions/number.js). */
const MODE = { decimals: 2, digits: 3, tick: 4 };

/**
 * Bounds where the exchange gives none. The maximum amount is the largest for which amounts keep eight decimals, as
 * `lotOf` computes.
 */
const UNBOUNDED = { amount: '90000000', price: '1000000000000', value: '1000000000000000', minimum: '0.00000001' };

/** Returns the name of the book of a market, like `btc_usdt`; `null` if a currency has an unusual name. */
export function bookOfMarket({ base, quote }: CcxtMarketRow): string | null {
  const name = `${base}_${quote}`.toLowerCase();
  return BOOK_NAME.test(name) ? name : null;
}

/**
 * Returns the rules of a market. `price` reads a current price, which is needed if the exchange gives its tick as a
 * number of significant digits. Rejects with one line if the tick is unknown.
 */
export async function rulesOfMarket(
  row: CcxtMarketRow,
  mode: number,
  price: () => Promise<DecimalText | null>,
): Promise<AvailableBook> {
  const { limits, precision } = row;
  const book = bookOfMarket(row);
  if (book === null)
    throw new Error(
      `${row.symbol}: expected currency names of 2 to 12 letters and digits, found ${row.base} and ${row.quote}`,
    );
  const tickSize = await tickOf(precision.price, mode, price);
  if (tickSize === null)
    throw new Error(
      `${book}: expected a price precision from ccxt that determines the tick size, found ${JSON.stringify(precision.price ?? null)}`,
    );
  return {
    book,
    tickSize,
    minimumAmount:
      positiveText(limits.amount?.min) ??
      (mode === MODE.tick ? positiveText(precision.amount) : null) ??
      UNBOUNDED.minimum,
    maximumAmount: positiveText(limits.amount?.max) ?? UNBOUNDED.amount,
    minimumPrice: positiveText(limits.price?.min) ?? tickSize,
    maximumPrice: positiveText(limits.price?.max) ?? UNBOUNDED.price,
    minimumValue: positiveText(limits.cost?.min) ?? '0',
    maximumValue: positiveText(limits.cost?.max) ?? UNBOUNDED.value,
    tiers: [],
  };
}

/** Returns decimal text above zero; `null` for anything else. */
function positiveText(value: unknown): DecimalText | null {
  const text = plainDecimal(value);
  return text !== null && /[1-9]/.test(text) ? text : null;
}

/**
 * Number of extra decimals of a tick that is computed from significant digits, so that it also fits prices down to a
 * hundredth of `price`.
 */
const SPARE_DECIMALS = 2;

async function tickOf(
  value: unknown,
  mode: number,
  price: () => Promise<DecimalText | null>,
): Promise<DecimalText | null> {
  if (mode === MODE.tick) return positiveText(value);
  const count = Number(value);
  if (value === undefined || value === null || !Number.isInteger(count)) return null;
  if (mode === MODE.decimals) return powerOfTen(-count);
  const exponent = mode === MODE.digits ? exponentOf(await price()) : null;
  return exponent === null ? null : powerOfTen(exponent - count + 1 - SPARE_DECIMALS);
}

/** Returns the power of ten of the first digit of decimal text: 4 for 97000.1, -3 for 0.002; `null` for zero. */
function exponentOf(text: DecimalText | null): number | null {
  const [whole = '', fraction = ''] = (text ?? '').split('.');
  if (/[1-9]/.test(whole)) return whole.length - 1;
  const first = fraction.search(/[1-9]/);
  return first < 0 ? null : -first - 1;
}

/**
 * Returns 10 to the power of `exponent` as text, or 1 if `exponent` is positive; `null` if that needs more than 18
 * decimals.
 */
function powerOfTen(exponent: number): DecimalText | null {
  const decimals = Math.max(0, -exponent);
  return plainDecimal(decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`);
}
