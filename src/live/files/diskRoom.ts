/** How much room is left on the disk that holds a state directory. */
import { statfsSync } from 'node:fs';
import type { Millis } from '../../core/index.ts';

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
