/** Studies for tests: small, on the built-in market. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { shippedConfig } from '../../../../src/wiring/configFile.ts';
import type { TuneOptions } from '../../../../backtest/app/tune/tune.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

export const folder = (): string => mkdtempSync(join(tmpdir(), 'puntas-tune-'));

/** Keys of a study of twenty minutes of flow; `other` replaces keys of the top. */
export const keysOfStudy = (other: object = {}): object => ({
  config: shippedConfig('sandbox'),
  tapes: [{ name: 'flow', flow: { seconds: 1_200, seed: 11 } }],
  parameters: {
    'strategy.halfSpreadBps': { linear: [12, 30] },
    'strategy.levels': { integer: [1, 3] },
    'strategy.amount': { log: [0.001, 0.008] },
  },
  search: { algorithm: 'sobol', seed: 1, trials: 4, batch: 2 },
  segments: 2,
  pruning: false,
  models: ['expected'],
  ...other,
});

/** Writes them into a folder, and returns the file. */
export function studyFile(dir: string, other: object = {}, name = 'tune.yaml'): string {
  const file = join(dir, name);
  writeFileSync(file, stringify(keysOfStudy(other)));
  return file;
}

/** As the command would give them; time stands still. */
export const options = (file: string, registry: string, other: Partial<TuneOptions> = {}): TuneOptions => ({
  ...{ file, registry, openHoldout: false, threads: 1, version: 'test', by: 'tester@here' },
  ...{ now: () => Date.UTC(2026, 0, 2), progress: NO_PROGRESS, ...other },
});
