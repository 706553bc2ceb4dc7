/** What a person wants closed by the hedger: a file in the state directory with what that may cost in all. It is there until inventory is at its target, or a person resumes. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { moneyOf } from '../../core/index.ts';
import type { Millis, Money } from '../../core/index.ts';
import { appendLine, syncFolder, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type Flatten = {
  /** Of the request; hedges that are begun for it carry it, so that a restart does not begin its costs anew. */
  readonly id: string;
  readonly at: Millis;
  readonly by: string;
  readonly reason: string;
  /** The most that all of its hedges together may cost, fees included; minor currency. */
  readonly costMax: Money;
};

export interface FlattenFile {
  /** Null when nobody asked for it. One that cannot be read spends nothing. */
  read(): Flatten | null;
  /** Durable when it returns. */
  set(flatten: Omit<Flatten, 'costMax'> & { readonly costMax: string }): void;
  /** It is over, and why is kept beside what was lifted. False when the disk does not take that: to be tried again. */
  end(why: string, at: Millis): boolean;
}

/** Also taken away by `puntas resume`. */
export const FLATTEN_FILE = 'FLATTEN';

/** Of a state directory; `note`: one line is kept in this file for each that ended. */
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
