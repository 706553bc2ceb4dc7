/**
 * Contract of strategy files: the exports of `puntas/strategy`. Changes follow semantic versioning (docs/upgrading.md).
 * A change that breaks strategy files also increments `CONTRACT`.
 */
import type { z } from 'zod';
import type { Instrument, RequoteTolerance, Strategy } from '../src/core/index.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';

/** Version of the contract between Puntas and a strategy file. */
export const CONTRACT = 1;

/** Maximum of `warmup` and of `history`, in ms: one day, the default time after which a new run starts. */
export const WARMUP_MAX_MS = 86_400_000;

/** Definition that a strategy file exports: `export default defineStrategy({ … })`. */
export type OwnDefinition<Schema extends z.ZodObject = z.ZodObject> = {
  /** Version of the contract for which the file was written. */
  readonly contract: typeof CONTRACT;
  /**
   * Zod object with one key per YAML key, all with JSON values. `amount` is required: the amount of one order in the
   * base currency, as decimal text.
   */
  readonly parameters: Schema;
  /**
   * Returns a new strategy without memory of earlier data. Each call evaluates the file again, so strategies do not
   * share variables of the file.
   */
  readonly make: (parameters: z.infer<Schema>, instrument: Instrument) => Strategy;
  /**
   * Returns why quotes with these parameters cannot earn the maker fee; `null` if they can. `makerRate`: maker fee, in
   * 10^-8. Default: always `null`.
   */
  readonly edgeProblem?: (parameters: z.infer<Schema>, makerRate: number) => string | null;
  /** Returns the conflicts of the parameters with the limits. Default: those of `amount` and `levels`. */
  readonly limitProblems?: (parameters: z.infer<Schema>, limits: LimitsAsked, book: string) => readonly LimitProblem[];
  /**
   * Returns the differences in price, amount and age up to which a live order is kept. Default: from the parameters
   * `refreshToleranceBps` (2 if missing), `maxOrderAgeMs` (1,800,000) and `amountTolerance` (0.5).
   */
  readonly tolerance?: (parameters: z.infer<Schema>) => RequoteTolerance;
  /**
   * Returns the time, in ms, for which a new strategy must see the market before it quotes. `quote` and `trade` are
   * called during this time, and the quotes are not used. At most `WARMUP_MAX_MS`. Default: 0.
   */
  readonly warmup?: (parameters: z.infer<Schema>) => number;
  /**
   * Returns the time, in ms, of past public trades that a new strategy needs. Puntas calls `trade` with them before the
   * first `quote`, and does not quote until they are complete: from the recordings of the bot, the tape of the key
   * `historyTape`, and the trades that the exchange lists. At most `WARMUP_MAX_MS`. Default: 0.
   */
  readonly history?: (parameters: z.infer<Schema>) => number;
  /** Whether the strategy needs a reference price to quote. */
  readonly needsReference?: true;
};

/** Arrival of an order at a price. Amounts are in lots of the book. */
export type OwnArrival = {
  /** Lots of other traders at the price. */
  readonly displayed: number;
  /** Lots of the order. */
  readonly amount: number;
  /** Whether the recording shows the price. If false, `displayed` is the amount that a snapshot showed last. */
  readonly isShown: boolean;
};

/** Queue of a fill model: its place in the queue on arrival, and its advance when others cancel. */
export type OwnQueue = {
  /**
   * Returns the lots of other traders ahead of an order on its arrival: at least 0. Lots beyond `displayed` are hidden:
   * they trade after the displayed ones, and are not canceled.
   */
  readonly ahead: (arrival: OwnArrival) => number;
  /**
   * Returns the share of canceled lots that were behind the order, from 0 to 1. `ahead` and `behind` are the displayed
   * lots before the cancel; at least one of them is above 0.
   */
  readonly canceledBehind: (ahead: number, behind: number) => number;
};

/** Definition that a fill model file exports: `export default defineFillModel({ … })`. */
export type OwnFillModel = {
  /** Version of the contract for which the file was written. */
  readonly contract: typeof CONTRACT;
  /**
   * Returns the queue of one backtest. Each call evaluates the file again. `random` returns numbers from 0 to below 1
   * that depend only on the seed of the backtest.
   */
  readonly make: (context: { readonly instrument: Instrument; readonly random: () => number }) => OwnQueue;
};

/** Returns the definition unchanged. The call lets the compiler check that the types of its members match. */
const defineOwnFillModel = (definition: OwnFillModel): OwnFillModel => definition;

/** Returns the definition unchanged. The call lets the compiler check that the types of its members match. */
const defineOwnStrategy = <Schema extends z.ZodObject>(definition: OwnDefinition<Schema>): OwnDefinition<Schema> =>
  definition;

export { defineOwnFillModel as defineFillModel, defineOwnStrategy as defineStrategy };
export { z } from 'zod';
export {
  amountFloor,
  bestOf,
  depthImbalance,
  EwmaVolatility,
  OrderFlow,
  priceCeil,
  priceFloor,
  RunningDeviation,
  TradeMean,
  withStep,
} from '../src/core/index.ts';
export type {
  Amount,
  AmountStep,
  Depth,
  Fair,
  Figure,
  Instrument,
  LastFill,
  Level,
  Millis,
  Price,
  Quote,
  Reference,
  RequoteTolerance,
  RfqPrices,
  SeenTrade,
  Side,
  Step,
  Strategy,
  View,
} from '../src/core/index.ts';
export { roundTripRise, roundTripShare } from './fees.ts';
export { quoteAround, spreadEdgeProblem, spreadLimitProblems, spreadParameters } from './fixedSpread.ts';
export {
  aboveZero,
  bps,
  decimalText,
  duration,
  levelParameters,
  levelProblems,
  millisOf,
  minEdge,
  toleranceOf,
} from './parameters.ts';
export type { LimitProblem, LimitsAsked } from './parameters.ts';
export {
  adverseSteps,
  awayOf,
  clamp,
  fairPrice,
  fairSteps,
  inventoryRoom,
  quoteLevelsOf,
  silent,
  skewPositionOf,
  totalOf,
  unknownIn,
} from './quoteLevels.ts';
