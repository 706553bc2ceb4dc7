/** The promote command that has started and not ended. A kill leaves it behind, and the same command repeated does the rest of it and nothing more. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeDurably } from '../../live/files/durableFiles.ts';
import { digestOf } from '../run/reloading.ts';
import { realPlace } from './liveFile.ts';

export type UnfinishedCommand = {
  readonly id: string;
  /** Digest of everything that was asked for. */
  readonly ask: string;
  /** Records in the journal when the command started. */
  readonly records: number;
};

const fileOf = (dir: string): string => join(dir, 'command.json');

/**
 * Writes down that a command starts; durable when it returns. `asked`: everything that was asked for.
 *
 * Returns what was written down, and `isRepeated` if the same command had started before and was killed: what the journal has beyond
 * `records` is its work then.
 */
export function startCommand(
  dir: string,
  asked: readonly unknown[],
  records: number,
): UnfinishedCommand & { readonly isRepeated: boolean } {
  const ask = digestOf(JSON.stringify(asked));
  const left = unfinishedIn(dir);
  // Its journal may have been put back from a copy since.
  if (left !== null && left.ask === ask && left.records <= records) return { ...left, isRepeated: true };
  const command = { id: randomUUID(), ask, records };
  writeDurably(fileOf(dir), JSON.stringify(command));
  return { ...command, isRepeated: false };
}

/** Forgets a command that has ended; another one that has started since stays. */
export function endCommand(dir: string, { id }: UnfinishedCommand): void {
  if (unfinishedIn(dir)?.id === id) rmSync(fileOf(dir), { force: true });
}

/** What is no such file is of nobody: it was never whole. */
function unfinishedIn(dir: string): UnfinishedCommand | null {
  const file = fileOf(dir);
  if (!existsSync(file)) return null;
  try {
    const read = JSON.parse(readRegularFile(file, SMALL_FILE)) as Partial<UnfinishedCommand> | null;
    const { id, ask, records } = read ?? {};
    if (typeof id !== 'string' || typeof ask !== 'string' || !Number.isSafeInteger(records)) return null;
    return { id, ask, records: records! };
  } catch {
    return null;
  }
}

/** Removes files that a kill left half written, in the folder of the promotions and next to the live file. For the one process that works there. */
export function removeHalfWritten(dir: string, liveFile: string): void {
  const folders = readdirSync(dir, { withFileTypes: true }).filter(entry => entry.isDirectory());
  for (const folder of [dir, ...folders.map(({ name }) => join(dir, name))])
    for (const name of readdirSync(folder)) if (name.endsWith('.new')) rmSync(join(folder, name), { force: true });
  const place = realPlace(liveFile);
  const folder = dirname(place);
  if (!existsSync(folder)) return;
  // The names that an earlier version gave them.
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(place)}.`) && HALF_PLACED.test(name)) rmSync(join(folder, name), { force: true });
}

const HALF_PLACED = /\.(?:placing|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.new$/;
