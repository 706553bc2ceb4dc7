/** The ledger of a state directory for those who only look: read from a copy, so that a running bot keeps its file to itself. */
import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../core/index.ts';
import type { Causes, Checked, Clock, Entry } from '../core/index.ts';
import { entriesIn } from './entries.ts';
import { STATE_FILE } from './journal.ts';
import { markOf } from './ledgerText.ts';
import { closeDatabase, openDatabase } from './stateFile.ts';

export type LedgerFile = {
  readonly causes: ReadonlyMap<string, Causes>;
  /** Oldest first; the first may be what older ones amount to. */
  readonly entries: readonly Entry[];
  readonly checked: Checked | null;
};

const TRIES = 40;
const AGAIN_MS = 25;

/** Null when there is no ledger in it yet. Rejects when the file cannot be trusted. */
export async function ledgerFileIn(dir: string, clock: Clock): Promise<LedgerFile | null> {
  if (!existsSync(join(dir, STATE_FILE))) return null;
  for (let tries = 1; ; tries++) {
    const copy = mkdtempSync(join(tmpdir(), 'puntas-ledger-'));
    try {
      if (copied(dir, copy)) return read(copy);
      if (tries >= TRIES) throw new Error(`${dir}: it was written to all the time: try again`);
    } catch (error) {
      // Torn, because it was written to meanwhile; or damaged, and then it stays so.
      if (tries >= TRIES) throw error;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
    await sleep(clock, AGAIN_MS);
  }
}

const LOG_FILE = `${STATE_FILE}-wal`;

/**
 * False when the log began anew meanwhile. Until it does, commits are added at its end and it holds every page that the file may have of
 * them: file first, then log, is a state that was durable.
 */
function copied(dir: string, copy: string): boolean {
  const before = headOf(join(dir, LOG_FILE));
  copyFileSync(join(dir, STATE_FILE), join(copy, STATE_FILE));
  if (before !== null) copyFileSync(join(dir, LOG_FILE), join(copy, LOG_FILE));
  return headOf(join(dir, LOG_FILE)) === before;
}

/** Its header changes when it begins anew; null without one. */
function headOf(file: string): string | null {
  if (!existsSync(file)) return null;
  const bytes = Buffer.alloc(32);
  const fd = openSync(file, 'r');
  try {
    return bytes.toString('hex', 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

function read(copy: string): LedgerFile | null {
  const db = openDatabase(join(copy, STATE_FILE));
  try {
    const row = db.prepare('SELECT account, mark FROM marks').get() as { account: string; mark: string } | undefined;
    if (!row) return null;
    const { ledger, checked } = markOf(row.mark);
    return { causes: ledger.causes, entries: [...entriesIn(db, row.account)], checked };
  } finally {
    closeDatabase(db);
  }
}
