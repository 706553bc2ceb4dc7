/** What a killed bot had on disk: its files are copied and read with plain SQL, as nothing of the bot reads them. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';

export type OnDisk = {
  /** Orders whose end is not recorded. */
  readonly open: readonly string[];
  /** Null before the first ledger was written. */
  readonly ledger: {
    readonly totals: ReadonlyMap<string, string>;
    readonly marker: string | null;
    /** Trades after the marker that are in the totals. */
    readonly seen: ReadonlySet<string>;
  } | null;
};

type Mark = { ledger: string; marker: string | null };
type Ledger = { totals: [string, string][]; seen: [string, string][] };

export function onDisk(dir: string): OnDisk {
  const copy = mkdtempSync(join(tmpdir(), 'puntas-chaos-copy-'));
  try {
    cpSync(dir, copy, { recursive: true });
    const db = new Database(join(copy, 'puntas.db'));
    const open = (db.prepare('SELECT id FROM intents WHERE ending IS NULL').all() as { id: string }[]).map(r => r.id);
    const row = db.prepare('SELECT mark FROM marks').get() as { mark: string } | undefined;
    db.close();
    if (!row) return { open, ledger: null };
    const mark = JSON.parse(row.mark) as Mark;
    const { totals, seen } = JSON.parse(mark.ledger) as Ledger;
    return { open, ledger: { totals: new Map(totals), marker: mark.marker, seen: new Set(seen.map(([tid]) => tid)) } };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
