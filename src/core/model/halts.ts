/**
 * Halt reasons: every kind with its message format. A halt with any other text does not compile, so that tests can
 * cover each kind.
 */

/** Events whose number per time window has a halt limit. */
export type CountedHalt = 'fills' | 'refusals' | 'unknown outcomes' | 'messages';

type HaltTexts = {
  readonly drawdown: `drawdown: profit fell ${string} from its highest, the limit is ${string}`;
  readonly loss: `loss: ${string} lost since the start of the UTC day, the limit is ${string}`;
  readonly position: `position: ${string} from the target is beyond its limit`;
  readonly ledger: `the exchange's balances differ from our ledger by ${string} (reported minus ours)${'' | `; ${string}`}`;
  readonly 'later run': `order ${string} is of a later run of ${string}: another process trades under this name`;
  readonly rival: `orders of ${string} keep coming that this process did not place: another one trades under this name`;
} & { readonly [K in CountedHalt]: `${K}: more than ${number} in ${number} min` };

export type HaltKind = keyof HaltTexts;
export type HaltReason = HaltTexts[HaltKind];
export type LedgerHalt = HaltTexts['ledger'];
