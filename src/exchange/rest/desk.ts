/** Both conversion interfaces as one desk: offers, their acceptance, and what became of them. */
import { describeRow } from '../../core/index.ts';
import type { ConversionDesk, ConversionState, DecimalText, Outcome, UnreadableRow } from '../../core/index.ts';
import type { CurrencyConversion, ConversionEndpoints } from './conversions.ts';
import type { Rfq, RfqConversion } from './rfq.ts';

/** Pages of the list of conversions that are read at most; 100 a page. */
const PAGES_MAX = 200;

/**
 * Currencies in and out in lower case, amounts as decimal text. What is refused or unknown is passed on; `find` takes 1401 and 0345 for no
 * conversion, and is `unknown` beyond 200 pages of 100.
 */
export function conversionDesk(client: ConversionEndpoints & { readonly rfq: Rfq }): ConversionDesk {
  const { rfq } = client;
  return {
    pairs: async () =>
      map(await rfq.pairs(), pairs =>
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
        return map(await rfq.requestQuote(asked), quote => ({
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
      return map(await client.requestConversion(asked), quote => ({
        way,
        id: quote.id,
        give: leg(quote.fromCurrency, quote.fromAmount),
        get: leg(quote.toCurrency, quote.toAmount),
        lifeMs: quote.expiresAt - quote.createdAt,
        canConfirm: true,
      }));
    },
    accept: async ({ way, id }) =>
      way === 'rfq'
        ? map(await rfq.convert(id), conversion => ({ conversionId: conversion.id }))
        : client.executeConversion(id),
    state: async (way, conversionId) =>
      way === 'rfq'
        ? map(await rfq.conversion(conversionId), stateOf)
        : map(await client.conversion(conversionId), found => ({ ...stateOfConversion(found), id: conversionId })),
    find: async (way, quoteId) => {
      if (way === 'conversion') {
        const outcome = await client.conversionOfQuote(quoteId);
        return outcome.kind === 'refused' && NO_CONVERSION.includes(outcome.code)
          ? { kind: 'done', value: null }
          : map(outcome, stateOfConversion);
      }
      let pageToken: string | undefined;
      let unreadable: UnreadableRow | undefined;
      for (let n = 0; n < PAGES_MAX; n++) {
        const page = await rfq.conversions({ pageSize: 100, ...(pageToken === undefined ? {} : { pageToken }) });
        if (page.kind !== 'done') return page;
        // In no order that is written down: every page is looked at.
        const found = page.value.conversions.find(conversion => conversion.quoteId === quoteId);
        if (found) return { kind: 'done', value: stateOf(found) };
        unreadable ??= page.unreadable?.[0];
        pageToken = page.value.nextPageToken;
        if (pageToken !== undefined && pageToken !== '') continue;
        // It may be the conversion that is looked for.
        if (unreadable) return { kind: 'unknown', reason: `the list of conversions: ${describeRow(unreadable)}` };
        return { kind: 'done', value: null };
      }
      return { kind: 'unknown', reason: `the list of conversions has more than ${PAGES_MAX} pages` };
    },
  };
}

/** What says that no conversion came of a quote: no such resource, no such quote any more. A path that is not there is no answer. */
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

const map = <T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> =>
  outcome.kind === 'done' ? { kind: 'done', value: to(outcome.value) } : outcome;
