/** Bookings by a person: left in the state directory as one file each, taken up by the bot, and gone once they are durable in its ledger. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { moneyOf, textOfMoney } from '../../core/index.ts';
import type { Millis, Money } from '../../core/index.ts';
import { syncFolder, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type Adjustment = {
  /** Never used before: the same one is booked once. */
  readonly id: string;
  readonly at: Millis;
  /** Lower case. */
  readonly currency: string;
  /** Above zero: the exchange has so much more than the ledger. */
  readonly amount: Money;
  readonly reason: string;
  /** Who says so. */
  readonly by: string;
};

export interface AdjustmentBox {
  /** Those that were left and can be read, oldest first. `onUnreadable` is told the names of the others. */
  waiting(onUnreadable?: (name: string) => void): readonly Adjustment[];
  /** Durable when it returns. */
  put(adjustment: Adjustment): void;
  /** It is in the ledger, and that is durable. */
  done(id: string): void;
}

const NAME = /^adjust-([0-9a-f-]{8,40})\.json$/;
const nameOf = (id: string): string => `adjust-${id}.json`;

/** The bookings that were left in a state directory. */
export function adjustmentsIn(dir: string): AdjustmentBox {
  return {
    waiting: onUnreadable => {
      const names = existsSync(dir) ? readdirSync(dir).filter(name => NAME.test(name)) : [];
      return names
        .flatMap(name => {
          const read = !isTrusted(join(dir, name)) ? null : adjustmentOf(join(dir, name), NAME.exec(name)?.[1] ?? '');
          if (read === null) onUnreadable?.(name);
          return read === null ? [] : [read];
        })
        .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    },
    put: ({ id, amount, ...rest }) => {
      heedStateDir(dir);
      writeDurably(join(dir, nameOf(id)), JSON.stringify({ ...rest, amount: textOfMoney(amount) }));
    },
    done: id => {
      rmSync(join(dir, nameOf(id)), { force: true });
      syncFolder(dir);
    },
  };
}

/** Null when it is not what was written. */
function adjustmentOf(file: string, id: string): Adjustment | null {
  try {
    const { at, currency, amount, reason, by } = JSON.parse(readRegularFile(file, SMALL_FILE)) as Record<
      string,
      unknown
    >;
    if (typeof amount !== 'string' || typeof currency !== 'string' || !/^[a-z0-9]{1,20}$/.test(currency)) return null;
    const sum = moneyOf(amount);
    if (sum === 0n) return null;
    return { id, at: Number(at), currency, amount: sum, reason: String(reason), by: String(by) };
  } catch {
    return null;
  }
}
