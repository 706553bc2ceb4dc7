/** What a route of the embedded exchange is: one row of the table that answers, limits, documents and tests go by. */
import type { WireReply, WireRequest } from '../../core/index.ts';
import type { Account, Permission } from '../venue/accounts.ts';
import { done, refused } from '../wire/codes.ts';
import type { Verdict } from '../wire/codes.ts';
import type { VenueConversions } from '../desks/conversions.ts';
import type { PageTokens } from '../wire/pageTokens.ts';
import type { RfqDesk } from '../desks/rfq.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from '../venue/venue.ts';
import type { Webhooks } from '../desks/webhooks.ts';

export type Method = WireRequest['method'];

export type PublicAsk = {
  readonly venue: Venue;
  readonly webhooks: Webhooks;
  readonly body: string;
  /** Parts of the path, by the name in the pattern. */
  readonly path: Readonly<Record<string, string>>;
  /** The first value of each query key. */
  readonly query: ReadonlyMap<string, string>;
};
/** What the venue offers beside its books. */
export type Desks = {
  readonly conversions: VenueConversions;
  readonly rfq: RfqDesk;
  readonly pageTokens: PageTokens;
  readonly webhooks: Webhooks;
};
export type PrivateAsk = PublicAsk & Desks & { readonly account: Account };

export type Route =
  | {
      readonly scope: 'public';
      readonly method: Method;
      readonly pattern: string;
      readonly handle: (ask: PublicAsk) => WireReply;
    }
  | {
      readonly scope: 'private';
      readonly method: Method;
      readonly pattern: string;
      readonly permission: Permission;
      /** Does not count against the request budget. */
      readonly exempt?: true;
      /** How refusals at the door are written; v3 when absent. */
      readonly face?: 'rfq';
      readonly handle: (ask: PrivateAsk) => WireReply;
    };

export type PageQuery = { readonly limit: number; readonly sort: 'asc' | 'desc'; readonly marker?: number };

/** limit (25, at most 100), sort (desc) and marker (a trade id) of a page; 0320 for anything else. */
export function pageOf({ query, venue }: PublicAsk): Verdict<PageQuery> {
  const limit = limitOf(query, 25, venue.switches);
  if (limit === null) return refused('0320', 'limit');
  if (limit > 100 && venue.switches.limitAboveMax === '0320') return refused('0320', 'limit');
  const sort = query.get('sort') ?? 'desc';
  if (sort !== 'asc' && sort !== 'desc') return refused('0320', 'sort');
  const marker = wholeOf(query.get('marker'), undefined);
  if (marker === null) return refused('0320', 'marker');
  return done({ limit: Math.min(100, limit), sort, ...(marker !== undefined && { marker }) });
}

/** The limit of a list: `fallback` without one, null for what is none. No document says what one below 1 means. */
export function limitOf(query: PublicAsk['query'], fallback: number, { limitBelowOne }: Switches): number | null {
  const text = query.get('limit');
  const isBelowOne = text !== undefined && /^(?:0+|-\d{1,15})$/.test(text);
  if (isBelowOne) return limitBelowOne === 'default' ? fallback : null;
  return wholeOf(text, fallback);
}

/** A query value as a whole number: the fallback when absent, null when it is something else. */
export function wholeOf<T>(text: string | undefined, fallback: T): number | T | null {
  if (text === undefined || text === '') return fallback;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
