/**
 * Approval of strategy files. A bot that trades with money runs the file that its last run took (`approvedStrategy`). A
 * changed file must be pinned by the key `strategy.sha256`, or approved by a reload.
 */
import { textOfError } from '../../core/index.ts';
import type { FoundStrategyFile } from '../../config.ts';
import { configOfText, type StrategyApproval } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { approvedStrategyIn, type RanStrategyFile } from './approvedStrategy.ts';

/** Error of a bot that would run a strategy file that is not approved. */
export class UnapprovedStrategy extends UsageError {}

/** Place in which a bot runs, as far as the approval of its strategy file depends on it. */
export type ApprovalPlace = {
  readonly stateDir: string;
  /** Whether the bot trades with money; otherwise a changed file only causes a warning. */
  readonly isReal: boolean;
  /** Receives the warning, in one line. */
  readonly warn: (line: string) => void;
};

/**
 * Asserts that a strategy file is approved: it is pinned, it is the file that the last run took, or no earlier run of
 * this state directory took a file. `approve`: how the operator approves the changed file.
 * @throws UnapprovedStrategy if a bot that trades with money would run a file that is not approved, or if the approved
 * file cannot be read.
 */
export function assertStrategyApproved(
  { file, name, sha256, isPinned }: FoundStrategyFile,
  { stateDir, isReal, warn }: ApprovalPlace,
  approve: string,
): void {
  if (isPinned) return;
  let last: RanStrategyFile | null = null;
  let flaw: string | null = null;
  try {
    last = approvedStrategyIn(stateDir);
  } catch (error) {
    flaw = `the approved strategy file in ${stateDir} cannot be read (${textOfError(error)})`;
  }
  if (last?.sha256 === sha256 || (last === null && flaw === null)) return;
  const changed = flaw ?? `the strategy file changed since the last run (${last?.name} -> ${name})`;
  if (!isReal)
    return warn(
      `${file}: ${changed}; ${flaw === null ? 'the changed file' : name} is used, because no money is traded`,
    );
  throw new UnapprovedStrategy(
    flaw === null
      ? `${file}: ${changed}, and no one has approved the change; restore the file, or check it and ${approve}`
      : `${file}: ${changed}, so no one knows whether ${name} is approved; check the file and ${approve}`,
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
