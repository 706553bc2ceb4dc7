/**
 * Approval of strategy files. A bot that trades with money runs the file of its last run. A changed file must be pinned
 * by the key `strategy.sha256`, or approved by a reload.
 */
import { existsSync } from 'node:fs';
import { isTrialOrder, type Config, type FoundStrategyFile } from '../../config.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { configOfText, type StrategyApproval } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Strategy file of a recorded run. */
export type RanStrategyFile = {
  /** Path as in the configuration of the run. */
  readonly file: string;
  readonly name: string;
  readonly sha256: string;
  readonly code: string;
};

/**
 * Returns the strategy file of the newest recorded run that ran one; `null` if there is none. Trial orders run no
 * strategy. An unreadable recording is skipped.
 */
export function lastStrategyFileRun(stateDir: string): RanStrategyFile | null {
  for (const { run } of existsSync(stateDir) ? recordingsIn(stateDir).toReversed() : []) {
    const found = strategyFileOfRun(stateDir, run);
    if (found !== null) return found;
  }
  return null;
}

function strategyFileOfRun(stateDir: string, run: number): RanStrategyFile | null {
  try {
    const of = recordedRunOf(stateDir, run);
    if (of === null) return null;
    const config = JSON.parse(of.setup) as Config;
    const { file, name, sha256, code } = config.strategy as Partial<RanStrategyFile>;
    if (isTrialOrder(config) || file === undefined || name === undefined) return null;
    return sha256 === undefined || code === undefined ? null : { file, name, sha256, code };
  } catch {
    return null;
  }
}

/** Place in which a bot runs, as far as the approval of its strategy file depends on it. */
export type ApprovalPlace = {
  readonly stateDir: string;
  /** Whether the bot trades with money; otherwise a changed file only causes a warning. */
  readonly isReal: boolean;
  /** Receives the warning, in one line. */
  readonly warn: (line: string) => void;
};

/**
 * Asserts that a strategy file is approved: it is pinned, it is the file of the last run, or no earlier run of this
 * state directory ran a file. `approve`: how the operator approves the changed file.
 * @throws UsageError if a bot that trades with money would run a file that is not approved.
 */
export function assertStrategyApproved(
  { file, name, sha256, isPinned }: FoundStrategyFile,
  { stateDir, isReal, warn }: ApprovalPlace,
  approve: string,
): void {
  if (isPinned) return;
  const last = lastStrategyFileRun(stateDir);
  if (last === null || last.sha256 === sha256) return;
  const changed = `the strategy file changed since the last run (${last.name} -> ${name})`;
  if (!isReal) return warn(`${file}: ${changed}; the changed file is used, because no money is traded`);
  throw new UsageError(
    `${file}: ${changed}, and no one has approved the change; restore the file, or check it and ${approve}`,
  );
}

/**
 * Returns the approval of a start. `file`: path of the configuration; `state`: state directory that replaces the one
 * of the configuration.
 */
export const startApproval =
  (
    file: string,
    {
      state,
      isPaper,
      warn,
    }: { readonly state?: string | undefined; readonly isPaper: boolean } & Pick<ApprovalPlace, 'warn'>,
  ): StrategyApproval =>
  (found, text) => {
    const config = configOfText(file, text);
    const stateDir = state ?? (isPaper ? config.paper : { stateDir: config.state.dir }).stateDir;
    assertStrategyApproved(
      found,
      { stateDir, isReal: config.exchange.kind === 'remote' && !isPaper, warn },
      `approve it with the key strategy.sha256: ${found.sha256}`,
    );
  };
