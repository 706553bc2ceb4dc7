/** Free space on the disk of a state directory. */
import { accessSync, constants, statfsSync } from 'node:fs';
import type { Millis } from '../../core/index.ts';
import { diskTroubleOf, type DiskTrouble } from './diskTrouble.ts';

/** Minimum free bytes for the small files of a state directory. */
const ROOM_MIN = 256 * 1024;

/**
 * Returns why the disk of a directory accepts no writes. Returns `null` if the disk accepts writes, or if the system
 * does not report its free space. Writes nothing.
 */
export function diskProblem(dir: string): DiskTrouble | null {
  try {
    accessSync(dir, constants.W_OK);
    const { bavail, bsize, files, ffree } = statfsSync(dir);
    return bavail * bsize < ROOM_MIN || (files > 0 && ffree === 0) ? 'no room' : null;
  } catch (error) {
    return diskTroubleOf(error);
  }
}

/** Minimum time between checks, because each check is a system call. */
const LOOK_EVERY_MS = 1_000;

/**
 * Returns a function for the free bytes available to this user on the disk of `dir`, at most one second old; `null` if
 * unknown. `elapsed` must be monotonic.
 */
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
