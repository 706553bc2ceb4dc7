/** Opens a stored tape, or a recording of any known format, as a tape in memory. */
import { existsSync, statSync } from 'node:fs';
import { partitions } from './dayFiles.ts';
import { collectTape } from '../import/collect.ts';
import { bytesToRead } from '../import/recording.ts';
import { booksAt, openRecording } from '../import/mapping/here.ts';
import { loadStoredTape, openStoredTape } from './storedTape.ts';
import type { Tape } from '../model/tape.ts';

/** Loads one book. `onShare` hears now and then how much is behind, from 0 to 1. Rejects with an Error of one line that says what is wrong and what would be right. */
export async function openTape(
  path: string,
  options: { readonly book?: string } = {},
  onShare: (share: number) => void = () => undefined,
): Promise<Tape> {
  if (isStoredTape(path)) return loadStoredTape(openStoredTape(path, options), onShare);
  const recording = await openRecording(path, options);
  const all = bytesToRead(recording);
  let done = 0;
  return collectTape(recording, bytes => onShare(Math.min(1, (done += bytes) / all)));
}

/** Names by which the books of a stored tape or a recording are opened; undefined stands for one that only a person can name. Rejects where there is none. */
export async function booksIn(path: string): Promise<readonly (string | undefined)[]> {
  const stored = isStoredTape(path) ? partitions(path, 'book=') : [];
  return stored.length > 0 ? stored : booksAt(path);
}

/** True for a folder with stored tapes in it. */
export const isStoredTape = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory() && partitions(path, 'book=').length > 0;
