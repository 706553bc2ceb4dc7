/**
 * Files that a command writes to a path given by the user: reports, tables, configurations. The files are complete or
 * absent, even after a kill.
 */
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { NewFile, writeAll } from './durableFiles.ts';

/** Output under construction. */
export type OutputFile = {
  write(content: string | Uint8Array): void;
  /** Moves the content to the output's path. Throws if another process writes the same output. */
  finish(): void;
  /** Removes an unfinished file. Has no effect on a finished file. */
  discard(): void;
};

/** Error clause for the case that two processes write to one path. */
const WRITTEN_ELSEWHERE = 'another process is writing this file';

/**
 * Opens an output; creates missing folders and follows links. An existing file does not change until `finish`, and
 * keeps its permissions. Content for a pipe or a device is written immediately. Throws as `openSync` does, and if the
 * existing file is read-only.
 */
export function openOutput(path: string): OutputFile {
  const place = followed(path);
  const before = statSync(place, { throwIfNoEntry: false });
  if (before !== undefined && !before.isFile()) return writtenThrough(place);
  if (before !== undefined) accessSync(place, constants.W_OK);
  return wholeOutput(place, before);
}

/** Writes a complete output, or nothing if an error occurs. Opens the output as `openOutput` does. */
export function writeOutputFile(path: string, content: string | Uint8Array): void {
  const file = openOutput(path);
  try {
    file.write(content);
    file.finish();
  } catch (error) {
    file.discard();
    throw error;
  }
}

function wholeOutput(place: string, before: Stats | undefined): OutputFile {
  const file = new NewFile(place, { mode: 0o666, folderMode: 0o777 });
  if (before !== undefined) file.setMode(before.mode & 0o777);
  return {
    write: content => file.write(content),
    finish: () => {
      if (file.isReplaced)
        throw Object.assign(new Error(`${place}: ${WRITTEN_ELSEWHERE}`), { code: WRITTEN_ELSEWHERE });
      file.finish();
    },
    discard: () => file.discard(),
  };
}

function writtenThrough(place: string): OutputFile {
  const fd = openSync(place, constants.O_WRONLY);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  return { write: content => writeAll(fd, content, place), finish: close, discard: close };
}

/**
 * Returns the path of a file with every link followed. The file, and the target of its link, need not exist yet. Throws
 * as `realpathSync` does if a link leads to itself.
 */
export function followed(file: string): string {
  const path = resolve(file);
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      return followed(resolve(dirname(path), readlinkSync(path)));
    return dirname(path) === path ? path : join(followed(dirname(path)), basename(path));
  }
}
