/** Whose a state directory is: written at first use, and looked at before anything in it is taken up. */
import type Database from 'libsql';
import { sumOf } from './sums.ts';

/** One bot on one account. */
export type Owner = {
  /** Address of the exchange; null for an embedded one, which forgets everything when it ends: what it left binds nobody. */
  readonly venue: string | null;
  /** Tells the key from others without naming it. */
  readonly key: string;
  readonly book: string;
  readonly instance: string;
};

/** The state directory is another bot's: what lives there is not ours to cancel. */
export class NotOurs extends Error {}

/** Throws `NotOurs` when another bot has it. What accounts other than `account` left is forgotten: they ended with their embedded exchange. */
export function takeOwnership(db: Database.Database, dir: string, owner: Owner, account: string): void {
  const before = ownerIn(db);
  const text = JSON.stringify(owner);
  const isSame = before !== null && JSON.stringify(before) === text;
  if (before !== null && before.venue !== null && !isSame) throw new NotOurs(refusal(dir, before, owner));
  for (const table of ['intents', 'marks', 'nonces', 'entries'])
    db.prepare(`DELETE FROM ${table} WHERE account <> ?`).run(account);
  if (isSame) return;
  db.prepare(
    'INSERT INTO owner (one, owner, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET owner = excluded.owner, sum = excluded.sum',
  ).run(text, sumOf(text));
}

/** Who the state file says that it belongs to; null before its first use. */
export function ownerIn(db: Database.Database): Owner | null {
  const row = db.prepare('SELECT owner FROM owner').get() as { owner: string } | undefined;
  return row ? (JSON.parse(row.owner) as Owner) : null;
}

function refusal(dir: string, before: Owner, now: Owner): string {
  const isKeyAlone = nameOf(before) === nameOf(now);
  return isKeyAlone
    ? `the state directory ${dir} belongs to ${nameOf(before)} with another API key: give every account its own state.dir; if this is a new key of the same account, stop the bot cleanly with the old key, move ${dir} away and start anew`
    : `the state directory ${dir} belongs to ${nameOf(before)}, this bot is ${nameOf(now)}: give every bot its own state.dir`;
}

/** A bot in words. */
export const nameOf = ({ venue, book, instance }: Owner): string =>
  `${instance} on ${book} at ${venue ?? 'an embedded exchange'}`;
