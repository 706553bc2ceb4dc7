/** REST interface: a synchronous function that answers a request from an IP address. */
import type { WireReply, WireRequest } from '../../core/index.ts';
import { accountRoutes } from './accountRoutes.ts';
import { Gate, mayUse } from '../venue/auth.ts';
import { catalogueRoutes } from './catalogueRoutes.ts';
import { refused, statusOf, type Refused } from '../wire/codes.ts';
import { conversionRoutes } from './conversionRoutes.ts';
import { RequestLimits } from '../venue/limits.ts';
import { ledgerRoutes } from './ledgerRoutes.ts';
import { orderRoutes } from './orderRoutes.ts';
import { publicRoutes } from './publicRoutes.ts';
import { matcherOf, queryOf, segmentsOf } from '../wire/paths.ts';
import { rfqErrors, rfqFailure, rfqRefused } from '../desks/rfqCodes.ts';
import { rfqRoutes } from './rfqRoutes.ts';
import { flawOfParameters } from './parameters.ts';
import type { Desks, Route } from './route.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from '../venue/venue.ts';
import { webhookRoutes } from './webhookRoutes.ts';
import { failure, failureOf, reply } from '../wire/wire.ts';

/** Answers a request from an address. */
export type Respond = (request: WireRequest, peer: string) => WireReply;

export const ROUTES: readonly Route[] = [
  ...publicRoutes,
  ...accountRoutes,
  ...orderRoutes,
  ...conversionRoutes,
  ...ledgerRoutes,
  ...catalogueRoutes,
  ...rfqRoutes,
  ...webhookRoutes,
];

/**
 * Returns the REST interface of a venue, which makes its checks in this order: path (404), method (0901), signature and
 * nonce (02xx), rate limit (0801), permission of the key (0202), parameter names (0304), then the checks of the route.
 */
export function restOf(venue: Venue, desks: Desks): Respond {
  const gate = new Gate(venue.keys, venue.clock);
  const limits = new RequestLimits(venue.clock);
  const match = matcherOf(ROUTES);

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
    const { row: route } = found;
    const { switches } = venue;
    const search = question < 0 ? '' : request.target.slice(question + 1);
    const query = queryOf(search);
    const flaw = flawOfParameters(request.method, route.pattern, search, request.body, switches);
    const ask = { venue, webhooks: desks.webhooks, body: request.body, path: found.path, query };
    if (route.scope === 'public') {
      const signed = switches.signedPublicBudget === 'private' ? gate.admit(request, peer, switches) : null;
      const byAccount = signed?.kind === 'done';
      const who = byAccount ? `account:${signed.value.account.id}` : `ip:${peer}`;
      if (!within(who, byAccount ? 'private' : 'public')) return failureOf('0801');
      return flaw === null ? route.handle(ask) : failure(flaw);
    }
    const admitted = gate.admit(request, peer, switches);
    const refuse = (by: Refused) => refusalAt(route, by, switches);
    if (admitted.kind === 'refused') return refuse(admitted);
    const key = admitted.value;
    const payer = payerOf(route, key.account.id, switches);
    if (payer !== null && !within(payer, 'private')) return refuse(refused('0801'));
    if (!mayUse(key, route.permission)) return refuse(refused('0202'));
    if (flaw !== null) return flawAt(route, flaw);
    return route.handle({ ...ask, ...desks, account: key.account });
  };

  return (request, peer) => {
    const answered = answer(request, peer);
    return { ...answered, headers: { ...answered.headers, date: new Date(venue.clock.now()).toUTCString() } };
  };
}

/** Returns the key under which a private request counts against a rate limit, or `null` if no limit applies. */
function payerOf(route: Route & { scope: 'private' }, account: string, { rfqBudget }: Switches): string | null {
  if (route.exempt === true) return null;
  if (route.face !== 'rfq' || rfqBudget === 'shared') return `account:${account}`;
  return rfqBudget === 'own' ? `rfq:${account}` : null;
}

/** Returns the error of an invalid parameter, in the envelope of the called interface. */
const flawAt = (route: Route & { scope: 'private' }, by: Refused): WireReply =>
  route.face === 'rfq' ? rfqFailure(rfqRefused('bad_request', by.message)) : failure(by);

/** Returns a rejection by a check before the handler, in the envelope of the called interface. */
const refusalAt = (route: Route & { scope: 'private' }, by: Refused, { rfqAuthErrors }: Switches): WireReply =>
  route.face === 'rfq' && rfqAuthErrors === 'rfq' ? rfqErrors(statusOf(by.code), by.code, by.message) : failure(by);
