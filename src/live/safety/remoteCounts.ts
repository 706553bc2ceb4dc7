/** Number of chat updates that the remote control received, by outcome; a file of the state directory. */
import { join } from 'node:path';
import { readRegularFile, SMALL_FILE, writeWhole } from '../../guard/index.ts';

/**
 * Outcomes of an update. `foreign`: from a chat or user that is not listed. `old`: a command that was sent too long ago.
 * `repeated`: received before. `too many`: above the limit of its user. `ignored`: no command to this bot.
 */
export const REMOTE_OUTCOMES = ['accepted', 'foreign', 'old', 'repeated', 'too many', 'ignored'] as const;
export type RemoteOutcome = (typeof REMOTE_OUTCOMES)[number];
export type RemoteCounts = Readonly<Record<RemoteOutcome, number>>;

const FILE = 'remote.json';

/** Writes the counts. Returns false if the disk accepts no write; counts are only shown, so nothing depends on them. */
export function writeRemoteCounts(stateDir: string, counts: RemoteCounts): boolean {
  try {
    writeWhole(join(stateDir, FILE), JSON.stringify(counts));
    return true;
  } catch {
    return false;
  }
}

/** Returns the counts of the last or current remote control; `null` if there are none or they are unreadable. */
export function remoteCountsIn(stateDir: string): RemoteCounts | null {
  try {
    const found = JSON.parse(readRegularFile(join(stateDir, FILE), SMALL_FILE)) as Partial<Record<string, unknown>>;
    const counts = REMOTE_OUTCOMES.map(outcome => [outcome, found[outcome]] as const);
    return counts.every(([, count]) => Number.isSafeInteger(count) && (count as number) >= 0)
      ? (Object.fromEntries(counts) as RemoteCounts)
      : null;
  } catch {
    return null;
  }
}
