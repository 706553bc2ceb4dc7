/**
 * Minimum process limits: open files and memory. Below these limits, Node fails late and prints pages of internal
 * output.
 */
import { getHeapStatistics } from 'node:v8';
// The import bypasses the folder's index, because a low limit on open files prevents loading its other modules.
import { readRegularFile, SMALL_FILE } from '../guard/files.ts';

/**
 * Minimum number of open files. The program opens many of its own files together, before sockets, recordings and
 * threads.
 */
export const OPEN_FILES_MIN = 256;
/**
 * Minimum heap, in MB. `--max-old-space-size=64` gives too little (112 MB); `--max-old-space-size=96` (144 MB) and a
 * container with 256 MB (130 MB) suffice.
 */
export const HEAP_MIN_MB = 120;

/** Commands that run with less than the minimum heap, because they read little or cancel orders. */
const SMALL = ['status', 'pause', 'reduce', 'cancel', 'flatten', 'halt', 'resume', 'sentinel', 'alert', 'help'];

/** Limits of this process. `openFiles` is `Infinity` if the limit cannot be read. */
export type ProcessLimits = { readonly openFiles: number; readonly heapMb: number };

/** Reads the limits of this process. The limit of open files can be read only on Linux. */
export const ownLimits = (): ProcessLimits => ({
  openFiles: openFilesIn(limitsText()),
  heapMb: getHeapStatistics().heap_size_limit / 1_048_576,
});

/** Returns the soft limit in the text of `/proc/self/limits`. */
export function openFilesIn(text: string): number {
  const found = /^Max open files\s+(\d+)\s/m.exec(text)?.[1];
  return found === undefined ? Infinity : Number(found);
}

/**
 * Returns why the command cannot run within the limits, with the remedy, in one line; `null` if the command can run.
 */
export function smallLimitOf(
  command: string | undefined,
  { openFiles, heapMb }: ProcessLimits = ownLimits(),
): string | null {
  if (!(openFiles >= OPEN_FILES_MIN))
    return `the limit of open files is ${openFiles}, and Puntas needs ${OPEN_FILES_MIN}; ${MORE_FILES}`;
  if ((command !== undefined && SMALL.includes(command)) || heapMb >= HEAP_MIN_MB) return null;
  return `the memory limit of Node is ${Math.floor(heapMb)} MB, and Puntas needs ${HEAP_MIN_MB} MB; remove --max-old-space-size from NODE_OPTIONS and the command line, or set the option to 256 or more (give a container 512 MB)`;
}

const MORE_FILES =
  'raise the limit with ulimit -n 1024 in the same shell (systemd: LimitNOFILE=1024; Docker: --ulimit nofile=1024)';

/** Returns the remedy for an error about too many open files; `null` for other errors. */
export const filesRemedyOf = (error: unknown): string | null =>
  ['EMFILE', 'ENFILE'].includes(String((error as NodeJS.ErrnoException | null)?.code)) ? MORE_FILES : null;

function limitsText(): string {
  try {
    return readRegularFile('/proc/self/limits', SMALL_FILE);
  } catch {
    return '';
  }
}
