/** A recording as files in a store: put there once, fetched into a cache, each byte checked by its hash. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { StoreProblem } from './storedFiles.ts';
import type { StoredFiles } from './storedFiles.ts';

const FILES_MOST = 100_000;
const MANIFEST_BYTES_MOST = 64_000_000;

/** A name below the recording's folder, which it cannot leave. */
const isInside = (name: string): boolean =>
  name.length <= 1_024 &&
  !/[\\\0]/.test(name) &&
  name.split('/').every(step => step !== '' && step !== '.' && step !== '..');

const manifestSchema = z.strictObject({
  form: z.literal('puntas recording 1'),
  /** Of the file, or of the folder with all of them in it. */
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
    .max(FILES_MOST),
});

/** Puts what is not there yet, and returns the hash by which the whole recording is fetched. Rejects with `StoreProblem`. */
export async function storeRecording(
  store: StoredFiles,
  path: string,
  onShare: (share: number) => void,
): Promise<string> {
  const root = resolve(path);
  const isFolder = statSync(root).isDirectory();
  const found = isFolder ? filesBelow(root, '') : [basename(root)];
  if (found.length > FILES_MOST) throw new StoreProblem(`${path}: has more than ${FILES_MOST} files`);
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

/** The path of the recording in the cache, fetched and checked if it is not there. Rejects with `StoreProblem` for what is missing or has other content than its hash says. */
export async function fetchRecording(store: StoredFiles, sha256: string, cache: string): Promise<string> {
  const at = join(cache, sha256);
  if (existsSync(at)) return recordingIn(at);
  const part = join(cache, `${sha256}.part-${randomUUID()}`);
  await mkdir(join(part, 'files'), { recursive: true });
  try {
    await fetched(store, sha256, join(part, 'manifest.json'));
    const { name: folder, isFolder, files } = manifestIn(part);
    for (const { name, sha256: hash } of files) {
      const to = join(part, 'files', ...(isFolder ? [folder] : []), name);
      await mkdir(dirname(to), { recursive: true });
      await fetched(store, hash, to);
    }
    // Whole, or not there; another process may have been quicker.
    await rename(part, at).catch((error: unknown) => {
      if (!existsSync(at)) throw error;
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return recordingIn(at);
}

async function fetched(store: StoredFiles, sha256: string, to: string): Promise<void> {
  if (!(await store.get(sha256, to)))
    throw new StoreProblem(`tapes in ${store.shown}: has no ${sha256}; puntas tune --tapes puts it there`);
  const found = await hashOfFile(to);
  if (found !== sha256)
    throw new StoreProblem(
      `tapes in ${store.shown}: ${sha256} has other content than its name says (${found}): remove it there, and run puntas tune --tapes again`,
    );
}

const recordingIn = (dir: string): string => join(dir, 'files', manifestIn(dir).name);

function manifestIn(dir: string): z.infer<typeof manifestSchema> {
  const file = join(dir, 'manifest.json');
  const bytes = statSync(file).size;
  const parsed = bytes > MANIFEST_BYTES_MOST ? null : manifestSchema.safeParse(jsonOf(readFileSync(file, 'utf8')));
  if (parsed?.success !== true) throw new StoreProblem(`${file}: is no list of the files of a recording`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Sorted, so that the same files have the same hash. */
function filesBelow(root: string, below: string): readonly string[] {
  return readdirSync(join(root, below))
    .sort()
    .flatMap(name => {
      const path = below === '' ? name : `${below}/${name}`;
      const found = statSync(join(root, path));
      return found.isDirectory() ? filesBelow(root, path) : found.isFile() ? [path] : [];
    });
}

async function hashOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
