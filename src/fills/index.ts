/** Public interface of the fill models for other layers. */
export { exactOrders, optimistic, sharedVolume, Sweep, SWEEP_MS } from './fillRules.ts';
export type { FillRule, OnFill } from './fillRules.ts';
export {
  CANCEL_RULES,
  EXPECTED_HYPOTHESIS,
  FITTED_KIND,
  fittedModel,
  hypothesisQueue,
  parsedHypotheses,
  QUEUE_HYPOTHESES,
} from './fittedModel.ts';
export type { CancelRule, QueueHypothesis, WeightedHypothesis } from './fittedModel.ts';
export { queueWithHidden } from './hiddenLots.ts';
export { BOUNDS, LEVEL_MODELS, levelModel } from './models.ts';
export type { Bound, FillModel, LevelModelName } from './models.ts';
export { logarithmic, power, riskAverse, splitCancels } from './queueModels.ts';
export type { Queued, QueueModel } from './queueModels.ts';
