/** Marks a state directory as one of paper trading: a live run never opens it, and paper never one that was used before. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATE_FILE } from './journal.ts';
import { claimStateDir } from '../files/stateDir.ts';

const MARK = 'PAPER';
const TEXT = 'This is the state of paper trading. Nothing in it is about real orders or real money.\n';

/** False as well for a directory that is not there, or that nobody has used. */
export const isPaperState = (dir: string): boolean => existsSync(join(dir, MARK));

/** Throws one clear line when the directory is of the other kind; marks a new one of paper. */
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
      `the state directory ${dir} belongs to a bot that does not trade on paper; give paper trading its own with paper.stateDir or --state`,
    );
  }
  claimStateDir(dir);
  // Made here or not at all: no link is followed.
  writeFileSync(join(dir, MARK), TEXT, { mode: 0o600, flush: true, flag: 'wx' });
}
