/**
 * Ladders that the program itself configures: one far order for a trial, and the plain ladder of a new configuration.
 */
import {
  textOfAmount,
  textOfPrice,
  type Amount,
  type DecimalText,
  type Instrument,
  type Side,
} from '../../src/core/index.ts';
import { ladderParameters, type LadderParameters } from './parameters.ts';

const NAME = 'ladder';
type Named = LadderParameters & { readonly name: typeof NAME };

/** Price below every market, whatever the tick. */
const NOTHING = '0.000000000000000001';
/** Parameters that keep the order at its price in any market, and delay the next order after a fill by an hour. */
const STAYS = { refreshToleranceBps: 5_000, maxOrderAgeMs: 86_400_000, filledOrderDelayMs: 3_600_000 };

/** Configures one order at `bps` from the mid price; the other side does not quote. */
export const loneOrder = (instrument: Instrument, side: Side, lots: Amount, bps: number): Named => ({
  name: NAME,
  ...ladderParameters.parse({
    halfSpreadBps: bps,
    amount: textOfAmount(instrument, lots),
    ...STAYS,
    ...(side === 'buy' ? { priceFloor: textOfPrice(instrument, instrument.priceMax) } : { priceCeiling: NOTHING }),
  }),
});

/** The operator's answers for the plain ladder. */
type PlainAnswers = {
  readonly halfSpreadBps: number;
  readonly levels: number;
  /** Amount in the base currency. */
  readonly amount: DecimalText;
};

/**
 * Configures a ladder around the mid price, with keys as in YAML. The skew is a third of the half spread, the level
 * spacing a fifth.
 */
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

/** Rounds to a tenth of a bps, at least 0.1. */
const tenth = (bps: number): number => Math.max(1, Math.round(10 * bps)) / 10;
