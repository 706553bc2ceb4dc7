/** Opens a recording of any known format as a tape in memory. */
import { collectTape } from './import/collect.ts';
import { findRecording } from './import/find.ts';
import type { Tape } from './tape.ts';

/** Loads one book of a recording. Rejects with an Error of one line that says what is wrong and what would be right. */
export async function openTape(path: string, options: { readonly book?: string } = {}): Promise<Tape> {
  return collectTape(await findRecording(path, options));
}
