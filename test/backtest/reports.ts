/** Whole reports for tests: of the ladder's runs, and of runs with chosen numbers. */
import {
  reportOf,
  type BacktestReport,
  type ModelName,
  type ReplayOptions,
  type ReplayReport,
} from '../../backtest/index.ts';
import { run, tape } from './ladderRun.ts';

export const MODELS = ['pessimistic', 'expected', 'optimistic'] as const satisfies readonly ModelName[];

export function whole(models: readonly ReplayReport[], change: Partial<BacktestReport> = {}): BacktestReport {
  return {
    book: 'btc_mxn',
    strategy: 'ladder',
    major: 'btc',
    minor: 'mxn',
    tape: { source: tape.source, hash: 'a1', dirt: [], gaps: [] },
    latencyMs: '25',
    feedLatencyMs: '0',
    seed: 7,
    config: 'book: btc_mxn\n',
    made: { puntas: '0.0.0', node: '20.0.0' },
    models,
    hash: 'b2',
    ...change,
  };
}

export const runs = (change: Partial<Omit<ReplayOptions, 'model'>> = {}): ReplayReport[] =>
  MODELS.map(model => reportOf(tape.instrument, run({ model, ...change }).result));
