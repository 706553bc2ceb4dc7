/**
 * Creation of folders, one by one. With `recursive`, `mkdirSync` of Node never returns if a file system reports an
 * existing parent as missing, as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileErrorCode, fileProblem } from './fileErrors.ts';

/**
 * Creates a folder and its missing parents, with the permissions `mode` less the umask. Has no effect on an existing
 * folder. Throws a one-line error with the `code` of the system if a folder cannot be created.
 */
export function makeFolder(dir: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(dir); !isFolder(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const folder of missing.reverse()) makeOne(folder, mode);
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (isFolder(folder)) return;
    const code = fileErrorCode(error);
    throw Object.assign(new Error(`cannot create the folder ${folder}: ${folderProblem(error)}`), { code });
  }
}

function folderProblem(error: unknown): string {
  const code = fileErrorCode(error);
  // The parent exists, because it was found or created just before.
  if (code === 'ENOENT') return 'its file system accepts no new folders';
  if (code === 'EEXIST') return 'a file or a broken link has this name';
  return fileProblem(error, 'write');
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
