/** What a person says became of a hedge that nobody can look up: left in the state directory as one file each, and taken up by the bot. */
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
  /** Of the hedge. */
  readonly id: string;
  readonly as: (typeof SETTLED_AS)[number];
  readonly at: Millis;
  readonly reason: string;
  /** Who says so. */
  readonly by: string;
};

export interface SettlementBox {
  /** Those that were left and can be read. `onUnreadable` is told the names of the others. */
  waiting(onUnreadable?: (name: string) => void): readonly Settlement[];
  /** Durable when it returns. */
  put(settlement: Settlement): void;
  /** It is in the ledger, and that is durable. */
  done(id: string): void;
}

/** Ids of hedges, as file names. */
const NAME = /^settle-([A-Za-z0-9-]{1,60})\.json$/;
const nameOf = (id: string): string => `settle-${id}.json`;

/** The settlements that were left in a state directory. */
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

/** Null when it is not what was written. */
function settlementOf(file: string, id: string): Settlement | null {
  try {
    const { as, at, reason, by } = JSON.parse(readRegularFile(file, SMALL_FILE)) as Record<string, unknown>;
    const known = SETTLED_AS.find(each => each === as);
    return known === undefined ? null : { id, as: known, at: Number(at), reason: String(reason), by: String(by) };
  } catch {
    return null;
  }
}

/** Ends the hedges that a person has settled. To be called every now and then; one that is being looked at waits for the next time. */
export function takeUpSettlements(
  box: SettlementBox | undefined,
  hedger: Hedger | null,
  persist: () => boolean,
  log: Log,
): void {
  for (const { id, as, by, reason } of box?.waiting() ?? []) {
    const taken = hedger === null ? 'not open' : hedger.settleAs(id, as, `settled as ${as} by ${by}: ${reason}`);
    if (taken === 'busy') continue;
    if (taken === 'not open') log.warn({ id }, `hedge ${id} is no longer open; the settlement by ${by} was ignored`);
    // What is not on disk is taken up again, and is over then.
    if (!persist()) return;
    try {
      box?.done(id);
    } catch (error) {
      log.warn(
        { id, error: String(error) },
        `the settlement of hedge ${id} is in the ledger, but its request file could not be deleted`,
      );
    }
  }
}
