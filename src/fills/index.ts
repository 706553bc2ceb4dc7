/** Public interface of the fill models for other layers. */
export { exactOrders, optimistic, sharedVolume, Sweep, SWEEP_MS } from './fillRules.ts';
export type { FillRule, OnFill } from './fillRules.ts';
export { BOUNDS, LEVEL_MODELS, levelModel } from './models.ts';
export type { Bound, FillModel, LevelModelName } from './models.ts';
export { logarithmic, power, riskAverse } from './queueModels.ts';
export type { Queued, QueueModel } from './queueModels.ts';
