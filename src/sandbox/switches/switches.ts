/**
 * Switches for all behavior that the interface documents leave open, each with default, variants, effect and source.
 */
import { RFQ_SWITCHES, WEBHOOK_SWITCHES } from './deskSwitches.ts';
import { STREAM_SWITCHES } from './streamSwitches.ts';
import { choice, quantity } from './switchKinds.ts';
import type { Choice, Variant } from './switchKinds.ts';

/**
 * Table read by the program, the docs and the tests. Sources name sections of the public-facts sheet ("facts") and of
 * the interface document ("rest-api").
 */
export const SWITCHES = {
  authHeaders: choice(
    ['bitso', 'plain', 'either'],
    'Authorization: Bitso key:nonce:signature, or the three headers key, signature, nonce.',
    'facts 2.1, rest-api 5',
  ),
  nonce: choice(
    ['v2', 'v2 strict', 'v1', 'unchecked'],
    'v2: 13 to 19 digits, no repeat; v2 strict: 14 to 19; v1: strictly increasing integers; unchecked: any digits.',
    'facts 2.3, 18.1',
  ),
  nonceSkewMs: quantity(
    0,
    0,
    86_400_000,
    'Largest distance of a v2 nonce from the clock, else 0207; 0 checks nothing.',
    'facts 2.3, 18.1',
  ),
  noncesKept: quantity(
    10_000,
    1,
    1_000_000,
    'Used v2 nonces remembered per key, at least; at most twice as many.',
    'facts 18.1',
  ),
  wrongSignature: choice(['0215', '0201'], 'Code of a wrong signature.', 'facts 10'),
  rateLimits: choice(['on', 'off'], 'Whether requests are counted at all.', 'facts 11'),
  rateWindow: choice(
    ['fixed', 'sliding'],
    'Windows of one minute of the clock, or the last 60 seconds at any moment.',
    'facts 11, 18.2',
  ),
  publicPerMinute: quantity(60, 1, 1_000_000, 'Public requests per minute and address.', 'facts 11'),
  privatePerMinute: quantity(
    300,
    1,
    1_000_000,
    'Private requests per minute and account; cancels are exempt.',
    'facts 11',
  ),
  lockoutMs: quantity(60_000, 0, 86_400_000, 'Time for which 420/0801 answers after the limit was passed.', 'facts 11'),
  signedPublicBudget: choice(
    ['public', 'private'],
    'Which budget a signed request to a public endpoint uses.',
    'facts 11',
  ),
  engineDelayMinMs: quantity(
    1,
    0,
    60_000,
    'Shortest time between the reply and the decision of the engine; status queued in between.',
    'facts 16.3',
  ),
  engineDelayMaxMs: quantity(
    20,
    0,
    60_000,
    'Longest such time. Both 0: the engine decides before the reply.',
    'facts 16.3',
  ),
  cancelTiming: choice(
    ['at once', 'queued'],
    'A listed cancel is true before the reply, or takes effect after the engine delay (a fill may come first).',
    'rest-api 3, facts 8',
  ),
  trading: choice(['on', 'off'], 'off: every order is refused with 0410.', 'facts 5.3'),
  marketOrders: choice(['on', 'off'], 'off: market orders are refused with 0411.', 'facts 5.3'),
  api: choice(['on', 'off'], 'off: order placement answers 1000.', 'facts 5.3'),
  postOnlyCross: choice(
    ['cancel', 'refuse'],
    'A crossing post-only order is accepted and then cancelled, or refused with 1002 when it crosses on arrival.',
    'facts 16.1, 18.4',
  ),
  unknownParameters: choice(
    ['ignored', '0304'],
    'A name in a query or body that the call does not take. On cancels, names that narrow another call are always refused.',
    'facts 7',
  ),
  orderNumbers: choice(
    ['0372', 'accepted'],
    'JSON numbers as price, major, minor and stop of an order: refused, or taken as they are written, as the exchange took them in 2017.',
    'facts 5.1',
  ),
  offTickPrice: choice(
    ['refuse', 'round'],
    'A price off the tick: 0407, or rounded (up for sells, down for buys).',
    'facts 5.1, 16.3',
  ),
  selfTrade: choice(
    ['allow', 'drop-new', 'remove-old'],
    'An order that meets one of the same account: they trade, the rest of the new one is dropped, or the resting one is removed.',
    'facts 16.1, 18.5',
  ),
  openOrdersMax: quantity(
    10_000,
    1,
    1_000_000,
    'Open orders per account before 1001. None is published; this one bounds memory.',
    'facts 16.3, 18.3',
  ),
  slippageReference: choice(
    ['best', 'last'],
    'Price that slippage_tolerance is measured from: the best opposite price when the engine decides, or the last trade.',
    'facts 5.1, 18.9',
  ),
  slippageOutcome: choice(
    ['cancel rest', 'refuse'],
    'What passes the tolerance is cancelled, or the whole order is refused with 1002 on arrival.',
    'facts 5.1, 18.9',
  ),
  stopDirection: choice(
    ['by side', 'from last'],
    'A buy stop waits for a rise and a sell stop for a fall; or a stop waits for the side of the last trade on which it lies.',
    'facts 16.1',
  ),
  stopLocks: choice(['at placement', 'at trigger'], 'When a stop order locks its balance.', 'facts 18.14'),
  stopInOpenOrders: choice(
    ['queued', 'hidden'],
    'An untriggered stop-limit order is listed as queued, or not listed. Market orders are never listed, with a stop or without.',
    'rest-api 2.4, facts 16.1, 18.14',
  ),
  replaceRace: choice(
    ['created', 'dropped'],
    'v3 replace of an order that finished meanwhile: the replacement lives, or is cancelled.',
    'facts 6, 16.3',
  ),
  modifyPriority: choice(
    ['lost', 'kept when reduced'],
    'v4 modify: always to the end of the queue, or a pure reduction keeps its place.',
    'facts 6, 18.6',
  ),
  modifyMajor: choice(
    ['original', 'remaining'],
    'v4 modify: whether a new major counts the part already filled.',
    'facts 6, 18.6',
  ),
  cancelUnknown: choice(
    ['omitted', '0312'],
    'Cancel of one unknown ID: 200 without it, or 400 with 0312 (0357 for an origin_id).',
    'facts 8, 18.8',
  ),
  lookupUnknown: choice(
    ['omitted', '0312'],
    'Lookup of one unknown ID: 200 with an empty array, or 400 with 0312 (0357 for an origin_id).',
    'facts 7, 18.8',
  ),
  idsPerCallMax: quantity(1000, 1, 100_000, 'IDs per lookup or cancel call, else 0304.', 'facts 8, 18.3'),
  finishedVisibleMs: quantity(
    3_600_000,
    0,
    86_400_000,
    'Time for which lookup shows a finished order.',
    'facts 7, 16.3',
  ),
  tradeRecordDelayMs: quantity(
    25,
    0,
    3_600_000,
    'Time after a fill in which its records are not written: order_trades answers 0377 and user_trades lacks them.',
    'facts 9.2, 16.3',
  ),
  unmatchedTrades: choice(['0378', 'empty'], 'order_trades of an order that is live and unmatched.', 'facts 9.2, 16.3'),
  unknownOrderTrades: choice(
    ['empty', '0312'],
    'order_trades of an unknown order: an empty array, or 0312 (0357 for an origin_id).',
    'facts 7',
  ),
  absentFields: choice(['null', 'omitted'], 'stop and triggered_at of an order that has none.', 'facts 7'),
  feeSign: choice(['positive', 'negative'], 'Sign of fees_amount.', 'facts 9.2, 17.10'),
  feeRounding: choice(['half up', 'up', 'down'], 'Rounding of a fee at eight decimals.', 'facts 16.2'),
  tradesOfUnknownBook: choice(['empty', '0301'], 'GET trades of an unknown book.', 'facts 4.4, 17.17'),
  tickerWithoutBook: choice(['all', '0301'], 'GET ticker without book: every book, or a refusal.', 'facts 4.2, 17.16'),
  limitAboveMax: choice(['capped', '0320'], 'A page limit above the maximum of 100.', 'rest-api 8'),
  sequenceForm: choice(['string', 'number'], 'JSON type of sequence in order_book.', 'rest-api 2.6, facts 4.3'),
  flatRate: choice(['fraction', 'percent'], 'Unit of fees.flat_rate in available_books.', 'facts 4.1, 17.8'),
  limitBelowOne: choice(
    ['default', '0320'],
    "A limit of zero or below: the default one, or a refusal. The official client's own tests expect no refusal.",
    'rest-api 4, clients',
  ),
  defaultChart: choice(
    ['trading view', 'tradingview'],
    'Spelling of default_chart: that of the document, or that of the wire.',
    'rest-api 2.7, facts 17.9',
  ),
  bookUpdatedAt: choice(
    ['last update', 'reply'],
    'updated_at of order_book: when the book last changed, or when the reply was built.',
    'rest-api 2.6, facts 4.3',
  ),
  bookTimes: choice(
    ['milliseconds', 'seconds'],
    'Times of order_book and ticker: 2026-01-02T03:04:05.678+00:00, one of the two forms of the document, or 2026-01-02T03:04:05+00:00, the third of the wire.',
    'rest-api 0, facts 3',
  ),
  tickerWithoutMarket: choice(
    ['zero', 'null'],
    'Prices of a ticker that no order or trade gives a value to. No recording has a null, and two official clients break on it.',
    'facts 4.2, fixtures',
  ),
  orderUpdatedAt: choice(
    ['created_at', 'null'],
    'updated_at of an order that was never changed: its created_at, as recorded, or null.',
    'rest-api 2.4, fixtures',
  ),
  avatarField: choice(
    ['avatar_img', 'gravatar_img', 'both'],
    'Name of the avatar field of account_status.',
    'facts 17.11',
  ),
  conversions: choice(['on', 'off'], 'off: conversions answer 1009.', 'facts 13'),
  conversionBothAmounts: choice(['0361', '0308'], 'Code when both amounts are given.', 'facts 13, rest-api 7'),
  conversionNoAmount: choice(['0360', '0309'], 'Code when neither amount is given.', 'facts 13, rest-api 7'),
  conversionPaddingPips: quantity(100, 0, 10_000, 'Spread on the market rate of a conversion, in 1/10000.', 'facts 13'),
  conversionQueueMs: quantity(
    1000,
    0,
    600_000,
    'Time that an executed conversion takes; half of it open, half queued.',
    'facts 13',
  ),
  conversionOutcome: choice(['completed', 'failed'], 'How executed conversions end.', 'facts 13'),
  quoteLifeMs: quantity(30_000, 1, 3_600_000, 'Life of a conversion quote.', 'rest-api 4.10'),
  ...RFQ_SWITCHES,
  ...WEBHOOK_SWITCHES,
  ...STREAM_SWITCHES,
} as const;

