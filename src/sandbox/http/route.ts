/** Route of the embedded exchange: one row of the table that defines replies, rate limits, documentation and tests. */
import type { WireReply, WireRequest } from '../../core/index.ts';
import type { Account, Permission } from '../venue/accounts.ts';
import { done, refused, type Verdict } from '../wire/codes.ts';
import type { VenueConversions } from '../desks/conversions.ts';
import type { PageTokens } from '../wire/pageTokens.ts';
import type { RfqDesk } from '../desks/rfq.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from '../venue/venue.ts';
import type { Webhooks } from '../desks/webhooks.ts';

export type Method = WireRequest['method'];

export type PublicRequest = {
  readonly venue: Venue;
  readonly webhooks: Webhooks;
  readonly body: string;
  /** Path parameters by their name in the pattern. */
  readonly path: Readonly<Record<string, string>>;
  /** First value of each query key. */
  readonly query: ReadonlyMap<string, string>;
};
/** Services of the venue besides its books. */
export type Desks = {
  readonly conversions: VenueConversions;
  readonly rfq: RfqDesk;
  readonly pageTokens: PageTokens;
  readonly webhooks: Webhooks;
};
export type PrivateRequest = PublicRequest & Desks & { readonly account: Account };

export type Route =
  | {
      readonly scope: 'public';
      readonly method: Method;
      readonly pattern: string;
      readonly handle: (ask: PublicRequest) => WireReply;
    }
  | {
      readonly scope: 'private';
      readonly method: Method;
      readonly pattern: string;
      readonly permission: Permission;
      /** Present if requests do not count against the rate limit. */
      readonly exempt?: true;
      /** Format of errors from the checks before the handler; v3 if absent. */
      readonly face?: 'rfq';
      readonly handle: (ask: PrivateRequest) => WireReply;
    };

/** Returns a private read-only route. `permission` is the permission that the API key needs. */
export const readRoute = (
  pattern: string,
  handle: (ask: PrivateRequest) => WireReply,
  permission: 'account' | 'balances' = 'account',
): Route => ({ scope: 'private', method: 'GET', pattern, permission, handle });

export type PageQuery = { readonly limit: number; readonly sort: 'asc' | 'desc'; readonly marker?: number };

/**
 * Parses the limit (default 25, at most 100), sort (default desc) and marker (a trade id) of a page. Rejects invalid
 * values with 0320.
 */
export function pageOf({ query, venue }: PublicRequest): Verdict<PageQuery> {
  const limit = limitOf(query, 25, venue.switches);
  if (limit === null) return refused('0320', 'limit');
  if (limit > 100 && venue.switches.limitAboveMax === '0320') return refused('0320', 'limit');
  const sort = query.get('sort') ?? 'desc';
  if (sort !== 'asc' && sort !== 'desc') return refused('0320', 'sort');
  const marker = wholeOf(query.get('marker'), undefined);
  if (marker === null) return refused('0320', 'marker');
  return done({ limit: Math.min(100, limit), sort, ...(marker !== undefined && { marker }) });
}

/**
 * Parses the limit of a list: `fallback` if absent, `null` if invalid. For a limit below 1, which the documents do not
 * define, a switch decides.
 */
export function limitOf(query: PublicRequest['query'], fallback: number, { limitBelowOne }: Switches): number | null {
  const text = query.get('limit');
  const isBelowOne = text !== undefined && /^(?:0+|-\d{1,15})$/.test(text);
  if (isBelowOne) return limitBelowOne === 'default' ? fallback : null;
  return wholeOf(text, fallback);
}

/** Parses a query value as a whole number: `fallback` if absent, null if invalid. */
export function wholeOf<T>(text: string | undefined, fallback: T): number | T | null {
  if (text === undefined || text === '') return fallback;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
