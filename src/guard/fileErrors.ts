/** Sentences for errors of the file system, instead of the text of the system. */

/** Operation that a path is named for. */
export type FileUse = 'read' | 'write';

export const IS_FOLDER = 'a folder, expected a file';
export const IN_A_FILE = 'a part of the path is a file, expected a folder';

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: IS_FOLDER,
  ENOTDIR: IN_A_FILE,
  ELOOP: 'the links of the path lead to themselves',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  EIO: 'the disk reports an error',
};

/** Code of an error of the system, such as ENOENT; `null` if the error has none. */
export const fileErrorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/**
 * Returns the problem with a file in one clause, such as "no such file". The clause contains neither the path nor the
 * text of the system. An error that is not one of the system gives its own message.
 */
export function fileProblem(error: unknown, use: FileUse): string {
  const code = fileErrorCode(error);
  if (code === 'EACCES' || code === 'EPERM') return `no permission to ${use}`;
  if (code !== null && 'syscall' in (error as Error)) return SENTENCES[code] ?? code;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the one line about a path that a person gave: the path, the problem, and the remedy. The `advice` is an
 * imperative without a period.
 */
export const pathLine = (path: string, error: unknown, use: FileUse, advice: string): string =>
  `${path}: ${fileProblem(error, use)}; ${advice}`;
