/**
 * Record of a `puntas promote` command that has started and not ended. After a kill, a repetition of the command
 * completes the interrupted work, and does nothing more.
 */
import { readRegularFile, SMALL_FILE, writeDurably } from '../../guard/index.ts';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { digestOf } from '../run/reloading.ts';
import { realPlace } from './liveFile.ts';

export type UnfinishedCommand = {
  readonly id: string;
  /** Digest of the complete request. */
  readonly ask: string;
  /** Number of journal records at the start of the command. */
  readonly records: number;
};

const fileOf = (dir: string): string => join(dir, 'command.json');

/**
 * Records the start of a command. The record is on disk when the function returns. `asked` is the complete request.
 *
 * Returns the record. `isRepeated`: whether the command repeats a killed command. The journal records after the first
 * `records` are then records of the killed command.
 */
export function startCommand(
  dir: string,
  asked: readonly unknown[],
  records: number,
): UnfinishedCommand & { readonly isRepeated: boolean } {
  const ask = digestOf(JSON.stringify(asked));
  const left = unfinishedIn(dir);
  // A journal restored from an older copy can have fewer records than the killed command found; then this is no
  // repetition.
  if (left !== null && left.ask === ask && left.records <= records) return { ...left, isRepeated: true };
  const command = { id: randomUUID(), ask, records };
  writeDurably(fileOf(dir), JSON.stringify(command));
  return { ...command, isRepeated: false };
}

/** Removes the record of an ended command, unless another command has started since. */
export function endCommand(dir: string, { id }: UnfinishedCommand): void {
  if (unfinishedIn(dir)?.id === id) rmSync(fileOf(dir), { force: true });
}

/** Returns the unfinished command; `null` if there is none, or if its file is incomplete. */
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

/**
 * Removes partial files of a killed process, in the journal folder and next to the live file. The caller must hold the
 * lock.
 */
export function removeHalfWritten(dir: string, liveFile: string): void {
  const folders = readdirSync(dir, { withFileTypes: true }).filter(entry => entry.isDirectory());
  for (const folder of [dir, ...folders.map(({ name }) => join(dir, name))])
    for (const name of readdirSync(folder)) if (name.endsWith('.new')) rmSync(join(folder, name), { force: true });
  const place = realPlace(liveFile);
  const folder = dirname(place);
  if (!existsSync(folder)) return;
  // Partial files with the names that earlier versions used are also removed.
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(place)}.`) && HALF_PLACED.test(name)) rmSync(join(folder, name), { force: true });
}

const HALF_PLACED = /\.(?:placing|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.new$/;
