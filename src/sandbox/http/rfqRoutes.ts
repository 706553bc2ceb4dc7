/** RFQ routes under /rfq/v1: checks in the order of the document, and replies without envelope (rfq 4.1 to 4.6). */
import { isDecimalText, moneyOf, type WireReply } from '../../core/index.ts';
import type { DeskConversion, DeskPair, DeskQuote, DeskRequest } from '../desks/rfq.ts';
import { deskAmount, bare, rateText, rfqFailure, rfqRefused, timeSeconds, type RfqVerdict } from '../desks/rfqCodes.ts';
import { conversionPage } from '../desks/rfqPages.ts';
import { objectOf } from './parameters.ts';
import type { Method, PrivateRequest, Route } from './route.ts';
import type { Fields } from '../venue/orderChecks.ts';
import type { Switches } from '../switches/switches.ts';
import { isUuid } from '../wire/uuid.ts';

const rfqRoute = (
  method: Method,
  pattern: string,
  permission: 'account' | 'orders',
  handle: (ask: PrivateRequest) => WireReply,
  conversions = false,
): Route => ({
  scope: 'private',
  method,
  pattern: `/rfq/v1/${pattern}`,
  permission,
  face: 'rfq',
  handle: ask => {
    const { venue, account, rfq } = ask;
    const closed = !rfq.mayUse(account) && (conversions || venue.switches.rfqForbidden === 'everywhere');
    return closed ? rfqFailure(rfqRefused('forbidden_request')) : handle(ask);
  },
});

export const rfqRoutes: readonly Route[] = [
  rfqRoute('GET', 'pairs', 'account', pairs),
  rfqRoute('POST', 'quotes', 'account', requestQuote),
  rfqRoute('GET', 'quotes/:quote_id', 'account', quoteById),
  rfqRoute('POST', 'conversions', 'orders', convert, true),
  rfqRoute('GET', 'conversions/:conversion_id', 'account', conversionById, true),
  rfqRoute('GET', 'conversions', 'account', conversions, true),
];

function pairs({ venue, query, rfq }: PrivateRequest): WireReply {
  if (venue.switches.rfqPairs !== 'listed') return rfqFailure(rfqRefused(venue.switches.rfqPairs));
  const [source, target] = [query.get('source'), query.get('target')];
  const wrong = [source, target].findIndex(ticker => ticker && tickerOf(ticker) === null);
  if (wrong >= 0) return rfqFailure(rfqRefused(wrong === 0 ? 'invalid_source_currency' : 'invalid_target_currency'));
  const listed = rfq
    .pairs()
    .filter(pair => !source || upper(pair.source) === source)
    .filter(pair => !target || upper(pair.target) === target);
  return bare({
    pairs: listed.map(pair => ({
      source: upper(pair.source),
      target: upper(pair.target),
      source_precision: String(pair.sourceDecimals),
      target_precision: String(pair.targetDecimals),
    })),
  });
}

function requestQuote(ask: PrivateRequest): WireReply {
  const { venue, account, rfq, body } = ask;
  const parsed = objectOf(body);
  const fields = parsed.kind === 'done' ? parsed.value : {};
  const request = checkedRequest(fields, source => rfq.pairs(source), venue.switches);
  if (request.kind === 'refused') return rfqFailure(request);
  const quoted = rfq.quote(account, request.value);
  return quoted.kind === 'refused' ? rfqFailure(quoted) : bare(quoteOf(ask, quoted.value));
}

function quoteById(ask: PrivateRequest): WireReply {
  const found = ask.rfq.find(ask.account, ask.path['quote_id']!);
  return found.kind === 'refused' ? rfqFailure(found) : bare(quoteOf(ask, found.value));
}

function convert({ account, rfq, body }: PrivateRequest): WireReply {
  const parsed = objectOf(body);
  const id = parsed.kind === 'done' ? parsed.value['quote_id'] : undefined;
  const made = rfq.convert(account, typeof id === 'string' ? id : '');
  return made.kind === 'refused' ? rfqFailure(made) : bare(conversionBody(made.value));
}

/**
 * Returns a conversion. Replies with 400 for a malformed id, 404 for an unknown id, and 403 for a conversion of another
 * account.
 */
function conversionById({ account, rfq, path }: PrivateRequest): WireReply {
  const id = path['conversion_id']!;
  if (!isUuid(id)) return rfqFailure(rfqRefused('bad_request', 'conversion_id is not a UUID'));
  const conversion = rfq.conversion(id.toLowerCase());
  if (!conversion) return rfqFailure(rfqRefused('rfq_conversion_not_found'));
  return conversion.account === account
    ? bare(conversionBody(conversion))
    : rfqFailure(rfqRefused('forbidden_request'));
}

