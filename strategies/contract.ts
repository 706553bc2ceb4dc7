/**
 * Contract of strategies: what `import … from 'puntas/strategy'` gives. It changes by semantic versioning
 * (docs/upgrading.md).
 */
export {
  amountFloor,
  depthImbalance,
  EwmaVolatility,
  OrderFlow,
  RunningDeviation,
  TradeMean,
} from '../src/core/index.ts';
export type { Amount, AmountStep, Depth, Fair, Figure, Instrument, LastFill, Level } from '../src/core/index.ts';
export type { Millis, Price, Quote, Reference, RequoteTolerance, RfqPrices } from '../src/core/index.ts';
export type { SeenTrade, Side, Step, Strategy, View } from '../src/core/index.ts';
export { defineStrategy, type StrategyDefinition } from './defineStrategy.ts';
export { quoteAround, spreadEdgeProblem, spreadLimitProblems, spreadParameters } from './fixedSpread.ts';
export { SPREAD_STEPS, spreadTuning } from './fixedSpread.ts';
export { spreadFromMarket, type MarketTerms } from './fromMarket.ts';
export { millisOf, toleranceOf, type LimitProblem, type LimitsAsked } from './parameters.ts';
export { clamp, fairPrice, fairSteps, LEVEL_STEPS, quoteLevelsOf, silent, unknownIn } from './quoteLevels.ts';
export { among, linear, log, type TuningRange } from './tuning.ts';
