/** Checks of conversions, RFQ and webhooks. Quotes are requested but never executed. */
import {
  counted,
  money,
  moneyOf,
  textOfMoney,
  type Millis,
  type Money,
  type Outcome,
  type Price,
} from '../../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import type { RfqPair, RfqQuote } from '../rest/rfq.ts';
import { judged, outcomeText, rejectedWith, skipped, valueIn, type CheckAnswer, type Checks } from './checks.ts';
import { lotsFor } from './orderChecks.ts';
import type { CheckedMarket } from './publicChecks.ts';

const QUOTE_LIFE_MS = 30_000;
const NO_ID = '00000000-0000-4000-8000-000000000000';
/** Error codes for an account to which conversions or RFQ are not available. */
const NOT_ENABLED = ['1009', 'forbidden_request', '0202'];

/** Checks a conversion quote without executing it. */
export async function conversionChecks(client: Endpoints, market: CheckedMarket, checks: Checks): Promise<void> {
  const { major, minor } = market.instrument;
  const spend = textOfMoney(spentOn(market, 2));
  await checks.check(
    ['conversion quote', 'rest-api 4.10, 2.10', `${spend} ${minor} to ${major}, valid for 30 s`],
    async () => {
      const outcome = await client.requestConversion({ from: minor, to: major, spend });
      if (isNotEnabled(outcome)) return skipped(outcomeText(outcome));
      const { fromAmount, fromCurrency, toAmount, toCurrency, createdAt, expiresAt } = valueIn(outcome);
      const isOfRequest = fromCurrency.toLowerCase() === minor && toCurrency.toLowerCase() === major;
      return judged(
        `${fromAmount} ${fromCurrency} to ${toAmount} ${toCurrency}, valid for ${expiresAt - createdAt} ms`,
        isOfRequest &&
          moneyOf(fromAmount) === moneyOf(spend) &&
          moneyOf(toAmount) > 0n &&
          expiresAt - createdAt === QUOTE_LIFE_MS,
      );
    },
  );
}

/** Checks RFQ: pairs, a quote that is not executed, its look-up, the list of conversions, and the error codes. */
export async function rfqChecks(
  { rfq }: Endpoints,
  market: CheckedMarket,
  checks: Checks,
  now: () => Millis,
): Promise<void> {
  const { major, minor } = market.instrument;
  let pair: RfqPair | undefined;
  let quote: RfqQuote | undefined;
  await checks.check(
    ['RFQ pairs', 'rfq 4.1', `a pair ${minor} to ${major}, with the decimals of both amounts`],
    async () => {
      const outcome = await rfq.pairs();
      if (isNotEnabled(outcome)) return skipped(outcomeText(outcome));
      const pairs = valueIn(outcome);
      pair = pairs.find(({ source, target }) => source.toLowerCase() === minor && target.toLowerCase() === major);
      return judged(
        pair === undefined
          ? counted(pairs.length, 'pair')
          : `${counted(pairs.length, 'pair')}, ${pair.sourcePrecision} and ${counted(pair.targetPrecision, 'decimal')}`,
        pair !== undefined,
      );
    },
  );
  const ofPair = (answer: (of: RfqPair) => Promise<CheckAnswer>) => async () =>
    pair === undefined ? skipped('no RFQ pair') : answer(pair);
  await checks.check(
    ['RFQ quote', 'rfq 4.2, 2.2', 'a quote for the requested amount, active and not expired'],
    ofPair(async ({ source, target, sourcePrecision }) => {
      const sourceAmount = textOfMoney(spentOn(market, sourcePrecision));
      quote = valueIn(await rfq.requestQuote({ source, target, sourceAmount }));
      const { status, canConfirm, maxTradable, createdAt, expiresAt } = quote;
      const isOfRequest =
        quote.source === source && quote.target === target && moneyOf(quote.sourceAmount) === moneyOf(sourceAmount);
      return judged(
        `${quote.sourceAmount} ${source} to ${quote.targetAmount} ${target}, ${status}, valid for ${expiresAt - createdAt} ms`,
        isOfRequest &&
          status === 'ACTIVE' &&
          expiresAt > now() &&
          expiresAt > createdAt &&
          (canConfirm || maxTradable !== undefined),
      );
    }),
  );
  await checks.check(['RFQ quote by id', 'rfq 4.3', 'the quote from the previous check'], async () => {
    if (quote === undefined) return skipped('no RFQ quote');
    const { id, rate, sourceAmount, targetAmount } = valueIn(await rfq.quote(quote.id));
    const isSame =
      id === quote.id &&
      rate === quote.rate &&
      sourceAmount === quote.sourceAmount &&
      targetAmount === quote.targetAmount;
    return judged(`${sourceAmount} to ${targetAmount} at ${rate}`, isSame);
  });
  await checks.check(
    ['RFQ amount with too many decimals', 'rfq 4.2', 'rejected: invalid_source_precision'],
    ofPair(async ({ source, target, sourcePrecision }) => {
      if (sourcePrecision >= 17)
        return skipped(
          'not possible, because the exchange accepts 17 decimals or more, and the client sends at most 18',
        );
      const fine = money(spentOn(market, sourcePrecision) + 10n ** BigInt(17 - sourcePrecision));
      return rejectedWith(
        ['invalid_source_precision'],
        await rfq.requestQuote({ source, target, sourceAmount: textOfMoney(fine) }),
      );
    }),
  );
  await checks.check(
    ['RFQ in an unknown currency', 'rfq 4.2', 'rejected: invalid_source_currency'],
    ofPair(async ({ target }) =>
      rejectedWith(['invalid_source_currency'], await rfq.requestQuote({ source: 'AAAA', target, sourceAmount: '1' })),
    ),
  );
  await checks.check(
    ['unknown RFQ quote', 'rfq 4.3', 'rejected: quote_not_found'],
    ofPair(async () => rejectedWith(['quote_not_found'], await rfq.quote(NO_ID))),
  );
  await checks.check(
    ['unknown RFQ conversion', 'rfq 4.5', 'rejected: rfq_conversion_not_found or bad_request'],
    ofPair(async () => rejectedWith(['rfq_conversion_not_found', 'bad_request'], await rfq.conversion(NO_ID))),
  );
  await checks.check(
    [
      'RFQ conversions',
      'rfq 4.6',
      'at most the requested number of conversions, and none of the quote that these checks requested',
    ],
    ofPair(async () => {
      const { conversions, totalCount } = valueIn(await rfq.conversions({ pageSize: 5 }));
      const isExecuted = conversions.some(({ quoteId }) => quoteId === quote?.id);
      return judged(
        `${conversions.length} of ${totalCount ?? 'an unknown number'}`,
        conversions.length <= 5 && !isExecuted,
      );
    }),
  );
}

