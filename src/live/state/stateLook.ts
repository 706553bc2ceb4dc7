/** What a state directory knows, for a start that does not come to open it: whose it is, what may live, what halts it. Changes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Amount, Clock, Price, Side } from '../../core/index.ts';
import { mayStillExecute } from '../../hedge/index.ts';
import { checkpointOf } from '../recording/ledgerText.ts';
import { latchIn } from '../safety/latch.ts';
import type { Halt } from '../safety/latch.ts';
import { ownerIn } from './owner.ts';
import type { Owner } from './owner.ts';
import { fromCopy } from './stateCopy.ts';
import { STATE_FILE } from './stateFile.ts';

/** Price in ticks, amount in lots: the rules of the book are not in the state. */
export type LiveOrder = { readonly id: string; readonly side: Side; readonly price: Price; readonly amount: Amount };

export type StateLook = {
  /** Null before the first use. */
  readonly owner: Owner | null;
  /** Orders of which no end is on disk, oldest first. */
  readonly orders: readonly LiveOrder[];
  /** Why trading is halted there, or why inventory is only closed. */
  readonly halt: Halt | null;
};

/** Null where no bot has been. Rejects when the state file cannot be trusted, or not be read. */
export async function lookInto(dir: string, clock: Clock): Promise<StateLook | null> {
  if (!existsSync(join(dir, STATE_FILE))) return null;
  const latch = latchIn(dir);
  const found = await fromCopy(dir, clock, db => ({
    owner: ownerIn(db),
    orders: db
      .prepare('SELECT id, side, price, amount FROM intents WHERE ending IS NULL ORDER BY at, id')
      .all() as LiveOrder[],
  }));
  return found && { ...found, halt: latch.read() ?? latch.readReduce() };
}

/** Id of the hedge that may be carried out, or waits between its legs; null when none is. Rejects as `lookInto` does. */
export async function openHedgeOf(dir: string, clock: Clock): Promise<string | null> {
  const marks = await fromCopy(dir, clock, db => db.prepare('SELECT mark FROM marks').all() as { mark: string }[]);
  const rows = (marks ?? []).flatMap(({ mark }) => checkpointOf(mark).hedges);
  return rows.find(row => mayStillExecute(row) || row.state === 'between')?.id ?? null;
}

/** Above every nonce that a bot may have used; 0 where none was. Rejects as `lookInto` does. */
export async function nonceMarkOf(dir: string, clock: Clock): Promise<bigint> {
  const marks = await fromCopy(dir, clock, db => db.prepare('SELECT mark FROM nonces').all() as { mark: string }[]);
  return (marks ?? []).reduce((highest, { mark }) => (BigInt(mark) > highest ? BigInt(mark) : highest), 0n);
}
