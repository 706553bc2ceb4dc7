/** Files by their hash in a folder that several machines see. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreProblem } from './storedFiles.ts';
import type { FileContent, StoredFiles } from './storedFiles.ts';

export class FolderStore implements StoredFiles {
  readonly shown: string;

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

  /** Under another name until it is whole: nobody sees a part of it. */
  async put(sha256: string, content: FileContent): Promise<void> {
    await this.#told(async () => {
      await mkdir(this.shown, { recursive: true });
      const part = join(this.shown, `${sha256}.part-${randomUUID()}`);
      try {
        if ('text' in content) await writeFile(part, content.text);
        else await copyFile(content.file, part, constants.COPYFILE_FICLONE);
        await rename(part, join(this.shown, sha256));
      } finally {
        await rm(part, { force: true });
      }
    });
  }

  async get(sha256: string, to: string): Promise<boolean> {
    return this.#told(async () => {
      try {
        await copyFile(join(this.shown, sha256), to, constants.COPYFILE_FICLONE);
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    });
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw new StoreProblem(`tapes in ${this.shown}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
