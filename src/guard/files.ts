/**
 * Reads of regular files, limited in bytes. Rejects a pipe, device or directory immediately, without waiting for data.
 */
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync, type ReadStream } from 'node:fs';
import { IS_FOLDER } from './fileErrors.ts';

/** Maximum bytes of keys, latches, mailboxes and other small files. */
export const SMALL_FILE = 65_536;
/** Maximum bytes of configurations, source files and other handwritten text. */
export const TEXT_FILE = 1_048_576;
/**
 * Maximum bytes of the program's own assets, recorded latencies, the promotion journal and other files that can exceed
 * `TEXT_FILE`.
 */
export const LARGE_FILE = 67_108_864;

/**
 * Returns the text of a regular file. Throws as `openSync` does. If the file is not regular or has more than `bytesMax`
 * bytes, throws an error; its message and its `code` both state the problem in one clause.
 */
export function readRegularFile(path: string | URL, bytesMax: number): string {
  const fd = openRegularFile(path);
  try {
    return readOpenFile(fd, bytesMax);
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a regular file for reading, without waiting for the other end of a pipe. Throws if the path is not a regular
 * file.
 */
export function openRegularFile(path: string | URL): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const seen = fstatSync(fd);
    if (seen.isDirectory()) throw unreadable(IS_FOLDER);
    if (!seen.isFile()) throw unreadable('not a regular file');
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Reads a regular file as a stream. Throws immediately if the file is not regular, because a pipe cannot be read twice.
 */
export const regularFileStream = (path: string, highWaterMark?: number): ReadStream =>
  createReadStream(path, { fd: openRegularFile(path), ...(highWaterMark === undefined ? {} : { highWaterMark }) });

/**
 * Returns the text of an open file, from its start. Throws an error with a one-clause message if the file has more than
 * `bytesMax` bytes.
 */
export function readOpenFile(fd: number, bytesMax: number): string {
  // Some files, such as those of the kernel, report size 0 but have content.
  const wanted = Math.min(bytesMax, Math.max(fstatSync(fd).size, 4_096)) + 1;
  let bytes = Buffer.alloc(wanted);
  let size = 0;
  for (;;) {
    const read = readSync(fd, bytes, size, bytes.length - size, size);
    if (read === 0) return bytes.toString('utf8', 0, size);
    size += read;
    if (size > bytesMax) throw unreadable(`larger than ${bytesMax} bytes`);
    if (size === bytes.length) bytes = Buffer.concat([bytes], Math.min(bytesMax + 1, 2 * size));
  }
}

/** Returns an error whose `code` repeats the clause, because messages about unreadable files show the code. */
const unreadable = (clause: string): Error => Object.assign(new Error(clause), { code: clause });
