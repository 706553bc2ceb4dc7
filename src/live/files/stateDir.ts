/** Folder of the state: private to its owner, and rejected if it belongs to another user or is open to others. */
import { existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { diskAdvice, diskTroubleOf, tryDisk } from './diskTrouble.ts';

/**
 * Creates the folder if it does not exist. Throws one line if it cannot be created or trusted: its files decide whether
 * the bot trades, and on which ledger.
 */
export function claimStateDir(dir: string): void {
  make(dir);
  heedStateDir(dir);
}

/** Throws one line if an existing folder cannot be trusted. */
export function heedStateDir(dir: string): void {
  heedFolder(dir, 'the state directory');
}

/** Like `heedStateDir`, for another folder that decides what is traded; `what` names it. */
export function heedFolder(dir: string, what: string): void {
  const user = process.geteuid?.();
  // A system without such users has no such modes either.
  if (user === undefined) return;
  for (const name of ['', ...readdirSync(dir)]) {
    const flaw = flawOf(join(dir, name), name === '', user);
    if (flaw !== null)
      throw new Error(
        `${flaw} (${what} must be ours alone, or somebody else could ${what === 'the state directory' ? 'lift a halt or change the ledger' : 'change what is traded'})`,
      );
  }
}

/**
 * Whether a file left by another process is safe to read: not a link, owned by this user, and writable only by it.
 * `false` if it does not exist.
 */
export function isTrusted(file: string): boolean {
  const user = process.geteuid?.();
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false;
  return user === undefined || flawOf(file, false, user) === null;
}

function make(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    // With `recursive`, a read-only disk is only reported as a missing folder.
    const trouble = diskTroubleOf(error) ?? tryDisk(nearest(resolve(dir)));
    const why = error instanceof Error ? error.message : String(error);
    const advice = trouble === null ? 'check state.dir and its owner' : diskAdvice(trouble, nearest(resolve(dir)));
    throw new Error(`the state directory ${dir} cannot be made (${why}): ${advice}`);
  }
}

const nearest = (dir: string): string => (existsSync(dir) ? dir : nearest(dirname(dir)));

const WRITE_BY_OTHERS = 0o022;

/** The folder itself may be a link, because the operator names it. Its files must not be links. */
function flawOf(path: string, isFolder: boolean, user: number): string | null {
  const seen = isFolder ? statSync(path) : lstatSync(path, { throwIfNoEntry: false });
  // Deleted in the meantime.
  if (seen === undefined) return null;
  if (seen.isSymbolicLink()) return `${path} is a link, expected a file of ours: look who made it, then rm ${path}`;
  if (seen.uid !== user)
    return `${path} belongs to user ${seen.uid}, this process is user ${user}: run it as that user, or look at it and chown ${user} ${path}`;
  if ((seen.mode & WRITE_BY_OTHERS) !== 0)
    return `${path} can be written by others (mode ${(seen.mode & 0o7777).toString(8)}): look who did, then chmod go-w ${path}`;
  return null;
}
