/**
 * Parameters of each call, and the treatment of unknown parameters. No parameter is silently reinterpreted;
 * docs/sources/tolerances.md has the reason for each accepted parameter.
 */
import { ambiguityOf } from '../../core/index.ts';
import type { Switches } from '../switches/switches.ts';
import { done, refused, type Refused, type Verdict } from '../wire/codes.ts';

/** Names allowed in the query and in the body of a call. Without `body`, the call takes no body. */
export type Parameters = { readonly query?: readonly string[]; readonly body?: readonly string[] };

const PAGE = ['limit', 'marker', 'sort'] as const;
const IDS = ['oid', 'oids', 'origin_id', 'origin_ids'] as const;
const ORDER = ['book', 'side', 'type', 'major', 'minor', 'price', 'stop', 'time_in_force', 'origin_id'] as const;
const CHANGE = ['price', 'major', 'minor', 'stop'] as const;
const QUOTE = ['from_currency', 'to_currency', 'spend_amount', 'receive_amount'] as const;

/** Parameters by method and pattern. A call that is not listed takes no parameters. */
const TAKES: Readonly<Record<string, Parameters>> = {
  'GET /v3/order_book': { query: ['book', 'aggregate'] },
  'GET /v3/trades': { query: ['book', ...PAGE] },
  'GET /v3/ticker': { query: ['book'] },
  'POST /v3/ticker': { query: ['book'] },
  'GET /v3/ohlc': { query: ['book', 'time_bucket', 'start', 'end'] },
  'GET /v3/user_trades': { query: ['book', ...PAGE] },
  'GET /v3/order_trades': { query: ['oid', 'origin_id'] },
  'GET /v3/order_trades/:oid': { query: ['oid', 'origin_id'] },
  'POST /v3/orders': { body: [...ORDER, 'slippage_tolerance', 'margin_order_type'] },
  'DELETE /v3/orders/:oid': { query: IDS },
  'DELETE /v3/orders': { query: IDS },
  'PATCH /v3/orders/:oid': { query: IDS, body: [...CHANGE, 'origin_id'] },
  'PATCH /v3/orders': { query: IDS, body: [...CHANGE, 'origin_id'] },
  'PATCH /v4/orders/:oid': { query: IDS, body: [...CHANGE, 'cancel'] },
  'PATCH /v4/orders': { query: IDS, body: [...CHANGE, 'cancel'] },
  'GET /v3/orders/:oid': { query: IDS },
  'GET /v3/orders': { query: IDS },
  'GET /v3/open_orders': { query: ['book', 'currency', 'limit', 'source'] },
  'POST /v4/currency_conversions': { body: QUOTE },
  'POST /v3/currency_conversions': { body: QUOTE },
  'GET /v3/ledger': { query: PAGE },
  'GET /v3/ledger/trades': { query: PAGE },
  'GET /v3/ledger/fees': { query: PAGE },
  'GET /v3/ledger/fundings': { query: PAGE },
  'GET /v3/ledger/withdrawals': { query: PAGE },
  'GET /v3/fundings': { query: ['fids', 'origin_ids', ...PAGE] },
  'GET /v3/fundings/:ids': { query: ['fids', 'origin_ids', ...PAGE] },
  'GET /v3/withdrawals': { query: ['wids', 'origin_ids', ...PAGE] },
  'GET /v3/withdrawals/:ids': { query: ['wids', 'origin_ids', ...PAGE] },
  'GET /v3/funding_destination': { query: ['fund_currency'] },
  'POST /v3/phone_number': { body: ['phone_number'] },
  'POST /v3/phone_verification': { body: ['verification_code'] },
  'GET /rfq/v1/pairs': { query: ['source', 'target'] },
  'POST /rfq/v1/quotes': { body: ['source', 'target', 'source_amount', 'target_amount'] },
  'POST /rfq/v1/conversions': { body: ['quote_id'] },
  'GET /rfq/v1/conversions': { query: ['status', 'page_size', 'page_token'] },
  'POST /v4/webhooks': { body: ['callback_url', 'events'] },
};

/** Returns the parameters of a call; empty if the table does not list it. */
export const parametersOf = (method: string, pattern: string): Parameters => TAKES[`${method} ${pattern}`] ?? {};

/**
 * Parameter names that narrow a call. A cancel must not ignore such a parameter, because the cancel would then apply to
 * more orders than requested.
 */
const NARROWING = new Set(Object.values(TAKES).flatMap(({ query = [], body = [] }) => [...query, ...body]));

/** Checks the query and body of a request against the call's parameters. Returns `null` if they are valid. */
export function flawOfParameters(
  method: string,
  pattern: string,
  search: string,
  body: string,
  switches: Switches,
): Refused | null {
  const takes = parametersOf(method, pattern);
  const seen = new Set<string>();
  for (const name of new URLSearchParams(search).keys()) {
    const isKnown = takes.query?.includes(name) === true;
    if (isKnown && seen.has(name)) return refused('0304', `${name} is given twice`);
    // PHP writes list parameters as `oids[0]=…`, so only the name before the bracket is compared.
    if (!isKnown && method === 'DELETE' && NARROWING.has(name.split('[')[0]!))
      return refused('0304', `${name} is not a filter of this call`);
    if (!isKnown && switches.unknownParameters === '0304')
      return refused('0304', `${name} is not a parameter of this call`);
    seen.add(name);
  }
  if (method === 'DELETE' && !['', '{}'].includes(body.replace(/\s/g, '')))
    return refused('0304', 'a cancel request must not have a body');
  const isStrict = switches.unknownParameters === '0304' && takes.body !== undefined;
  const fields = isStrict ? objectOf(body) : null;
  const unknown = fields?.kind === 'done' && Object.keys(fields.value).find(name => !takes.body!.includes(name));
  return typeof unknown === 'string' ? refused('0304', `${unknown} is not a parameter of this call`) : null;
}

/** Parses the body as a JSON object, whatever its content type: clients send no content type, or text/plain. */
export function objectOf(body: string): Verdict<Readonly<Record<string, unknown>>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return refused('0304', 'the body is not JSON');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return refused('0372', 'the body is not a JSON object');
  const ambiguity = ambiguityOf(body);
  return ambiguity === null ? done(parsed as Readonly<Record<string, unknown>>) : refused('0304', ambiguity);
}