function conversions({ venue, account, rfq, pageTokens, query }: PrivateRequest): WireReply {
  const page = conversionPage(rfq.conversionsOf(account), account.id, query, pageTokens, venue.switches);
  if (page.kind === 'refused') return rfqFailure(page);
  const { list, next, total } = page.value;
  return bare({
    conversions: list.map(conversionBody),
    ...(next !== undefined && { next_page_token: next }),
    total_count: total,
  });
}

/**
 * Checks a quote request in the order of rfq 4.2: source, target, number formats, presence of an amount, value of the
 * amount, number of decimals. An amount is text; `null` and empty text count as missing. A number of zero or less, or
 * of more than 20 digits, is an incorrect amount.
 */
function checkedRequest(
  fields: Fields,
  pairsOf: (source: string) => readonly DeskPair[],
  switches: Switches,
): RfqVerdict<DeskRequest> {
  const source = tickerOf(fields['source']);
  const from = source === null ? [] : pairsOf(source);
  if (from.length === 0) return rfqRefused('invalid_source_currency');
  const target = tickerOf(fields['target']);
  const pair = from.find(each => each.target === target);
  if (!pair) return rfqRefused('invalid_target_currency');
  const [sourceAmount, targetAmount] = [givenOf(fields['source_amount']), givenOf(fields['target_amount'])];
  if (sourceAmount !== undefined && !isNumber(sourceAmount)) return rfqRefused('invalid_source_number_format');
  if (targetAmount !== undefined && !isNumber(targetAmount)) return rfqRefused('invalid_target_number_format');
  if (sourceAmount === undefined && targetAmount === undefined) return rfqRefused('both_amounts_missing');
  const both = sourceAmount !== undefined && targetAmount !== undefined;
  if (both && switches.rfqBothAmounts === 'invalid_provided_amount')
    return rfqRefused(switches.rfqBothAmounts, 'give only one of source_amount and target_amount');
  const fixed = both
    ? (switches.rfqBothAmounts as 'source' | 'target')
    : sourceAmount !== undefined
      ? 'source'
      : 'target';
  const text = (fixed === 'source' ? sourceAmount : targetAmount) as string;
  if (!/^\d{1,20}(\.|$)/.test(text) || !/[1-9]/.test(text)) return rfqRefused('invalid_provided_amount');
  const decimals = fixed === 'source' ? pair.sourceDecimals : pair.targetDecimals;
  if ((text.split('.')[1] ?? '').length > decimals || !isDecimalText(text))
    return rfqRefused(fixed === 'source' ? 'invalid_source_precision' : 'invalid_target_precision', `${decimals}`);
  return { kind: 'done', value: { pair, fixed, sum: moneyOf(text) } };
}

/** Parses a currency code, which is upper case on this interface (rfq conventions). */
const tickerOf = (field: unknown): string | null =>
  typeof field === 'string' && /^[A-Z0-9]+$/.test(field) ? field.toLowerCase() : null;

const givenOf = (field: unknown): unknown =>
  field === undefined || field === null || field === '' ? undefined : field;

/** Whether the value is text of plain decimal digits, with an optional minus. */
const isNumber = (given: unknown): given is string => typeof given === 'string' && /^-?\d+(\.\d+)?$/.test(given);

const upper = (currency: string): string => currency.toUpperCase();

function quoteOf({ venue, rfq }: PrivateRequest, quote: DeskQuote): Record<string, unknown> {
  const { pair, maxTradable } = quote;
  const expires = timeSeconds(quote.expiresAt);
  return {
    id: quote.id,
    source: upper(pair.source),
    target: upper(pair.target),
    source_amount: deskAmount(quote.sourceSum),
    target_amount: deskAmount(quote.targetSum),
    rate: rateText(quote.rate),
    status: rfq.statusOf(quote),
    created_at: timeSeconds(quote.createdAt),
    expires_at: venue.switches.rfqTimeForm === 'seconds' ? expires : expires.replace('Z', '.000000000Z'),
    can_confirm: quote.canConfirm,
    ...(maxTradable && {
      max_tradable_amount: { value: deskAmount(maxTradable.sum), currency: upper(maxTradable.currency) },
    }),
  };
}

/** Formats a conversion as in rfq 2.3: upper-case currency codes, exact decimal text, whole seconds. */
export function conversionBody(conversion: DeskConversion): Record<string, unknown> {
  const { quote } = conversion;
  return {
    id: conversion.id,
    source: upper(quote.pair.source),
    target: upper(quote.pair.target),
    source_amount: deskAmount(quote.sourceSum),
    target_amount: deskAmount(quote.targetSum),
    quote_id: quote.id,
    rate: rateText(quote.rate),
    status: conversion.status,
    quoted_at: timeSeconds(quote.createdAt),
    created_at: timeSeconds(conversion.createdAt),
    updated_at: timeSeconds(conversion.updatedAt),
  };
}
