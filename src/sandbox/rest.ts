/** The REST face as a pure function: a request and its address go in, a reply comes out, and nothing is waited for. */
import type { WireReply, WireRequest } from '../core/index.ts';
import { accountRoutes } from './accountRoutes.ts';
import { Gate, may } from './auth.ts';
import { conversionRoutes } from './conversionRoutes.ts';
import type { Conversions } from './conversions.ts';
import { RequestLimits } from './limits.ts';
import { orderRoutes } from './orderRoutes.ts';
import { publicRoutes } from './publicRoutes.ts';
import type { Method, Route } from './route.ts';
import type { Venue } from './venue.ts';
import { failure, failureOf, reply } from './wire.ts';

/** Answers a request that came from an address. */
export type Respond = (request: WireRequest, peer: string) => WireReply;

export const ROUTES: readonly Route[] = [...publicRoutes, ...accountRoutes, ...orderRoutes, ...conversionRoutes];

type Found = { readonly route: Route; readonly path: Record<string, string> };

/**
 * The REST interface of a venue. A request passes, in this order: its path (404), its method (0901), its signature and nonce (02xx),
 * its budget (0801), the key's permission (0202), and then its own checks.
 */
export function restOf(venue: Venue, conversions: Conversions, routes: readonly Route[] = ROUTES): Respond {
  const gate = new Gate(venue.keys, venue.clock);
  const limits = new RequestLimits(venue.clock);
  const match = matcherOf(routes);

  const within = (who: string, scope: Route['scope']): boolean => {
    const { switches } = venue;
    if (switches.rateLimits === 'off') return true;
    const perMinute = scope === 'public' ? switches.publicPerMinute : switches.privatePerMinute;
    return limits.admit(who, perMinute, switches);
  };

  const answer: Respond = (request, peer) => {
    const question = request.target.indexOf('?');
    const path = question < 0 ? request.target : request.target.slice(0, question);
    const found = match(request.method, segmentsOf(path));
    if (found === 'unknown path') return reply(404, '');
    if (found === 'unknown method') return failureOf('0901');
    const { route } = found;
    const { switches } = venue;
    const query = queryOf(question < 0 ? '' : request.target.slice(question + 1));
    const ask = { venue, body: request.body, path: found.path, query };
    if (route.scope === 'public') {
      const signed = switches.signedPublicBudget === 'private' ? gate.admit(request, peer, switches) : null;
      const byAccount = signed?.kind === 'done';
      const who = byAccount ? `account:${signed.value.account.id}` : `ip:${peer}`;
      return within(who, byAccount ? 'private' : 'public') ? route.handle(ask) : failureOf('0801');
    }
    const admitted = gate.admit(request, peer, switches);
    if (admitted.kind === 'refused') return failure(admitted);
    const key = admitted.value;
    if (route.exempt !== true && !within(`account:${key.account.id}`, 'private')) return failureOf('0801');
    if (!may(key, route.permission)) return failureOf('0202');
    return route.handle({ ...ask, account: key.account, conversions });
  };

  return (request, peer) => {
    const answered = answer(request, peer);
    return { ...answered, headers: { ...answered.headers, date: new Date(venue.clock.now()).toUTCString() } };
  };
}

/** Both prefixes, doubled slashes and a trailing one name the same path (public-facts 1 and 3). */
function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter(segment => segment !== '');
  if (segments[0] === 'api') segments.shift();
  return segments;
}

/** First value of each key; keys that no route knows are carried and ignored. */
function queryOf(text: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(text)) if (!query.has(key)) query.set(key, value);
  return query;
}

/** Finds the route of a method and path; the first of the table wins. */
function matcherOf(
  routes: readonly Route[],
): (method: Method, segments: readonly string[]) => Found | 'unknown path' | 'unknown method' {
  const rows = routes.map(route => ({ route, parts: route.pattern.split('/').filter(part => part !== '') }));
  return (method, segments) => {
    let known = false;
    for (const { route, parts } of rows) {
      if (parts.length !== segments.length) continue;
      if (!parts.every((part, i) => part.startsWith(':') || part === segments[i])) continue;
      known = true;
      if (route.method !== method) continue;
      const path: Record<string, string> = {};
      parts.forEach((part, i) => {
        if (part.startsWith(':')) path[part.slice(1)] = decoded(segments[i]!);
      });
      return { route, path };
    }
    return known ? 'unknown method' : 'unknown path';
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
