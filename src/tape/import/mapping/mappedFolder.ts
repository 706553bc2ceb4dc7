/**
 * Recordings with a mapping file in their folder, `mapping.yaml` or `NAME.mapping.yaml`. A folder with a mapping file
 * opens like a recording of a known format. The path of a mapping file opens its folder by that mapping, so that one
 * folder can hold the same book of several exchanges.
 */
import { basename, dirname, join } from 'node:path';
import { findRecording, recordedBooks } from '../find.ts';
import { filesAt, type Given } from '../bookFiles.ts';
import type { Recording } from '../recording.ts';
import { mappedRecording, mappingText } from './mapped.ts';
import { mappingOf } from './mapping.ts';

/**
 * Opens a recording as `findRecording` does. Without a given format, a mapping file in the folder takes precedence over
 * the known formats.
 */
export async function openRecording(
  path: string,
  given: Given = {},
  onBytes: (count: number) => void = () => undefined,
): Promise<Recording> {
  if (given.format === undefined && isMapping(path)) return mappedRecording(dirname(path), path, given, onBytes);
  const mappings = given.format === undefined ? await mappingsIn(path) : [];
  const [only, other] = mappings;
  if (only === undefined) return findRecording(path, given, onBytes);
  const names = mappings.map(({ book }) => book).join(', ');
  if (given.book === undefined && other !== undefined)
    throw new Error(`${path}: has several books; choose one of: ${names}`);
  const chosen = given.book === undefined ? only : mappings.find(({ book }) => book === given.book);
  if (chosen === undefined) throw new Error(`${path}: no book ${given.book}; expected one of: ${names}`);
  return mappedRecording(path, chosen.file, given, onBytes);
}

/** Lists the books that `openRecording` opens, like `recordedBooks`. */
export async function booksAt(path: string): Promise<readonly (string | undefined)[]> {
  if (isMapping(path)) return [mappingOf(mappingText(path), path).book];
  const mappings = await mappingsIn(path);
  return mappings.length > 0 ? mappings.map(({ book }) => book) : recordedBooks(path);
}

async function mappingsIn(path: string): Promise<readonly { readonly book: string; readonly file: string }[]> {
  const { dir, files } = await filesAt(path);
  const names = files.filter(isMapping);
  return Promise.all(
    names.map(async name => {
      const file = join(dir, name);
      return { book: mappingOf(mappingText(file), file).book, file };
    }),
  );
}

const isMapping = (path: string): boolean => /^(?:.+\.)?mapping\.ya?ml$/.test(basename(path));
