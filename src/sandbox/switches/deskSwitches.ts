/**
 * Switches of the RFQ desk, the transactions and the webhooks: behavior that the interface document on RFQ and webhooks
 * leaves open.
 */
import { choice, quantity } from './switchKinds.ts';

/**
 * Switches of the RFQ desk. Sources name sections of the document on RFQ and webhooks ("rfq") and of the public-facts
 * sheet ("facts").
 */
export const RFQ_SWITCHES = {
  rfqAuthErrors: choice(['rfq', 'v3'], 'Format of RFQ authentication, permission and rate-limit errors.', 'rfq 5'),
  rfqForbidden: choice(
    ['everywhere', 'conversions only'],
    'RFQ calls that need the RFQ permission (without it: 403).',
    'rfq 4, 5',
  ),
  rfqBudget: choice(
    ['shared', 'own', 'none'],
    'Rate limit of RFQ calls: shared with private calls, separate, or none.',
    'facts 14, 18.2',
  ),
  rfqPairs: choice(
    ['listed', 'fetching_pairs_api_error'],
    'Answer to the RFQ pairs call: the list of pairs, or error 500.',
    'rfq 4.1',
  ),
  rfqStablecoinDecimals: quantity(
    6,
    2,
    8,
    'Decimals of source amounts in dollar stablecoins (target amounts: 8).',
    'facts 14',
  ),
  rfqQuoteLifeMs: quantity(
    30_000,
    1000,
    3_600_000,
    'Lifetime of RFQ quotes, rounded down to seconds.',
    'rfq 8, facts 14',
  ),
  rfqTimeForm: choice(['seconds', 'nanoseconds'], 'Resolution of expires_at.', 'rfq conventions, fixtures'),
  rfqSpreadPips: quantity(20, 0, 5000, 'RFQ spread (1/10000).', 'rfq 2.2'),
  rfqBothAmounts: choice(
    ['invalid_provided_amount', 'source', 'target'],
    'Answer to a quote request with both amounts: error, or quote for one amount.',
    'rfq 4.2, facts 14',
  ),
  rfqCapacityPips: quantity(
    250,
    0,
    10_000,
    'RFQ capacity per direction (1/10000 of maximum order value, first book of the route).',
    'rfq 2.2',
  ),
  rfqRefillMs: quantity(60_000, 0, 86_400_000, 'Time to refill exhausted RFQ capacity.', 'rfq 2.2'),
  rfqMaxTradableIn: choice(
    ['source', 'fixed'],
    'Currency of max_tradable_amount: source currency, or currency of the requested amount.',
    'rfq 2.2, fixtures',
  ),
  rfqCancelMovePips: quantity(
    0,
    0,
    10_000,
    'Source currency depreciation (1/10000) that cancels an RFQ quote; 0: never.',
    'rfq 3, 4.4',
  ),
  rfqConvertOrder: choice(
    ['state first', 'funds first'],
    'Whether the convert call first checks the quote state or the funds.',
    'rfq 4.4',
  ),
  rfqExecutedAfterExpiry: choice(
    ['quote_not_found', 'quote_already_executed'],
    'Error if an executed quote is executed again after its expiry.',
    'rfq 3, 4.4',
  ),
  rfqConversionId: choice(['own', 'quote id'], 'Ids of conversions.', 'facts 14'),
  rfqDelayMinMs: quantity(200, 0, 600_000, 'Minimum duration of PENDING conversions.', 'rfq 3'),
  rfqDelayMaxMs: quantity(
    2000,
    0,
    600_000,
    'Maximum duration of PENDING conversions; 0: outcome in the reply.',
    'rfq 3',
  ),
  rfqFailurePips: quantity(0, 0, 10_000, 'Share of conversions that fail (1/10000).', 'rfq 3'),
  rfqFunds: choice(
    ['moved at the end', 'locked at once'],
    'Whether PENDING conversions lock their source amount.',
    'rfq 3',
  ),
  rfqListOrder: choice(
    ['newest first', 'oldest first', 'by id'],
    'Sort order of the conversion list.',
    'rfq 4.6, facts 14',
  ),
  rfqPageSizeMax: quantity(500, 1, 10_000, 'Maximum page_size.', 'rfq 8, facts 14'),
  rfqLastToken: choice(['omitted', 'empty'], 'next_page_token of the last page.', 'rfq 4.6'),
  rfqPageTokens: choice(
    ['encrypted', 'failed_creating_page_token', 'failed_creating_page_token_placeholder', 'unexpected'],
    'Page tokens: encrypted, or error 500 with the selected code instead.',
    'rfq 4.6, 7',
  ),
} as const;

export const WEBHOOK_SWITCHES = {
  webhookHosts: choice(['loopback', 'any'], 'Allowed hosts of callback URLs.', 'facts 15'),
  webhookEventCase: choice(['upper', 'lower'], 'Letter case of "event" in registration replies.', 'facts 15, 17.19'),
  webhookRefusalStatus: choice(['400', '409', '200'], 'HTTP status of a rejected registration.', 'rfq 4.7, 7'),
  webhookTimeForm: choice(['milliseconds', 'seconds'], 'Resolution of created_at and updated_at in events.', 'rfq 2.5'),
  webhookDelayMinMs: quantity(20, 0, 600_000, 'Minimum webhook delivery delay.', 'rfq 6'),
  webhookDelayMaxMs: quantity(
    1500,
    0,
    600_000,
    'Maximum webhook delivery delay; 0: deliveries in event order.',
    'rfq 6',
  ),
  webhookSkipPips: quantity(
    1000,
    0,
    10_000,
    'Share of PENDING and IN_PROGRESS events that are not sent (1/10000).',
    'rfq 3, 6',
  ),
  webhookRepeatPips: quantity(500, 0, 10_000, 'Share of events that are delivered twice (1/10000).', 'rfq 6'),
  webhookDeadlineMs: quantity(5000, 1, 60_000, 'Timeout of a callback request.', 'rfq 8'),
  webhookAttemptsMax: quantity(20, 1, 1000, 'Maximum attempts per delivery.', 'facts 15, 18.12'),
  webhookBackOffMs: quantity(
    1000,
    1,
    3_600_000,
    'Delay before the first retry; doubles with each retry.',
    'facts 15, 18.12',
  ),
  webhookBackOffMaxMs: quantity(300_000, 1, 86_400_000, 'Maximum retry delay.', 'facts 15, 18.12'),
  webhookRefused: choice(['final', 'retried'], 'Whether deliveries answered with 3xx or 4xx are retried.', 'facts 15'),
  webhookSignature: choice(['off', 'rsa'], 'Signature headers of deliveries.', 'facts 15, 18.12'),
  transactionStepMs: quantity(500, 0, 3_600_000, 'Time between transaction status changes.', 'rfq 3'),
  withdrawalTotal: choice(
    ['at creation', 'at completion'],
    'When a withdrawal reduces the total balance.',
    'rest-api 2.9',
  ),
  transferListDelayMs: quantity(
    1000,
    0,
    86_400_000,
    'Delay from transfer booking to listing.',
    'rest-api 2.9, facts 9.4',
  ),
  refundStepId: choice(['later', 'with the status'], 'Webhook that has the ID of a completed refund step.', 'rfq 2.6'),
} as const;
