/** Recordings that were fetched from a store, in a folder that several workers may share: whole or not there, and checked by their hashes before they are used. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { synced } from '../../live/files/durableFiles.ts';
import { flawOf, hashOfFile, manifestIn, recordingIn } from './recordingFiles.ts';
import { StoreProblem } from './storedFiles.ts';
import type { StoredFiles } from './storedFiles.ts';

export type CacheOptions = {
  readonly store: StoredFiles;
  readonly dir: string;
  /** Ms since 1970. */
  readonly now: () => number;
  /** Lines for a person. */
  readonly tell: (sentence: string) => void;
};

/** Whoever uses or fetches a recording says so every few seconds by the time of its folder: after so long nobody does. */
const GONE_AFTER_MS = 60_000;

export class RecordingCache {
  readonly #options: CacheOptions;
  /** How many use it now, by hash. */
  readonly #used = new Map<string, number>();
  readonly #ready = new Map<string, Promise<string>>();
  /** Those that this process has checked, with the number of the folder: another one in its place is checked again. */
  readonly #checked = new Map<string, { readonly ino: number; readonly path: string }>();
  /** Folders that are being filled. */
  readonly #parts = new Set<string>();

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** With the paths of recordings by their hashes, fetched and checked; nobody takes one away meanwhile. Rejects with `StoreProblem` for what cannot be had, and with what `work` does. */
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

  /** To be called every few seconds. */
  sayInUse(): void {
    for (const name of [...this.#used.keys(), ...this.#parts]) this.#touch(join(this.#options.dir, name));
  }

  /** Removes what a process left that was killed while it fetched. */
  async tidy(): Promise<void> {
    const { dir, now } = this.#options;
    for (const name of existsSync(dir) ? readdirSync(dir) : [])
      if (PART.test(name) && !this.#parts.has(name) && now() - changedAt(join(dir, name)) > GONE_AFTER_MS)
        await rm(join(dir, name), { recursive: true, force: true });
  }

  /** Several trials ask for the same: it is looked at once. */
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
        tell(`${at}: ${flaw}: the recording is fetched again`);
        await this.#away(hash);
      }
      return await this.#fetched(hash);
    } catch (error) {
      if (error instanceof StoreProblem) throw error;
      throw new StoreProblem(`recordings in ${dir}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #fetched(hash: string): Promise<string> {
    const { store, dir } = this.#options;
    const at = join(dir, hash);
    const name = `${hash}.part-${randomUUID()}`;
    const part = join(dir, name);
    this.#parts.add(name);
    try {
      await mkdir(join(part, 'files'), { recursive: true });
      this.#touch(part);
      await fetchedFile(store, hash, join(part, 'manifest.json'));
      const { name: folder, isFolder, files } = manifestIn(part);
      const folders = new Set([part, join(part, 'files')]);
      for (const { name: file, sha256 } of files) {
        const to = join(part, 'files', ...(isFolder ? [folder] : []), file);
        await mkdir(dirname(to), { recursive: true });
        await fetchedFile(store, sha256, to);
        for (let above = dirname(to); !folders.has(above); above = dirname(above)) folders.add(above);
      }
      // On the disk before it has its name: after a power cut it is whole, or not there.
      for (const folder of folders) await synced(folder);
      try {
        await rename(part, at);
      } catch (error) {
        if (!existsSync(at)) throw error;
        // Another process was quicker: what it has is looked at as anything that is there.
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

  /** First out of sight, then gone. */
  async #away(hash: string): Promise<void> {
    const part = join(this.#options.dir, `${hash}.part-${randomUUID()}`);
    renameSync(join(this.#options.dir, hash), part);
    await rm(part, { recursive: true, force: true });
  }

  #touch(path: string): void {
    const seconds = this.#options.now() / 1_000;
    try {
      utimesSync(path, seconds, seconds);
    } catch {
      // Not there yet, or not ours to change: then it may be let go sooner, and is fetched again.
    }
  }
}

const PART = /^[0-9a-f]{64}\.part-[0-9a-f-]{36}$/;

/** Infinity where it is not there any more. */
const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;

async function fetchedFile(store: StoredFiles, sha256: string, to: string): Promise<void> {
  if (!(await store.get(sha256, to)))
    throw new StoreProblem(`tapes in ${store.shown}: has no ${sha256}; puntas tune --tapes puts it there`);
  const found = await hashOfFile(to);
  if (found !== sha256)
    throw new StoreProblem(
      `tapes in ${store.shown}: ${sha256} has other content than its name says (${found}): remove it there, and run puntas tune --tapes again`,
    );
  await synced(to);
}
