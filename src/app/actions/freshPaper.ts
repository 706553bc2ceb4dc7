/** Start of a new paper account: the state of the earlier account is moved aside, never deleted. */
import { existsSync, renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { textOfError, type Millis } from '../../core/index.ts';
import { syncFolder } from '../../guard/index.ts';
import { openPaperAccount, PAPER_ACCOUNT_FILE } from '../../live/state/paperAccount.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { StateInUse } from '../../live/state/stateFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { holderText, holdersOf, lifeOf } from '../inspect/botLife.ts';

/**
 * Moves the state directory of paper trading to a new name, and returns that name; `null` if there is no state.
 * @throws UsageError if the directory belongs to another run, is in use or halted, or cannot be moved.
 */
export function setPaperStateAside(dir: string, now: Millis): string | null {
  if (!existsSync(dir)) return null;
  if (!isPaperState(dir)) throw new UsageError(`${dir}: not the state of paper trading, so --fresh does not move it`);
  if (lifeOf(dir, now).state === 'runs' || isLocked(dir))
    throw new UsageError(`${dir}: a bot is running with this state; stop it before you start a new account`);
  // A halt outlives every restart; a new account must not lift it.
  const held = holdersOf(dir, now).map(holderText);
  if (held.length > 0)
    throw new UsageError(
      `${dir}: trading is held (${held.join(', ')}); resume first with puntas resume --state ${dir}`,
    );
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
  const aside = `${resolve(dir)}.${stamp}`;
  try {
    if (existsSync(aside)) throw new Error(`${aside} exists`);
    renameSync(dir, aside);
    syncFolder(dirname(aside));
  } catch (error) {
    throw new UsageError(
      `${dir}: cannot be moved aside to ${aside} (${textOfError(error)}); set another paper.stateDir instead`,
    );
  }
  return aside;
}

/** Whether another process has the paper account open. */
function isLocked(dir: string): boolean {
  if (!existsSync(join(dir, PAPER_ACCOUNT_FILE))) return false;
  try {
    openPaperAccount(dir).close();
    return false;
  } catch (error) {
    // A damaged account is not in use, and moving it aside is the remedy.
    return error instanceof StateInUse;
  }
}
