/**
 * Approved strategy files of a state directory: the texts that a bot may run again without a new approval. A run stores
 * them when it takes the files. In a state of an earlier version, they are those of the newest recorded run with a file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isTrialOrder, strategyHashIn, strategyTextIn, withFileIn, type Config } from '../../config.ts';
import { LARGE_FILE, orNull, readRegularFile, writeDurably } from '../../guard/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { strategyFileOf } from '../../../strategies/index.ts';

/** File in the state directory with the approved strategy file, or with the list of several. */
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
 * Returns the approved strategy files, each text once; empty if no run of this state directory took one. Trial orders
 * run no strategy.
 * @throws Error if they cannot be read, or if a recording that is needed instead cannot be read.
 */
export function approvedStrategiesIn(stateDir: string): readonly RanStrategyFile[] {
  const stored = join(stateDir, APPROVED);
  if (existsSync(stored)) {
    const value: unknown = JSON.parse(readRegularFile(stored, LARGE_FILE));
    if (Array.isArray(value) && value.length === 0) throw new Error(`${stored} is damaged`);
    return [value].flat().map(each => ranIn(each, stored));
  }
  for (const { run } of existsSync(stateDir) ? recordingsIn(stateDir).toReversed() : []) {
    const found = recordedStrategiesOf(stateDir, run);
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * Stores the strategy files of a configuration as approved, durably. Does nothing without a strategy file, and for a
 * trial order.
 */
export function storeApprovedStrategies(stateDir: string, config: Config): void {
  const ran = ranStrategiesOf(config);
  if (ran.length > 0) writeDurably(join(stateDir, APPROVED), JSON.stringify(ran.length === 1 ? ran[0] : ran));
}

/** Returns the text with this SHA-256 (hex), if a run of this state directory took it; otherwise `null`. */
export function ranStrategyText(stateDir: string, sha256: string): string | null {
  const runs = existsSync(stateDir) ? recordingsIn(stateDir).toReversed() : [];
  const sources = [
    () => approvedStrategiesIn(stateDir),
    ...runs.map(
      ({ run }) =>
        () =>
          recordedStrategiesOf(stateDir, run),
    ),
  ];
  for (const source of sources) {
    const found = (orNull(source) ?? []).find(each => each.sha256 === sha256);
    if (found !== undefined) return found.code;
  }
  return null;
}

function recordedStrategiesOf(stateDir: string, run: number): readonly RanStrategyFile[] {
  const of = recordedRunOf(stateDir, run);
  return of === null ? [] : ranStrategiesOf(JSON.parse(of.setup) as Config);
}

/** Returns the strategy files that run in a configuration, each text once. */
function ranStrategiesOf(config: Config): readonly RanStrategyFile[] {
  if (isTrialOrder(config)) return [];
  const found = new Map<string, RanStrategyFile>();
  for (const one of withFileIn(config)) {
    const [code, sha256] = [strategyTextIn(one), strategyHashIn(one)];
    if (code === undefined || sha256 === undefined || found.has(sha256)) continue;
    found.set(sha256, { ...strategyFileOf(one.strategy.file, code), sha256 });
  }
  return [...found.values()];
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
