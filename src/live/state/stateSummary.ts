/**
 * Read-only summary of a state directory: owner, orders that may be live, halt. Checks use the summary, because they
 * must not lock the state file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import type { Amount, Clock, Price, Side } from '../../core/index.ts';
import { mayStillExecute } from '../../hedge/index.ts';
import { checkpointOf } from '../recording/ledgerText.ts';
import { bookStopsIn, unreadBookLatches } from '../safety/bookLatch.ts';
import { latchIn, type Halt } from '../safety/latch.ts';
import { ownerIn, type Owner } from './owner.ts';
import { fromCopy } from './stateCopy.ts';
import { hasOrderBooks, NONCES_ELSEWHERE, STATE_FILE } from './stateFile.ts';

/**
 * Order that may be live. Price is in ticks and amount in lots, because the state does not contain the rules of the
 * book.
 */
export type LiveOrder = {
  readonly id: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /** Symbol of its book; absent for the first book. */
  readonly symbol?: string;
};

export type StateLook = {
  /** Owner; `null` before the first use. */
  readonly owner: Owner | null;
  /** Orders whose end is not on disk, oldest first. */
  readonly orders: readonly LiveOrder[];
  /** Halt or reduce-only state, with its reason; `null` if there is neither. */
  readonly halt: Halt | null;
  /** Halts and reduce-only states of single books. */
  readonly bookHalts: readonly { readonly book: string; readonly halt: Halt }[];
};

/**
 * Reads the summary; `null` if no bot has run in the directory. Rejects if the state file cannot be trusted or read.
 */
export async function lookInto(dir: string, clock: Clock): Promise<StateLook | null> {
  if (!existsSync(join(dir, STATE_FILE))) return null;
  const latch = latchIn(dir);
  const found = await fromCopy(dir, clock, db => ({
    owner: ownerIn(db),
    orders: liveOrdersIn(db),
  }));
  return (
    found && {
      ...found,
      halt: latch.read() ?? unreadBookLatches(dir) ?? latch.readReduce(),
      bookHalts: bookStopsIn(dir),
    }
  );
}

function liveOrdersIn(db: Database.Database): readonly LiveOrder[] {
  const orders = db
    .prepare('SELECT id, side, price, amount FROM intents WHERE ending IS NULL ORDER BY at, id')
    .all() as LiveOrder[];
  if (!hasOrderBooks(db)) return orders;
  const books = new Map(
    (db.prepare('SELECT id, book FROM order_books').all() as { id: string; book: string }[]).map(row => [
      row.id,
      row.book,
    ]),
  );
  return orders.map(order => {
    const symbol = books.get(order.id);
    return symbol === undefined ? order : { ...order, symbol };
  });
}

/**
 * Returns the id of the hedge that may still execute or waits between its legs; `null` if there is none. Rejects if the
 * state file cannot be trusted or read.
 */
export async function openHedgeOf(dir: string, clock: Clock): Promise<string | null> {
  const marks = await fromCopy(dir, clock, db => db.prepare('SELECT mark FROM marks').all() as { mark: string }[]);
  const rows = (marks ?? []).flatMap(({ mark }) => checkpointOf(mark).hedges);
  return rows.find(row => mayStillExecute(row) || row.state === 'between')?.id ?? null;
}

/**
 * Returns an upper bound of all nonces that a bot may have used; 0 if there are none. Counts the nonces of its key in
 * the section `exchange`, or those of its account `there` on the other exchange. Rejects if the state file cannot be
 * trusted or read.
 */
export async function nonceMarkOf(dir: string, clock: Clock, there?: string): Promise<bigint> {
  const [rule, name] = there === undefined ? ['NOT LIKE', '%'] : ['=', there];
  const marks = await fromCopy(
    dir,
    clock,
    db =>
      db.prepare(`SELECT mark FROM nonces WHERE account ${rule} ?`).all(`${NONCES_ELSEWHERE} ${name}`) as {
        mark: string;
      }[],
  );
  return (marks ?? []).reduce((highest, { mark }) => (BigInt(mark) > highest ? BigInt(mark) : highest), 0n);
}
