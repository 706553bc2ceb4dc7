/**
 * Number of the last known commit of the state file, in a separate small file. The number distinguishes an empty, lost
 * or truncated state file from the state file of a new account.
 */
import { readRegularFile, SMALL_FILE, syncFolder } from '../../guard/index.ts';
import { closeSync, constants, existsSync, fsyncSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { recordingsIn } from '../recording/recordings.ts';
import { STATE_FILE } from './stateFile.ts';

const FILE = 'puntas.commits';
const BYTES = 32;

/** Returns the number of the last commit known to be durable; `null` if no number is recorded. */
export function commitsKnown(dir: string): number | null {
  try {
    const { commits } = JSON.parse(readRegularFile(join(dir, FILE), SMALL_FILE)) as { commits?: unknown };
    return Number.isSafeInteger(commits) ? (commits as number) : null;
  } catch {
    return null;
  }
}

export type CommitMark = {
  /**
   * Records the number of a commit. Never throws, and does not wait for the disk: after a crash of the machine, the
   * number may be too low, never too high.
   */
  tell(commits: number): void;
  close(): void;
};

/** Opens the file for writing. Throws if the disk accepts no write. */
export function commitMarkIn(dir: string, commits: number): CommitMark {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const fd = openSync(join(dir, FILE), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  // The new text has the same length as the old one, so that no further space is needed.
  const put = (n: number) => writeSync(fd, `${JSON.stringify({ commits: n }).padEnd(BYTES - 1)}\n`, 0);
  put(commits);
  fsyncSync(fd);
  syncFolder(dir);
  return {
    tell: n => {
      try {
        put(n);
      } catch {
        return;
      }
    },
    close: () => closeSync(fd),
  };
}

/**
 * Returns why the state file cannot be the file of earlier runs (it is missing or empty); otherwise `null`. Call
 * `lossOf` before SQLite opens the file, because SQLite deletes a write-ahead log whose file is missing.
 */
export function lossOf(dir: string): string | null {
  const file = join(dir, STATE_FILE);
  const traces = tracesIn(dir);
  if (traces.length === 0) return null;
  if (existsSync(file) && statSync(file).size > 0) return null;
  return `${existsSync(file) ? 'the file is empty' : 'the file is missing'}, but earlier runs left ${traces.join(', ')} next to it`;
}

/**
 * Returns why a readable state file is older than the last known commit or run; otherwise `null`. `commits` is the
 * commit count of the file, or `null` for a version that did not count commits. `lastRun` is the newest run in the
 * file.
 */
export function stalenessOf(dir: string, commits: number | null, lastRun: number | null): string | null {
  const known = commitsKnown(dir);
  if (commits !== null && known !== null && commits < known)
    return `the file has only ${commits} of ${known} commits, because its log ${STATE_FILE}-wal was lost or truncated, or the file was restored from an older copy`;
  const recorded = recordedRuns(dir).at(-1);
  if (recorded !== undefined && recorded > (lastRun ?? 0))
    return `the file has no run ${recorded}, but the recording run-${recorded}.rec is next to it; the log ${STATE_FILE}-wal was lost or truncated, or the file was restored from an older copy`;
  return null;
}

/**
 * Returns the files in the directory that only a bot with a state file creates. A sentinel's heartbeat and an
 * operator's halt are omitted, because they may exist before the first run.
 */
function tracesIn(dir: string): string[] {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  const recordings = recordedRuns(dir);
  return [
    ...[FILE, 'heartbeat.json'].filter(name => names.includes(name)),
    ...(names.includes(`${STATE_FILE}-wal`) && statSync(join(dir, `${STATE_FILE}-wal`)).size > 0
      ? [`${STATE_FILE}-wal`]
      : []),
    ...(recordings.length === 0 ? [] : [`recordings up to run-${recordings.at(-1)}.rec`]),
  ];
}

const recordedRuns = (dir: string): number[] => (existsSync(dir) ? recordingsIn(dir).map(({ run }) => run) : []);
