/** Parameters that several strategies share: money, durations, levels, and tolerances of live orders. */
import { z } from 'zod';
import {
  counted,
  moneyOf,
  valueFloor,
  type DecimalText,
  type Instrument,
  type RequoteTolerance,
} from '../src/core/index.ts';
import { linear, among } from './tuning.ts';

export const decimalText = z
  .string()
  .regex(/^\d{1,20}(?:\.\d{1,18})?$/, 'expected a decimal number in quotes, like "0.25"');
export const aboveZero = decimalText.refine(text => /[1-9]/.test(text), 'must be above zero');
export const bps = z.number().min(0).max(5_000);

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(0*[1-9]\d{0,5})([smhd])$/;

/** Duration such as 90s, 10m, 1h or 1d. */
export const duration = z.string().regex(DURATION, 'expected a duration like 90s, 10m, 1h or 1d');

/** Converts a checked duration to ms. Throws a RangeError for other text. */
export function millisOf(text: string): number {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new RangeError(`expected a duration like 90s or 10m, found ${JSON.stringify(text)}`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

const SUM = /^(?=[\d.]*[1-9])(\d{1,20}(?:\.\d{1,18})?) ([a-z0-9]{2,12})$/;

/** Sum of money with its currency, such as "500 mxn". */
export const sumOfMoney = z.string().regex(SUM, 'expected a sum above zero with its currency, like "500 mxn"');

/** Returns the currency of a checked sum. */
export const currencyOf = (sum: string): string => SUM.exec(sum)?.[2] ?? '';

/** Converts a checked sum in the quote currency to ticks times lots, as a float that only models may use. */
export const tickLotsOf = (instrument: Instrument, sum: string): number =>
  Number(valueFloor(instrument, SUM.exec(sum)?.[1] ?? '0'));

/** Parameter `amountTolerance`, which every strategy has. */
export const amountTolerance = z
  .number()
  .min(0)
  .max(1)
  .optional()
  .describe('Maximum amount change (share) without replacing an order; if levels merge: at most 0.1. If omitted, 0.5.');

/** Parameter `minEdgeBps` of strategies without a model. */
export const minEdge = z
  .number()
  .min(-1_000)
  .max(5_000)
  .default(1)
  .describe('Minimum round-trip profit after both maker fees. Negative values accept losses for volume.');

/** Parameters of every strategy except the ladder, which has descriptions of its own. */
export const levelParameters = {
  amount: aboveZero.describe('Amount of one order (base).'),
  levels: z.int().min(1).max(20).default(1).describe('Levels per side.'),
  refreshToleranceBps: bps.default(2).describe('Maximum price change without replacing a live order.'),
  maxOrderAgeMs: z
    .int()
    .min(1_000)
    .max(86_400_000)
    .default(1_800_000)
    .describe('Age at which a live order is replaced.'),
  amountTolerance,
};

/** Ranges of the tunable level parameters. */
export const levelTuning = { levels: among(1, 2, 3, 5, 8), refreshToleranceBps: linear(0, 20) };

type Levels = {
  readonly amount: DecimalText;
  readonly levels: number;
  readonly refreshToleranceBps: number;
  readonly maxOrderAgeMs: number;
  readonly amountTolerance?: number | undefined;
};

/** Returns the differences in price, amount and age up to which the quote reconciler keeps a live order. */
export const toleranceOf = (
  p: Pick<Levels, 'refreshToleranceBps' | 'maxOrderAgeMs' | 'amountTolerance'>,
): RequoteTolerance => ({
  priceBps: p.refreshToleranceBps,
  amountShare: 1 - (p.amountTolerance ?? 0.5),
  maxAgeMs: p.maxOrderAgeMs,
});

export type LimitsAsked = {
  readonly positionMax: DecimalText;
  readonly ordersMax: number;
  readonly collarBps: number;
  /**
   * Maximum distance of the configured fair value from the mid price, in bps; absent if the fair value is the mid
   * price.
   */
  readonly fairValueBps?: number;
};
export type LimitProblem = { readonly key: string; readonly message: string };

/**
 * Returns the conflicts of levels of equal amounts with the limits. `fromFairBps` is the maximum distance of the last
 * level from the fair value; 0 if unknown.
 */
export function levelProblems(p: Levels, limits: LimitsAsked, fromFairBps = 0): readonly LimitProblem[] {
  const furthestBps = fromFairBps + (limits.fairValueBps ?? 0);
  const problems: LimitProblem[] = [];
  if (!(BigInt(p.levels) * moneyOf(p.amount) <= moneyOf(limits.positionMax))) {
    problems.push({
      key: 'amount',
      message: `the amounts of ${counted(p.levels, 'level')} on one side add up to more than limits.positionMax "${limits.positionMax}"`,
    });
  }
  if (!(2 * p.levels <= limits.ordersMax)) {
    problems.push({
      key: 'levels',
      message: `${counted(p.levels, 'level')} per side need ${counted(2 * p.levels, 'order')}, more than limits.ordersMax ${limits.ordersMax}`,
    });
  }
  if (!(furthestBps <= limits.collarBps)) {
    problems.push({
      key: 'levels',
      message: `the last level can be ${plainBps(furthestBps)} bps from the mid price, beyond limits.collarBps ${plainBps(limits.collarBps)}`,
    });
  }
  return problems;
}

/** Formats bps as text, without float rounding errors. */
export const plainBps = (x: number): string => String(Math.round(x * 1e6) / 1e6);
/** Returns the sum of the two maker fees of a round trip, in bps. `makerRate` is in parts of 10^-8. */
export const feesBps = (makerRate: number): number => (2 * makerRate) / 10_000;

/**
 * Returns why quotes at a total distance of `totalBps` cannot earn `minEdgeBps` over two maker fees (`fees`, in bps);
 * `null` if they can. `what` names the distance.
 */
export function narrowProblem(what: string, totalBps: number, minEdgeBps: number, fees: number): string | null {
  const needed = fees + minEdgeBps;
  if (Math.round(totalBps * 1e6) >= Math.round(needed * 1e6)) return null;
  return (
    `${what} of ${plainBps(totalBps)} bps is below both maker fees (together ${plainBps(fees)} bps) plus minEdgeBps ` +
    `${plainBps(minEdgeBps)}; widen ${what} to at least ${plainBps(needed)} bps`
  );
}
