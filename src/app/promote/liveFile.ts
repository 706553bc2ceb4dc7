/** The live file of a promotion: what it says, copies of all that it ever said, and how another takes its place at once and whole. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { syncFolder, writeDurably } from '../../live/files/durableFiles.ts';
import { digestOf } from '../run/reloading.ts';
import { UsageError } from '../wiring/usageError.ts';

/** Null where it is not there. Throws `UsageError` where it cannot be read. */
export function liveTextOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
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
  const isThere = existsSync(file) && digestOf(readFileSync(file, 'utf8')) === digest;
  if (!isThere) written(file, () => writeDurably(file, text));
  return digest;
}

/** Throws `UsageError` where the copy is gone, or is not what was kept. */
export function textOfCopy(dir: string, digest: string): string {
  const file = copyOf(dir, digest);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : null;
  if (text === null || digestOf(text) !== digest)
    throw new UsageError(`${file}: ${text === null ? 'is gone' : 'was changed'}: restore it from a copy`);
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

/** Whole or not at all, with the rights that the file had; null takes it away. A link stays one. Throws `UsageError` where the disk does not take it. */
export function putInPlace(file: string, text: string | null): void {
  const place = realPlace(file);
  written(file, () => {
    if (text === null) {
      rmSync(place, { force: true });
      return syncFolder(dirname(place));
    }
    const beside = `${place}.${randomUUID()}.new`;
    try {
      writeDurably(beside, text);
      if (existsSync(place)) chmodSync(beside, statSync(place).mode & 0o777);
      renameSync(beside, place);
    } catch (error) {
      rmSync(beside, { force: true });
      throw error;
    }
    syncFolder(dirname(place));
  });
}

function written(file: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new UsageError(`${file}: cannot be written: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
}
