/** Owner of a state directory, stored at its first use and checked at every later use. */
import type Database from 'libsql';
import { checkpointOf } from '../recording/ledgerText.ts';
import { sumOf } from './rowChecksums.ts';
import { hasOrderBooks, NONCES_ELSEWHERE } from './stateFile.ts';

/** One bot on one account. */
export type Owner = {
  /**
   * Address of the exchange; `null` for an embedded exchange. The account of an embedded exchange ends with it, so the
   * state is then bound to no account, except to a paper account.
   */
  readonly venue: string | null;
  /**
   * Fingerprint of the API key. A new key of the same account is accepted, because the state belongs to the account.
   */
  readonly key: string;
  readonly book: string;
  readonly instance: string;
  /** Account number at the exchange; absent until the exchange has reported it. */
  readonly client?: string;
  /** Paper account of the embedded exchange behind paper trading; absent for any other exchange. */
  readonly paperAccount?: PaperOwner;
};

/**
 * Fingerprint of a paper account, the number of processes that have used the account (`opens`), and the id of the last
 * process start (`start`). Ledgers of earlier versions lack `start`.
 */
export type PaperOwner = { readonly account: string; readonly opens: number; readonly start?: string };

/** Error for a state directory of another bot, whose orders must not be canceled. */
export class NotOurs extends Error {}

/**
 * Error for a state that this bot wrote with another API key. Only the exchange can confirm that both keys belong to
 * one account.
 */
export class OtherKey extends NotOurs {
  readonly known: AccountEvidence;
  constructor(message: string, known: AccountEvidence) {
    super(message);
    this.known = known;
  }
}

export type AccountEvidence = {
  /** Account number at the exchange; `null` if no run has received it. */
  readonly client: string | null;
  /** Id of the newest trade in the ledger; `null` if none. */
  readonly tid: string | null;
  /** Origin ids of orders that may be live. */
  readonly orders: readonly string[];
};

/** Owned state: name under which the account's rows are stored, and whether a ledger of an ended account was deleted. */
export type Owned = { readonly account: string; readonly hasEndedLedger: boolean };

/**
 * Takes ownership of the state. The account's rows are initially stored under the name `account`. `client` is the
 * account number that the exchange reported for this key, or `null` if it was not requested. Deletes state of other
 * accounts, which ended with their embedded exchange. A paper account does not end: its state is never deleted here.
 * @throws NotOurs if another bot is the owner, or another or a newer paper account.
 * @throws OtherKey if only the key differs and `client` is `null`.
 */
export function takeOwnership(
  db: Database.Database,
  dir: string,
  owner: Owner,
  account: string,
  client: string | null = null,
): Owned {
  const before = ownerIn(db);
  const other = before?.paperAccount && paperFlaw(before.paperAccount, owner.paperAccount);
  if (other) throw new NotOurs(`the state directory ${dir} ${other}`);
  const isBound = before !== null && before.venue !== null;
  if (isBound && ownerText(before) !== ownerText(owner)) throw new NotOurs(refusal(dir, before, owner));
  if (isBound && client !== null && (before.client ?? client) !== client)
    throw new NotOurs(
      `the state directory ${dir} belongs to account ${before.client} of ${ownerText(before)}, but this key belongs to account ${client}; give every account its own state.dir`,
    );
  // Rows keep their account name, which was derived from the first key.
  const name = isBound ? (lastAccountIn(db) ?? account) : account;
  if (isBound && before.key !== owner.key && client === null)
    throw new OtherKey(
      `the state directory ${dir} belongs to ${ownerText(before)} with another API key, and the account of this key was not checked at the exchange`,
      evidenceIn(db, name, before.client ?? null),
    );
  const known = client ?? (isBound ? before.client : undefined);
  const row: Owner = known === undefined ? owner : { ...owner, client: known };
  const hasEndedLedger = db.prepare('SELECT 1 FROM marks WHERE account <> ?').get(name) !== undefined;
  for (const table of ['intents', 'marks', 'entries', ...(hasOrderBooks(db) ? ['order_books'] : [])])
    db.prepare(`DELETE FROM ${table} WHERE account <> ?`).run(name);
  db.prepare('DELETE FROM nonces WHERE account <> ? AND account NOT LIKE ?').run(name, `${NONCES_ELSEWHERE} %`);
  writeOwner(db, row);
  return { account: name, hasEndedLedger };
}

/**
 * Returns the name under which the rows of this bot are stored, as `takeOwnership` does, but without a change of the
 * state; `null` if the state belongs to another bot.
 */
export function ownedAccountIn(db: Database.Database, owner: Owner, account: string): string | null {
  const before = ownerIn(db);
  if (before === null || before.venue === null) return account;
  return ownerText(before) === ownerText(owner) ? (lastAccountIn(db) ?? account) : null;
}

/** Stores the account number that the exchange reported. */
export function noteClient(db: Database.Database, client: string): void {
  const before = ownerIn(db);
  if (before !== null && before.venue !== null) writeOwner(db, { ...before, client });
}

/** Returns why the ledger of a paper account does not belong to the account of this process; otherwise `null`. */
function paperFlaw(ledger: PaperOwner, now: PaperOwner | undefined): string | null {
  const remedy = 'put the file of that account back, or start a new account and ledger with puntas run --paper --fresh';
  if (ledger.account !== now?.account)
    return `has the ledger of a paper account, but its account file has ${now === undefined ? 'no account' : 'another account'}; ${remedy}`;
  if (ledger.opens > now.opens)
    return `has a ledger that is newer than the file of its paper account, which was restored from an older copy; ${remedy}`;
  return null;
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

/** Returns the owner recorded in the state file; `null` before its first use. */
export function ownerIn(db: Database.Database): Owner | null {
  const row = db.prepare('SELECT owner FROM owner').get() as { owner: string } | undefined;
  return row ? (JSON.parse(row.owner) as Owner) : null;
}

const refusal = (dir: string, before: Owner, now: Owner): string =>
  `the state directory ${dir} belongs to ${ownerText(before)}, but this bot is ${ownerText(now)}; give every bot its own state.dir`;

/** Returns the name of the bot for messages. */
export const ownerText = ({ venue, book, instance }: Owner): string =>
  `${instance} on ${book} at ${venue ?? 'an embedded exchange'}`;
