/** Live file of a promotion: its text, copies of all earlier texts, and its atomic replacement. */
import { textOfError } from '../../core/index.ts';
import {
  followed,
  pathLine,
  readRegularFile,
  TEXT_FILE,
  syncFolder,
  writeDurably,
  makeFolder,
} from '../../guard/index.ts';
import { chmodSync, chownSync, existsSync, renameSync, rmSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOf } from '../run/reloading.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Returns the text of the live file, or `null` if the file does not exist. @throws UsageError if it cannot be read. */
export function liveTextOf(file: string): string | null {
  try {
    return readRegularFile(file, TEXT_FILE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new UsageError(pathLine(file, error, 'read', 'pass the live configuration with -c FILE'));
  }
}

/** Returns the digest of the live file's text, or `null` if the file does not exist. */
export function liveDigestOf(file: string): string | null {
  const text = liveTextOf(file);
  return text === null ? null : digestOf(text);
}

const copyOf = (dir: string, digest: string): string => join(dir, 'files', `${digest}.yaml`);

/** Stores a copy of a text under its digest and returns the digest. The copy is durable on return. */
export function keptCopy(dir: string, text: string): string {
  const digest = digestOf(text);
  const file = copyOf(dir, digest);
  const isThere = existsSync(file) && digestOf(readRegularFile(file, TEXT_FILE)) === digest;
  if (!isThere) written(file, () => writeDurably(file, text));
  return digest;
}

/**
 * Returns the text of a stored copy.
 * @throws UsageError if the copy is missing or was changed.
 */
export function textOfCopy(dir: string, digest: string): string {
  const file = copyOf(dir, digest);
  const text = existsSync(file) ? readRegularFile(file, TEXT_FILE) : null;
  if (text === null || digestOf(text) !== digest)
    throw new UsageError(
      `${file}: the file ${text === null ? 'is missing' : 'was changed'}; restore the file from a copy`,
    );
  return text;
}

/**
 * Returns the path of a file with every link followed. The file and the target of its link need not exist.
 * @throws UsageError if a link leads to itself.
 */
export function realPlace(file: string): string {
  try {
    return followed(file);
  } catch (error) {
    throw new UsageError(pathLine(file, error, 'read', 'replace the link'));
  }
}

/**
 * Replaces the live file atomically; a `text` of `null` deletes it. The file keeps its permissions and owner, and a
 * link remains a link. Returns messages for the operator if the owner could not be kept.
 *
 * The text is first written in `dir`, so that a killed process leaves no file next to the live file. Without `dir`, or
 * if `dir` is on another disk, the text is first written next to the live file.
 * @throws UsageError if the write fails.
 */
export function putInPlace(file: string, text: string | null, dir: string | null = null): readonly string[] {
  const place = realPlace(file);
  return written(file, () => {
    if (text === null) {
      rmSync(place, { force: true });
      syncFolder(dirname(place));
      return [];
    }
    const beside = dir !== null && isOneDisk(dir, dirname(place)) ? join(dir, 'placing.new') : `${place}.placing.new`;
    try {
      writeDurably(beside, text, beside);
      const before = statSync(place, { throwIfNoEntry: false });
      const lost = before === undefined ? [] : keptRights(file, beside, before);
      renameSync(beside, place);
      syncFolder(dirname(place));
      return lost;
    } catch (error) {
      rmSync(beside, { force: true });
      throw error;
    }
  });
}

const isOneDisk = (one: string, other: string): boolean => {
  makeFolder(other, 0o700);
  return statSync(one).dev === statSync(other).dev;
};

/**
 * Copies owner and permissions. Returns a message if the owner could not be copied. The owner is set first, because a
 * change of the owner clears some permissions.
 */
function keptRights(file: string, beside: string, { uid, gid, mode }: Stats): readonly string[] {
  const own = statSync(beside);
  const isSame = own.uid === uid && own.gid === gid;
  const isKept = isSame || mayChown(beside, uid, gid);
  if (!isKept && own.gid !== gid) mayChown(beside, own.uid, gid);
  chmodSync(beside, mode & 0o777);
  if (isKept) return [];
  const { uid: user, gid: group } = statSync(beside);
  return [
    `${file} belonged to ${uid}:${gid} (user:group) and now belongs to ${user}:${group}, because only root can change it back; run chown ${uid}:${gid} ${file}`,
  ];
}

function mayChown(file: string, uid: number, gid: number): boolean {
  try {
    chownSync(file, uid, gid);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM' || code === 'EINVAL' || code === 'ENOSYS') return false;
    throw error;
  }
}

function written<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${textOfError(error)}`, 1);
  }
}
