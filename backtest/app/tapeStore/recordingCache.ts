/**
 * Cache of recordings fetched from a store, in a folder that several workers can share. A recording is complete or
 * absent, checked by its hashes before use, and evicted if space is needed.
 */
import { existsSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { textOfError } from '../../../src/core/index.ts';
import { synced, makeFolder } from '../../../src/guard/index.ts';
import { isMissing, TEMPORARY_NAME, temporaryName } from './temporaryNames.ts';
import { flawOf, hashOfFile, MANIFEST_BYTES_MAX, manifestIn, recordingIn } from './recordingFiles.ts';
import { StoreProblem, type StoredFiles } from './storedFiles.ts';

export type CacheOptions = {
  readonly store: StoredFiles;
  readonly dir: string;
  /** Maximum size of the cache in bytes; recordings in use may exceed it. */
  readonly bytesMost: number;
  /** Returns the current time in epoch ms. */
  readonly now: () => number;
  /** Receives lines for the operator. */
  readonly tell: (sentence: string) => void;
};

/**
 * Time in ms since the last touch of a recording's folder; beyond it, the recording counts as unused. A process that
 * uses or fetches a recording touches the folder every few seconds.
 */
const GONE_AFTER_MS = 60_000;

export class RecordingCache {
  readonly #options: CacheOptions;
  /** Number of current uses of each recording, by hash. */
  readonly #used = new Map<string, number>();
  readonly #ready = new Map<string, Promise<string>>();
  /**
   * Recordings that this process has checked, with the inode of their folder. If the inode changed, the recording is
   * checked again.
   */
  readonly #checked = new Map<string, { readonly ino: number; readonly path: string }>();
  /** Folders being filled, with their final size in bytes. */
  readonly #parts = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  #isTold = false;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /**
   * Calls `work` with the paths of the recordings, by hash. The recordings are fetched and checked before the call, and
   * not evicted during it. Rejects with `StoreProblem` if a recording is unavailable, and with the errors of `work`.
   */
  async use<T>(hashes: readonly string[], work: (paths: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
    for (const hash of hashes) this.#used.set(hash, (this.#used.get(hash) ?? 0) + 1);
    try {
      const paths: Record<string, string> = {};
      for (const hash of hashes) paths[hash] = await this.#once(hash);
      return await work(paths);
    } finally {
      for (const hash of hashes) {
        const left = this.#used.get(hash)! - 1;
        if (left > 0) this.#used.set(hash, left);
        else this.#used.delete(hash);
      }
    }
  }

  /** Marks recordings as in use; must be called every few seconds. */
  markInUse(): void {
    for (const name of [...this.#used.keys(), ...this.#parts.keys()]) this.#touch(join(this.#options.dir, name));
  }

  /**
   * Removes unfinished folders of processes that were killed while fetching. Then evicts unused recordings, least
   * recently used first, until the cache is within its maximum size.
   */
  async tidy(): Promise<void> {
    const { dir, now, bytesMost, tell } = this.#options;
    const isLeft = ({ name, at }: Entry): boolean => !this.#parts.has(name) && now() - at > GONE_AFTER_MS;
    const parts = entriesOf(dir, TEMPORARY_NAME);
    for (const { name } of parts.filter(isLeft)) await rm(join(dir, name), { recursive: true, force: true });
    const whole = entriesOf(dir, WHOLE).toSorted((a, b) => a.at - b.at);
    let bytes = [...this.#parts.values(), ...whole.map(entry => this.#bytesOf(entry))].reduce((sum, n) => sum + n, 0);
    for (const part of parts)
      if (!isLeft(part) && !this.#parts.has(part.name)) bytes += bytesBelow(join(dir, part.name));
    for (const entry of whole) {
      if (bytes <= bytesMost) break;
      if (now() - entry.at > GONE_AFTER_MS && (await this.#away(entry.name, entry.at))) bytes -= this.#bytesOf(entry);
    }
    const ours = [...this.#parts.values(), ...[...this.#used.keys()].map(hash => this.#bytes.get(hash) ?? 0)];
    const used = ours.reduce((sum, n) => sum + n, 0);
    if (used > bytesMost && !this.#isTold)
      tell(
        `${dir}: recordings in use occupy ${gigabytes(used)}, more than --cache-max (${gigabytes(bytesMost)}), and cannot be deleted; raise --cache-max`,
      );
    this.#isTold = used > bytesMost;
  }

  /** Returns the path of a recording; concurrent requests for one recording share a fetch. */
  #once(hash: string): Promise<string> {
    const asked = this.#ready.get(hash);
    if (asked !== undefined) return asked;
    const ready = this.#path(hash).finally(() => this.#ready.delete(hash));
    this.#ready.set(hash, ready);
    return ready;
  }

  async #path(hash: string): Promise<string> {
    const { dir, tell } = this.#options;
    const at = join(dir, hash);
    try {
      if (existsSync(at)) {
        this.#touch(at);
        const { ino } = statSync(at);
        const checked = this.#checked.get(hash);
        if (checked?.ino === ino) return checked.path;
        const flaw = await flawOf(at, hash);
        if (flaw === null) return this.#isChecked(hash, ino);
        tell(`${at}: ${flaw}; fetching the recording again`);
        await this.#away(hash);
      }
      return await this.#fetched(hash);
    } catch (error) {
      if (error instanceof StoreProblem) throw error;
      throw new StoreProblem(`recordings in ${dir}: ${textOfError(error)}`);
    }
  }

  async #fetched(hash: string): Promise<string> {
    const { store, dir } = this.#options;
    const at = join(dir, hash);
    const name = temporaryName(hash);
    const part = join(dir, name);
    this.#parts.set(name, 0);
    try {
      makeFolder(join(part, 'files'));
      this.#touch(part);
      await fetchedFile(store, hash, join(part, 'manifest.json'), MANIFEST_BYTES_MAX);
      const { name: folder, isFolder, files } = manifestIn(part);
      this.#parts.set(
        name,
        files.reduce((sum, { size }) => sum + size, 0),
      );
      await this.tidy();
      const folders = new Set([part, join(part, 'files')]);
      for (const { name: file, sha256, size } of files) {
        const to = join(part, 'files', ...(isFolder ? [folder] : []), file);
        makeFolder(dirname(to));
        await fetchedFile(store, sha256, to, size);
        for (let above = dirname(to); !folders.has(above); above = dirname(above)) folders.add(above);
      }
      // Folders are synced before the rename, so that after a power failure the recording is complete or absent.
      for (const folder of folders) await synced(folder);
      this.#touch(part);
      try {
        await rename(part, at);
      } catch (error) {
        if (!existsSync(at)) throw error;
        // Another process was faster; its folder is checked like any existing folder.
        return await this.#path(hash);
      }
      await synced(dir);
      return this.#isChecked(hash, statSync(at).ino);
    } finally {
      await rm(part, { recursive: true, force: true });
      this.#parts.delete(name);
    }
  }

  #isChecked(hash: string, ino: number): string {
    const path = recordingIn(join(this.#options.dir, hash));
    this.#checked.set(hash, { ino, path });
    return path;
  }

  /**
   * Renames a recording, then deletes it. Returns false, without deleting, if the recording is in use or was used after
   * `unusedSince`.
   */
  async #away(hash: string, unusedSince?: number): Promise<boolean> {
    const { dir } = this.#options;
    const [at, part] = [join(dir, hash), join(dir, temporaryName(hash))];
    if (unusedSince !== undefined && this.#used.has(hash)) return false;
    try {
      renameSync(at, part);
    } catch (error) {
      // Another process has already moved the folder.
      if (isMissing(error)) return true;
      throw error;
    }
    // Another process may have just started using the recording.
    if (unusedSince !== undefined && statSync(part).mtimeMs !== unusedSince && !existsSync(at)) {
      renameSync(part, at);
      return false;
    }
    await rm(part, { recursive: true, force: true });
    return true;
  }

  /**
   * Returns the size of a recording, in bytes. The size is measured only once, because the hash of a recording fixes
   * its content.
   */
  #bytesOf({ name }: Entry): number {
    const bytes = this.#bytes.get(name) ?? bytesBelow(join(this.#options.dir, name));
    this.#bytes.set(name, bytes);
    return bytes;
  }

  #touch(path: string): void {
    const seconds = this.#options.now() / 1_000;
    try {
      utimesSync(path, seconds, seconds);
    } catch {
      // The recording is absent, or another user owns it. The use of a recording of another user is not marked, so this
      // recording may be evicted too early and fetched again.
    }
  }
}

const WHOLE = /^[0-9a-f]{64}$/;

/** Recording in the cache; `at` is the time of its last use, in epoch ms. */
type Entry = { readonly name: string; readonly at: number };

const entriesOf = (dir: string, pattern: RegExp): readonly Entry[] =>
  (existsSync(dir) ? readdirSync(dir) : []).flatMap(name => {
    // Another process may have removed the entry since the folder was read.
    const found = pattern.test(name) ? statSync(join(dir, name), { throwIfNoEntry: false }) : undefined;
    return found === undefined ? [] : [{ name, at: found.mtimeMs }];
  });

function bytesBelow(dir: string): number {
  try {
    const files = readdirSync(dir, { withFileTypes: true, recursive: true }).filter(entry => entry.isFile());
    return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  } catch (error) {
    // Another process removed the folder or a file in it meanwhile.
    if (isMissing(error)) return 0;
    throw error;
  }
}

const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`;

async function fetchedFile(store: StoredFiles, sha256: string, to: string, bytesMax: number): Promise<void> {
  if (!(await store.get(sha256, to, bytesMax)))
    throw new StoreProblem(
      `tapes in ${store.shown}: the file ${sha256} is missing; run puntas tune --tapes again to upload the file`,
    );
  const found = await hashOfFile(to);
  if (found !== sha256)
    throw new StoreProblem(
      `tapes in ${store.shown}: the content of the file ${sha256} has the hash ${found}, which must equal the file name; remove the file from the store, and run puntas tune --tapes again`,
    );
  await synced(to);
}
