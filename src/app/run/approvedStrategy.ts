/**
 * Approved strategy file of a state directory: the text that a bot may run again without a new approval. A run stores
 * it when it takes the file. In a state of an earlier version, it is the file of the newest recorded run.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isTrialOrder, strategyHashIn, strategyTextIn, type Config } from '../../config.ts';
import { LARGE_FILE, orNull, readRegularFile, writeDurably } from '../../guard/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { strategyFileOf } from '../../../strategies/index.ts';

/** File in the state directory with the approved strategy file. */
const APPROVED = 'strategy.json';

/** Strategy file that a run took. */
export type RanStrategyFile = {
  /** Path as in the configuration of the run. */
  readonly file: string;
  readonly name: string;
  readonly sha256: string;
  readonly code: string;
};

/**
 * Returns the approved strategy file; `null` if no run of this state directory took one. Trial orders run no strategy.
 * @throws Error if it cannot be read, or if a recording that is needed instead cannot be read.
 */
export function approvedStrategyIn(stateDir: string): RanStrategyFile | null {
  const stored = join(stateDir, APPROVED);
  if (existsSync(stored)) return ranIn(JSON.parse(readRegularFile(stored, LARGE_FILE)), stored);
  for (const { run } of existsSync(stateDir) ? recordingsIn(stateDir).toReversed() : []) {
    const found = recordedStrategyOf(stateDir, run);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Stores the strategy file of a configuration as approved, durably. Does nothing without a strategy file, and for a
 * trial order.
 */
export function storeApprovedStrategy(stateDir: string, config: Config): void {
  const ran = ranStrategyOf(config);
  if (ran !== null) writeDurably(join(stateDir, APPROVED), JSON.stringify(ran));
}

/** Returns the text with this SHA-256 (hex), if a run of this state directory took it; otherwise `null`. */
export function ranStrategyText(stateDir: string, sha256: string): string | null {
  const runs = existsSync(stateDir) ? recordingsIn(stateDir).toReversed() : [];
  const sources = [
    () => approvedStrategyIn(stateDir),
    ...runs.map(
      ({ run }) =>
        () =>
          recordedStrategyOf(stateDir, run),
    ),
  ];
  for (const source of sources) {
    const found = orNull(source);
    if (found?.sha256 === sha256) return found.code;
  }
  return null;
}

function recordedStrategyOf(stateDir: string, run: number): RanStrategyFile | null {
  const of = recordedRunOf(stateDir, run);
  return of === null ? null : ranStrategyOf(JSON.parse(of.setup) as Config);
}

function ranStrategyOf(config: Config): RanStrategyFile | null {
  const { strategy } = config;
  const [code, sha256] = [strategyTextIn(config), strategyHashIn(config)];
  if (isTrialOrder(config) || !('file' in strategy) || code === undefined || sha256 === undefined) return null;
  return { ...strategyFileOf(strategy.file, code), sha256 };
}

/** Returns a stored strategy file. @throws Error if its text does not have its SHA-256. */
function ranIn(value: unknown, stored: string): RanStrategyFile {
  const { file, code, sha256 } = (value ?? {}) as Partial<RanStrategyFile>;
  if (typeof file === 'string' && typeof code === 'string') {
    const found = strategyFileOf(file, code);
    if (found.sha256 === sha256) return found;
  }
  throw new Error(`${stored} is damaged`);
}
