/** The folder of a state: made for its owner alone, and not trusted when it is another user's or open to others. */
import { existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { diskAdvice, diskTroubleOf, tryDisk } from './diskTrouble.ts';

/** Makes the folder when it is not there. Throws one line when it cannot be made, or not be trusted: what lies in it decides whether we trade, and on what ledger. */
export function claimStateDir(dir: string): void {
  make(dir);
  heedStateDir(dir);
}

/** Throws one line when a folder that is there cannot be trusted. */
export function heedStateDir(dir: string): void {
  heedFolder(dir, 'the state directory');
}

/** The same of another folder that decides what is traded; `what` it is. */
export function heedFolder(dir: string, what: string): void {
  const user = process.geteuid?.();
  // A system without users of this kind has no such modes either.
  if (user === undefined) return;
  for (const name of ['', ...readdirSync(dir)]) {
    const flaw = flawOf(join(dir, name), name === '', user);
    if (flaw !== null)
      throw new Error(
        `${flaw} (only this user may be able to write to ${what}; otherwise another user could ${what === 'the state directory' ? 'lift a halt or change the ledger' : 'change what is traded'})`,
      );
  }
}

/** Whether a file that another process has left is the bot's alone: no link, of this user, and written by nobody else. False if it is not there. */
export function isTrusted(file: string): boolean {
  const user = process.geteuid?.();
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false;
  return user === undefined || flawOf(file, false, user) === null;
}

function make(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Made recursively, a folder on a read-only disk is only said not to be there.
    const trouble = diskTroubleOf(error) ?? tryDisk(nearest(resolve(dir)));
    const why = error instanceof Error ? error.message : String(error);
    const advice = trouble === null ? 'check state.dir and its owner' : diskAdvice(trouble, nearest(resolve(dir)));
    throw new Error(`cannot create the state directory ${dir} (${why}); ${advice}`);
  }
}

const nearest = (dir: string): string => (existsSync(dir) ? dir : nearest(dirname(dir)));

const WRITE_BY_OTHERS = 0o022;

/** The folder itself may be reached by a link: whoever starts us says where it is. What is in it may not be one. */
function flawOf(path: string, isFolder: boolean, user: number): string | null {
  const seen = isFolder ? statSync(path) : lstatSync(path, { throwIfNoEntry: false });
  // It went while we looked.
  if (seen === undefined) return null;
  if (seen.isSymbolicLink())
    return `${path} is a symbolic link, expected a regular file; find out who created it, then rm ${path}`;
  if (seen.uid !== user)
    return `${path} belongs to user ${seen.uid}, but this process runs as user ${user}; run it as user ${seen.uid}, or inspect the file and chown ${user} ${path}`;
  if ((seen.mode & WRITE_BY_OTHERS) !== 0)
    return `${path} is writable by other users (mode ${(seen.mode & 0o7777).toString(8)}); check whether it was changed, then chmod go-w ${path}`;
  return null;
}
