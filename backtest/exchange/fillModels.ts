/** Fill models of a report, by name. */
import { BOUNDS, LEVEL_MODELS, levelModel, type FillModel } from '../../src/fills/index.ts';
import { exact, exactFills } from './exactQueue.ts';
import type { MarketRows } from '../rows/rows.ts';

export { BOUNDS };
export const MODEL_NAMES = [...LEVEL_MODELS, 'exact'] as const;
export type ModelName = (typeof MODEL_NAMES)[number];

/** Returns the fill model `name`. With order-by-order rows, `expected` works like `exact`. */
export function fillModel(name: ModelName, rows: MarketRows): FillModel {
  return name === 'exact' || (name === 'expected' && rows.orders !== null)
    ? { name, queue: exact(rows), rule: exactFills(rows) }
    : levelModel(name);
}
