/** A hedge that a state file has as open. */
import { join } from 'node:path';
import { checkpointOf, textOfCheckpoint } from '../../src/live/recording/ledgerText.ts';
import { closeDatabase, openDatabase, STATE_FILE } from '../../src/live/state/stateFile.ts';
import { sumOf } from '../../src/live/state/rowChecksums.ts';

/** As a bot leaves it that was killed over a hedge. */
export function withOpenHedge(dir: string): void {
  const db = openDatabase(join(dir, STATE_FILE));
  const { account, mark } = db.prepare('SELECT account, mark FROM marks').get() as Record<'account' | 'mark', string>;
  const row = { id: 'h-1', at: 0, amount: '0.01', weighed: [], offer: null, conversionId: null, why: null };
  const hedges = [{ ...row, state: 'unknown', acceptedAt: 0 } as const];
  const text = textOfCheckpoint({ ...checkpointOf(mark), hedges });
  db.prepare('UPDATE marks SET mark = ?, sum = ?').run(text, sumOf(account, text));
  closeDatabase(db);
}
