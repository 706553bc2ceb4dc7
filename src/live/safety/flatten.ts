/**
 * Operator's request to hedge all inventory: a file in the state directory with its total cost limit. It exists until
 * inventory is at its target or the operator resumes.
 */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { moneyOf } from '../../core/index.ts';
import type { Millis, Money } from '../../core/index.ts';
import { appendLine, syncFolder, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type Flatten = {
  /** Request id. Its hedges carry the id, so that their costs count across restarts. */
  readonly id: string;
  readonly at: Millis;
  readonly by: string;
  readonly reason: string;
  /** Maximum cost of all its hedges together, fees included, in the minor currency. */
  readonly costMax: Money;
};

export interface FlattenFile {
  /** Returns the request, or `null` if there is none. An unreadable request spends nothing. */
  read(): Flatten | null;
  /** Stores the request, durable on return. */
  set(flatten: Omit<Flatten, 'costMax'> & { readonly costMax: string }): void;
  /**
   * Ends the request and logs the reason with the lifted halts. Returns `false` if the disk refuses it; the caller must
   * retry.
   */
  end(why: string, at: Millis): boolean;
}

/** `puntas resume` also deletes it. */
export const FLATTEN_FILE = 'FLATTEN';

/** Returns the flatten file of a state directory; `note`: file that receives one line for each ended request. */
export function flattenIn(dir: string, note = 'resumed.jsonl'): FlattenFile {
  const file = join(dir, FLATTEN_FILE);
  const read = (): Flatten | null => {
    if (!isTrusted(file)) return null;
    try {
      const { id, at, by, reason, costMax } = JSON.parse(readRegularFile(file, SMALL_FILE)) as Record<string, unknown>;
      if (typeof id !== 'string' || !/^[\w-]{1,60}$/.test(id)) return null;
      const most = moneyOf(String(costMax));
      return most > 0n ? { id, at: Number(at), by: String(by), reason: String(reason), costMax: most } : null;
    } catch {
      return null;
    }
  };
  return {
    read,
    set: flatten => {
      heedStateDir(dir);
      writeDurably(file, JSON.stringify(flatten));
    },
    end: (why, at) => {
      try {
        const { reason, by, at: since } = read() ?? {};
        const lifted = { reason: `flatten: ${reason}`, by, at: since };
        appendLine(join(dir, note), JSON.stringify({ at, by: 'bot', lifted, reason: why }));
        rmSync(file, { force: true });
        syncFolder(dir);
        return true;
      } catch {
        return false;
      }
    },
  };
}
