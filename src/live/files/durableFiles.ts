/** Files that are whole after a power cut, or not there. No link is followed: somebody else may have planted it. */
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

/** Whole or not at all, also when the power fails: written beside, synced, renamed, and the folder synced. */
export function writeDurably(file: string, text: string, beside?: string): void {
  writeWhole(file, text, beside);
  syncFolder(dirname(file));
}

/** As `writeDurably`, for a file that several processes may write at once: the last one stays, and none is told that it failed. */
export function writeDurablyAlone(file: string, text: string): void {
  writeDurably(file, text, `${file}.${randomUUID()}.new`);
}

/** Whole or not at all, for whoever reads it; `beside`: where it is written first. After a power cut it may be the one before. Throws when the disk does not take all of it, and then nothing changed. */
export function writeWhole(file: string, text: string, beside = `${file}.new`): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
    const fd = openSync(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      const bytes = Buffer.from(text, 'utf8');
      // A disk that is nearly full takes a part of it and says so only by its count.
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

/** One line more at the end of a file. */
export function appendLine(file: string, line: string): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    writeSync(fd, `${line}\n`);
  } finally {
    closeSync(fd);
  }
}

/** As `appendLine`, durable when it returns; what a power cut left of a line before it stays a line of its own. Throws when the disk does not take all of it. */
export function appendLineDurably(file: string, line: string): void {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    const last = Buffer.alloc(1, '\n');
    const { size } = fstatSync(fd);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    // One write: that of another process comes before it or after it.
    const bytes = Buffer.from(`${last.toString() === '\n' ? '' : '\n'}${line}\n`, 'utf8');
    if (writeSync(fd, bytes) !== bytes.length) throw new Error(`${file}: the disk is full`);
    fsyncSync(fd);
    if (size === 0) syncFolder(dirname(file));
  } finally {
    closeSync(fd);
  }
}

/** Text over what a file holds from its beginning, durable when it returns; as long as what is there it needs no room on a full disk. */
export function overwrite(file: string, text: string): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    writeSync(fd, text, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A file or a folder is on the disk as it is now. Holds nothing else up, however large it is. */
export async function synced(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What was made, renamed or removed in a folder is there, or gone, after a power cut too. */
export function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
