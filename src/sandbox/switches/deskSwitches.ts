/**
 * Switches of the RFQ desk, the transactions and the webhooks: behavior that the second interface document leaves open.
 */
import { choice, quantity } from './switchKinds.ts';

/** Sources name sections of the document on RFQ and webhooks ("rfq") and of the public-facts sheet ("facts"). */
export const RFQ_SWITCHES = {
  rfqAuthErrors: choice(
    ['rfq', 'v3'],
    'Envelope in which RFQ calls tell errors of signature, nonce, permission and budget: RFQ with the four-digit code, or v3.',
    'rfq 5',
  ),
  rfqForbidden: choice(
    ['everywhere', 'conversions only'],
    'Which RFQ calls answer 403 to an account without RFQ.',
    'rfq 4, 5',
  ),
  rfqBudget: choice(
    ['shared', 'own', 'none'],
    'Whether RFQ calls count in the private budget, in one of the same size of their own, or not at all.',
    'facts 14, 18.2',
  ),
  rfqPairs: choice(['listed', 'fetching_pairs_api_error'], 'The list of pairs works, or fails with 500.', 'rfq 4.1'),
  rfqStablecoinDecimals: quantity(
    6,
    2,
    8,
    'Precision of a dollar stablecoin as the source of a pair; as the target it is 8.',
    'facts 14',
  ),
  rfqQuoteLifeMs: quantity(30_000, 1000, 3_600_000, 'Life of an RFQ quote, cut to whole seconds.', 'rfq 8, facts 14'),
  rfqTimeForm: choice(
    ['seconds', 'nanoseconds'],
    'Whether expires_at is written in whole seconds or with nine decimals.',
    'rfq conventions, fixtures',
  ),
  rfqSpreadPips: quantity(20, 0, 5000, 'What the desk keeps of the mid rate, in 1/10000.', 'rfq 2.2'),
  rfqBothAmounts: choice(
    ['invalid_provided_amount', 'source', 'target'],
    'A quote request with both amounts is refused, or that one is fixed.',
    'rfq 4.2, facts 14',
  ),
  rfqCapacityPips: quantity(
    250,
    0,
    10_000,
    'What the desk takes in one direction of a pair before it must rest, in 1/10000 of the maximum value of the first book on the way.',
    'rfq 2.2',
  ),
  rfqRefillMs: quantity(60_000, 0, 86_400_000, 'Time in which an empty desk is full again.', 'rfq 2.2'),
  rfqMaxTradableIn: choice(
    ['source', 'fixed'],
    'Currency of max_tradable_amount: the source, or the one whose amount was given.',
    'rfq 2.2, fixtures',
  ),
  rfqCancelMovePips: quantity(
    0,
    0,
    10_000,
    'The desk cancels a quote when the mid has moved so far against it, in 1/10000; 0 never.',
    'rfq 3, 4.4',
  ),
  rfqConvertOrder: choice(
    ['state first', 'funds first'],
    'What a conversion checks first after the expiry: executed or cancelled before, or the balance.',
    'rfq 4.4',
  ),
  rfqExecutedAfterExpiry: choice(
    ['quote_not_found', 'quote_already_executed'],
    'Executing a quote again when it has expired meanwhile: what any expired quote answers, or that it was executed.',
    'rfq 3, 4.4',
  ),
  rfqConversionId: choice(
    ['own', 'quote id'],
    'Conversions have ids of their own, or those of their quotes.',
    'facts 14',
  ),
  rfqDelayMinMs: quantity(200, 0, 600_000, 'Shortest time that a conversion is PENDING.', 'rfq 3'),
  rfqDelayMaxMs: quantity(2000, 0, 600_000, 'Longest such time. Both 0: the reply tells the end already.', 'rfq 3'),
  rfqFailurePips: quantity(
    0,
    0,
    10_000,
    'Share of conversions that end FAILED for no reason of theirs, in 1/10000.',
    'rfq 3',
  ),
  rfqFunds: choice(
    ['moved at the end', 'locked at once'],
    'Whether the source amount is locked while a conversion is PENDING; not locked, it may be gone at the end.',
    'rfq 3',
  ),
  rfqListOrder: choice(['newest first', 'oldest first', 'by id'], 'Order of the conversion list.', 'rfq 4.6, facts 14'),
  rfqPageSizeMax: quantity(500, 1, 10_000, 'Largest page_size; a larger one is cut to it.', 'rfq 8, facts 14'),
  rfqLastToken: choice(['omitted', 'empty'], 'next_page_token of the last page.', 'rfq 4.6'),
  rfqPageTokens: choice(
    ['encrypted', 'failed_creating_page_token', 'failed_creating_page_token_placeholder', 'unexpected'],
    'Page tokens work, or a list with a further page fails with 500 and this code.',
    'rfq 4.6, 7',
  ),
} as const;

