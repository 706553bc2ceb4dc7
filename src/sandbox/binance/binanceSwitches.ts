/**
 * Switches of the second embedded exchange: faults of answers, orders, clock and stream, and its limits. All faults are
 * off by default.
 */
import { choice, quantity, withOverrides, type ValuesOf } from '../switches/switchKinds.ts';

const PIPS_MAX = 10_000;
const MS_MAX = 600_000;
/** Source of limits: rest-api.md and web-socket-streams.md of github.com/binance/binance-spot-api-docs at a5e0bc3. */
const DOCUMENTED = 'spot-api-docs a5e0bc3';
const OWN = 'own choice';

export const SECOND_SWITCHES = {
  faultScope: choice(
    ['orders', 'writes', 'signed', 'all'],
    'Requests whose answers can be lost, cut or replaced by an error.',
    OWN,
  ),
  requestLostPips: quantity(0, 0, PIPS_MAX, 'Share of requests that are lost before execution (1/10000).', OWN),
  answerLostPips: quantity(0, 0, PIPS_MAX, 'Share of answers that are lost after execution (1/10000).', OWN),
  lostAs: choice(
    ['closed', 'silence'],
    'Effect of a loss: the connection is closed, or stays open without an answer.',
    OWN,
  ),
  answerCutPips: quantity(
    0,
    0,
    PIPS_MAX,
    'Share of answers that end in the middle of the body, after execution (1/10000).',
    OWN,
  ),
  serverErrorPips: quantity(0, 0, PIPS_MAX, 'Share of requests that are answered with serverError (1/10000).', OWN),
  serverError: choice(
    ['502', '503', '504', '-1000', '-1001', '-1006', '-1007', '-1008'],
    'Answer of a server error: an HTML page with this HTTP status, or JSON with this code.',
    DOCUMENTED,
  ),
  serverErrorExecutes: choice(
    ['half', 'always', 'never'],
    'Share of requests answered with serverError that are executed nevertheless.',
    OWN,
  ),
  rejectPips: quantity(0, 0, PIPS_MAX, 'Share of orders that are rejected with the code of rejectAs (1/10000).', OWN),
  rejectAs: choice(
    ['-2010', '-1013', '-1015', '-1021', '-2015'],
    'Error code of the orders that rejectPips rejects.',
    DOCUMENTED,
  ),
  requestDelayMinMs: quantity(0, 0, MS_MAX, 'Minimum delay from request to execution.', OWN),
  requestDelayMaxMs: quantity(0, 0, MS_MAX, 'Maximum delay from request to execution.', OWN),
  answerDelayMinMs: quantity(0, 0, MS_MAX, 'Minimum delay from execution to answer.', OWN),
  answerDelayMaxMs: quantity(0, 0, MS_MAX, 'Maximum delay from execution to answer.', OWN),
  iocFillPips: quantity(PIPS_MAX, 0, PIPS_MAX, 'Maximum filled share of IOC orders (1/10000).', OWN),
  lookupDelayMs: quantity(
    0,
    0,
    MS_MAX,
    'Time after placement in which look-ups answer -2013 (order does not exist).',
    OWN,
  ),
  tradeRecordDelayMs: quantity(0, 0, MS_MAX, 'Delay between fill and trade record.', OWN),
  throttle: choice(
    ['off', '429', '418', '403'],
    'HTTP status with which every request is rejected; off: none.',
    DOCUMENTED,
  ),
  retryAfterS: quantity(
    5,
    1,
    259_200,
    'Retry-After header of rejections by throttle or by a limit, in seconds.',
    DOCUMENTED,
  ),
  rateLimits: choice(['on', 'off'], 'Whether request weights and order counts are limited.', DOCUMENTED),
  weightPerMinute: quantity(6_000, 1, 1_000_000, 'Maximum request weight per address and minute.', DOCUMENTED),
  ordersPer10s: quantity(50, 1, 1_000_000, 'Maximum unfilled orders per account in 10 s.', DOCUMENTED),
  ordersPerDay: quantity(160_000, 1, 10_000_000, 'Maximum unfilled orders per account and day.', DOCUMENTED),
  banAfter: quantity(10, 1, 1_000_000, 'Number of 429 answers after which an address gets 418.', OWN),
  openOrdersMax: quantity(200, 1, 10_000, 'Maximum open orders per account and book.', DOCUMENTED),
  clockOffsetMs: quantity(0, -86_400_000, 86_400_000, 'Offset of the exchange clock.', OWN),
  trading: choice(['on', 'off'], 'off: orders are rejected (-1013, market is closed).', DOCUMENTED),
  bnbFees: choice(['off', 'on'], 'Whether fees are paid in BNB, with a discount of 25%.', DOCUMENTED),
  books: choice(['live', 'frozen'], 'frozen: depth and best prices no longer change, but trading continues.', OWN),
  streamFrames: choice(['sent', 'withheld'], 'withheld: sockets open but receive no data.', OWN),
  streamDelayMs: quantity(0, 0, MS_MAX, 'Delay of stream frames.', OWN),
  streamDropEvery: quantity(0, 0, 1_000_000, 'Drops every n-th depth frame.', OWN),
  streamCloseEvery: quantity(0, 0, 1_000_000, 'Closes a socket after n frames.', OWN),
  streamPingMs: quantity(20_000, 0, 3_600_000, 'Interval of ping frames; 0: no ping frames.', DOCUMENTED),
  streamPongMs: quantity(60_000, 1, 3_600_000, 'Time without a pong after which a socket is closed.', DOCUMENTED),
  streamLifeMs: quantity(86_400_000, 1_000, 86_400_000, 'Lifetime of a socket.', DOCUMENTED),
  streamReceivedMax: quantity(5, 1, 1_000, 'Maximum messages from a client in one second.', DOCUMENTED),
} as const;

export type SecondSwitches = ValuesOf<typeof SECOND_SWITCHES>;

/** Returns the switches of `base`, or the default switches, with overrides; see `withOverrides`. */
export const secondSwitchesOf = (overrides: Partial<SecondSwitches> = {}, base?: SecondSwitches): SecondSwitches =>
  withOverrides(
    SECOND_SWITCHES,
    [
      ['requestDelayMinMs', 'requestDelayMaxMs'],
      ['answerDelayMinMs', 'answerDelayMaxMs'],
    ],
    overrides,
    base,
  );
