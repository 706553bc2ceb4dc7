/** Loading of a stored tape, or of a recording in any known format, into memory. */
import { existsSync, statSync } from 'node:fs';
import { partitions } from './dayFiles.ts';
import { collectTape } from '../import/collectTape.ts';
import { bytesToRead } from '../import/recording.ts';
import { booksAt, openRecording } from '../import/mapping/mappedFolder.ts';
import { loadStoredTape, openStoredTape, type StoredTapeOptions } from './storedTape.ts';
import { BLOCK_ROWS } from './rowsCodec.ts';
import { sessionOf, spanInSession } from '../model/session.ts';
import { rowsInSession, SessionRows } from '../model/sessionRows.ts';
import { TapeBuilder, type Tape } from '../model/tape.ts';

/**
 * Loads one book. `onShare` receives the share read, from 0 to 1. Rejects with an Error of one line with the problem
 * and the expected input.
 */
export async function openTape(
  path: string,
  { session, ...options }: Pick<StoredTapeOptions, 'book' | 'session'> = {},
  onShare: (share: number) => void = () => undefined,
): Promise<Tape> {
  if (isStoredTape(path))
    return loadStoredTape(openStoredTape(path, { ...options, ...(session && { session }) }), onShare);
  const recording = await openRecording(path, options);
  const all = bytesToRead(recording);
  let done = 0;
  const tape = await collectTape(recording, bytes => onShare(Math.min(1, (done += bytes) / all)));
  return session === undefined ? tape : tapeInSession(tape, session);
}

/** Returns the rows of a tape inside a session. Throws an Error if the tape has no rows in the session. */
export function tapeInSession(tape: Tape, text: string): Tape {
  const session = sessionOf(text);
  const { columns, gaps } = tape;
  const [from, to] = [columns.at[0] ?? Infinity, columns.at[columns.length - 1] ?? -Infinity];
  const builder = new TapeBuilder();
  const rows = new SessionRows(session);
  for (const piece of rowsInSession(rows, columns, BLOCK_ROWS)) builder.append(piece);
  return { ...tape, columns: builder.columns(), gaps: spanInSession({ from, to, gaps }, session).gaps, session: text };
}

/**
 * Lists the books in a stored tape or a recording. A name is `undefined` if the recording does not state it. Rejects if
 * there are no books.
 */
export async function booksIn(path: string): Promise<readonly (string | undefined)[]> {
  const stored = isStoredTape(path) ? partitions(path, 'book=') : [];
  return stored.length > 0 ? stored : booksAt(path);
}

/** Whether the path is a folder with stored tapes. */
export const isStoredTape = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory() && partitions(path, 'book=').length > 0;
