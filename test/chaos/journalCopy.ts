/** What a killed bot had on disk: its files are copied and read with plain SQL, as nothing of the bot reads them. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
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
type Ledger = { causes: [string, Record<string, string>][]; seen: [string, string][] };

const NOTHING: OnDisk = { open: [], ledger: null };
const TABLES = "SELECT count(*) AS n FROM sqlite_master WHERE type = 'table' AND name IN ('intents', 'marks')";

/** Returns the empty state for a bot that was killed before it had made its tables. */
export function onDisk(dir: string): OnDisk {
  if (!existsSync(join(dir, 'puntas.db'))) return NOTHING;
  const copy = mkdtempSync(join(tmpdir(), 'puntas-chaos-copy-'));
  try {
    cpSync(dir, copy, { recursive: true });
    const db = new Database(join(copy, 'puntas.db'));
    if ((db.prepare(TABLES).get() as { n: number }).n < 2) return NOTHING;
    const open = (db.prepare('SELECT id FROM intents WHERE ending IS NULL').all() as { id: string }[]).map(r => r.id);
    const row = db.prepare('SELECT mark FROM marks').get() as { mark: string } | undefined;
    db.close();
    if (!row) return { open, ledger: null };
    const mark = JSON.parse(row.mark) as Mark;
    const { causes, seen } = JSON.parse(mark.ledger) as Ledger;
    const totals = new Map(causes.map(([currency, row]) => [currency, sumOf(Object.values(row))]));
    return { open, ledger: { totals, marker: mark.marker, seen: new Set(seen.map(([tid]) => tid)) } };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Decimal texts of at most 18 places, added up. */
function sumOf(texts: readonly string[]): string {
  let sum = 0n;
  for (const text of texts) {
    const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
    const size = BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'));
    sum += text.startsWith('-') ? -size : size;
  }
  const digits = (sum < 0n ? -sum : sum).toString().padStart(19, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`;
}
