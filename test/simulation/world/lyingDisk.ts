/** A disk that says that it has written what it only holds: when the machine goes down, whole transactions of the last while are gone. */
import type Database from 'libsql';
import type { Millis } from '../../../src/core/index.ts';

type Column = { readonly name: string; readonly pk: number };

export class LyingDisk {
  readonly #db: Database.Database;
  /** How long the disk holds what it was given, drawn for each while. */
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

  /** To be called before each write. Returns whether everything so far is truly written now. */
  writes(now: Millis): boolean {
    if (now - this.#writtenAt < this.#heldMs) return false;
    this.#db.exec('DELETE FROM held');
    this.#writtenAt = now;
    this.#heldMs = this.#holdMs();
    return true;
  }

  /** The machine goes down: what the disk holds is gone. */
  lose(): void {
    const held = this.#db.prepare('SELECT undo FROM held ORDER BY n DESC').all() as { undo: string }[];
    this.#db.exec(`BEGIN; ${held.map(({ undo }) => undo).join(' ')} DELETE FROM held; COMMIT`);
  }

  /** Triggers keep, for each change of a row, the statement that takes it back. */
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
