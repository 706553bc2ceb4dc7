/** Quote-based conversion interface (RFQ v1): pairs, quotes and conversions. Replies have no envelope. */
import type { DecimalText, Millis, UnreadableRow } from '../../../core/index.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';
import { currencyPart, quotePart } from '../wire/path.ts';
import { limitPart, positivePart, query } from '../../wire/requestParts.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

/** Pair of currencies. Each precision is the maximum number of decimals of an amount. */
export type RfqPair = {
  readonly source: string;
  readonly target: string;
  readonly sourcePrecision: number;
  readonly targetPrecision: number;
};

/**
 * Quote request with one of the two amounts; the exchange computes the other amount. Requests with both amounts are
 * undocumented.
 */
export type RfqRequest = { readonly source: string; readonly target: string } & (
  | { readonly sourceAmount: DecimalText; readonly targetAmount?: never }
  | { readonly targetAmount: DecimalText; readonly sourceAmount?: never }
);

type Terms = {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly sourceAmount: DecimalText;
  readonly targetAmount: DecimalText;
  readonly rate: DecimalText;
  readonly createdAt: Millis;
};

export type RfqQuote = Terms & {
  readonly status: 'ACTIVE' | 'EXPIRED' | 'ACCEPTED' | 'REJECTED';
  readonly expiresAt: Millis;
  /** Whether a confirmation would succeed. If false, `maxTradable` is the largest amount that can be confirmed. */
  readonly canConfirm: boolean;
  readonly maxTradable?: { readonly value: DecimalText; readonly currency: string };
};

export type RfqConversion = Terms & {
  readonly quoteId: string;
  readonly status: RfqStatus;
  readonly quotedAt?: Millis;
  readonly updatedAt?: Millis;
};
export type RfqStatus = 'PENDING' | 'FAILED' | 'COMPLETED';
const STATUSES: readonly RfqStatus[] = ['PENDING', 'FAILED', 'COMPLETED'];

export type RfqPage = {
  readonly conversions: readonly RfqConversion[];
  readonly nextPageToken?: string;
  readonly totalCount?: number;
};
export type RfqPageQuery = { readonly status?: RfqStatus; readonly pageSize?: number; readonly pageToken?: string };

export type Rfq = ReturnType<typeof rfq>;

/**
 * Returns the private RFQ endpoints (rfq 4). Tickers can be in any case; amounts are decimal text above zero. Invalid
 * values are rejected as `not-sent`. A page has at most 10,000 conversions.
 */
export function rfq(ask: BitsoAsk) {
  return {
    pairs: ({ source, target }: { readonly source?: string; readonly target?: string } = {}) =>
      buildAndSend(ask, () => {
        const filter = { source: source && tickerPart(source), target: target && tickerPart(target) };
        return question('GET', `pairs${query(filter)}`, 'GET rfq pairs', pairs);
      }),
    requestQuote: (of: RfqRequest) =>
      buildAndSend(ask, () => question('POST', 'quotes', 'POST rfq quotes', quote, quoteBody(of))),
    quote: (id: string) => buildAndSend(ask, () => question('GET', `quotes/${quotePart(id)}`, 'GET rfq quotes', quote)),
    convert: (quoteId: string, isWanted: () => boolean = () => true) =>
      buildAndSend(ask, () => ({
        ...question(
          'POST',
          'conversions',
          'POST rfq conversions',
          conversion,
          { quote_id: quotePart(quoteId) },
          'write',
        ),
        isWanted,
      })),
    conversion: (id: string) =>
      buildAndSend(ask, () => question('GET', `conversions/${quotePart(id)}`, 'GET rfq conversion', conversion)),
    conversions: (of: RfqPageQuery = {}) =>
      buildAndSend(ask, () => question('GET', `conversions${pageQuery(of)}`, 'GET rfq conversions', page)),
  };
}

/**
 * Builds an RFQ request. The budget of private requests includes RFQ requests, because the exchange does not publish
 * whether they count toward the account's 300 private requests per minute. Only `convert` has an effect, since a quote
 * reserves nothing.
 */
