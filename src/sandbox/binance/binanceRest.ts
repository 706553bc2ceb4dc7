/**
 * REST interface of the second exchange: checks, weights and headers around the table of routes, and the faults of its
 * answers.
 */
import type { Random, WireReply, WireRequest } from '../../core/index.ts';
import type { ServedReply, ServeRequest } from '../http/server.ts';
import { reply } from '../wire/wire.ts';
import type { BinanceRoute, BinanceWorld } from './binanceRoute.ts';
import type { SecondSwitches } from './binanceSwitches.ts';
import { BinanceFailure, failureReply, proxyPage, REFUSALS } from './failures.ts';
import { holdingRoutes } from './holdingRoutes.ts';
import { marketRoutes } from './marketRoutes.ts';
import { requestFieldsOf } from './requestFields.ts';
import { signerOf } from './signedRequest.ts';
import { tradingRoutes } from './tradingRoutes.ts';

export const BINANCE_ROUTES: readonly BinanceRoute[] = [...marketRoutes, ...tradingRoutes, ...holdingRoutes];

/** Returns the REST interface without faults; `servedBy` adds lost, cut and replaced answers, throttling and delays. */
export function binanceRest(world: BinanceWorld): (request: WireRequest, peer: string) => WireReply {
  return (request, peer) => {
    const headers: Record<string, string> = { date: new Date(world.clock.now()).toUTCString() };
    try {
      const value = routedAnswer(world, request, peer, headers);
      return withHeaders(reply(200, JSON.stringify(value)), headers);
    } catch (problem) {
      if (!(problem instanceof BinanceFailure)) throw problem;
      return withHeaders(failureReply(problem), headers);
    }
  };
}

const withHeaders = (answer: WireReply, headers: Readonly<Record<string, string>>): WireReply => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

const targetParts = (target: string): { readonly path: string; readonly query: string } => {
  const question = target.indexOf('?');
  return question < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, question), query: target.slice(question + 1) };
};

const routeOf = (method: string, path: string): BinanceRoute | undefined =>
  BINANCE_ROUTES.find(route => route.method === method && route.path === path);

function routedAnswer(
  world: BinanceWorld,
  request: WireRequest,
  peer: string,
  headers: Record<string, string>,
): unknown {
  const { switches, weights } = world;
  const { path, query } = targetParts(request.target);
  const route = routeOf(request.method, path);
  if (!route) {
    if (BINANCE_ROUTES.some(each => each.path === path))
      throw new BinanceFailure(-1000, `Request method '${request.method}' not supported`, 405);
    throw new BinanceFailure(-1000, 'The requested resource does not exist.', 404);
  }
  const fields = requestFieldsOf(request, query);
  const used = weights.charge(peer, typeof route.weight === 'number' ? route.weight : route.weight(fields), switches);
  headers['x-mbx-used-weight'] = String(used);
  headers['x-mbx-used-weight-1m'] = String(used);
  if (route.security === 'none') {
    const value = route.handle({ world, fields });
    fields.end();
    return value;
  }
  const key = signerOf(request, query, fields, world.venue.keys, route.security, world.clock.now());
  const { account } = key;
  if (route.order === true) {
    if (world.draws(switches.rejectPips)) throw rejection(switches);
    weights.chargeOrder(account.id, switches);
  }
  const value = route.handle({ world, fields, account });
  // Handlers of writes have already called `end`, before they changed anything.
  fields.end();
  if (route.order === true) {
    const { short, day } = weights.ordersUsed(account.id);
    headers['x-mbx-order-count-10s'] = String(short);
    headers['x-mbx-order-count-1d'] = String(day);
  }
  return value;
}

function rejection({ rejectAs, retryAfterS }: SecondSwitches): BinanceFailure {
  if (rejectAs === '-2010') return REFUSALS.insufficient();
  if (rejectAs === '-1013') return REFUSALS.filter('PERCENT_PRICE_BY_SIDE');
  if (rejectAs === '-1021') return REFUSALS.late();
  if (rejectAs === '-2015') return REFUSALS.badKey();
  return new BinanceFailure(-1015, 'Too many new orders.', 429, retryAfterS);
}

/** Faults around the interface: delays, lost and cut answers, errors of a proxy, and throttling. */
export function servedBy(
  world: BinanceWorld,
  respond: (request: WireRequest, peer: string) => WireReply,
  random: Random,
): ServeRequest {
  const drawn = (min: number, max: number) => (max === 0 ? 0 : random.integer(min, max));
  return (request, peer, answer) => {
    const { switches } = world;
    const throttled = throttleReply(switches);
    if (throttled) return answer(throttled);
    const isHit = inScope(request, switches);
    const hits = (pips: number) => isHit && world.draws(pips);
    const lost: ServedReply = switches.lostAs;
    later(world, drawn(switches.requestDelayMinMs, switches.requestDelayMaxMs), () => {
      if (hits(switches.requestLostPips)) return answer(lost);
      const errs = hits(switches.serverErrorPips);
      if (errs && !executesDespite(world, switches)) return answer(serverErrorReply(switches));
      const whole = respond(request, peer);
      const answered: ServedReply = errs
        ? serverErrorReply(switches)
        : hits(switches.answerLostPips)
          ? lost
          : hits(switches.answerCutPips)
            ? { cut: whole, bytes: Math.floor(whole.body.length / 2) }
            : whole;
      later(world, drawn(switches.answerDelayMinMs, switches.answerDelayMaxMs), () => answer(answered));
    });
  };
}

function later({ clock }: BinanceWorld, ms: number, run: () => void): void {
  if (ms > 0) clock.after(ms, run);
  else run();
}

function inScope({ method, target }: WireRequest, { faultScope }: SecondSwitches): boolean {
  if (faultScope === 'all') return true;
  const { path } = targetParts(target);
  if (faultScope === 'signed') return (routeOf(method, path)?.security ?? 'none') !== 'none';
  if (faultScope === 'writes') return method !== 'GET';
  return method === 'POST' && path === '/api/v3/order';
}

function throttleReply({ throttle, retryAfterS }: SecondSwitches): WireReply | null {
  if (throttle === 'off') return null;
  if (throttle === '403') return proxyPage(403, 'Forbidden');
  const text =
    throttle === '429'
      ? 'Too much request weight used; please use WebSocket Streams for live updates to avoid polling the API.'
      : 'Way too much request weight used; IP banned. Please use WebSocket Streams for live updates to avoid bans.';
  return failureReply(new BinanceFailure(-1003, text, Number(throttle), retryAfterS));
}

const executesDespite = (world: BinanceWorld, { serverErrorExecutes }: SecondSwitches): boolean =>
  serverErrorExecutes === 'always' || (serverErrorExecutes === 'half' && world.draws(5_000));

const PAGES: Readonly<Record<string, string>> = {
  '502': 'Bad Gateway',
  '503': 'Service Unavailable',
  '504': 'Gateway Time-out',
};
const TEXTS: Readonly<Record<string, string>> = {
  '-1000': 'An unknown error occurred while processing the request.',
  '-1001': 'Internal error; unable to process your request. Please try again.',
  '-1006': 'An unexpected response was received from the message bus. Execution status unknown.',
  '-1007': 'Timeout waiting for response from backend server. Send status unknown; execution status unknown.',
  '-1008': 'Server is currently overloaded with other requests. Please try again in a few minutes.',
};

function serverErrorReply({ serverError }: SecondSwitches): WireReply {
  const title = PAGES[serverError];
  if (title !== undefined) return proxyPage(Number(serverError), title);
  return failureReply(new BinanceFailure(Number(serverError), TEXTS[serverError]!));
}
