/** Files read up to a maximum of bytes, and only regular ones: a pipe, a device or a folder under a file's name is refused at once instead of waited for. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Bytes at most of keys, latches, mailboxes and other small files. */
export const SMALL_FILE = 65_536;
/** Bytes at most of configurations, sources and other texts that a person writes. */
export const TEXT_FILE = 1_048_576;
/** Bytes at most of the program's own assets, and of lists that grow. */
export const LARGE_FILE = 67_108_864;

/** Text of a regular file. Throws as `openSync` does, and one clause, as `code` too, if it is not a regular file or has more than `bytesMax` bytes. */
export function readRegularFile(path: string | URL, bytesMax: number): string {
  const fd = openRegularFile(path);
  try {
    return readOpenFile(fd, bytesMax);
  } finally {
    closeSync(fd);
  }
}

/** Opens a regular file for reading, never waiting for the other end of a pipe. Throws if it is something else. */
export function openRegularFile(path: string | URL): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(fd).isFile()) throw unreadable('not a regular file');
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Text of a file that is open, from its beginning. Throws one clause if it has more than `bytesMax` bytes. */
export function readOpenFile(fd: number, bytesMax: number): string {
  // Some files, such as those of the kernel, say 0 and hold more.
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

/** The clause stands as `code` too: messages show the code of what cannot be read. */
const unreadable = (clause: string): Error => Object.assign(new Error(clause), { code: clause });
