/** Reasons for placing, keeping, canceling or not placing a level: a closed set for display, metrics and tests. */
import type { LevelRefusal } from '../quoting/normalizeQuote.ts';
import { CROSS_RATES_DISAGREE } from '../quoting/priceDoubt.ts';
import { LARGE_PRINT, LEADER_MOVED } from '../quoting/quotePuller.ts';
import type { CancelReason } from '../quoting/quoteReconciler.ts';
import type { HedgeRefusal } from '../risk/hedgeDebt.ts';
import type { RiskRefusal } from '../risk/preTradeRisk.ts';

/** Action of a decision on a wanted level, or on an order without a wanted level. */
export const ACTIONS = ['placed', 'kept', 'waits', 'canceled', 'not placed'] as const;
export type DecisionAction = (typeof ACTIONS)[number];

/** Reason why a strategy wants no level on a side. The strategy's own text gives details. */
export type SilenceReason =
  | 'at the cap'
  | 'no fair value'
  | 'cannot earn its fees'
  | 'outside its price range'
  | 'reduce only'
  | HedgeRefusal
  | typeof LEADER_MOVED
  | typeof LARGE_PRINT
  | typeof CROSS_RATES_DISAGREE
  | 'held back by the strategy';

export type Reason =
  /** Placed, or kept at exactly the wanted price. */
  | 'as wanted'
  /** Kept within the price tolerance, to keep the order's place in the queue. */
  | 'queue place'
  | 'its order is on its way'
  | 'its order is being canceled'
  | 'its order is unknown'
  /** Pause of one side after the exchange rejected an order. */
  | 'paused after refusals'
  | 'refused by the exchange'
  /** The exchange accepted the order and canceled it on arrival, because it would have traded. */
  | 'refused as post-only'
  /** At or beyond the price of an order that was canceled on arrival; the visible book does not yet show the cause. */
  | 'post-only refused, waits for the book'
  /** Rejected locally: no request budget, or a halt or stop just before sending. */
  | 'not sent'
  /** The level conflicts with a taker order for a hedge. */
  | 'makes way for a hedge'
  | CancelReason
  | LevelRefusal
  | RiskRefusal
  | SilenceReason;

const ALL: Readonly<Record<Reason, true>> = {
  'as wanted': true,
  'queue place': true,
  'its order is on its way': true,
  'its order is being canceled': true,
  'its order is unknown': true,
  'paused after refusals': true,
  'refused by the exchange': true,
  'refused as post-only': true,
  'post-only refused, waits for the book': true,
  'not sent': true,
  'makes way for a hedge': true,
  'price moved': true,
  'amount changed': true,
  'too old': true,
  'level not wanted': true,
  'price is not a number': true,
  'amount is not a number': true,
  'price below the minimum': true,
  'price above the maximum': true,
  'below the minimum amount': true,
  'below the minimum value': true,
  'merged into the next level': true,
  'cut to the maximum amount': true,
  'cut to the maximum value': true,
  stopping: true,
  'not towards the target': true,
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
  'price outside the collar': true,
  'price too far from past prices': true,
  'price or amount outside the book rules': true,
  'order value limit': true,
  'order amount limit': true,
  'order count limit': true,
  'position limit': true,
  'currency limit': true,
  'value limit': true,
  'reduce only': true,
  'would cross the book': true,
  'would cross our own order': true,
  'would cross another order of the account': true,
  'insufficient funds': true,
  'too many unknown orders': true,
  'hedge debt limit': true,
  'waits for a hedge': true,
  'no hedge elsewhere': true,
  'at the cap': true,
  'no fair value': true,
  'cannot earn its fees': true,
  'outside its price range': true,
  [LEADER_MOVED]: true,
  [LARGE_PRINT]: true,
  [CROSS_RATES_DISAGREE]: true,
  'held back by the strategy': true,
};

export const REASONS: readonly Reason[] = Object.keys(ALL).filter((name): name is Reason => name in ALL);

/**
 * Returns the reason that belongs to the beginning of a strategy's text about an empty side. The text may continue
 * after a colon.
 */
export function silenceReason(words: string): SilenceReason {
  // Texts with this ending name the unknown input: best amounts, order flow, inventory, maker fee and so on.
  if (words.endsWith(' not known')) return 'no fair value';
  for (const [start, reason] of SILENCES) if (words.startsWith(start)) return reason;
  return 'held back by the strategy';
}

/** Beginnings of the texts with which strategies explain an empty side, and the reason for each. */
const SILENCES: readonly (readonly [string, SilenceReason])[] = [
  ['reduce only', 'reduce only'],
  [LEADER_MOVED, LEADER_MOVED],
  [LARGE_PRINT, LARGE_PRINT],
  [CROSS_RATES_DISAGREE, CROSS_RATES_DISAGREE],
  ['hedge debt is ', 'hedge debt limit'],
  ['hedge due at ', 'waits for a hedge'],
  ['a hedge is open at ', 'waits for a hedge'],
  ['consecutive failed hedges: ', 'waits for a hedge'],
  ['no hedge at ', 'no hedge elsewhere'],
  ['inventory is at ', 'at the cap'],
  ['one order is more inventory than the risk allows', 'at the cap'],
  ['no fair value', 'no fair value'],
  ['no trade was ', 'no fair value'],
  ['no reference was ', 'no fair value'],
  ['the fair value is ', 'no fair value'],
  ['the reference is ', 'no fair value'],
  ['the last trade is ', 'no fair value'],
  ['the spacing does not earn its fees', 'cannot earn its fees'],
  ['cannot earn its fees', 'cannot earn its fees'],
  ['every line is ', 'outside its price range'],
  ['reference above priceCeiling', 'outside its price range'],
  ['reference below priceFloor', 'outside its price range'],
  ['outside movingPriceBandPct', 'outside its price range'],
];
