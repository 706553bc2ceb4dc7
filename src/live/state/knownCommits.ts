/**
 * Number of the last known commit of a database in the state directory, in a separate small file. The number
 * distinguishes an empty, lost or truncated database, or an older copy, from the database of a new account.
 */
import { counted } from '../../core/index.ts';
import { readRegularFile, SMALL_FILE, syncFolder } from '../../guard/index.ts';
import { closeSync, constants, existsSync, fsyncSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { recordingsIn } from '../recording/recordings.ts';
import { STATE_FILE } from './stateFile.ts';

/** File names in a state directory: a database, and the number of its last commit. */
export type CountedFile = { readonly db: string; readonly mark: string };

const STATE: CountedFile = { db: STATE_FILE, mark: 'puntas.commits' };
const BYTES = 32;

/** Returns the number of the last commit known to be durable; `null` if no number is recorded. */
export function commitsKnown(dir: string, { mark }: CountedFile = STATE): number | null {
  try {
    const { commits } = JSON.parse(readRegularFile(join(dir, mark), SMALL_FILE)) as { commits?: unknown };
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
export function commitMarkIn(dir: string, commits: number, { mark }: CountedFile = STATE): CommitMark {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const fd = openSync(join(dir, mark), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
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
 * Returns why the database cannot be the one of earlier runs (it is missing or empty); otherwise `null`. Call `lossOf`
 * before SQLite opens the file, because SQLite deletes a write-ahead log whose file is missing.
 */
export function lossOf(dir: string, of: CountedFile = STATE): string | null {
  const file = join(dir, of.db);
  const traces = tracesIn(dir, of);
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
  const missing = missingCommits(dir, commits);
  if (missing !== null) return missing;
  const recorded = recordedRuns(dir).at(-1);
  if (recorded !== undefined && recorded > (lastRun ?? 0))
    return `the file has no run ${recorded}, but the recording run-${recorded}.rec is next to it; the log ${STATE_FILE}-wal was lost or truncated, or the file was restored from an older copy`;
  return null;
}

/**
 * Returns why a readable database is older than its last known commit; otherwise `null`. `commits` is the commit count
 * of the database, or `null` for a version that did not count commits.
 */
export function missingCommits(dir: string, commits: number | null, of: CountedFile = STATE): string | null {
  const known = commitsKnown(dir, of);
  return commits !== null && known !== null && commits < known
    ? `the file has only ${commits} of ${counted(known, 'commit')}, because its log ${of.db}-wal was lost or truncated, or the file was restored from an older copy`
    : null;
}

/**
 * Returns the files in the directory that only a bot with this database creates. A sentinel's heartbeat and an
 * operator's halt are omitted, because they may exist before the first run.
 */
function tracesIn(dir: string, { db, mark }: CountedFile): string[] {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  const hasLog = names.includes(`${db}-wal`) && statSync(join(dir, `${db}-wal`)).size > 0;
  const own = [...(names.includes(mark) ? [mark] : []), ...(hasLog ? [`${db}-wal`] : [])];
  if (db !== STATE_FILE) return own;
  const recordings = recordedRuns(dir);
  return [
    ...(names.includes('heartbeat.json') ? ['heartbeat.json'] : []),
    ...own,
    ...(recordings.length === 0 ? [] : [`recordings up to run-${recordings.at(-1)}.rec`]),
  ];
}

const recordedRuns = (dir: string): number[] => (existsSync(dir) ? recordingsIn(dir).map(({ run }) => run) : []);
