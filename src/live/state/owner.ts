/** Whose a state directory is: written at first use, and looked at before anything in it is taken up. */
import type Database from 'libsql';
import { checkpointOf } from '../recording/ledgerText.ts';
import { sumOf } from './sums.ts';

/** One bot on one account. */
export type Owner = {
  /** Address of the exchange; null for an embedded one, which forgets everything when it ends: what it left binds nobody. */
  readonly venue: string | null;
  /** Tells the key from others without naming it. The account is the owner, not its key: a new one is taken up. */
  readonly key: string;
  readonly book: string;
  readonly instance: string;
  /** The account's number at the exchange; absent until the exchange has told it. */
  readonly client?: string;
};

/** The state directory is another bot's: what lives there is not ours to cancel. */
export class NotOurs extends Error {}

/** The state is of this bot, but of another API key: only the exchange can tell whether that is of the same account. */
export class OtherKey extends NotOurs {
  /** By what the account can be known. */
  readonly known: AccountEvidence;
  constructor(message: string, known: AccountEvidence) {
    super(message);
    this.known = known;
  }
}

export type AccountEvidence = {
  /** Its number at the exchange; null where no run has been told it. */
  readonly client: string | null;
  /** Its newest trade in the ledger; null without one. */
  readonly tid: string | null;
  /** Origin ids of orders that may live. */
  readonly orders: readonly string[];
};

/**
 * Throws `NotOurs` when another bot has it, `OtherKey` when the key alone is another and `client` is null. `client`: the number of the
 * account that the exchange has told for this key, where that was asked. What accounts other than ours left is forgotten: they ended with their
 * embedded exchange. The answer: under which name the rows of the account are kept, `account` at first.
 */
export function takeOwnership(
  db: Database.Database,
  dir: string,
  owner: Owner,
  account: string,
  client: string | null = null,
): string {
  const before = ownerIn(db);
  const isBound = before !== null && before.venue !== null;
  if (isBound && nameOf(before) !== nameOf(owner)) throw new NotOurs(refusal(dir, before, owner));
  if (isBound && client !== null && (before.client ?? client) !== client)
    throw new NotOurs(
      `the state directory ${dir} belongs to account ${before.client} of ${nameOf(before)}, but this key belongs to account ${client}; give every account its own state.dir`,
    );
  // Rows go on under the name that they have: it was made of the first key.
  const name = isBound ? (lastAccountIn(db) ?? account) : account;
  if (isBound && before.key !== owner.key && client === null)
    throw new OtherKey(
      `the state directory ${dir} belongs to ${nameOf(before)} with another API key, and the account of this key was not checked at the exchange`,
      evidenceIn(db, name, before.client ?? null),
    );
  const known = client ?? (isBound ? before.client : undefined);
  const row: Owner = known === undefined ? owner : { ...owner, client: known };
  for (const table of ['intents', 'marks', 'nonces', 'entries'])
    db.prepare(`DELETE FROM ${table} WHERE account <> ?`).run(name);
  writeOwner(db, row);
  return name;
}

/** The exchange has told the number of the account. */
export function noteClient(db: Database.Database, client: string): void {
  const before = ownerIn(db);
  if (before !== null && before.venue !== null) writeOwner(db, { ...before, client });
}

function writeOwner(db: Database.Database, owner: Owner): void {
  const text = JSON.stringify(owner);
  db.prepare(
    'INSERT INTO owner (one, owner, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET owner = excluded.owner, sum = excluded.sum',
  ).run(text, sumOf(text));
}

const lastAccountIn = (db: Database.Database): string | null =>
  (db.prepare('SELECT account FROM runs ORDER BY run DESC LIMIT 1').get() as { account: string } | undefined)
    ?.account ?? null;

function evidenceIn(db: Database.Database, account: string, client: string | null): AccountEvidence {
  const row = db.prepare('SELECT mark FROM marks WHERE account = ?').get(account) as { mark: string } | undefined;
  const orders = db
    .prepare('SELECT id FROM intents WHERE account = ? AND ending IS NULL ORDER BY at, id')
    .all(account) as { id: string }[];
  return { client, tid: (row && checkpointOf(row.mark).marker) ?? null, orders: orders.map(({ id }) => id) };
}

/** Who the state file says that it belongs to; null before its first use. */
export function ownerIn(db: Database.Database): Owner | null {
  const row = db.prepare('SELECT owner FROM owner').get() as { owner: string } | undefined;
  return row ? (JSON.parse(row.owner) as Owner) : null;
}

const refusal = (dir: string, before: Owner, now: Owner): string =>
  `the state directory ${dir} belongs to ${nameOf(before)}, but this bot is ${nameOf(now)}; give every bot its own state.dir`;

/** A bot in words. */
export const nameOf = ({ venue, book, instance }: Owner): string =>
  `${instance} on ${book} at ${venue ?? 'an embedded exchange'}`;
