/** Files that are whole after a power cut, or not there. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whole or not at all, also when the power fails: written beside, synced, renamed, and the folder synced. */
export function writeDurably(file: string, text: string): void {
  writeWhole(file, text);
  syncFolder(dirname(file));
}

/** Whole or not at all, for whoever reads it; after a power cut it may be the one before. Throws when the disk does not take all of it, and then nothing changed. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.new`;
  try {
    const fd = openSync(beside, 'w', 0o600);
    try {
      const bytes = Buffer.from(text, 'utf8');
      // A disk that is nearly full takes a part of it and says so only by its count.
      for (let done = 0; done < bytes.length;) {
        const written = writeSync(fd, bytes, done);
        if (written === 0) throw new Error(`${beside}: the disk takes no more`);
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

/** What was made, renamed or removed in a folder is there, or gone, after a power cut too. */
export function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
