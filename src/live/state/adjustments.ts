/** Operator's bookings: one file each in the state directory, deleted once they are durable in the bot's ledger. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { moneyOf, textOfMoney } from '../../core/index.ts';
import type { Millis, Money } from '../../core/index.ts';
import { syncFolder, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type Adjustment = {
  /** Unique id; a booking with a known id is not booked again. */
  readonly id: string;
  readonly at: Millis;
  /** Lower case. */
  readonly currency: string;
  /** Positive if the exchange has more than the ledger. */
  readonly amount: Money;
  readonly reason: string;
  /** Name of the operator. */
  readonly by: string;
};

export interface AdjustmentBox {
  /** Readable bookings, oldest first. `onUnreadable` receives the names of the others. */
  waiting(onUnreadable?: (name: string) => void): readonly Adjustment[];
  /** Stores a booking, durable on return. */
  put(adjustment: Adjustment): void;
  /** Deletes a booking that is durable in the ledger. */
  done(id: string): void;
}

const NAME = /^adjust-([0-9a-f-]{8,40})\.json$/;
const nameOf = (id: string): string => `adjust-${id}.json`;

/** Returns the bookings in a state directory. */
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

/** Returns the booking in a file; `null` if it is not valid. */
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
