/**
 * Marker file of a state directory for paper trading. A live run never opens a directory with the marker; paper trading
 * never opens a used directory without it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createDurably } from '../../guard/index.ts';
import { STATE_FILE } from './journal.ts';
import { claimStateDir } from '../files/stateDir.ts';

const MARK = 'PAPER';
const TEXT = 'This is the state of paper trading. Nothing in it is about real orders or real money.\n';

/** Whether the directory is marked as paper; `false` for a missing or unused one. */
export const isPaperState = (dir: string): boolean => existsSync(join(dir, MARK));

/**
 * Throws a one-line error if paper trading would use the directory of a live run, or vice versa. Marks a new directory
 * of paper trading.
 */
export function claimState(dir: string, isPaper: boolean): void {
  const isMarked = isPaperState(dir);
  if (!isPaper && isMarked) {
    throw new Error(
      `the state directory ${dir} belongs to paper trading (it contains the file ${MARK}); give this bot its own state.dir`,
    );
  }
  if (!isPaper || isMarked) return;
  if (existsSync(join(dir, STATE_FILE))) {
    throw new Error(
      `the state directory ${dir} belongs to a bot that trades without --paper; give paper trading its own state directory with paper.stateDir or --state`,
    );
  }
  claimStateDir(dir);
  // `createDurably` fails if the file exists, and does not follow links.
  try {
    createDurably(join(dir, MARK), TEXT, 0o600);
  } catch (error) {
    // Another process may have marked the directory meanwhile. The lock of the account then decides between both.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isPaperState(dir)) throw error;
  }
}
