/** Undocumented lists and settings that existing clients request, with only the fields that these clients need. */
import type { WireReply } from '../../core/index.ts';
import { currenciesOf } from '../venue/currencies.ts';
import { objectOf } from './parameters.ts';
import type { PrivateRequest, PublicRequest, Route } from './route.ts';
import type { Venue } from '../venue/venue.ts';
import { failure, failureOf, success } from '../wire/wire.ts';

const open = (pattern: string, handle: (ask: PublicRequest) => WireReply): Route => ({
  scope: 'public',
  method: 'GET',
  pattern,
  handle,
});
const ours = (method: 'GET' | 'POST', pattern: string, handle: (ask: PrivateRequest) => WireReply): Route => ({
  scope: 'private',
  method,
  pattern,
  permission: 'account',
  handle,
});

export const catalogueRoutes: readonly Route[] = [
  open('/v3/catalogues', ({ venue }) => success({ currencies: { metadata: metadataOf(venue) } })),
  open('/v3/catalogues/currencies', ({ venue }) => success({ metadata: metadataOf(venue) })),
  open('/v3/catalogues/countries', () => success([{ code: 'MX', name: 'Mexico' }])),
  open('/v3/catalogues/available_currency_conversions', ({ venue }) => success(conversionsOf(venue))),
  ours('GET', '/v3/settings', () => success({ language: 'en', preferred_currency: 'mxn' })),
  ours('GET', '/v3/mx_bank_codes', () => success([{ code: '40012', name: 'BBVA', country_code: 'MX' }])),
  ours('GET', '/v3/funding_destination', fundingDestination),
  ours('POST', '/v3/phone_number', phone('phone_number')),
  ours('POST', '/v3/phone_verification', phone('verification_code')),
];

/** Returns, for each currency, the fields that clients read (ccxt 4.5.84; public-facts lists none). */
const metadataOf = (venue: Venue): readonly object[] =>
  currenciesOf(venue).map(code => ({
    code,
    full_name: code.toUpperCase(),
    precision: 8,
    type: FIAT.has(code) ? 'fiat' : 'crypto',
  }));

const FIAT: ReadonlySet<string> = new Set(['mxn', 'brl', 'ars', 'cop']);

/** Returns, for each currency, the other currencies of its books. */
function conversionsOf(venue: Venue): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { instrument } of venue.books.values()) {
    (found[instrument.major] ??= []).push(instrument.minor);
    (found[instrument.minor] ??= []).push(instrument.major);
  }
  return found;
}

function fundingDestination({ venue, query, account }: PrivateRequest): WireReply {
  const currency = query.get('fund_currency');
  if (currency === undefined) return failureOf('0303', 'fund_currency');
  if (!currenciesOf(venue).includes(currency)) return failureOf('0313', currency);
  return success({
    account_identifier_name: FIAT.has(currency) ? 'Sandbox CLABE' : 'Sandbox address',
    account_identifier: `sandbox-${currency}-${account.id}`,
  });
}

/** Accepts any phone number and any code; no phone call is made. */
function phone(field: string): (ask: PrivateRequest) => WireReply {
  return ({ body }) => {
    const fields = objectOf(body);
    if (fields.kind === 'refused') return failure(fields);
    return typeof fields.value[field] === 'string' ? success({ phone: '525500000000' }) : failureOf('0303', field);
  };
}
