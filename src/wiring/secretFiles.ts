/** Key files: read only when nobody else can have read or written them. */
import { closeSync, fstatSync, realpathSync } from 'node:fs';
import { openRegularFile, readOpenFile, SMALL_FILE } from '../guard/index.ts';

/** Where container runtimes mount secrets: root's, and mode 0444 without more, inside a file system of that container alone. */
const MOUNTED = /^(\/var)?\/run\/secrets\//;

/** The text of a key file. Throws one line, with the command that mends it, when it is not ours (or root's), is open to others, or is no regular file of at most 64 kB. */
export function readSecretFile(path: string): string {
  const fd = openRegularFile(path);
  try {
    // What was opened is what is judged: a name may mean another file by now.
    const seen = fstatSync(fd);
    const user = process.geteuid?.();
    if (user !== undefined) {
      const mode = (seen.mode & 0o777).toString(8).padStart(4, '0');
      if (seen.uid !== user && seen.uid !== 0)
        throw new Error(`it belongs to user ${seen.uid}, but this process runs as user ${user}; chown ${user} ${path}`);
      const open = MOUNTED.test(realpathSync(path)) && seen.uid === 0 ? seen.mode & 0o022 : seen.mode & 0o077;
      if (open !== 0)
        throw new Error(`other users can read it (mode ${mode}); chmod 600 ${path}, and treat the key as compromised`);
    }
    return readOpenFile(fd, SMALL_FILE);
  } finally {
    closeSync(fd);
  }
}
