/** Start of a new paper account: the state of the earlier account is moved aside, never deleted. */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { textOfError, type Clock } from '../../core/index.ts';
import { syncFolder } from '../../guard/index.ts';
import { lockPaperAccount, readPaperAccount } from '../../live/state/paperAccount.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { StateInUse } from '../../live/state/stateFile.ts';
import { lookInto } from '../../live/state/stateSummary.ts';
import { shellWord } from '../../messages/ownCommand.ts';
import { otherPurpose, purposeOfRows, type AccountPurpose } from '../../sandbox/index.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { holderText, holdersOf, lifeOf } from '../inspect/botLife.ts';

export type MovedState = {
  /** Line for the operator, with the command that returns to the earlier account. */
  readonly line: string;
  /**
   * Returns to the earlier account after a refused start, in which no bot has traded. Returns a line for the operator.
   * Never throws.
   */
  readonly putBack: () => string;
};

/**
 * Moves the state directory of this bot's paper trading to a new name. Call `putBack` if the bot does not start.
 * @throws UsageError if the directory belongs to another run, bot or market, is in use or halted, or cannot be moved.
 */
export async function setPaperStateAside(dir: string, clock: Clock, purpose: AccountPurpose): Promise<MovedState> {
  const now = clock.now();
  // A process that was killed after it made the folder has left it empty.
  if (!existsSync(dir) || isEmptyFolder(dir))
    return { line: `${dir}: no earlier paper account`, putBack: () => 'no paper account was moved' };
  if (!isPaperState(dir)) throw new UsageError(`${dir}: not the state of paper trading, so --fresh does not move it`);
  const other = await otherOwner(dir, clock, purpose);
  if (other !== null)
    throw new UsageError(
      `${dir}: this paper account is not moved, because ${other}; give this bot its own paper.stateDir, or move the directory to another name`,
    );
  // A halt outlives every restart; a new account must not lift it.
  const held = holdersOf(dir, now).map(holderText);
  if (held.length > 0)
    throw new UsageError(
      `${dir}: trading is held (${held.join(', ')}); resume first with puntas resume --state ${dir}`,
    );
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
  const aside = `${resolve(dir)}.${stamp}`;
  const lock = lockOf(dir);
  try {
    if (lifeOf(dir, now).state === 'runs') throw inUse(dir);
    if (existsSync(aside)) throw new Error(`${aside} exists`);
    renameSync(dir, aside);
    syncFolder(dirname(aside));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${dir}: cannot be moved aside to ${aside} (${textOfError(error)}); set another paper.stateDir instead`,
    );
  } finally {
    lock?.release();
  }
  const [from, to] = [shellWord(aside), shellWord(dir)];
  const remedy = `to return to it, stop the bot, then: mv ${to} ${to}.new && mv ${from} ${to}`;
  return {
    line: `the earlier paper account is in ${aside}; ${remedy}`,
    putBack: () => {
      try {
        putBack(dir, aside, clock);
        return `the bot did not start, so the earlier paper account is again in ${dir}`;
      } catch (error) {
        return `the bot did not start, and the earlier paper account stays in ${aside} (${textOfError(error)}); ${remedy}`;
      }
    },
  };
}

/** Replaces the state of a refused start by the earlier state. Throws if another process or an operator has used it. */
function putBack(dir: string, aside: string, clock: Clock): void {
  if (holdersOf(dir, clock.now()).length > 0) throw new Error(`trading with ${dir} is held`);
  const own = lockOf(dir);
  const refused = `${aside}.refused`;
  try {
    // A kill during the removal must not leave a half-removed state under the name of the account.
    if (existsSync(dir)) renameSync(dir, refused);
    renameSync(aside, dir);
    syncFolder(dirname(aside));
  } finally {
    own?.release();
  }
  rmSync(refused, { recursive: true, force: true });
}

const isEmptyFolder = (dir: string): boolean => statSync(dir).isDirectory() && readdirSync(dir).length === 0;

/**
 * Returns why the state belongs to another bot or market; `null` if it is this bot's, or if nothing in it can be read.
 */
async function otherOwner(dir: string, clock: Clock, purpose: AccountPurpose): Promise<string | null> {
  const known = purposeOfRows(await readPaperAccount(dir, clock).catch(() => []));
  if (known !== null) return otherPurpose(known, purpose);
  const owner = (await lookInto(dir, clock).catch(() => null))?.owner ?? null;
  // The ledger does not name the followed exchange.
  return owner && otherPurpose({ ...owner, follows: purpose.follows }, purpose);
}

const inUse = (dir: string): UsageError =>
  new UsageError(`${dir}: a bot is running with this state; stop it before you start a new account`);

/** Locks the paper account, so that no bot can start with the state while it is moved. */
function lockOf(dir: string): ReturnType<typeof lockPaperAccount> {
  try {
    return lockPaperAccount(dir);
  } catch (error) {
    throw error instanceof StateInUse ? inUse(dir) : error;
  }
}
