/** Store of files by hash, in a folder shared by several machines. */
import { counted, textOfError } from '../../../src/core/index.ts';
import { constants } from 'node:fs';
import { access, copyFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { synced, makeFolder } from '../../../src/guard/index.ts';
import { isMissing, TEMPORARY_NAME, temporaryName } from './temporaryNames.ts';
import { StoreProblem, type FileContent, type StoredFiles } from './storedFiles.ts';

/** Age in ms after which an unfinished file counts as abandoned. */
const PART_KEPT_MS = 86_400_000;

export class FolderStore implements StoredFiles {
  readonly shown: string;
  #isTidy = false;

  constructor(dir: string) {
    this.shown = dir;
  }

  async has(sha256: string): Promise<boolean> {
    return this.#told(async () => {
      try {
        await access(join(this.shown, sha256));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    });
  }

  /**
   * Writes under a temporary name until the file is complete and synced. No reader sees an incomplete file, even after
   * a power failure.
   */
  async put(sha256: string, content: FileContent): Promise<void> {
    await this.#told(async () => {
      makeFolder(this.shown);
      const part = join(this.shown, temporaryName(sha256));
      try {
        if ('text' in content) await writeFile(part, content.text);
        else await copyFile(content.file, part, constants.COPYFILE_FICLONE);
        await synced(part);
        if (!this.#isTidy) await this.#tidy((await stat(part)).mtimeMs);
        await rename(part, join(this.shown, sha256));
        await synced(this.shown);
      } finally {
        await rm(part, { force: true });
      }
    });
  }

  async get(sha256: string, to: string, bytesMax: number): Promise<boolean> {
    return this.#told(async () => {
      try {
        const found = await stat(join(this.shown, sha256));
        if (!found.isFile()) throw new Error(`${sha256} is not a regular file`);
        if (found.size > bytesMax) throw new Error(`${sha256} is larger than ${counted(bytesMax, 'byte')}`);
        await copyFile(join(this.shown, sha256), to, constants.COPYFILE_FICLONE);
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    });
  }

  /** Removes unfinished files of killed processes. `now` is in epoch ms, by the clock of the folder's host. */
  async #tidy(now: number): Promise<void> {
    this.#isTidy = true;
    for (const name of await readdir(this.shown)) {
      if (!TEMPORARY_NAME.test(name)) continue;
      const part = join(this.shown, name);
      const { mtimeMs } = await stat(part).catch(() => ({ mtimeMs: Infinity }));
      if (now - mtimeMs > PART_KEPT_MS) await rm(part, { force: true });
    }
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw new StoreProblem(`tapes in ${this.shown}: ${textOfError(error)}`);
    }
  }
}
