/** State directories for tests: a journal with a history, and copies of it as a crash leaves them. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { causesOf, moneyOf, type Amount, type PlaceCommand, type Price } from '../../src/core/index.ts';
import { openJournal, type Journal, type Leftovers } from '../../src/live/state/journal.ts';
import type { LedgerCheckpoint } from '../../src/live/recording/ledgerText.ts';
import type { Owner } from '../../src/live/state/owner.ts';

export const ACCOUNT = 'account-of-the-test';
export const AT = 1_767_225_600_000;

export const OWNER: Owner = { venue: 'https://exchange.test', key: 'k', book: 'btc_mxn', instance: 'a' };
export const OPENING = { account: ACCOUNT, at: AT, setup: '{"a":1}', owner: OWNER, earlierBytesMax: 1e9 };

export const opened = (dir: string, at = AT): Journal => openJournal(dir, { ...OPENING, at });

export const place = (id: string, side: 'buy' | 'sell' = 'buy', price = 1000, amount = 5): PlaceCommand => ({
  kind: 'place',
  id,
  side,
  price: price as Price,
  amount: amount as Amount,
});

export const markOf = (mxn: string, marker: string, live: LedgerCheckpoint['live'] = []): LedgerCheckpoint => ({
  ledger: {
    causes: new Map([
      ['btc', causesOf({ opening: moneyOf('1.5') })],
      ['mxn', causesOf({ opening: moneyOf(mxn) })],
    ]),
    sources: [],
    seen: new Map(),
    target: 150_000_000 as Amount,
    guard: { drawdown: moneyOf('12.5'), day: 20_000, dayLoss: moneyOf('-3') },
  },
  marker,
  live,
});

export class Folders {
  readonly #root = mkdtempSync(join(tmpdir(), 'puntas-state-'));
  #count = 0;

  fresh(): string {
    return join(this.#root, String(++this.#count));
  }

  /** What another process would find if this one were killed now. */
  copyOf(dir: string): string {
    const copy = mkdtempSync(join(this.#root, 'copy-'));
    if (existsSync(dir)) cpSync(dir, copy, { recursive: true });
    return copy;
  }

  clear(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** Everything that leftovers say, as text that can be compared. */
export const textOf = ({ orders, ledger, marker }: Leftovers): string =>
  JSON.stringify(
    { orders, marker, causes: ledger && [...ledger.causes], target: ledger?.target, guard: ledger?.guard },
    (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );
