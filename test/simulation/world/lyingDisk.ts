/**
 * Disk that confirms writes before they are durable. If the machine goes down, it loses the most recent transactions.
 */
import type Database from 'libsql';
import type { Millis } from '../../../src/core/index.ts';

type Column = { readonly name: string; readonly pk: number };

/** Undo log of the writes of a database that are not durable yet. */
export class LyingDisk {
  readonly #db: Database.Database;
  /** Returns a random time for which the disk holds writes; called once for each such time. */
  readonly #holdMs: () => Millis;
  #writtenAt: Millis = -Infinity;
  #heldMs: Millis = 0;

  constructor(db: Database.Database, holdMs: () => Millis) {
    this.#db = db;
    this.#holdMs = holdMs;
    db.exec('CREATE TEMP TABLE held (n INTEGER PRIMARY KEY, undo TEXT NOT NULL)');
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    for (const { name } of tables) this.#watch(name);
  }

  /** Must be called before each write. Returns whether all earlier writes are durable now. */
  writes(now: Millis): boolean {
    if (now - this.#writtenAt < this.#heldMs) return false;
    this.#db.exec('DELETE FROM held');
    this.#writtenAt = now;
    this.#heldMs = this.#holdMs();
    return true;
  }

  /** Undoes all writes that are not durable, because the machine goes down. */
  lose(): void {
    const held = this.#db.prepare('SELECT undo FROM held ORDER BY n DESC').all() as { undo: string }[];
    this.#db.exec(`BEGIN; ${held.map(({ undo }) => undo).join(' ')} DELETE FROM held; COMMIT`);
  }

  /** Creates triggers that record, for each change of a row, the statement that undoes the change. */
  #watch(table: string): void {
    const columns = this.#db.pragma(`table_info(${table})`) as Column[];
    const keys = columns.filter(({ pk }) => pk > 0);
    const row = (of: 'old' | 'new', list: readonly Column[], between: string) =>
      list.map(({ name }) => `'${name} = ' || quote(${of}.${name})`).join(` || '${between}' || `);
    const values = columns.map(({ name }) => `quote(old.${name})`).join(` || ', ' || `);
    const on = (event: string, undo: string) =>
      this.#db.exec(
        `CREATE TEMP TRIGGER held_${event}_${table} AFTER ${event} ON main.${table}
         BEGIN INSERT INTO held (undo) VALUES (${undo}); END`,
      );
    on('INSERT', `'DELETE FROM ${table} WHERE ' || ${row('new', keys, ' AND ')} || ';'`);
    on(
      'UPDATE',
      `'UPDATE ${table} SET ' || ${row('old', columns, ', ')} || ' WHERE ' || ${row('new', keys, ' AND ')} || ';'`,
    );
    on(
      'DELETE',
      `'INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')}) VALUES (' || ${values} || ');'`,
    );
  }
}