type Table = typeof SWITCHES;
export type SwitchName = keyof Table;
type ValueOf<S> = S extends Choice<infer V> ? V : number;
export type Switches = { readonly [K in SwitchName]: ValueOf<Table[K]> };

const RANGES = [
  ['engineDelayMinMs', 'engineDelayMaxMs'],
  ['rfqDelayMinMs', 'rfqDelayMaxMs'],
  ['webhookDelayMinMs', 'webhookDelayMaxMs'],
  ['feedDelayMinMs', 'feedDelayMaxMs'],
] as const;

/** Returns the defaults with overrides. Throws a RangeError with the switch, the value found and the values allowed. */
export function switchesOf(overrides: Partial<Switches> = {}, base?: Switches): Switches {
  const found = new Map<string, unknown>(Object.entries(overrides));
  const values = Object.entries(SWITCHES).map(([name, row]): [string, Variant | number] => {
    const over = found.get(name);
    found.delete(name);
    if (over === undefined) return [name, base ? base[name as SwitchName] : row.fallback];
    if (row.kind === 'quantity') {
      const whole = typeof over === 'number' && Number.isSafeInteger(over) ? over : Number.NaN;
      if (whole >= row.min && whole <= row.max) return [name, whole];
      throw new RangeError(
        `switch ${name}: expected a whole number from ${row.min} to ${row.max}, found ${JSON.stringify(over)}`,
      );
    }
    const variant = row.variants.find(v => v === over);
    if (variant !== undefined) return [name, variant];
    throw new RangeError(`switch ${name}: expected one of ${row.variants.join(', ')}, found ${JSON.stringify(over)}`);
  });
  for (const name of found.keys()) throw new RangeError(`unknown switch ${name}`);
  const switches = Object.fromEntries(values) as unknown as Switches;
  for (const [min, max] of RANGES) {
    if (!(switches[min] <= switches[max])) throw new RangeError(`switch ${min} must not be above ${max}`);
  }
  return switches;
}
