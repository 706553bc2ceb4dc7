/** Checks of a path that a person gave, before any work is done for it. */
import { accessSync, closeSync, constants, openSync, opendirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileErrorCode, fileProblem, IN_A_FILE, IS_FOLDER, type FileUse } from './fileErrors.ts';

/** Kind of file at a path; `any` is a file or a folder. */
export type PathKind = 'file' | 'folder' | 'any';

/** Problem of a folder that does not exist. */
export const NO_FOLDER = 'no such folder';

/**
 * Returns the problem with a path in one clause, or `null` if the path can serve. A path to read must exist. A path to
 * write may be missing if its folders can be created.
 */
export function pathProblem(path: string, kind: PathKind, use: FileUse): string | null {
  try {
    return use === 'read' ? readProblem(path, kind) : writeProblem(path, kind);
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return MISSING[kind];
    return fileProblem(error, use);
  }
}

const MISSING = { file: 'no such file', folder: NO_FOLDER, any: 'no such file or folder' } as const;

function readProblem(path: string, kind: PathKind): string | null {
  const found = statSync(path);
  const wrong = wrongKind(found.isDirectory(), kind);
  if (wrong !== null) return wrong;
  if (found.isDirectory()) opendirSync(path).closeSync();
  // A pipe must not be opened here, because its content can be read only once.
  else if (found.isFile()) closeSync(openSync(path, constants.O_RDONLY));
  return null;
}

function writeProblem(path: string, kind: PathKind): string | null {
  const folder = dirname(resolve(path));
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return newProblem(folder);
  const wrong = wrongKind(found.isDirectory(), kind);
  if (wrong !== null) return wrong;
  accessSync(path, constants.W_OK);
  // A file is replaced by a new one, but a device is written to.
  return found.isFile() ? newProblem(folder) : null;
}

/** Returns the problem with a folder in which a file or a folder is to be created; parents may be missing. */
function newProblem(folder: string): string | null {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return dirname(folder) === folder ? null : newProblem(dirname(folder));
  if (!found.isDirectory()) return IN_A_FILE;
  accessSync(folder, constants.W_OK | constants.X_OK);
  return null;
}

function wrongKind(isFolder: boolean, kind: PathKind): string | null {
  if (kind === 'file' && isFolder) return IS_FOLDER;
  return kind === 'folder' && !isFolder ? 'a file, expected a folder' : null;
}
