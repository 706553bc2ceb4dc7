/** State directory: private to its owner. A directory of another user, or one that others can write to, is rejected. */
import { existsSync, lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { textOfError } from '../../core/index.ts';
import { makeFolder, pathLine } from '../../guard/index.ts';
import { dirname, join, resolve } from 'node:path';
import { diskAdvice, diskTroubleOf } from './diskTrouble.ts';

const STATE_DIRECTORY = 'the state directory';

/**
 * Creates the state directory if it does not exist. Throws a one-line error if the directory cannot be created or
 * trusted, because its files decide whether the bot trades, and from which ledger it starts.
 */
export function claimStateDir(dir: string): void {
  make(dir);
  assertStateDirTrusted(dir);
}

/** Folder of the stops of single books in a state directory; each subfolder has the name of its book. */
export const BOOK_LATCHES_FOLDER = 'books';

/** Throws a one-line error if an existing state directory, or a folder of its books, cannot be trusted. */
export function assertStateDirTrusted(dir: string): void {
  assertFolderTrusted(dir, STATE_DIRECTORY);
  const books = join(dir, BOOK_LATCHES_FOLDER);
  const seen = lstatSync(books, { throwIfNoEntry: false });
  if (seen === undefined) return;
  if (!seen.isDirectory())
    throw new Error(`${books} is not a folder, expected one; find out who created it, then rm ${books}`);
  assertFolderTrusted(books, STATE_DIRECTORY);
  for (const entry of readdirSync(books, { withFileTypes: true }))
    if (entry.isDirectory()) assertFolderTrusted(join(books, entry.name), STATE_DIRECTORY);
}

/**
 * Throws a one-line error if a folder that decides what the bot trades cannot be trusted; `what` names the folder in
 * the error.
 */
export function assertFolderTrusted(dir: string, what: string): void {
  for (const name of ['', ...namesIn(dir)]) {
    const path = join(dir, name);
    // The folder itself may be a link, because the operator chose its name. Files in it must not be links.
    const seen = name === '' ? statSync(path) : lstatSync(path, { throwIfNoEntry: false });
    const flaw = seen === undefined ? null : ownershipFlaw(seen, path);
    if (flaw !== null)
      throw new Error(
        `${flaw} (a user with write access to ${what} could ${what === STATE_DIRECTORY ? 'lift a halt or change the ledger' : 'change what is traded'})`,
      );
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    throw new Error(pathLine(dir, error, 'read', 'check the owner and mode of the folder'));
  }
}

function make(dir: string): void {
  try {
    makeFolder(dir, 0o700);
  } catch (error) {
    const trouble = diskTroubleOf(error);
    const why = textOfError(error);
    const advice =
      trouble === null ? 'check state.dir and its owner' : diskAdvice(trouble, nearestFolder(resolve(dir)));
    throw new Error(`${dir}: cannot create the state directory (${why}); ${advice}`);
  }
}

/** Returns the folder if it exists; otherwise its nearest existing parent. */
export const nearestFolder = (dir: string): string => (existsSync(dir) ? dir : nearestFolder(dirname(dir)));

const WRITE_BY_OTHERS = 0o022;

/**
 * Returns why a file is not trusted: it is a link, belongs to another user, or is writable by others. Returns `null` if
 * trusted.
 */
export function ownershipFlaw(seen: Stats, path: string): string | null {
  const user = process.geteuid?.();
  // On a system without user ids, a file has no owner and no permissions to check.
  if (user === undefined) return null;
  if (seen.isSymbolicLink())
    return `${path} is a symbolic link, expected a regular file; find out who created it, then rm ${path}`;
  if (seen.uid !== user)
    return `${path} belongs to user ${seen.uid}, but this process runs as user ${user}; run Puntas as user ${seen.uid}, or inspect the file and chown ${user} ${path}`;
  if ((seen.mode & WRITE_BY_OTHERS) !== 0)
    return `${path} is writable by other users (mode ${(seen.mode & 0o7777).toString(8)}); check whether it was changed, then chmod go-w ${path}`;
  return null;
}
