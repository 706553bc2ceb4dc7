/**
 * Conversions of the v4 interface: request a quote, execute the quote within 30 seconds, poll the conversion. Only v3
 * can look up a conversion by the id of its quote.
 */
import type { DecimalText, Millis } from '../../../core/index.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';
import { currencyPart, quotePart } from '../wire/path.ts';
import { positivePart } from '../../wire/requestParts.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

/** Conversion with exactly one given amount: the amount to spend or the amount to receive. */
export type ConversionRequest = { readonly from: string; readonly to: string } & (
  { readonly spend: DecimalText; readonly receive?: never } | { readonly receive: DecimalText; readonly spend?: never }
);

type Terms = {
  readonly id: string;
  readonly fromAmount: DecimalText;
  readonly fromCurrency: string;
  readonly toAmount: DecimalText;
  readonly toCurrency: string;
  readonly rate: DecimalText;
  readonly plainRate?: DecimalText;
  readonly rateCurrency?: string;
  readonly book?: string;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
};

export type ConversionQuote = Terms & {
  readonly padding?: DecimalText;
  readonly estimatedSlippage?: { readonly value: string; readonly level: string; readonly message: string };
  /** Times of the user's next scheduled conversions, by frequency: DAILY, WEEKLY or MONTHLY. */
  readonly nextRecurrentEvents: ReadonlyMap<string, Millis>;
};

export type CurrencyConversion = Terms & { readonly status: 'open' | 'queued' | 'completed' | 'failed' };

export type ConversionEndpoints = ReturnType<typeof conversions>;

/**
 * Returns the conversion endpoints (rest-api 4.10, 4.11, public-facts 13). Amounts are decimal text above zero. A wrong
 * amount, currency or id is rejected as `not-sent`. An execution that may have been sent is `unknown`;
 * `conversionOfQuote` finds its conversion.
 */
export function conversions(ask: BitsoAsk) {
  return {
    requestConversion: (of: ConversionRequest) =>
      buildAndSend(ask, () => question('POST', '', 'POST currency_conversions', quote, conversionBody(of))),
    /** Executes a quote. The execution is asynchronous and cannot be undone; poll its result with `conversion`. */
    executeConversion: (quoteId: string, isWanted: () => boolean = () => true) =>
      buildAndSend(ask, () => ({
        ...question('PUT', `/${quotePart(quoteId)}`, 'PUT currency_conversions', started),
        isWanted,
      })),
    /** Looks up a conversion by its own id, from the answer to its execution. */
    conversion: (conversionId: string) =>
      buildAndSend(ask, () => question('GET', `/${quotePart(conversionId)}`, 'GET currency_conversions', conversion)),
    /**
     * Looks up a conversion by the id of its quote (v3, interface document 4.11), if the answer to the execution was
     * lost.
     */
    conversionOfQuote: (quoteId: string) =>
      buildAndSend(ask, () => ({
        ...question('GET', '', 'GET v3 currency_conversions', conversion),
        path: `/v3/currency_conversions/${quotePart(quoteId)}`,
      })),
  };
}

const question = <T>(
  method: BitsoRequest<T>['method'],
  rest: string,
  endpoint: string,
  read: (payload: unknown) => T,
  body?: Readonly<Record<string, unknown>>,
): BitsoRequest<T> => ({
  endpoint,
  lane: method === 'GET' ? 'private read' : 'place',
  method,
  path: `/v4/currency_conversions${rest}`,
  // A quote reserves nothing; only its execution changes state.
  effect: method === 'PUT' ? 'write' : 'read',
  envelope: 'payload',
  read,
  ...(body === undefined ? {} : { body }),
});

function conversionBody({ from, to, spend, receive }: ConversionRequest): Record<string, unknown> {
  const currencies = { from_currency: currencyPart(from), to_currency: currencyPart(to) };
  if (spend !== undefined && receive === undefined) return { ...currencies, spend_amount: positivePart(spend) };
  if (receive !== undefined && spend === undefined) return { ...currencies, receive_amount: positivePart(receive) };
  throw wire.fault('spend', 'exactly one of spend and receive', spend);
}

const started = (payload: unknown): { readonly conversionId: string } => ({
  conversionId: wire.identifier(wire.row(payload), 'oid'),
});

function terms(of: Row): Terms {
  return {
    id: wire.identifier(of, 'id'),
    fromAmount: wire.decimal(of, 'from_amount'),
    fromCurrency: wire.filled(of, 'from_currency'),
    toAmount: wire.decimal(of, 'to_amount'),
    toCurrency: wire.filled(of, 'to_currency'),
    rate: wire.decimal(of, 'rate'),
    createdAt: wire.count(of, 'created'),
    expiresAt: wire.count(of, 'expires'),
    ...wire.present({
      plainRate: wire.optional(of, 'plain_rate', wire.decimal),
      rateCurrency: wire.optional(of, 'rate_currency', wire.text),
      book: wire.optional(of, 'book', wire.text),
    }),
  };
}

/**
 * Reads a new quote (rest-api 2.10, public-facts 13): times in epoch ms, `padding` a fraction. Throws a WireFault if
 * the shape is wrong.
 */
export function quote(payload: unknown): ConversionQuote {
  const of = wire.row(payload);
  const events = wire.optional(of, 'next_recurrent_events', (from, field) => wire.row(from[field], field)) ?? {};
  return {
    ...terms(of),
    nextRecurrentEvents: new Map(Object.keys(events).map(name => [name, wire.count(events, name)])),
    ...wire.present({
      padding: wire.optional(of, 'padding', wire.decimal),
      estimatedSlippage: wire.optional(of, 'estimated_slippage', slippage),
    }),
  };
}

function slippage(from: Row, field: string): NonNullable<ConversionQuote['estimatedSlippage']> {
  const of = wire.row(from[field], field);
  return { value: wire.figure(of, 'value'), level: wire.text(of, 'level'), message: wire.text(of, 'message') };
}

function conversion(payload: unknown): CurrencyConversion {
  const of = wire.row(payload);
  return { ...terms(of), status: wire.oneOf(of, 'status', ['open', 'queued', 'completed', 'failed']) };
}
