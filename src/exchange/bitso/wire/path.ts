/** Checks of ids and pages: only ids, symbols and numbers can reach the request line. */
import type { ExchangeLimits, Page } from '../../../core/index.ts';
import { checked, limitPart } from '../../wire/requestParts.ts';

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
 * Sizes of the exchange's pages, and levels per side of an aggregated book (public facts 4.3, 8; rest-api 4.1, 4.4, 8).
 */
export const PAGES: ExchangeLimits = { ordersPage: 500, tradesPage: 100, depth: 50 };

/**
 * Maximum number of ids per request. Proxies reject the request line of 500 origin_ids, and then nothing is canceled
 * (failure modes A25).
 */
export const IDS_PER_REQUEST = 50;

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
