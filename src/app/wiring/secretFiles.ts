/** Key files: read only when nobody else can have read or written them. */
import { closeSync, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';

/** Where container runtimes mount secrets: root's, and mode 0444 without more, inside a file system of that container alone. */
const MOUNTED = /^(\/var)?\/run\/secrets\//;

/** The text of a key file. Throws one line, with the command that mends it, when it is not ours (or root's) or is open to others. */
export function readSecretFile(path: string): string {
  const fd = openSync(path, 'r');
  try {
    // What was opened is what is judged: a name may mean another file by now.
    const seen = fstatSync(fd);
    const user = process.geteuid?.();
    if (!seen.isFile()) throw new Error('it is no file');
    if (user !== undefined) {
      const mode = (seen.mode & 0o777).toString(8).padStart(4, '0');
      if (seen.uid !== user && seen.uid !== 0)
        throw new Error(`it belongs to user ${seen.uid}, this process is user ${user}: chown ${user} ${path}`);
      const open = MOUNTED.test(realpathSync(path)) && seen.uid === 0 ? seen.mode & 0o022 : seen.mode & 0o077;
      if (open !== 0)
        throw new Error(`it is open to others (mode ${mode}): chmod 600 ${path}, and think of the key as known`);
    }
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
