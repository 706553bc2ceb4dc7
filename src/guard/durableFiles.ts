/**
 * Files that are complete or absent after a power cut. Links are not followed, because another user may have planted a
 * link.
 */
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from './folders.ts';

type NewFileOptions = {
  /** Path of the temporary file. Default: the path of the file with the suffix `.new`. */
  readonly beside?: string;
  readonly mode?: number;
  /** Permissions of folders that are created. */
  readonly folderMode?: number;
};

/**
 * File under construction. Until `finish`, its content is in a temporary file next to it, so that no reader sees a
 * partial file, even after a kill. The next `NewFile` of the same name removes the temporary file of a killed process.
 */
export class NewFile {
  readonly #file: string;
  readonly #beside: string;
  readonly #fd: number;
  #isOpen = true;

  /** Creates missing folders. Throws if the temporary file cannot be created. */
  constructor(file: string, { beside = `${file}.new`, mode = 0o600, folderMode = 0o700 }: NewFileOptions = {}) {
    [this.#file, this.#beside] = [file, beside];
    makeFolder(dirname(file), folderMode);
    rmSync(beside, { force: true });
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    this.#fd = openSync(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  }

  /** Whether another process that writes the same file has replaced this temporary file. */
  get isReplaced(): boolean {
    return statSync(this.#beside, { throwIfNoEntry: false })?.ino !== fstatSync(this.#fd).ino;
  }

  /** Sets the permissions, regardless of the umask. */
  setMode(mode: number): void {
    fchmodSync(this.#fd, mode);
  }

  /** Sets owner and permissions. Throws if the process may not set the owner. */
  keep(mode: number, uid: number, gid: number): void {
    const own = fstatSync(this.#fd);
    if (own.uid !== uid || own.gid !== gid) fchownSync(this.#fd, uid, gid);
    fchmodSync(this.#fd, mode);
  }

  /** Appends to the content. Throws if the disk does not accept the complete content. */
  write(content: string | Uint8Array): void {
    writeAll(this.#fd, content, this.#beside);
  }

  /**
   * Syncs the content to disk and renames the temporary file to its final name, atomically. After a power cut, the file
   * may still have its previous content.
   */
  finish(): void {
    fsyncSync(this.#fd);
    renameSync(this.#beside, this.#file);
    this.#close();
  }

  /** Removes an unfinished file. Has no effect on a finished file. */
  discard(): void {
    if (!this.#isOpen) return;
    const { isReplaced } = this;
    this.#close();
    if (!isReplaced) rmSync(this.#beside, { force: true });
  }

  #close(): void {
    closeSync(this.#fd);
    this.#isOpen = false;
  }
}

/**
 * Writes a file completely or not at all, even in a power cut: writes a temporary file, syncs it, renames it and syncs
 * the folder.
 */
export function writeDurably(file: string, text: string, beside?: string): void {
  writeWhole(file, text, beside);
  syncFolder(dirname(file));
}

/**
 * Writes a file as `writeDurably` does, even if several processes write it concurrently. The last write wins, and no
 * write fails because of another.
 */
export function writeDurablyAlone(file: string, text: string): void {
  writeDurably(file, text, `${file}.${randomUUID()}.new`);
}

/**
 * Replaces a file atomically for readers, through the temporary file `beside`. After a power cut, the file may still
 * have its previous content. Throws, without changing the file, if the disk does not accept the complete text.
 */
export const writeWhole = (file: string, text: string, beside?: string): void =>
  replaceBy(text, file, beside === undefined ? {} : { beside });

/**
 * Writes a file as `writeDurably` does, with the permissions `mode` less the umask. Throws EEXIST if the file exists.
 */
export function createDurably(file: string, text: string, mode: number): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
    throw Object.assign(new Error(`EEXIST: file already exists, ${file}`), { code: 'EEXIST' });
  replaceBy(text, file, { mode });
  syncFolder(dirname(file));
}

function replaceBy(text: string, file: string, options: NewFileOptions): void {
  const made = new NewFile(file, options);
  try {
    made.write(text);
    made.finish();
  } catch (error) {
    made.discard();
    throw error;
  }
}

/**
 * Appends one line to a file. A partial line left by a killed process stays a separate line. Throws if the disk does
 * not accept the complete line.
 */
export const appendLine = (file: string, line: string): void => addLine(file, line, false);

/** Appends one line as `appendLine` does, and syncs it to disk before it returns. */
export const appendLineDurably = (file: string, line: string): void => addLine(file, line, true);

function addLine(file: string, line: string, isDurable: boolean): void {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    const last = Buffer.alloc(1, '\n');
    const { size } = fstatSync(fd);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    // One call writes the complete line, so that lines of two processes do not mix.
    const bytes = Buffer.from(`${last.toString() === '\n' ? '' : '\n'}${line}\n`, 'utf8');
    if (writeSync(fd, bytes) !== bytes.length) throw new Error(`${file}: the disk is full`);
    if (!isDurable) return;
    fsyncSync(fd);
    if (size === 0) syncFolder(dirname(file));
  } finally {
    closeSync(fd);
  }
}

/**
 * Overwrites a file from its start and syncs it to disk. A text that is not longer than the file needs no free disk
 * space.
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

/**
 * Returns why a file cannot be replaced by one with the same owner and permissions; `null` if it can.
 */
export function replacementProblem(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return 'there is no such file';
  if (found.isSymbolicLink()) return 'the file is a symbolic link, and its target may belong to another program';
  if (!found.isFile()) return 'this is not a regular file';
  if (found.nlink > 1) return 'the file has further hard links, which would keep the old content';
  // For root, the system permits writing to files that are marked as read-only.
  if ((found.mode & 0o222) === 0) return 'the file is read-only';
  const own = process.geteuid?.();
  if (own !== undefined && own !== 0 && found.uid !== own) return 'the file belongs to another user';
  try {
    accessSync(file, constants.W_OK);
  } catch {
    return 'the file is not writable for this process';
  }
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch {
    return 'the folder of the file is not writable for this process';
  }
  return null;
}

/**
 * Replaces an existing file as `writeDurably` does, and keeps its permissions and owner. `id` is part of the name of
 * the temporary file, which is hidden. Throws, without changing the file, if it cannot be replaced.
 */
export function replaceInPlace(file: string, text: string, id: string): void {
  const problem = replacementProblem(file);
  if (problem !== null) throw new Error(problem);
  const { mode, uid, gid } = lstatSync(file);
  const made = new NewFile(file, { beside: join(dirname(file), `.${basename(file)}.${id}.new`) });
  try {
    made.keep(mode & 0o7777, uid, gid);
    made.write(text);
    made.finish();
  } catch (error) {
    made.discard();
    throw error;
  }
  syncFolder(dirname(file));
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

/** Makes creations, renames and removals in a folder survive a power cut. */
export function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes all bytes or throws. On a nearly full disk, a system call may write fewer bytes without an error. */
export function writeAll(fd: number, content: string | Uint8Array, shown: string): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  for (let done = 0; done < bytes.length;) {
    const written = writeSync(fd, bytes, done);
    if (written === 0) throw new Error(`${shown}: the disk is full`);
    done += written;
  }
}