const question = <T>(
  method: 'GET' | 'POST',
  rest: string,
  endpoint: string,
  read: BitsoRequest<T>['read'],
  body?: Readonly<Record<string, unknown>>,
  effect: BitsoRequest<T>['effect'] = 'read',
): BitsoRequest<T> => ({
  endpoint,
  lane: method === 'GET' ? 'private read' : 'place',
  api: 'rfq',
  method,
  path: `/rfq/v1/${rest}`,
  effect,
  envelope: 'bare',
  read,
  ...(body === undefined ? {} : { body }),
});

/** Returns a ticker in upper case, which RFQ requires; REST uses lower case (interface document, conventions). */
const tickerPart = (ticker: string): string => currencyPart(ticker).toUpperCase();

function quoteBody({ source, target, sourceAmount, targetAmount }: RfqRequest): Record<string, unknown> {
  const pair = { source: tickerPart(source), target: tickerPart(target) };
  if (sourceAmount !== undefined && targetAmount === undefined)
    return { ...pair, source_amount: positivePart(sourceAmount) };
  if (targetAmount !== undefined && sourceAmount === undefined)
    return { ...pair, target_amount: positivePart(targetAmount) };
  throw wire.fault('sourceAmount', 'exactly one of sourceAmount and targetAmount', sourceAmount);
}

function pageQuery({ status, pageSize, pageToken }: RfqPageQuery): string {
  if (status !== undefined && !STATUSES.includes(status)) throw wire.fault('status', STATUSES.join(', '), status);
  return query({
    status,
    page_size: pageSize === undefined ? undefined : limitPart(pageSize, 10_000),
    page_token: pageToken === undefined ? undefined : encodeURIComponent(pageToken),
  });
}

const pairs = (reply: unknown, unreadable?: UnreadableRow[]): readonly RfqPair[] =>
  wire.rows(
    wire.row(reply)['pairs'],
    element => {
      const of = wire.row(element, 'pairs');
      return {
        source: wire.currencyName(of, 'source'),
        target: wire.currencyName(of, 'target'),
        sourcePrecision: wire.count(of, 'source_precision'),
        targetPrecision: wire.count(of, 'target_precision'),
      };
    },
    unreadable,
    'pairs',
  );

function terms(of: Row): Terms {
  return {
    id: wire.identifier(of, 'id'),
    source: wire.currencyName(of, 'source'),
    target: wire.currencyName(of, 'target'),
    sourceAmount: wire.decimal(of, 'source_amount'),
    targetAmount: wire.decimal(of, 'target_amount'),
    rate: wire.decimal(of, 'rate'),
    createdAt: wire.time(of, 'created_at'),
  };
}

function quote(reply: unknown): RfqQuote {
  const of = wire.row(reply);
  return {
    ...terms(of),
    status: wire.oneOf(of, 'status', ['ACTIVE', 'EXPIRED', 'ACCEPTED', 'REJECTED']),
    expiresAt: wire.time(of, 'expires_at'),
    canConfirm: wire.flag(of, 'can_confirm'),
    ...wire.present({ maxTradable: wire.optional(of, 'max_tradable_amount', maxTradable) }),
  };
}

function maxTradable(from: Row, field: string): NonNullable<RfqQuote['maxTradable']> {
  const of = wire.row(from[field], field);
  return { value: wire.decimal(of, 'value'), currency: wire.currencyName(of, 'currency') };
}

function conversion(reply: unknown): RfqConversion {
  const of = wire.row(reply);
  return {
    ...terms(of),
    quoteId: wire.identifier(of, 'quote_id'),
    status: wire.oneOf(of, 'status', STATUSES),
    ...wire.present({
      quotedAt: wire.optional(of, 'quoted_at', wire.time),
      updatedAt: wire.optional(of, 'updated_at', wire.time),
    }),
  };
}

function page(reply: unknown, unreadable?: UnreadableRow[]): RfqPage {
  const of = wire.row(reply);
  const next = wire.optional(of, 'next_page_token', wire.text);
  return {
    conversions: wire.rows(of['conversions'], conversion, unreadable, 'conversions'),
    ...wire.present({
      nextPageToken: next === '' ? undefined : next,
      totalCount: wire.optional(of, 'total_count', wire.count),
    }),
  };
}
