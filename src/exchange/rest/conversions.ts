/** Conversions of the v4 interface: ask for a quote, execute it within its 30 seconds, follow the conversion; v3 finds it by its quote. */
import type { DecimalText, Millis } from '../../core/index.ts';
import { asked } from '../transport/ask.ts';
import type { Ask, Question } from '../transport/ask.ts';
import { currencyPart, positivePart, quotePart } from '../wire/path.ts';
import * as wire from '../wire/wire.ts';
import type { Row } from '../wire/wire.ts';

/** Exactly one amount: what is given away, or what is received. */
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
  /** When the user's own scheduled conversions run next, by DAILY, WEEKLY and MONTHLY. */
  readonly nextRecurrentEvents: ReadonlyMap<string, Millis>;
};

export type CurrencyConversion = Terms & { readonly status: 'open' | 'queued' | 'completed' | 'failed' };

export type ConversionEndpoints = ReturnType<typeof conversions>;

/**
 * rest-api 4.10, 4.11 and public-facts 13. Amounts are decimal text above zero. A wrong amount, currency or id is refused as `not-sent`; an
 * execution that may have gone out is `unknown`, and `conversionOfQuote` finds it.
 */
export function conversions(ask: Ask) {
  return {
    requestConversion: (of: ConversionRequest) =>
      asked(ask, () => question('POST', '', 'POST currency_conversions', quote, conversionBody(of))),
    /** Asynchronous and final: follow it with `conversion`. */
    executeConversion: (quoteId: string) =>
      asked(ask, () => question('PUT', `/${quotePart(quoteId)}`, 'PUT currency_conversions', started)),
    /** By the conversion's own id, which its execution answered with. */
    conversion: (conversionId: string) =>
      asked(ask, () => question('GET', `/${quotePart(conversionId)}`, 'GET currency_conversions', conversion)),
    /** v3: by the id of the quote that was executed (interface document 4.11), for when the answer to the execution was lost. */
    conversionOfQuote: (quoteId: string) =>
      asked(ask, () => ({
        ...question('GET', '', 'GET v3 currency_conversions', conversion),
        path: `/v3/currency_conversions/${quotePart(quoteId)}`,
      })),
  };
}

const question = <T>(
  method: Question<T>['method'],
  rest: string,
  endpoint: string,
  read: (payload: unknown) => T,
  body?: Readonly<Record<string, unknown>>,
): Question<T> => ({
  endpoint,
  lane: method === 'GET' ? 'private read' : 'place',
  method,
  path: `/v4/currency_conversions${rest}`,
  // A quote reserves nothing, so only its execution changes anything.
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

/** Payload of a new quote (rest-api 2.10, public-facts 13): times in ms since 1970, `padding` a fraction. Throws a WireFault on another shape. */
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
