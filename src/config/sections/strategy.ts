/**
 * Keys of the strategy. The key `name` selects a strategy in strategies/index.ts, or the key `file` a strategy file; the
 * other keys are the parameters of that strategy.
 */
import { z } from 'zod';
import { strategies, type OwnParameters, type StrategyName } from '../../../strategies/index.ts';

/** Name and parameters of any strategy in strategies/index.ts, or a strategy file with its parameters. */
export type StrategyConfig =
  | { readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']> & { readonly name: K } }[StrategyName]
  | OwnParameters;

const members = Object.entries(strategies).map(([name, { parameters, summary }]) =>
  parameters.safeExtend({ name: z.literal(name).describe(summary) }),
);
const [first, ...others] = members;
if (first === undefined) throw new Error('strategies/index.ts lists no strategy');
// The type of the mapped list does not connect names with parameters; StrategyConfig does.
export const strategyKeys = z.discriminatedUnion('name', [first, ...others]) as unknown as z.ZodType<StrategyConfig>;