export const WEBHOOK_SWITCHES = {
  webhookHosts: choice(
    ['loopback', 'any'],
    'Hosts that callback URLs may have. Loopback: an embedded exchange posts to nobody else.',
    'facts 15',
  ),
  webhookEventCase: choice(['upper', 'lower'], 'Case of event in the reply of a registration.', 'facts 15, 17.19'),
  webhookRefusalStatus: choice(['400', '409', '200'], 'HTTP status of a refused registration.', 'rfq 4.7, 7'),
  webhookTimeForm: choice(
    ['milliseconds', 'seconds'],
    'Resolution of created_at and updated_at in events; in seconds, several states share one.',
    'rfq 2.5',
  ),
  webhookDelayMinMs: quantity(20, 0, 600_000, 'Shortest time between a change and its first delivery.', 'rfq 6'),
  webhookDelayMaxMs: quantity(
    1500,
    0,
    600_000,
    'Longest such time; drawn for each delivery, so that they overtake each other. Both 0: in order.',
    'rfq 6',
  ),
  webhookSkipPips: quantity(
    1000,
    0,
    10_000,
    'Share of PENDING and IN_PROGRESS events that are never delivered, in 1/10000.',
    'rfq 3, 6',
  ),
  webhookRepeatPips: quantity(500, 0, 10_000, 'Share of deliveries that are made twice, in 1/10000.', 'rfq 6'),
  webhookDeadlineMs: quantity(5000, 1, 60_000, 'Time in which the callback must answer.', 'rfq 8'),
  webhookAttemptsMax: quantity(20, 1, 1000, 'Attempts per delivery before it is given up.', 'facts 15, 18.12'),
  webhookBackOffMs: quantity(
    1000,
    1,
    3_600_000,
    'Wait before the second attempt; doubled before each further one.',
    'facts 15, 18.12',
  ),
  webhookBackOffMaxMs: quantity(300_000, 1, 86_400_000, 'Longest such wait.', 'facts 15, 18.12'),
  webhookRefused: choice(
    ['final', 'retried'],
    'A delivery answered with 3xx or 4xx is over, or tried again like after 5xx.',
    'facts 15',
  ),
  webhookSignature: choice(
    ['off', 'rsa'],
    'Whether deliveries carry x-bitso-webhook-event-signature and x-bitso-key-id.',
    'facts 15, 18.12',
  ),
  transactionStepMs: quantity(
    500,
    0,
    3_600_000,
    'Time between two changes of a deposit, withdrawal, issuance, redemption or refund.',
    'rfq 3',
  ),
  withdrawalTotal: choice(
    ['at creation', 'at completion'],
    'A withdrawal leaves the total when it is created, and comes back when it fails; or its sum is locked until it is complete.',
    'rest-api 2.9',
  ),
  transferListDelayMs: quantity(
    1000,
    0,
    86_400_000,
    'Time after which what came into a balance or left it is shown by fundings, withdrawals and ledger.',
    'rest-api 2.9, facts 9.4',
  ),
  refundStepId: choice(
    ['later', 'with the status'],
    'The id of a finished refund step comes with a webhook of its own after the one that tells the end of the step, or with that one.',
    'rfq 2.6',
  ),
} as const;
