/** Key files, read only if no other user could have read or written them. */
import { closeSync, fstatSync, realpathSync } from 'node:fs';
import { fileErrorCode, fileProblem, openRegularFile, readOpenFile, SMALL_FILE } from '../guard/index.ts';

/** Path of secrets mounted in a container: owned by root, mode 0444, on a file system private to the container. */
const MOUNTED = /^(\/var)?\/run\/secrets\//;

/**
 * Returns the text of a key file of at most 64 kB. Throws a one-line error with the remedy in three cases:
 * - The path is not a regular file.
 * - The owner is neither this user nor root.
 * - Other users have access to the file. A mounted secret of root is rejected only if other users can write to it.
 */
export function readSecretFile(path: string): string {
  const fd = openKeyFile(path);
  try {
    // Checks the opened file, because the path may already refer to another file.
    const seen = fstatSync(fd);
    const user = process.geteuid?.();
    if (user !== undefined) {
      const mode = (seen.mode & 0o777).toString(8).padStart(4, '0');
      if (seen.uid !== user && seen.uid !== 0)
        throw new Error(
          `the file belongs to user ${seen.uid}, but this process runs as user ${user}; chown ${user} ${path}`,
        );
      const open = MOUNTED.test(realpathSync(path)) && seen.uid === 0 ? seen.mode & 0o022 : seen.mode & 0o077;
      if (open !== 0)
        throw new Error(
          `other users can read or change the file (mode ${mode}); chmod 600 ${path}, and treat the key as compromised`,
        );
    }
    return readOpenFile(fd, SMALL_FILE);
  } finally {
    closeSync(fd);
  }
}

/** Opens a key file. The error keeps the `code` of the system, and its message states the problem in one clause. */
function openKeyFile(path: string): number {
  try {
    return openRegularFile(path);
  } catch (error) {
    throw Object.assign(new Error(fileProblem(error, 'read')), { code: fileErrorCode(error) });
  }
}
