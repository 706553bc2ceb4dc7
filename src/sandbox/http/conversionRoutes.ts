/**
 * Conversion routes: quote, execute, status. The v4 route looks up a conversion by its own id, the older v3 route by
 * its quote id (rest-api 4.11).
 */
import { isDecimalText, moneyOf, type Money, type WireReply } from '../../core/index.ts';
import { done, refused, type Verdict } from '../wire/codes.ts';
import {
  fractionText,
  HIGH_SLIPPAGE,
  nextRecurrentEvents,
  type VenueConversion,
  type VenueQuote,
  type QuoteRequest,
} from '../desks/conversions.ts';
import type { Fields } from '../venue/orderChecks.ts';
import { currenciesOf } from '../venue/currencies.ts';
import { objectOf } from './parameters.ts';
import type { Method, PrivateRequest, Route } from './route.ts';
import type { Switches } from '../switches/switches.ts';
import { failure, failureOf, success, text8 } from '../wire/wire.ts';

const conversionRoute = (method: Method, pattern: string, handle: (ask: PrivateRequest) => WireReply): Route => ({
  scope: 'private',
  method,
  pattern,
  permission: method === 'GET' ? 'account' : 'orders',
  handle,
});

export const conversionRoutes: readonly Route[] = [
  conversionRoute('POST', '/v4/currency_conversions', request),
  conversionRoute('PUT', '/v4/currency_conversions/:id', execute),
  conversionRoute('GET', '/v4/currency_conversions/:id', status),
  conversionRoute('POST', '/v3/currency_conversions', request),
  conversionRoute('PUT', '/v3/currency_conversions/:id', execute),
  conversionRoute('GET', '/v3/currency_conversions/:quote_id', statusByQuote),
];

/**
 * Answers a quote request after these checks, in order: conversions enabled (1009), JSON types (0372), both currencies
 * present (0303) and listed (0313), exactly one amount (0361, 0360), amount format (0408), price available (0367).
 */
function request({ venue, account, body, conversions }: PrivateRequest): WireReply {
  if (venue.switches.conversions === 'off') return failureOf('1009');
  const fields = objectOf(body);
  if (fields.kind === 'refused') return failure(fields);
  const asked = requestOf(fields.value, currenciesOf(venue), venue.switches);
  if (asked.kind === 'refused') return failure(asked);
  const quote = conversions.quote(account, asked.value);
  return quote.kind === 'refused' ? failure(quote) : success(quoteOf(quote.value));
}

function execute({ venue, account, path, conversions }: PrivateRequest): WireReply {
  if (venue.switches.conversions === 'off') return failureOf('1009');
  const started = conversions.execute(account, path['id']!);
  return started.kind === 'refused' ? failure(started) : success({ oid: started.value.id });
}

function status({ account, path, conversions }: PrivateRequest): WireReply {
  return conversionReply(conversions.find(account, path['id']!), path['id']!);
}

function statusByQuote({ account, path, conversions }: PrivateRequest): WireReply {
  return conversionReply(conversions.ofQuote(account, path['quote_id']!), path['quote_id']!);
}

const conversionReply = (conversion: VenueConversion | undefined, id: string): WireReply =>
  conversion ? success(statusOf(conversion)) : failureOf('1401', id);

const FIELDS = ['from_currency', 'to_currency', 'spend_amount', 'receive_amount'] as const;

function requestOf(fields: Fields, currencies: readonly string[], switches: Switches): Verdict<QuoteRequest> {
  const text = (name: (typeof FIELDS)[number]) => (typeof fields[name] === 'string' ? fields[name] : undefined);
  const mistyped = FIELDS.find(name => fields[name] !== undefined && fields[name] !== null && text(name) === undefined);
  if (mistyped !== undefined) return refused('0372', mistyped);
  const [from, to] = [text('from_currency'), text('to_currency')];
  if (from === undefined || to === undefined)
    return refused('0303', from === undefined ? 'from_currency' : 'to_currency');
  const unknown = [from, to].find(currency => !currencies.includes(currency));
  if (unknown !== undefined) return refused('0313', unknown);
  if (from === to) return refused('0313', 'from_currency and to_currency must differ');
  const [spend, receive] = [text('spend_amount'), text('receive_amount')];
  if (spend !== undefined && receive !== undefined) return refused(switches.conversionBothAmounts);
  if (spend === undefined && receive === undefined) return refused(switches.conversionNoAmount);
  const sum = amountOf(spend ?? receive!);
  if (sum === null) return refused('0408', spend ?? receive);
  return done({ from, to, ...(spend !== undefined ? { spend: sum } : { receive: sum }) });
}

/** Parses a positive sum with at most eight decimals; null otherwise. */
function amountOf(text: string): Money | null {
  if (!isDecimalText(text)) return null;
  const sum = moneyOf(text);
  return sum > 0n && sum % 10n ** 10n === 0n ? sum : null;
}

/** Returns a quote with the 13 fields of rest-api 2.10. */
function quoteOf(quote: VenueQuote): Record<string, unknown> {
  return {
    ...common(quote),
    id: quote.id,
    padding: fractionText(quote.padding),
    estimated_slippage: {
      value: fractionText(quote.slippage),
      level: quote.slippage < HIGH_SLIPPAGE ? 'normal' : 'high',
      message: '',
    },
    next_recurrent_events: nextRecurrentEvents(quote.created),
  };
}

/**
 * Returns the status fields of a conversion (public-facts 13): the status, and the fields of the quote except padding,
 * slippage and next events.
 */
const statusOf = (conversion: VenueConversion): Record<string, unknown> => ({
  ...common(conversion.quote),
  id: conversion.id,
  status: conversion.status,
});

const common = (quote: VenueQuote): Record<string, unknown> => ({
  from_amount: text8(quote.from.sum),
  from_currency: quote.from.currency,
  to_amount: text8(quote.to.sum),
  to_currency: quote.to.currency,
  created: quote.created,
  expires: quote.expires,
  rate: text8(quote.rate),
  plain_rate: text8(quote.plainRate),
  rate_currency: quote.rateCurrency,
  book: quote.book,
});
