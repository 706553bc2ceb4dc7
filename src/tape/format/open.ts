/** Opens a stored tape, or a recording of any known format, as a tape in memory. */
import { existsSync, statSync } from 'node:fs';
import { partitions } from './dayFiles.ts';
import { collectTape } from '../import/collect.ts';
import { findRecording, recordedBooks } from '../import/find.ts';
import { loadStoredTape, openStoredTape } from './storedTape.ts';
import type { Tape } from '../model/tape.ts';

/** Loads one book. Rejects with an Error of one line that says what is wrong and what would be right. */
export async function openTape(path: string, options: { readonly book?: string } = {}): Promise<Tape> {
  if (isStoredTape(path)) return loadStoredTape(openStoredTape(path, options));
  return collectTape(await findRecording(path, options));
}

/** Names by which the books of a stored tape or a recording are opened; undefined stands for one that only a person can name. Rejects where there is none. */
export async function booksIn(path: string): Promise<readonly (string | undefined)[]> {
  const stored = isStoredTape(path) ? partitions(path, 'book=') : [];
  return stored.length > 0 ? stored : recordedBooks(path);
}

/** True for a folder with stored tapes in it. */
export const isStoredTape = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory() && partitions(path, 'book=').length > 0;
