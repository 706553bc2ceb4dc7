/**
 * Ladders that the program itself configures: one order far from the market for a trial, and the plain ladder of a new
 * configuration.
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

/** Price below any market price and any tick size. */
const NOTHING = '0.000000000000000001';
/** Parameters that keep the order at its price in any market, and delay the next order after a fill by an hour. */
const STAYS = { refreshToleranceBps: 5_000, maxOrderAgeMs: 86_400_000, filledOrderDelayMs: 3_600_000 };

/** Configures one order at `bps` from the mid price. The other side does not quote. */
export const loneOrder = (instrument: Instrument, side: Side, lots: Amount, bps: number): Named =>
  sidesOff(instrument, lots, bps, { buy: side === 'sell', sell: side === 'buy' });

/** Configures a ladder that quotes neither side: its floor is above its ceiling, which no file may have. */
export const noOrder = (instrument: Instrument, bps: number): Named =>
  sidesOff(instrument, instrument.amountMin, bps, { buy: true, sell: true });

const sidesOff = (instrument: Instrument, lots: Amount, bps: number, off: Readonly<Record<Side, boolean>>): Named => ({
  name: NAME,
  ...ladderParameters.parse({
    halfSpreadBps: bps,
    amount: textOfAmount(instrument, lots),
    ...STAYS,
  }),
  ...(off.sell && { priceFloor: textOfPrice(instrument, instrument.priceMax) }),
  ...(off.buy && { priceCeiling: NOTHING }),
});

/** Operator's answers about the plain ladder. */
type PlainAnswers = {
  readonly halfSpreadBps: number;
  readonly levels: number;
  /** Amount of one order, in the base currency. */
  readonly amount: DecimalText;
};

/**
 * Configures a ladder around the mid price, with keys as in YAML. The skew is a third of the half-spread; the level
 * spacing is a fifth of the half-spread.
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

/** Rounds to a tenth of a bps; returns at least 0.1 bps. */
const tenth = (bps: number): number => Math.max(1, Math.round(10 * bps)) / 10;