const isNotEnabled = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === 'refused' && NOT_ENABLED.includes(outcome.code);

/** Returns the value of the smallest order at the best ask, in quote currency, rounded up to `decimals`. */
function spentOn({ instrument, ask }: CheckedMarket, decimals: number): Money {
  const price = moneyOf(ask);
  const lots = BigInt(lotsFor(instrument, Number(price / instrument.tickMoney) as Price));
  const unit = 10n ** BigInt(18 - Math.min(18, decimals));
  const value = (lots * instrument.lotMoney * price) / 10n ** 18n;
  return money(((value + unit - 1n) / unit) * unit);
}

/** Checks webhooks: the public keys of deliveries and, if there is a callback URL, its registration. */
export async function webhookChecks(client: Endpoints, callbackUrl: string | null, checks: Checks): Promise<void> {
  await checks.check(
    ['keys of webhooks', 'public-facts 15', 'a list of public keys, each with its own id'],
    async () => {
      const keys = valueIn(await client.webhookKeys());
      return judged(counted(keys.length, 'key'), new Set(keys.map(({ id }) => id)).size === keys.length);
    },
  );
  await checks.check(
    ['register a webhook', 'rfq 4.7', 'a webhook with the callback URL, for the event TRANSACTION'],
    async () => {
      if (callbackUrl === null)
        return skipped(
          'not sent, because the webhook would stay registered; to register a webhook, use puntas webhooks register',
        );
      const { webhooks } = valueIn(await client.registerWebhook(callbackUrl));
      return judged(
        webhooks.map(({ callbackUrl: url, event }) => `${url} for ${event}`).join(', '),
        webhooks.some(one => one.callbackUrl === callbackUrl && one.event === 'TRANSACTION'),
      );
    },
  );
  await checks.check(
    ['register the webhook again', 'rfq 4.7', 'rejected, with a message that names the event TRANSACTION'],
    async () => {
      if (callbackUrl === null) return skipped('no webhook was registered');
      const outcome = await client.registerWebhook(callbackUrl);
      return judged(outcomeText(outcome), outcome.kind === 'refused' && /transaction/i.test(outcome.message));
    },
  );
}
