/** How much room is left on the disk that holds a state directory. */
import { accessSync, constants, statfsSync } from 'node:fs';
import type { Millis } from '../../core/index.ts';
import { diskTroubleOf } from './diskTrouble.ts';
import type { DiskTrouble } from './diskTrouble.ts';

/** Free bytes that a state directory needs for its small files. */
const ROOM_MIN = 256 * 1024;

/** Why the disk of a directory takes nothing; `null` if it does, or if the system does not say. Writes nothing. */
export function diskProblem(dir: string): DiskTrouble | null {
  try {
    accessSync(dir, constants.W_OK);
    const { bavail, bsize, files, ffree } = statfsSync(dir);
    return bavail * bsize < ROOM_MIN || (files > 0 && ffree === 0) ? 'no room' : null;
  } catch (error) {
    return diskTroubleOf(error);
  }
}

/** Looked at once a second at most: a look is a call of the kernel. */
const LOOK_EVERY_MS = 1_000;

/** Free bytes on the disk of a directory for who runs this, not older than a second; null where the system does not tell. `elapsed` never goes back. */
export function diskRoom(dir: string, elapsed: () => Millis): () => number | null {
  let free: number | null = null;
  let at = -Infinity;
  return () => {
    const now = elapsed();
    if (now - at < LOOK_EVERY_MS) return free;
    at = now;
    try {
      const { bavail, bsize } = statfsSync(dir);
      free = bavail * bsize;
    } catch {
      free = null;
    }
    return free;
  };
}
