/** Conversion desk with one interface for v4 conversions and RFQ: pairs, offers, acceptance and results. */
import {
  describeRow,
  mapOutcome,
  type ConversionDesk,
  type ConversionState,
  type DecimalText,
  type UnreadableRow,
} from '../../../core/index.ts';
import type { CurrencyConversion, ConversionEndpoints } from './conversions.ts';
import type { Rfq, RfqConversion } from './rfq.ts';

/** Maximum number of pages of the conversion list that are read, at 100 conversions per page. */
const PAGES_MAX = 200;

/**
 * Returns the conversion desk. Currencies are in lower case, amounts are decimal text. Rejected and unknown outcomes of
 * the client are returned unchanged. For `find`, codes 1401 and 0345 mean that no conversion exists. If 200 pages of
 * 100 conversions do not contain the conversion, the outcome of `find` is `unknown`.
 */
export function conversionDesk(client: ConversionEndpoints & { readonly rfq: Rfq }): ConversionDesk {
  const { rfq } = client;
  return {
    pairs: async () =>
      mapOutcome(await rfq.pairs(), pairs =>
        pairs.map(({ source, target, sourcePrecision, targetPrecision }) => ({
          from: source.toLowerCase(),
          to: target.toLowerCase(),
          fromDecimals: sourcePrecision,
          toDecimals: targetPrecision,
        })),
      ),
    offer: async (way, { from, to, give, get }) => {
      if (way === 'rfq') {
        const pair = { source: from, target: to };
        const asked = give === undefined ? { ...pair, targetAmount: get } : { ...pair, sourceAmount: give };
        return mapOutcome(await rfq.requestQuote(asked), quote => ({
          way,
          id: quote.id,
          give: leg(quote.source, quote.sourceAmount),
          get: leg(quote.target, quote.targetAmount),
          lifeMs: quote.expiresAt - quote.createdAt,
          canConfirm: quote.canConfirm && quote.status === 'ACTIVE',
          ...(quote.maxTradable ? { most: leg(quote.maxTradable.currency, quote.maxTradable.value) } : {}),
        }));
      }
      const pair = { from, to };
      const asked = give === undefined ? { ...pair, receive: get } : { ...pair, spend: give };
      return mapOutcome(await client.requestConversion(asked), quote => ({
        way,
        id: quote.id,
        give: leg(quote.fromCurrency, quote.fromAmount),
        get: leg(quote.toCurrency, quote.toAmount),
        lifeMs: quote.expiresAt - quote.createdAt,
        canConfirm: true,
      }));
    },
    accept: async ({ way, id }, isWanted) =>
      way === 'rfq'
        ? mapOutcome(await rfq.convert(id, isWanted), conversion => ({ conversionId: conversion.id }))
        : client.executeConversion(id, isWanted),
    state: async (way, conversionId) =>
      way === 'rfq'
        ? mapOutcome(await rfq.conversion(conversionId), stateOf)
        : mapOutcome(await client.conversion(conversionId), found => ({
            ...stateOfConversion(found),
            id: conversionId,
          })),
    find: async (way, quoteId) => {
      if (way === 'conversion') {
        const outcome = await client.conversionOfQuote(quoteId);
        return outcome.kind === 'refused' && NO_CONVERSION.includes(outcome.code)
          ? { kind: 'done', value: null }
          : mapOutcome(outcome, stateOfConversion);
      }
      let pageToken: string | undefined;
      let unreadable: UnreadableRow | undefined;
      for (let n = 0; n < PAGES_MAX; n++) {
        const page = await rfq.conversions({ pageSize: 100, ...(pageToken === undefined ? {} : { pageToken }) });
        if (page.kind !== 'done') return page;
        // The order of the list is undocumented, so every page is searched.
        const found = page.value.conversions.find(conversion => conversion.quoteId === quoteId);
        if (found) return { kind: 'done', value: stateOf(found) };
        unreadable ??= page.unreadable?.[0];
        pageToken = page.value.nextPageToken;
        if (pageToken !== undefined && pageToken !== '') continue;
        // The unreadable row may be the requested conversion.
        if (unreadable)
          return {
            kind: 'unknown',
            reason: `a row of the list of conversions cannot be read: ${describeRow(unreadable)}`,
          };
        return { kind: 'done', value: null };
      }
      return {
        kind: 'unknown',
        reason: `the list of conversions is longer than the ${PAGES_MAX} pages that were searched`,
      };
    },
  };
}

/**
 * Codes that prove that a quote has no conversion: the resource does not exist, or the quote no longer exists. An error
 * about an unknown path does not prove this.
 */
const NO_CONVERSION: readonly string[] = ['1401', '0345'];

const stateOfConversion = ({ id, status, ...terms }: CurrencyConversion): ConversionState => ({
  id,
  status: status === 'completed' || status === 'failed' ? status : 'pending',
  give: leg(terms.fromCurrency, terms.fromAmount),
  get: leg(terms.toCurrency, terms.toAmount),
});

const STATUS = { PENDING: 'pending', FAILED: 'failed', COMPLETED: 'completed' } as const;

const stateOf = ({ id, status, source, sourceAmount, target, targetAmount }: RfqConversion): ConversionState => ({
  id,
  status: STATUS[status],
  give: leg(source, sourceAmount),
  get: leg(target, targetAmount),
});

const leg = (currency: string, amount: DecimalText) => ({ currency: currency.toLowerCase(), amount });
