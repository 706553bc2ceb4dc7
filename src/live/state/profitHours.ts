/** Profit since the opening at the end of each UTC hour, stored in the state file for reports by hour and day. */
import type Database from 'libsql';
import { hourOf, type Millis, type ProfitSinceOpening } from '../../core/index.ts';
import { profitSinceOpeningOf, writtenProfit, type WrittenProfit } from '../recording/ledgerText.ts';
import { sumOf } from './rowChecksums.ts';

/** Maximum number of stored hours (four years). If there are more, the oldest hours are deleted. */
export const HOURS_MAX = 35_064;

/** Profit of a book at the end of an hour. `symbol`: symbol of the book; absent for the first book. */
export type BookHour = ProfitSinceOpening & { readonly symbol?: string };

/**
 * Returns the name under which the table of hours has the hours of a book. Without a symbol, returns the account's
 * name, which the hours of the first book have.
 */
const hoursOf = (account: string, symbol: string | undefined): string =>
  symbol === undefined ? account : `book ${symbol} of ${account}`;

/** Writes hours within the caller's transaction. Replaces a stored hour if the bot was restarted within it. */
export function writeHours(db: Database.Database, account: string, ended: readonly BookHour[]): void {
  for (const symbol of new Set(ended.map(hour => hour.symbol)))
    writeHoursOf(
      db,
      hoursOf(account, symbol),
      ended.filter(hour => hour.symbol === symbol),
    );
}

function writeHoursOf(db: Database.Database, account: string, ended: readonly ProfitSinceOpening[]): void {
  const insert = db.prepare('INSERT OR REPLACE INTO hours (account, hour, profit, sum) VALUES (?, ?, ?, ?)');
  for (const profit of ended) {
    if (profit.at === null) continue;
    const hour = hourOf(profit.at);
    const text = JSON.stringify(writtenProfit(profit));
    insert.run(account, hour, text, sumOf(account, text, hour));
  }
  db.prepare(
    'DELETE FROM hours WHERE account = ? AND hour <= (SELECT hour FROM hours WHERE account = ? ORDER BY hour DESC LIMIT 1 OFFSET ?)',
  ).run(account, account, HOURS_MAX);
}

/**
 * Returns the profit of a book since the opening at the end of each UTC hour, oldest first. Without a symbol, returns
 * the profit of the first book.
 */
export function hoursIn(db: Database.Database, account: string, symbol?: string): readonly ProfitSinceOpening[] {
  const rows = db
    .prepare('SELECT hour, profit FROM hours WHERE account = ? ORDER BY hour')
    .all(hoursOf(account, symbol));
  return (rows as { hour: Millis; profit: string }[]).map(row =>
    profitSinceOpeningOf(JSON.parse(row.profit) as WrittenProfit),
  );
}
