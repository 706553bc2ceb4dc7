/** Fill models by name. These models need only price levels and executions, not single orders. */
import { optimistic, sharedVolume, type FillRule } from './fillRules.ts';
import { logarithmic, power, riskAverse, type QueueModel } from './queueModels.ts';

export type FillModel = { readonly name: string; readonly queue: QueueModel; readonly rule: FillRule };

/**
 * Names of the lower bound, the estimate and the upper bound of the fills.
 * - pessimistic: only trades advance an order in the queue.
 * - expected: cancels are split between the lots ahead and behind.
 * - optimistic: every execution that reaches an order's price fills the complete order; a bound, not an estimate.
 */
export const BOUNDS = ['pessimistic', 'expected', 'optimistic'] as const;
export type Bound = (typeof BOUNDS)[number];
export const LEVEL_MODELS = [...BOUNDS, 'power1', 'power2', 'power3', 'log'] as const;
export type LevelModelName = (typeof LEVEL_MODELS)[number];

/**
 * Returns a fill model by name. The queue formulas are in docs/sources/formulas.md, E7; `expected` equals `power2`
 * except for its name. In all models except `optimistic`, orders share the volume of an execution.
 */
export function levelModel(name: LevelModelName): FillModel {
  const shared = (queue: QueueModel): FillModel => ({ name, queue, rule: sharedVolume(queue) });
  switch (name) {
    case 'pessimistic':
      return shared(riskAverse());
    case 'expected':
    case 'power2':
      return shared(power(2));
    case 'optimistic':
      return { name, queue: riskAverse(), rule: optimistic() };
    case 'power1':
      return shared(power(1));
    case 'power3':
      return shared(power(3));
    case 'log':
      return shared(logarithmic());
  }
}
