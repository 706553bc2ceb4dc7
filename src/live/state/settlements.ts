/**
 * Operator's statement of the outcome of a hedge that cannot be looked up: one file each in the state directory,
 * applied by the bot.
 */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import type { Hedger } from '../../hedge/index.ts';
import { syncFolder, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';
import type { Log } from '../log.ts';

export const SETTLED_AS = ['executed', 'failed'] as const;

export type Settlement = {
  /** Id of the hedge. */
  readonly id: string;
  readonly as: (typeof SETTLED_AS)[number];
  readonly at: Millis;
  readonly reason: string;
  /** Name of the operator. */
  readonly by: string;
};

export interface SettlementBox {
  /** Readable settlements. `onUnreadable` receives the names of the others. */
  waiting(onUnreadable?: (name: string) => void): readonly Settlement[];
  /** Stores a settlement, durable on return. */
  put(settlement: Settlement): void;
  /** Deletes a settlement that is durable in the ledger. */
  done(id: string): void;
}

/** Ids of hedges, as file names. */
const NAME = /^settle-([A-Za-z0-9-]{1,60})\.json$/;
const nameOf = (id: string): string => `settle-${id}.json`;

/** Returns the settlements in a state directory. */
export function settlementsIn(dir: string): SettlementBox {
  return {
    waiting: onUnreadable =>
      (existsSync(dir) ? readdirSync(dir) : [])
        .filter(name => NAME.test(name))
        .flatMap(name => {
          const read = !isTrusted(join(dir, name)) ? null : settlementOf(join(dir, name), NAME.exec(name)?.[1] ?? '');
          if (read === null) onUnreadable?.(name);
          return read === null ? [] : [read];
        }),
    put: ({ id, ...rest }) => {
      if (!NAME.test(nameOf(id))) throw new RangeError(`no hedge has the id ${id}`);
      heedStateDir(dir);
      writeDurably(join(dir, nameOf(id)), JSON.stringify(rest));
    },
    done: id => {
      rmSync(join(dir, nameOf(id)), { force: true });
      syncFolder(dir);
    },
  };
}

/** Returns the settlement in a file; `null` if it is not valid. */
function settlementOf(file: string, id: string): Settlement | null {
  try {
    const { as, at, reason, by } = JSON.parse(readRegularFile(file, SMALL_FILE)) as Record<string, unknown>;
    const known = SETTLED_AS.find(each => each === as);
    return known === undefined ? null : { id, as: known, at: Number(at), reason: String(reason), by: String(by) };
  } catch {
    return null;
  }
}

/**
 * Ends the hedges that the operator has settled. Must be called periodically; a hedge that is being checked waits for
 * the next call.
 */
export function takeUpSettlements(
  box: SettlementBox | undefined,
  hedger: Hedger | null,
  persist: () => boolean,
  log: Log,
): void {
  for (const { id, as, by, reason } of box?.waiting() ?? []) {
    const taken = hedger === null ? 'not open' : hedger.settleAs(id, as, `settled as ${as} by ${by}: ${reason}`);
    if (taken === 'busy') continue;
    if (taken === 'not open')
      log.warn({ id }, `hedge ${id} is not open any more: what ${by} said of it changes nothing`);
    // A settlement that is not on disk is read again later, when its hedge is over.
    if (!persist()) return;
    try {
      box?.done(id);
    } catch (error) {
      log.warn({ id, error: String(error) }, `what was said of hedge ${id} is in the ledger, its file stays`);
    }
  }
}
