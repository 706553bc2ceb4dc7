/** Builders of paths and queries from checked values: only ids, symbols and numbers can reach the request line. */
import { isDecimalText, type DecimalText, type ExchangeLimits, type Page } from '../../../core/index.ts';
import { fault } from '../../wire/wire.ts';

const checked =
  (shape: RegExp, expected: string) =>
  (value: string): string => {
    if (!shape.test(value)) throw fault('argument', expected, value);
    return value;
  };

export const bookPart = checked(/^[a-z0-9]{1,20}_[a-z0-9]{1,20}$/, 'a book like btc_mxn');
export const currencyPart = checked(/^[A-Za-z0-9]{1,20}$/, 'a ticker like btc');
/** Checks an order id: 16 characters in current replies, up to 64 in older samples (public facts 3). */
export const oidPart = checked(/^[A-Za-z0-9]{1,64}$/, 'an order id');
/** Checks an origin id, as in the conventions of the interface document. */
export const originIdPart = checked(
  /^[A-Za-z0-9_-]{1,40}$/,
  'an origin_id of 1 to 40 characters from a-z, A-Z, 0-9, _ and -',
);
export const tidPart = checked(/^\d{1,19}$/, 'a trade id');
/** Checks an id of a quote or conversion: a UUID or short text. */
export const quotePart = checked(/^[A-Za-z0-9_-]{1,64}$/, 'an id');

/**
 * Checks unsigned decimal digits, at most 20 before the point and 18 after it; zero is valid. Throws a WireFault on
 * other text.
 */
export function amountPart(value: DecimalText): DecimalText {
  if (!isDecimalText(value)) throw fault('argument', 'decimal digits', value);
  return value;
}

/**
 * Checks an amount above zero, as every order, quote and change needs. Throws a WireFault on zero and on invalid text.
 */
export function positivePart(value: DecimalText): DecimalText {
  if (!/[1-9]/.test(amountPart(value))) throw fault('argument', 'an amount above zero', value);
  return value;
}

/** Returns the digits of a whole number from 1 to `max`. Throws a WireFault on another number. */
export function limitPart(value: number, max: number): string {
  if (!(Number.isSafeInteger(value) && value >= 1 && value <= max)) throw fault('argument', `1 to ${max}`, value);
  return String(value);
}

/**
 * Sizes of the exchange's pages, and levels per side of an aggregated book (public facts 4.3, 8; rest-api 4.1, 4.4, 8).
 */
export const PAGES: ExchangeLimits = { ordersPage: 500, tradesPage: 100, depth: 50 };

/**
 * Maximum number of ids per request. Proxies reject the request line of 500 origin_ids, and then nothing is canceled
 * (failure modes A25).
 */
export const IDS_PER_REQUEST = 50;

/**
 * Returns `?a=b&c=d` of the given pairs in order, without undefined values. Does not encode the values, because they
 * are already checked.
 */
export function query(pairs: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(pairs).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${value ?? ''}`).join('&')}`;
}

/**
 * Returns a page's `marker` (a trade id), `sort` (asc or desc) and `limit` (1 to 100) for `query` (rest-api 4.1, 8).
 * Throws a WireFault on other values.
 */
export const pageQuery = (page: Page): Record<string, string | undefined> => ({
  marker: page.marker === undefined ? undefined : tidPart(page.marker),
  sort: page.sort === undefined ? undefined : sortPart(page.sort),
  limit: page.limit === undefined ? undefined : limitPart(page.limit, PAGES.tradesPage),
});

const sortPart = checked(/^(?:asc|desc)$/, 'asc or desc');

/**
 * Splits a list into parts of `size` elements; the last part may be shorter. An empty list has no parts. `size` is at
 * least 1.
 */
export function chunks<T>(of: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(of.length / size) }, (_, i) => of.slice(i * size, (i + 1) * size));
}
