/** The live file of a promotion: what it says, copies of all that it ever said, and how another takes its place at once and whole. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { syncFolder, writeDurably } from '../../live/files/durableFiles.ts';
import { digestOf } from '../run/reloading.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Null where it is not there. Throws `UsageError` where it cannot be read. */
export function liveTextOf(file: string): string | null {
  try {
    return readRegularFile(file, TEXT_FILE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new UsageError(`${file}: cannot be read (${code})`);
  }
}

/** Of what the live file says; null where it is not there. */
export function liveDigestOf(file: string): string | null {
  const text = liveTextOf(file);
  return text === null ? null : digestOf(text);
}

const copyOf = (dir: string, digest: string): string => join(dir, 'files', `${digest}.yaml`);

/** Kept under its digest, which is the answer; durable when it returns. */
export function keptCopy(dir: string, text: string): string {
  const digest = digestOf(text);
  const file = copyOf(dir, digest);
  const isThere = existsSync(file) && digestOf(readRegularFile(file, TEXT_FILE)) === digest;
  if (!isThere) written(file, () => writeDurably(file, text));
  return digest;
}

/** Throws `UsageError` where the copy is gone, or is not what was kept. */
export function textOfCopy(dir: string, digest: string): string {
  const file = copyOf(dir, digest);
  const text = existsSync(file) ? readRegularFile(file, TEXT_FILE) : null;
  if (text === null || digestOf(text) !== digest)
    throw new UsageError(`${file}: ${text === null ? 'is missing' : 'was changed'}; restore it from a copy`);
  return text;
}

/** Where a file is, or would be, with every link followed; a link that leads nowhere leads to the file that will be there. Throws `UsageError` on one that leads to itself. */
export function realPlace(file: string): string {
  const path = resolve(file);
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new UsageError(`${file}: cannot be followed (${code})`);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      return realPlace(resolve(dirname(path), readlinkSync(path)));
    return dirname(path) === path ? path : join(realPlace(dirname(path)), basename(path));
  }
}

/**
 * Whole or not at all, with the rights and the owner that the file had; null takes it away. A link stays one. Lines where the owner could not be kept.
 *
 * The text is first written in `dir`, so that a kill leaves nothing next to the live file; next to it only without `dir`, or where that is on another disk.
 * @throws UsageError if the disk does not take it.
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
  mkdirSync(other, { recursive: true, mode: 0o700 });
  return statSync(one).dev === statSync(other).dev;
};

/** The owner first: who takes a file over loses some of its rights. */
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
    throw new UsageError(`${file}: cannot be written: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
}
