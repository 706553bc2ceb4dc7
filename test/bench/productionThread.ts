/** A thread that runs the production path, as often as it is asked to: one configuration under a fill model, or many side by side. */
import { parentPort } from 'node:worker_threads';
import type { MarketRows, ModelName } from '../../backtest/index.ts';
import { production, sideBySide } from './production.ts';

export type ProductionWork = { readonly rows: MarketRows; readonly what: ModelName | number };

parentPort!.on('message', ({ rows, what }: ProductionWork) => {
  const done = typeof what === 'number' ? sideBySide(rows, what) : Promise.resolve(production(rows, what));
  void done.then(() => parentPort!.postMessage('done'));
});
