/** Files of a recording: uploaded to a store once, and checked by their hashes after a fetch. */
import { readRegularFile } from '../../../src/guard/index.ts';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { StoreProblem, type StoredFiles } from './storedFiles.ts';

const FILES_MAX = 100_000;
export const MANIFEST_BYTES_MAX = 64_000_000;

/** Whether `name` is a path inside the recording's folder. */
const isInside = (name: string): boolean =>
  name.length <= 1_024 &&
  !/[\\\0]/.test(name) &&
  name.split('/').every(step => step !== '' && step !== '.' && step !== '..');

const manifestSchema = z.strictObject({
  form: z.literal('puntas recording 1'),
  /** Name of the only file, or of the folder that contains all files. */
  name: z.string().refine(name => isInside(name) && !name.includes('/')),
  isFolder: z.boolean(),
  files: z
    .array(
      z.strictObject({
        name: z.string().refine(isInside),
        size: z.int().min(0),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1)
    .max(FILES_MAX),
});

/**
 * Uploads the files that the store lacks, and returns the hash of the complete recording. Rejects with `StoreProblem`.
 */
export async function storeRecording(
  store: StoredFiles,
  path: string,
  onShare: (share: number) => void,
): Promise<string> {
  const root = resolve(path);
  const isFolder = statSync(root).isDirectory();
  const found = isFolder ? filesBelow(root, '') : [basename(root)];
  if (found.length > FILES_MAX)
    throw new StoreProblem(`${path}: a store accepts recordings of at most ${FILES_MAX} files, found ${found.length}`);
  const files: z.infer<typeof manifestSchema>['files'] = [];
  for (const [i, name] of found.entries()) {
    const file = isFolder ? join(root, name) : root;
    const { size } = statSync(file);
    const sha256 = await hashOfFile(file);
    if (!(await store.has(sha256))) await store.put(sha256, { file, size });
    files.push({ name, size, sha256 });
    onShare((i + 1) / found.length);
  }
  const text = JSON.stringify({ form: 'puntas recording 1', name: basename(root), isFolder, files });
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (!(await store.has(sha256))) await store.put(sha256, { text });
  return sha256;
}

/** Returns the first mismatch between a fetched recording and its hash `sha256`, as text; `null` if all files match. */
export async function flawOf(dir: string, sha256: string): Promise<string | null> {
  if ((await hashOrNull(join(dir, 'manifest.json'))) !== sha256)
    return "the recording's list of files does not match its hash";
  const { name: folder, isFolder, files } = manifestIn(dir);
  const root = join(dir, 'files', ...(isFolder ? [folder] : []));
  for (const { name, sha256: hash } of files) {
    const found = await hashOrNull(join(root, name));
    if (found !== hash) return `${name} ${found === null ? 'is missing' : 'does not match its hash'}`;
  }
  // An unlisted file is a flaw, because importers would read it too.
  const listed = new Set(files.map(({ name }) => name));
  const other = filesBelow(root, '').find(name => !listed.has(name));
  return other === undefined ? null : `${other} is not in the recording's list of files`;
}

/** Returns the path of a fetched recording. */
export const recordingIn = (dir: string): string => join(dir, 'files', manifestIn(dir).name);

/** Reads the list of a recording's files. Throws `StoreProblem` if the list is invalid. */
export function manifestIn(dir: string): z.infer<typeof manifestSchema> {
  const file = join(dir, 'manifest.json');
  const bytes = statSync(file).size;
  const parsed =
    bytes > MANIFEST_BYTES_MAX ? null : manifestSchema.safeParse(jsonOf(readRegularFile(file, MANIFEST_BYTES_MAX)));
  if (parsed?.success !== true)
    throw new StoreProblem(`${file}: expected the list of a recording's files, found an invalid list`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the paths of all files in a folder, sorted, so that the hash of the list depends only on the files. */
function filesBelow(root: string, below: string): readonly string[] {
  return readdirSync(join(root, below))
    .sort()
    .flatMap(name => {
      const path = below === '' ? name : `${below}/${name}`;
      const found = statSync(join(root, path));
      return found.isDirectory() ? filesBelow(root, path) : found.isFile() ? [path] : [];
    });
}

/** Returns the SHA-256 of a file, in hex. */
export async function hashOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function hashOrNull(file: string): Promise<string | null> {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? hashOfFile(file) : null;
}
