/**
 * Files that are complete or absent after a power cut. Does not follow links, because another user may have created
 * one.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file completely or not at all, also on a power cut. Writes a temporary file, syncs it, renames it and syncs
 * the folder.
 */
export function writeDurably(file: string, text: string, beside?: string): void {
  writeWhole(file, text, beside);
  syncFolder(dirname(file));
}

/** Writes a file as `writeDurably` does, for several concurrent processes: the last write wins, and none fails. */
export function writeDurablyAlone(file: string, text: string): void {
  writeDurably(file, text, `${file}.${randomUUID()}.new`);
}

/**
 * Replaces a file atomically for readers, through the temporary file `beside`. After a power cut, the file may have its
 * previous content. Throws, without a change, if the disk does not accept the complete text.
 */
export function writeWhole(file: string, text: string, beside = `${file}.new`): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
    const fd = openSync(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      const bytes = Buffer.from(text, 'utf8');
      // A nearly full disk may accept only a part, which shows only in the returned count.
      for (let done = 0; done < bytes.length;) {
        const written = writeSync(fd, bytes, done);
        if (written === 0) throw new Error(`${beside}: the disk is full`);
        done += written;
      }
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Appends one line to a file. */
export function appendLine(file: string, line: string): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    writeSync(fd, `${line}\n`);
  } finally {
    closeSync(fd);
  }
}

/**
 * Appends a line as `appendLine` does, durable on return. A partial line from a power cut remains a separate line.
 * Throws if the disk does not accept the complete line.
 */
export function appendLineDurably(file: string, line: string): void {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    const last = Buffer.alloc(1, '\n');
    const { size } = fstatSync(fd);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    // A single write, so that lines of two processes do not mix.
    const bytes = Buffer.from(`${last.toString() === '\n' ? '' : '\n'}${line}\n`, 'utf8');
    if (writeSync(fd, bytes) !== bytes.length) throw new Error(`${file}: the disk is full`);
    fsyncSync(fd);
    if (size === 0) syncFolder(dirname(file));
  } finally {
    closeSync(fd);
  }
}

/**
 * Overwrites a file from its start, durable on return. Needs no space on a full disk if the text is not longer than the
 * file.
 */
export function overwrite(file: string, text: string): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    writeSync(fd, text, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Syncs a file or a folder to disk without blocking the event loop. */
export async function synced(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes earlier creations, renames and removals in a folder survive a power cut. */
export function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
