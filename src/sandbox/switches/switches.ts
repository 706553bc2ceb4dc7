/**
 * Switches for all behavior that the interface documents leave open, each with default, variants, effect and source.
 */
import { RFQ_SWITCHES, WEBHOOK_SWITCHES } from './deskSwitches.ts';
import { STREAM_SWITCHES } from './streamSwitches.ts';
import { choice, quantity, withOverrides, type ValuesOf } from './switchKinds.ts';

/**
 * All switches, also for docs and tests. Sources name sections of the public-facts sheet ("facts") and of the interface
 * document ("rest-api").
 */
export const SWITCHES = {
  authHeaders: choice(
    ['bitso', 'plain', 'either'],
    'Credential headers: one (Authorization), three, or either form.',
    'facts 2.1, rest-api 5',
  ),
  nonce: choice(
    ['v2', 'v2 strict', 'v1', 'unchecked'],
    'Required nonces: unique, 13–19 digits (v2) or 14–19 (v2 strict); or increasing (v1).',
    'facts 2.3, 18.1',
  ),
  nonceSkewMs: quantity(
    0,
    0,
    86_400_000,
    'Maximum difference between v2 nonce and clock; 0: unchecked.',
    'facts 2.3, 18.1',
  ),
  noncesKept: quantity(10_000, 1, 1_000_000, 'Remembered v2 nonces per API key (minimum).', 'facts 18.1'),
  wrongSignature: choice(['0215', '0201'], 'Error code for a wrong signature.', 'facts 10'),
  rateLimits: choice(['on', 'off'], 'Whether request limits apply.', 'facts 11'),
  rateWindow: choice(
    ['fixed', 'sliding'],
    'Period of the request limits: clock minute, or last 60 s.',
    'facts 11, 18.2',
  ),
  publicPerMinute: quantity(60, 1, 1_000_000, 'Maximum public requests per IP address.', 'facts 11'),
  privatePerMinute: quantity(300, 1, 1_000_000, 'Maximum private requests per account, excluding cancels.', 'facts 11'),
  lockoutMs: quantity(
    60_000,
    0,
    86_400_000,
    'Lockout duration (status 420, code 0801) after exceeding a limit.',
    'facts 11',
  ),
  signedPublicBudget: choice(['public', 'private'], 'Request limit that counts signed public requests.', 'facts 11'),
  engineDelayMinMs: quantity(1, 0, 60_000, 'Minimum delay before order matching.', 'facts 16.3'),
  engineDelayMaxMs: quantity(
    20,
    0,
    60_000,
    'Maximum delay before order matching; 0: matching before the reply.',
    'facts 16.3',
  ),
  cancelTiming: choice(
    ['at once', 'queued'],
    'Whether cancels execute before the reply or after the engine delay.',
    'rest-api 3, facts 8',
  ),
  trading: choice(['on', 'off'], 'off: orders are rejected (0410).', 'facts 5.3'),
  marketOrders: choice(['on', 'off'], 'off: market orders are rejected (0411).', 'facts 5.3'),
  api: choice(['on', 'off'], 'off: new orders are rejected (1000).', 'facts 5.3'),
  postOnlyCross: choice(
    ['cancel', 'refuse'],
    'Crossing post-only orders: cancel, or reject (1002).',
    'facts 16.1, 18.4',
  ),
  unknownParameters: choice(['ignored', '0304'], 'Treatment of unknown query or body parameters.', 'facts 7'),
  orderNumbers: choice(['0372', 'accepted'], 'Whether price and amount can be JSON numbers.', 'facts 5.1'),
  offTickPrice: choice(
    ['refuse', 'round'],
    'Off-tick prices: reject (0407), or round bids down and asks up.',
    'facts 5.1, 16.3',
  ),
  selfTrade: choice(
    ['allow', 'drop-new', 'remove-old'],
    'Self-trades: allow, or cancel the new or resting order.',
    'facts 16.1, 18.5',
  ),
  openOrdersMax: quantity(10_000, 1, 1_000_000, 'Maximum open orders per account (beyond: 1001).', 'facts 16.3, 18.3'),
  slippageReference: choice(
    ['best', 'last'],
    'Reference for slippage_tolerance: best opposite price, or last trade.',
    'facts 5.1, 18.9',
  ),
  slippageOutcome: choice(
    ['cancel rest', 'refuse'],
    'Orders beyond slippage_tolerance: cancel the unfilled rest, or reject (1002).',
    'facts 5.1, 18.9',
  ),
  stopDirection: choice(
    ['by side', 'from last'],
    'Trigger direction of stops: from order side or last price.',
    'facts 16.1',
  ),
  stopLocks: choice(['at placement', 'at trigger'], 'When a stop order locks funds.', 'facts 18.14'),
  stopInOpenOrders: choice(
    ['queued', 'hidden'],
    'Whether open_orders lists untriggered stop-limit orders.',
    'rest-api 2.4, facts 16.1, 18.14',
  ),
  replaceRace: choice(
    ['created', 'dropped'],
    'Whether replacing a finished order (v3) creates the new order.',
    'facts 6, 16.3',
  ),
  modifyPriority: choice(['lost', 'kept when reduced'], 'Queue priority after v4 modify.', 'facts 6, 18.6'),
  modifyMajor: choice(
    ['original', 'remaining'],
    'Whether "major" of v4 modify includes the filled part.',
    'facts 6, 18.6',
  ),
  cancelUnknown: choice(['omitted', '0312'], 'Answer to cancels of unknown IDs.', 'facts 8, 18.8'),
  lookupUnknown: choice(['omitted', '0312'], 'Answer to lookups of unknown IDs.', 'facts 7, 18.8'),
  idsPerCallMax: quantity(1000, 1, 100_000, 'Maximum IDs per lookup or cancel (beyond: 0304).', 'facts 8, 18.3'),
  finishedVisibleMs: quantity(3_600_000, 0, 86_400_000, 'How long lookups find finished orders.', 'facts 7, 16.3'),
  tradeRecordDelayMs: quantity(
    25,
    0,
    3_600_000,
    'Delay from fill to listed trade; until then, error 0377.',
    'facts 9.2, 16.3',
  ),
  unmatchedTrades: choice(['0378', 'empty'], 'order_trades answer for an unmatched live order.', 'facts 9.2, 16.3'),
  unknownOrderTrades: choice(['empty', '0312'], 'order_trades answer for an unknown order.', 'facts 7'),
  absentFields: choice(['null', 'omitted'], 'Form of unset order fields "stop" and "triggered_at".', 'facts 7'),
  feeSign: choice(['positive', 'negative'], 'Sign of fees_amount.', 'facts 9.2, 17.10'),
  feeRounding: choice(['half up', 'up', 'down'], 'Fee rounding at eight decimals.', 'facts 16.2'),
  tradesOfUnknownBook: choice(['empty', '0301'], 'Answer for public trades of an unknown book.', 'facts 4.4, 17.17'),
  tickerWithoutBook: choice(['all', '0301'], 'Answer to GET ticker without a book.', 'facts 4.2, 17.16'),
  limitAboveMax: choice(['capped', '0320'], 'Page limits above 100.', 'rest-api 8'),
  sequenceForm: choice(['string', 'number'], 'JSON type of sequence in order_book.', 'rest-api 2.6, facts 4.3'),
  flatRate: choice(['fraction', 'percent'], 'Unit of fees.flat_rate in available_books.', 'facts 4.1, 17.8'),
  limitBelowOne: choice(['default', '0320'], 'Page limits of zero or below.', 'rest-api 4, clients'),
  defaultChart: choice(['trading view', 'tradingview'], 'Value of default_chart.', 'rest-api 2.7, facts 17.9'),
  bookUpdatedAt: choice(['last update', 'reply'], 'updated_at of order_book.', 'rest-api 2.6, facts 4.3'),
  bookTimes: choice(['milliseconds', 'seconds'], 'Time resolution in order_book and ticker.', 'rest-api 0, facts 3'),
  tickerWithoutMarket: choice(
    ['zero', 'null'],
    'Ticker prices of books without orders or trades.',
    'facts 4.2, fixtures',
  ),
  orderUpdatedAt: choice(['created_at', 'null'], 'updated_at of unchanged orders.', 'rest-api 2.4, fixtures'),
  avatarField: choice(['avatar_img', 'gravatar_img', 'both'], 'Avatar field of account_status.', 'facts 17.11'),
  conversions: choice(['on', 'off'], 'off: conversions are rejected (1009).', 'facts 13'),
  conversionBothAmounts: choice(['0361', '0308'], 'Error if a conversion has both amounts.', 'facts 13, rest-api 7'),
  conversionNoAmount: choice(['0360', '0309'], 'Error if a conversion has no amount.', 'facts 13, rest-api 7'),
  conversionPaddingPips: quantity(100, 0, 10_000, 'Spread of a conversion.', 'facts 13'),
  conversionQueueMs: quantity(
    1000,
    0,
    600_000,
    'Duration of a conversion: status open for the first half, queued for the second.',
    'facts 13',
  ),
  conversionOutcome: choice(['completed', 'failed'], 'Outcome of conversions.', 'facts 13'),
  quoteLifeMs: quantity(30_000, 1, 3_600_000, 'Conversion quote lifetime.', 'rest-api 4.10'),
  ...RFQ_SWITCHES,
  ...WEBHOOK_SWITCHES,
  ...STREAM_SWITCHES,
} as const;

type Table = typeof SWITCHES;
export type SwitchName = keyof Table;
export type Switches = ValuesOf<Table>;

const RANGES = [
  ['engineDelayMinMs', 'engineDelayMaxMs'],
  ['rfqDelayMinMs', 'rfqDelayMaxMs'],
  ['webhookDelayMinMs', 'webhookDelayMaxMs'],
  ['feedDelayMinMs', 'feedDelayMaxMs'],
] as const;

/** Returns the switches of `base`, or the default switches, with overrides; see `withOverrides`. */
export const switchesOf = (overrides: Partial<Switches> = {}, base?: Switches): Switches =>
  withOverrides(SWITCHES, RANGES, overrides, base);
