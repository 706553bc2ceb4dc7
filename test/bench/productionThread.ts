/** A thread that runs the production path under one fill model. */
import { workerData } from 'node:worker_threads';
import type { MarketRows, ModelName } from '../../backtest/index.ts';
import { production } from './production.ts';

const { rows, model } = workerData as { readonly rows: MarketRows; readonly model: ModelName };
production(rows, model);
