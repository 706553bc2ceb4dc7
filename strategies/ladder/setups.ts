/** Ladders that the program itself sets up: one far order for a trial, and the plain one that a new configuration begins with. */
import { textOfAmount, textOfPrice } from '../../src/core/index.ts';
import type { Amount, DecimalText, Instrument, Side } from '../../src/core/index.ts';
import { ladderParameters } from './parameters.ts';
import type { LadderParameters } from './parameters.ts';

const NAME = 'ladder';
type Named = LadderParameters & { readonly name: typeof NAME };

/** Below every price, whatever the tick. */
const NOTHING = '0.000000000000000001';
/** Whatever the market does meanwhile, it stays where it is; and after a fill there is no other. */
const STAYS = { refreshToleranceBps: 5_000, maxOrderAgeMs: 86_400_000, filledOrderDelayMs: 3_600_000 };

/** One order, `bps` from the middle; the other side is silent. */
export const loneOrder = (instrument: Instrument, side: Side, lots: Amount, bps: number): Named => ({
  name: NAME,
  ...ladderParameters.parse({
    halfSpreadBps: bps,
    amount: textOfAmount(instrument, lots),
    ...STAYS,
    ...(side === 'buy' ? { priceFloor: textOfPrice(instrument, instrument.priceMax) } : { priceCeiling: NOTHING }),
  }),
});

/** What a person says of the plain one. */
type PlainAnswers = {
  readonly halfSpreadBps: number;
  readonly levels: number;
  /** In the major currency. */
  readonly amount: DecimalText;
};

/** Around the middle, leaning against inventory by a third of its distance, levels a fifth of that apart; keys as the YAML has them. */
export const plainLadder = ({ halfSpreadBps, levels, amount }: PlainAnswers) => ({
  name: NAME,
  halfSpreadBps,
  levels,
  levelSpacingBps: tenth(halfSpreadBps / 5),
  amount,
  refreshToleranceBps: tenth(halfSpreadBps / 10),
  minEdgeBps: 1,
  skew: { priceBpsAtLimit: tenth(halfSpreadBps / 3) },
});

/** Not below a tenth of a bps. */
const tenth = (bps: number): number => Math.max(1, Math.round(10 * bps)) / 10;
