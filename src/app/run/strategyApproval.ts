/**
 * Approval of strategy files. A bot that trades with money runs the files that its last run took (`approvedStrategy`),
 * each in any book. Another file must be pinned by the key `strategy.sha256`, or approved by a reload.
 */
import { textOfError } from '../../core/index.ts';
import { booksOf, strategyHashIn, strategyPinIn, type Config, type FoundStrategyFile } from '../../config.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { configOfText, type StrategyApproval } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { ownCommand } from '../../messages/ownCommand.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { approvedStrategiesIn, type RanStrategyFile } from './approvedStrategy.ts';
import { isFrozenBy } from './frozenProcess.ts';

/** Error of a bot that would run a strategy file that is not approved. */
export class UnapprovedStrategy extends UsageError {}

/** Place in which a bot runs, as far as the approval of its strategy files depends on it. */
export type ApprovalPlace = {
  readonly stateDir: string;
  /** Whether the bot trades with money; otherwise a changed file only causes a warning. */
  readonly isReal: boolean;
  /** Receives the warning, in one line. */
  readonly warn: (line: string) => void;
};

/**
 * Asserts that a strategy file is approved: it is pinned, the last run took it, or no earlier run of this state directory
 * took a file. `approve`: how the operator approves the changed file.
 * @throws UnapprovedStrategy if a bot that trades with money would run a file that is not approved, or if the approved
 * files cannot be read.
 */
export function assertStrategyApproved(
  { file, name, sha256, isPinned }: FoundStrategyFile,
  { stateDir, isReal, warn }: ApprovalPlace,
  approve: string,
): void {
  if (isPinned) return;
  let last: readonly RanStrategyFile[] = [];
  let flaw: string | null = null;
  try {
    last = approvedStrategiesIn(stateDir);
  } catch (error) {
    flaw = `the approved strategy file in ${stateDir} cannot be read (${textOfError(error)})`;
  }
  if (last.some(each => each.sha256 === sha256) || (last.length === 0 && flaw === null)) return;
  const before = last.map(each => each.name).join(', ');
  const changed = flaw ?? `the strategy file changed since the last run (${before} -> ${name})`;
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
 * Asserts that no halt of this state directory says that the file froze the bot: it would do so again.
 * @throws UnapprovedStrategy otherwise.
 */
export function assertNotFrozen({ file, name }: FoundStrategyFile, stateDir: string): void {
  const halt = latchIn(stateDir).read();
  if (halt !== null && isFrozenBy(name, halt))
    throw new UnapprovedStrategy(
      `${file}: ${halt.reason}, and trading is halted; correct the file, or end the halt to run it again: ${ownCommand('resume', { stateDir })}`,
    );
}

/**
 * Returns the approval of a start. `file`: path of the configuration; `state`: state directory that replaces the one
 * of the configuration. `onApproved` is called before an approved file runs.
 */
export const startApproval =
  (
    file: string,
    {
      state,
      isPaper,
      warn,
      onApproved,
    }: {
      readonly state?: string | undefined;
      readonly isPaper: boolean;
      readonly onApproved: (stateDir: string, found: FoundStrategyFile) => void;
    } & Pick<ApprovalPlace, 'warn'>,
  ): StrategyApproval =>
  (found, text) => {
    const config = configOfText(file, text);
    const stateDir = state ?? (isPaper ? config.paper : { stateDir: config.state.dir }).stateDir;
    assertStrategyApproved(
      found,
      { stateDir, isReal: config.exchange.kind === 'remote' && !isPaper, warn },
      `approve it with the key strategy.sha256: ${found.sha256}`,
    );
    assertNotFrozen(found, stateDir);
    onApproved(stateDir, found);
  };

/**
 * Returns a sentence about what the next start does with a changed file, for a bot that is not running. A strategy file
 * that the start would refuse is named with the key that approves it. `text`: the configuration file of `config`.
 */
export function nextStartText(config: Config, text: string, stateDir: string): string {
  const reads = 'the bot reads the file at its next start';
  const isReal = config.exchange.kind === 'remote' && !isPaperState(stateDir);
  for (const [entry, one] of booksOf(config).entries()) {
    const { strategy } = one;
    const sha256 = strategyHashIn(one);
    if (!('file' in strategy) || sha256 === undefined || strategyPinIn(text, entry) !== null) continue;
    const { file, name } = strategy;
    try {
      assertStrategyApproved({ file, name, sha256, isPinned: false }, { stateDir, isReal, warn: () => undefined }, '');
    } catch (error) {
      if (!(error instanceof UnapprovedStrategy)) throw error;
      return `its next start refuses the strategy file ${name}, because no one has approved the file; check it, and approve it with the key strategy.sha256: ${sha256}`;
    }
  }
  return reads;
}
