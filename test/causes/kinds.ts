/** Everything that must be caused once: each regime, each reason of one, each halt, each pause, each reason why a level has no order, each alert. */
import {
  REGIMES,
  type HaltKind,
  type QuotingRefusal,
  type Reason,
  type Regime,
  type WideReason,
} from '../../src/core/index.ts';
import type { SentinelHalt } from '../../src/live/safety/sentinel.ts';
import { ALERT_NAMES, type AlertName } from '../../src/monitor/index.ts';

/** The engine's own, the sentinel's, and what holds whoever said it. */
type Halt = HaltKind | `sentinel: ${SentinelHalt}` | 'a person' | 'something broke' | 'the latch cannot be read';
type Reduce = 'a person' | 'inventory is near its limit' | 'drawdown' | 'resumed beyond the limit';
/** Why nothing is quoted at all. */
type Pause = QuotingRefusal | 'the disk does not take the journal';
/** What is no reason against an order. */
type Shown = 'as wanted' | 'queue place' | 'price moved' | 'amount changed' | 'too old' | 'level not wanted';
/** Why one level, or one side, is not quoted, or not as wanted. */
type Level = Exclude<Reason, QuotingRefusal | Shown>;

export type Kind =
  | `regime: ${Regime}`
  | `wide: ${WideReason}`
  | `reduce only: ${Reduce}`
  | `halt: ${Halt}`
  | `pause: ${Pause}`
  | `level: ${Level}`
  | `alert: ${AlertName}`;

/** The compiler finds one that is missing. */
const WIDE: Readonly<Record<WideReason, true>> = {
  'the price moves fast': true,
  'the market is wide': true,
  'the book is thin': true,
};

const REDUCE: Readonly<Record<Reduce, true>> = {
  'a person': true,
  'inventory is near its limit': true,
  drawdown: true,
  'resumed beyond the limit': true,
};

const HALT: Readonly<Record<Halt, true>> = {
  drawdown: true,
  loss: true,
  position: true,
  fills: true,
  refusals: true,
  'unknown outcomes': true,
  messages: true,
  ledger: true,
  'later run': true,
  rival: true,
  'a person': true,
  'sentinel: no life': true,
  'sentinel: too many orders': true,
  'sentinel: started anew': true,
  'something broke': true,
  'the latch cannot be read': true,
};

const PAUSE: Readonly<Record<Pause, true>> = {
  stopping: true,
  halted: true,
  'paused by a person': true,
  'not ready': true,
  'no limits': true,
  'rules of the book changed': true,
  'book is not traded any more': true,
  'book stale': true,
  'book one-sided': true,
  'book crossed': true,
  'no live price': true,
  'price moved too far': true,
  'private data stale': true,
  'ledger differs from the balances': true,
  'sentinel is missing': true,
  'held by the sentinel': true,
  'too many unknown orders': true,
  'the disk does not take the journal': true,
};

const LEVEL: Readonly<Record<Level, true>> = {
  'its order is on its way': true,
  'its order is being canceled': true,
  'its order is unknown': true,
  'paused after refusals': true,
  'refused by the exchange': true,
  'refused as post-only': true,
  'post-only refused, waits for the book': true,
  'not sent': true,
  'makes way for a hedge': true,
  'price is not a number': true,
  'amount is not a number': true,
  'price below the minimum': true,
  'price above the maximum': true,
  'below the minimum amount': true,
  'below the minimum value': true,
  'merged into the next level': true,
  'cut to the maximum amount': true,
  'cut to the maximum value': true,
  'not towards the target': true,
  'price outside the collar': true,
  'price too far from past prices': true,
  'price or amount outside the book rules': true,
  'order value limit': true,
  'order amount limit': true,
  'order count limit': true,
  'position limit': true,
  'currency limit': true,
  'value limit': true,
  'hedge debt limit': true,
  'waits for a hedge': true,
  'no hedge elsewhere': true,
  'reduce only': true,
  'would cross the book': true,
  'would cross our own order': true,
  'would cross another order of the account': true,
  'insufficient funds': true,
  'at the cap': true,
  'no fair value': true,
  'cannot earn its fees': true,
  'outside its price range': true,
  'pulled: the leader moved': true,
  'pulled: a large trade': true,
  'pulled: the cross rates disagree': true,
  'held back by the strategy': true,
};

const named = (what: string, names: readonly string[]): readonly Kind[] =>
  names.map(name => `${what}: ${name}`) as readonly string[] as readonly Kind[];

export const KINDS: readonly Kind[] = [
  ...named('regime', REGIMES),
  ...named('wide', Object.keys(WIDE)),
  ...named('reduce only', Object.keys(REDUCE)),
  ...named('halt', Object.keys(HALT)),
  ...named('pause', Object.keys(PAUSE)),
  ...named('level', Object.keys(LEVEL)),
  ...named('alert', ALERT_NAMES),
];

/** What a process that ships cannot be brought to, why, and the test that holds it instead. */
export const ELSEWHERE: readonly { readonly of: Kind; readonly why: string; readonly test: string }[] = [
  { of: 'pause: no limits', why: 'the configuration requires all limits', test: 'test/core/risk/preTradeRisk.test.ts' },
  {
    of: 'level: price is not a number',
    why: 'no strategy that ships computes one; what it is made from is checked before',
    test: 'test/core/quoting/normalizeQuote.test.ts',
  },
  {
    of: 'level: amount is not a number',
    why: 'the same',
    test: 'test/core/quoting/normalizeQuote.test.ts',
  },
  {
    of: 'level: price or amount outside the book rules',
    why: 'a level is made legal before the gate sees it',
    test: 'test/core/risk/preTradeRisk.test.ts',
  },
  {
    of: 'level: would cross the book',
    why: 'a legal level stops one tick short of the other side',
    test: 'test/core/risk/preTradeRisk.test.ts',
  },
  {
    of: 'level: would cross another order of the account',
    why: 'a legal level stops one tick short of what the book shows, and the book shows that order as well',
    test: 'test/core/orders/foreignOrders.test.ts',
  },
  {
    of: 'level: order count limit',
    why: 'the configuration refuses more levels than limits.ordersMax, and a level with an order waits for it',
    test: 'test/core/risk/preTradeRisk.test.ts',
  },
  {
    of: 'level: not towards the target',
    why: 'a hedge is as large as the inventory, and is asked for anew when that falls',
    test: 'test/core/hedging/takerOrder.test.ts',
  },
  {
    of: 'level: refused as post-only',
    why: 'the market must move through a quote while that is on its way, within milliseconds',
    test: 'test/core/engine/postOnly.test.ts',
  },
  {
    of: 'level: post-only refused, waits for the book',
    why: 'the same',
    test: 'test/core/engine/postOnly.test.ts',
  },
  {
    of: 'level: currency limit',
    why: 'it needs fills in one direction in several books',
    test: 'test/core/risk/currencyLimits.test.ts',
  },
  {
    of: 'level: value limit',
    why: 'the same',
    test: 'test/core/risk/valueLimit.test.ts',
  },
  {
    of: 'level: hedge debt limit',
    why: 'it needs a second exchange on which hedges fail one after another',
    test: 'test/core/engine/hedgeDebt.test.ts',
  },
  {
    of: 'alert: PuntasHedgeDebt',
    why: 'the same',
    test: 'config/prometheus/alerts.test.yml',
  },
  {
    of: 'level: waits for a hedge',
    why: 'the same',
    test: 'test/core/engine/hedgeDebt.test.ts',
  },
  {
    of: 'level: pulled: the cross rates disagree',
    why: 'the prices of three books must differ by more than their fees',
    test: 'test/core/engine/crossRates.test.ts',
  },
  {
    of: 'level: pulled: the leader moved',
    why: 'a second market must jump, and the exchange here has one that is made by hand',
    test: 'test/core/quoting/quotePuller.test.ts',
  },
];
